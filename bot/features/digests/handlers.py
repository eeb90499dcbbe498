"""`/digest`: a conversation's digests, listed, added, changed, and dealt with by their buttons."""

import json
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Literal

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, NotLinked, UserError
from bot.features.accounts.accounts import Session
from bot.features.digests import form as digest_form
from bot.features.digests import views
from bot.features.digests.commands import (
    AddDigest,
    ChangeDigest,
    DigestNow,
    ListDigests,
    PauseDigest,
    RemoveDigest,
    ResumeDigest,
    TakeOverDigest,
    digest_command,
)
from bot.features.digests.digests import Planned, Wanted
from bot.features.digests.schedules import Schedule, zones_called
from bot.features.help import views as help_views
from bot.features.home import handlers as home
from bot.features.issues.create_form import choices_of, loading
from bot.features.name_matching import pick
from bot.features.projects.projects import Channel
from bot.service.models import Project, Ref
from bot.slack import forms, members, posting
from bot.slack.audience import shared_outside
from bot.slack.blocks import JSON, Message, option
from bot.slack.grammar.requests import Help
from bot.slack.posting import SLACK_FAILED, UNREACHED, Place, reason
from bot.slack.submissions import Reply, metadata_of, once, refused, settle
from bot.slack.turn import Turn
from bot.store.digest_runs import RunState
from bot.store.digests import Choice, Digest

DOUBLE_CLICK = timedelta(seconds=5)
Deed = DigestNow | PauseDigest | ResumeDigest | TakeOverDigest | RemoveDigest
BUTTONS: dict[str, Callable[[int], Deed]] = {
    "digest.now": DigestNow,
    "digest.pause": PauseDigest,
    "digest.resume": ResumeDigest,
    "digest.take_over": TakeOverDigest,
    "digest.remove": RemoveDigest,
}


async def command(turn: Turn) -> None:
    """`/digest …`."""
    match digest_command(turn.text):
        case ListDigests():
            await show(turn)
        case AddDigest(schedule=Schedule() as schedule) as asked:
            await add(turn, asked, schedule)
        case AddDigest() as asked:
            await open_add(turn, asked)
        case ChangeDigest() as asked:
            await open_change(turn, asked.id)
        case Help():
            await turn.answer(help_views.of("digest", turn.parts.command))
        case deed:
            await turn.answer(await do(turn, deed))


async def show(turn: Turn, said: Message | None = None, *, replace: bool = False) -> None:
    """The digests of the conversation, below what was done just now."""
    found = await turn.parts.digests.listed(_here(turn))
    await turn.answer(views.listing(found, turn.owner, turn.parts.command, said), replace=replace)


async def add(turn: Turn, asked: AddDigest, schedule: Schedule) -> None:
    """Add at once what a command says, and say back to the person alone what was understood."""
    channel = await digest_channel(turn, turn.place.channel_id)
    wanted = Wanted(
        project=asked.project,
        schedule=schedule,
        zone=asked.zone or (await turn.profile()).zone.key,
        tracker=asked.tracker,
        priority=asked.priority,
        category=asked.category,
        group=asked.group or "tracker",
        empty=asked.empty,
    )
    await turn.answer(views.added(await turn.parts.digests.add(turn.owner, channel, wanted)))


async def digest_channel(turn: Turn, channel_id: str | None) -> Channel:
    """A conversation that may have a digest. Raises UserError for any other one, and where Slack doesn't say
    how it stands.
    """
    if channel_id is None:
        raise UserError("A digest belongs to a channel: choose one.")
    try:
        about = (await turn.slack.conversations_info(channel=channel_id)).get("channel") or {}
    except SLACK_FAILED as error:
        if reason(error) not in UNREACHED:
            raise UserError("Slack doesn't tell me who is in that channel: try again in a minute.") from None
        about = {"is_member": False}
    if not about.get("is_im") and not about.get("is_member", True):
        raise UserError("I'm not in that channel: invite me there first with `/invite`, then try again.")
    if about.get("is_archived"):
        raise UserError("That channel is archived: have it opened again, or use another one.")
    shared = shared_outside(about)
    if shared is None:
        raise UserError("Slack doesn't say who can read that channel. Try again in a minute.")
    if shared:
        raise UserError(
            "That channel is shared with people outside your company, so no digest is posted there: use "
            "another one."
        )
    return Channel(turn.owner.team_id, channel_id)


async def _meant(turn: Turn, digest_id: int | None) -> Digest:
    """The digest that is meant, if the person may act on it; another's only while they are in its channel."""
    try:
        digest = await turn.parts.digests.one(turn.owner, turn.channel, digest_id)
    except UserError:  # which may tell of a digest there; Slack doesn't vouch for a form's place
        if turn.channel and turn.body.get("type") == "view_submission":
            await _joined(turn, turn.channel.channel_id)
        raise
    return await _allowed(turn, digest)


async def _allowed(turn: Turn, digest: Digest) -> Digest:
    if digest.owner != turn.owner:
        await _joined(turn, digest.channel_id)
    return digest


async def _joined(turn: Turn, channel_id: str) -> None:
    """Raises UserError unless the person is in the channel: nobody has others' channels filled."""
    try:
        joined = await members.includes(turn.slack, channel_id, turn.owner.user_id)
    except SLACK_FAILED:
        raise UserError("Slack doesn't tell me who is in that channel: try again in a minute.") from None
    if not joined:
        raise UserError("You aren't in that channel: join it first, or choose one that you are in.")


def _here(turn: Turn) -> Channel:
    if turn.channel is None:
        raise UserError("Digests belong to a channel: type `/digest` in one.")
    return turn.channel


# Dealing with one


async def act_pressed(turn: Turn) -> None:
    """A digest's button. What only the person sees is replaced by how things stand now; what others see too
    stays.
    """
    number, _, agreed = turn.value.partition(":")
    deed = BUTTONS[turn.action["action_id"]](forms.number_in(number))
    await _show_done(turn, await do(turn, deed, agreed))


async def undo_pressed(turn: Turn) -> None:
    """The button *Undo* where a digest was removed: restore it, under the rule for removing it."""
    digests, number = turn.parts.digests, turn.number
    digest = await _allowed(turn, await digests.removed(turn.owner, turn.channel, number))
    await digest_channel(turn, digest.channel_id)
    restored = await digests.restore(turn.owner, turn.channel, number)
    said = views.told(views.restored(restored, turn.owner, turn.parts.command))
    await _tell_owner(turn, digest, "restored")
    await _show_done(turn, said)


async def _show_done(turn: Turn, said: Message) -> None:
    if turn.at_home:
        try:
            await home.show(turn, None, again=True)
        except SLACK_FAILED:
            await turn.answer(said)
    elif _private(turn):
        await show(turn, said, replace=True)
    else:
        await turn.answer(said)


def _private(turn: Turn) -> bool:
    """Whether a button was pressed that only the person sees."""
    return bool((turn.body.get("container") or {}).get("is_ephemeral"))


async def do(turn: Turn, deed: Deed, agreed: str = "") -> Message:
    """Do what is asked for with a digest; what the person is told.

    Somebody else's is removed or taken over only if the person has been asked about that owner, `agreed`.
    """
    digests, asker, channel = turn.parts.digests, turn.owner, turn.channel
    match deed:
        case DigestNow():
            return views.told(await run_now(turn, deed.id))
        case PauseDigest():
            digest = await _meant(turn, deed.id)
            paused = await digests.pause(asker, channel, digest.id)
            return views.told(views.paused(paused, asker, turn.parts.command))
        case ResumeDigest():
            digest = await _meant(turn, deed.id)
            await digest_channel(turn, digest.channel_id)
            return views.told(views.resumed(await digests.resume(asker, channel, digest.id)))
        case TakeOverDigest():
            digest = await _meant(turn, deed.id)
            await digest_channel(turn, digest.channel_id)
            if digest.owner != asker and digest.owner.user_id != agreed:
                return views.asks(digest, "take_over")
            taken = await digests.take_over(asker, channel, digest.id)
            await _tell_owner(turn, digest, "took over")
            return views.told(views.taken_over(taken))
        case RemoveDigest():
            digest = await _meant(turn, deed.id)
            if digest.owner != asker and digest.owner.user_id != agreed:
                return views.asks(digest, "remove")
            removed = await digests.remove(asker, channel, digest.id)
            await _tell_owner(turn, removed, "removed")
            return views.removed(removed, turn.parts.command)


async def _tell_owner(turn: Turn, digest: Digest, done: Literal["removed", "restored", "took over"]) -> None:
    """Tell a digest's owner what somebody else did with it."""
    if digest.owner != turn.owner:
        message = views.told_owner(digest, turn.owner.user_id, done)
        await posting.to_person(turn.slack, digest.owner.user_id, message)


async def run_now(turn: Turn, digest_id: int | None) -> str:
    """Post what is new without waiting for the next due time; what came of it, in mrkdwn."""
    digests = turn.parts.digests
    digest = await _meant(turn, digest_id)
    if digest.paused:
        raise UserError(f"Digest {digest.id} stands still: `/digest resume {digest.id}` first.")
    if not await turn.parts.store.deliveries.claim_for(f"digest:{digest.id}", DOUBLE_CLICK):
        raise UserError(f"Digest {digest.id} was asked for a moment ago: try again in ten seconds.")
    try:
        state = await turn.parts.digest_runs.run_now(digest)
    except NotLinked:
        if digest.owner == turn.owner:
            raise
        raise UserError(
            f"It runs with the key of {digest.owner_name}, which no longer works: `/digest take over "
            f"{digest.id}` makes it yours."
        ) from None
    stopped = ""
    if state is RunState.DROPPED:
        after = await digests.one(turn.owner, turn.channel, digest.id)
        stopped = views.why(after, turn.owner, turn.parts.command) if after.paused else ""
    return views.ran(digest, state, stopped, turn.service)


# The form


async def add_pressed(turn: Turn) -> None:
    """The button *Add a digest*."""
    await open_add(turn, AddDigest())


async def open_add(turn: Turn, asked: AddDigest) -> None:
    """Open the form at once, then fill it with what was typed; what can't be used of that is said above."""
    await turn.open(loading("New digest"))
    channel_id, said = turn.place.channel_id, []
    try:
        await digest_channel(turn, channel_id)
    except UserError as error:
        channel_id = None
        said.append(turn.sentence(error))
    async with turn.parts.accounts.reading(turn.owner) as session:
        project = await _project(turn, session, asked.project, said)
        chosen = await _chosen(turn, session, asked, project, said)
    filled = digest_form.Filled(
        zone=asked.zone or (await turn.profile()).zone.key,
        project=Choice(project.id, project.name) if project else None,
        group=asked.group or "tracker",
        empty=asked.empty,
        chosen=chosen,
    )
    metadata = json.dumps({"place": turn.place.as_json()})
    await turn.show(digest_form.add_form(filled, channel_id, metadata, " ".join(said) or None))


async def _project(turn: Turn, session: Session, wanted: str | None, said: list[str]) -> Project | None:
    try:
        return await turn.parts.projects.chosen(session, wanted, turn.channel)
    except UserError as error:
        if wanted is not None:
            said.append(turn.sentence(error))
        return None


async def _chosen(
    turn: Turn, session: Session, asked: AddDigest, project: Project | None, said: list[str]
) -> dict[str, tuple[Choice, ...]]:
    typed = {"tracker": asked.tracker, "priority": asked.priority, "category": asked.category}
    if not any(typed.values()):
        return {}
    known = choices_of(await turn.parts.catalogs.of(session, project.id if project else None))

    def found(kind: str, names: Iterable[str]) -> Iterable[Ref]:
        for name in names:
            try:
                yield pick(kind, name, known[kind])
            except UserError as error:
                said.append(turn.sentence(error))

    return {kind: tuple(Choice(r.id, r.name) for r in found(kind, names)) for kind, names in typed.items()}


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """The form was submitted: add once, and say back to the person alone what was understood."""
    view = turn.view
    turn = turn.at(Place.from_json(metadata_of(view).get("place")))
    made: list[Planned] = []

    async def work() -> Reply:
        try:
            wanted = digest_form.submitted(view)
        except UserError as error:
            return Reply(errors={"schedule": turn.sentence(error)})
        try:
            channel = await digest_channel(turn, forms.Values(view).conversation("channel"))
            await _joined(turn, channel.channel_id)
        except UserError as error:
            return Reply(errors={"channel": turn.sentence(error)})
        try:
            if wrong := await _of_another_project(turn, view):
                return Reply(errors=wrong)
            async with once(turn):
                made.append(await turn.parts.digests.add(turn.owner, channel, wanted))
        except NotLinked:
            raise
        except UserError as error:
            return Reply(errors={"project": turn.sentence(error)})
        except BotError as error:
            return refused(turn, error)
        return Reply()

    await settle(turn, ack, work(), f"Looking at the project in {turn.service}…")
    for planned in made:
        await turn.answer(views.added(planned))


async def _of_another_project(turn: Turn, view: JSON) -> dict[str, str]:
    """Errors at choices that were made before another project was chosen, and that it doesn't have."""
    values = forms.Values(view)
    project = values.number("project")
    if project is None or not any(values.all_chosen(kind) for kind in digest_form.KINDS):
        return {}
    known = choices_of(await turn.parts.digests.catalog(turn.owner, project))
    return digest_form.strangers(view, {kind: [ref.id for ref in known[kind]] for kind in digest_form.KINDS})


async def change_pressed(turn: Turn) -> None:
    """The button *Change*."""
    await open_change(turn, turn.number)


async def open_change(turn: Turn, digest_id: int | None) -> None:
    """Open the form for a digest, with all that is set."""
    await turn.open(loading("Change digest"))
    digest = await _meant(turn, digest_id)
    metadata = {
        "digest": digest.id,
        "project": digest.plan.project_id,
        "place": turn.place.as_json(),
        "replace": _private(turn),
    }
    await turn.show(digest_form.change_form(digest, json.dumps(metadata)))


async def submit_change(turn: Turn, ack: AsyncAck) -> None:
    """The form was submitted: set the digest anew if the person may."""
    view = turn.view
    metadata = metadata_of(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    done: list[Planned] = []

    async def work() -> Reply:
        try:
            wanted = digest_form.submitted(view)
        except UserError as error:
            return Reply(errors={"schedule": turn.sentence(error)})
        try:
            async with once(turn):
                digest = await _meant(turn, forms.number_in(metadata.get("digest")))
                done.append(await turn.parts.digests.change(turn.owner, _here(turn), digest.id, wanted))
        except BotError as error:
            return refused(turn, error)
        return Reply()

    await settle(turn, ack, work(), f"Looking at the project in {turn.service}…")
    for planned in done:
        said = views.told(views.changed(planned))
        if metadata.get("replace") and turn.place.channel_id == planned.digest.channel_id:
            await show(turn, said, replace=True)
        else:
            await turn.answer(said)


# Choices that are searched as one types


async def zone_options(_: Turn, text: str) -> list[JSON]:
    """Time zones by a part of their name."""
    return [option(zone, zone) for zone in zones_called(text)]


async def choice_options(turn: Turn, text: str) -> list[JSON]:
    """Trackers, priorities and categories of the form's project; none until there is one."""
    view = turn.body.get("view") or {}
    project = forms.Values(view).chosen("project") or metadata_of(view).get("project")
    if project is None:
        return []
    catalog = await turn.parts.digests.catalog(turn.owner, forms.number_in(project))
    kind = str(turn.body.get("action_id", "")).partition(".")[2]
    sought = text.strip().casefold()
    return [
        option(ref.name, str(ref.id)) for ref in choices_of(catalog)[kind] if sought in ref.name.casefold()
    ]
