"""`/digest`: a conversation's digests, listed, added, changed, and dealt with by their buttons."""

import json
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Literal

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
from bot.features.issues.create_form import choices_of
from bot.features.name_matching import pick
from bot.features.projects.projects import Channel
from bot.service.models import Project, Ref
from bot.slack import forms, members, posting
from bot.slack.audience import shared_outside
from bot.slack.blocks import JSON, Message, option
from bot.slack.forms import FormResult, loading, number_in
from bot.slack.grammar.requests import Help
from bot.slack.interaction import (
    ButtonPress,
    FormSubmission,
    OptionsRequest,
    Place,
    SlashCommand,
)
from bot.slack.posting import SLACK_FAILED, UNREACHED, Place, reason
from bot.slack.replies import Reply
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


# Dealing with one


# The form


# Choices that are searched as one types


class DigestHandlers:
    """TODO"""

    def __init__(
        self,
        digests: TODO_digests,
        deliveries: TODO_deliveries,
        digest_runs: TODO_digest_runs,
        accounts: TODO_accounts,
        projects: TODO_projects,
        catalogs: TODO_catalogs,
    ) -> None:
        self._digests = digests
        self._deliveries = deliveries
        self._digest_runs = digest_runs
        self._accounts = accounts
        self._projects = projects
        self._catalogs = catalogs

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/digest …`."""
        match digest_command(reply.text):
            case ListDigests():
                await self.show(reply)
            case AddDigest(schedule=Schedule() as schedule) as asked:
                await self.add(reply, asked, schedule)
            case AddDigest() as asked:
                await self.open_add(reply, asked)
            case ChangeDigest() as asked:
                await self.open_change(reply, asked.id)
            case Help():
                await reply.privately(help_views.of("digest", reply.wording.command))
            case deed:
                await reply.privately(await self.do(reply, deed))

    async def show(self, reply: Reply, said: Message | None = None, *, replace: bool = False) -> None:
        """The digests of the conversation, below what was done just now."""
        found = await self._digests.listed(self._here(reply))
        await reply.privately(views.listing(found, reply.owner, reply.wording.command, said), replace=replace)

    async def add(self, reply: Reply, asked: AddDigest, schedule: Schedule) -> None:
        """Add at once what a command says, and say back to the person alone what was understood."""
        channel = await self.digest_channel(reply, reply.place.channel_id)
        wanted = Wanted(
            project=asked.project,
            schedule=schedule,
            zone=asked.zone or (await reply.profile()).zone.key,
            tracker=asked.tracker,
            priority=asked.priority,
            category=asked.category,
            group=asked.group or "tracker",
            empty=asked.empty,
        )
        await reply.privately(views.added(await self._digests.add(reply.owner, channel, wanted)))

    async def digest_channel(self, reply: Reply, channel_id: str | None) -> Channel:
        """A conversation that may have a digest. Raises UserError for any other one, and where Slack doesn't say
        how it stands.
        """
        if channel_id is None:
            raise UserError("A digest belongs to a channel: choose one.")
        try:
            about = (await reply.slack.conversations_info(channel=channel_id)).get("channel") or {}
        except SLACK_FAILED as error:
            if reason(error) not in UNREACHED:
                raise UserError(
                    "Slack doesn't tell me who is in that channel: try again in a minute."
                ) from None
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
        return Channel(reply.owner.team_id, channel_id)

    async def _meant(self, reply: Reply, digest_id: int | None) -> Digest:
        """The digest that is meant, if the person may act on it; another's only while they are in its channel."""
        try:
            digest = await self._digests.one(reply.owner, reply.channel, digest_id)
        except UserError:  # which may tell of a digest there; Slack doesn't vouch for a form's place
            if reply.channel and reply.body.get("type") == "view_submission":
                await self._joined(reply, reply.channel.channel_id)
            raise
        return await self._allowed(reply, digest)

    async def _allowed(self, reply: Reply, digest: Digest) -> Digest:
        if digest.owner != reply.owner:
            await self._joined(reply, digest.channel_id)
        return digest

    async def _joined(self, reply: Reply, channel_id: str) -> None:
        """Raises UserError unless the person is in the channel: nobody has others' channels filled."""
        try:
            joined = await members.includes(reply.slack, channel_id, reply.owner.user_id)
        except SLACK_FAILED:
            raise UserError("Slack doesn't tell me who is in that channel: try again in a minute.") from None
        if not joined:
            raise UserError("You aren't in that channel: join it first, or choose one that you are in.")

    def _here(self, reply: Reply) -> Channel:
        if reply.channel is None:
            raise UserError("Digests belong to a channel: type `/digest` in one.")
        return reply.channel

    async def act_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """A digest's button. What only the person sees is replaced by how things stand now; what others see too
        stays.
        """
        number, _, agreed = press.value.partition(":")
        deed = BUTTONS[reply.action["action_id"]](forms.number_in(number))
        await self._show_done(reply, await self.do(reply, deed, agreed))

    async def undo_pressed(self, reply: Reply) -> None:
        """The button *Undo* where a digest was removed: restore it, under the rule for removing it."""
        digests, number = self._digests, reply.number
        digest = await self._allowed(reply, await digests.removed(reply.owner, reply.channel, number))
        await self.digest_channel(reply, digest.channel_id)
        restored = await digests.restore(reply.owner, reply.channel, number)
        said = views.told(views.restored(restored, reply.owner, reply.wording.command))
        await self._tell_owner(reply, digest, "restored")
        await self._show_done(reply, said)

    async def _show_done(self, reply: Reply, said: Message) -> None:
        if reply.place.home:
            try:
                await home.show(reply, None, again=True)
            except SLACK_FAILED:
                await reply.privately(said)
        elif self._private(reply):
            await self.show(reply, said, replace=True)
        else:
            await reply.privately(said)

    def _private(self, reply: Reply) -> bool:
        """Whether a button was pressed that only the person sees."""
        return bool((reply.body.get("container") or {}).get("is_ephemeral"))

    async def do(self, reply: Reply, deed: Deed, agreed: str = "") -> Message:
        """Do what is asked for with a digest; what the person is told.

        Somebody else's is removed or taken over only if the person has been asked about that owner, `agreed`.
        """
        digests, asker, channel = self._digests, reply.owner, reply.channel
        match deed:
            case DigestNow():
                return views.told(await self.run_now(reply, deed.id))
            case PauseDigest():
                digest = await self._meant(reply, deed.id)
                paused = await digests.pause(asker, channel, digest.id)
                return views.told(views.paused(paused, asker, reply.wording.command))
            case ResumeDigest():
                digest = await self._meant(reply, deed.id)
                await self.digest_channel(reply, digest.channel_id)
                return views.told(views.resumed(await digests.resume(asker, channel, digest.id)))
            case TakeOverDigest():
                digest = await self._meant(reply, deed.id)
                await self.digest_channel(reply, digest.channel_id)
                if digest.owner != asker and digest.owner.user_id != agreed:
                    return views.asks(digest, "take_over")
                taken = await digests.take_over(asker, channel, digest.id)
                await self._tell_owner(reply, digest, "took over")
                return views.told(views.taken_over(taken))
            case RemoveDigest():
                digest = await self._meant(reply, deed.id)
                if digest.owner != asker and digest.owner.user_id != agreed:
                    return views.asks(digest, "remove")
                removed = await digests.remove(asker, channel, digest.id)
                await self._tell_owner(reply, removed, "removed")
                return views.removed(removed, reply.wording.command)

    async def _tell_owner(
        self, reply: Reply, digest: Digest, done: Literal["removed", "restored", "took over"]
    ) -> None:
        """Tell a digest's owner what somebody else did with it."""
        if digest.owner != reply.owner:
            message = views.told_owner(digest, reply.owner.user_id, done)
            await posting.to_person(reply.slack, digest.owner.user_id, message)

    async def run_now(self, reply: Reply, digest_id: int | None) -> str:
        """Post what is new without waiting for the next due time; what came of it, in mrkdwn."""
        digests = self._digests
        digest = await self._meant(reply, digest_id)
        if digest.paused:
            raise UserError(f"Digest {digest.id} stands still: `/digest resume {digest.id}` first.")
        if not await self._deliveries.claim_for(f"digest:{digest.id}", DOUBLE_CLICK):
            raise UserError(f"Digest {digest.id} was asked for a moment ago: try again in ten seconds.")
        try:
            state = await self._digest_runs.run_now(digest)
        except NotLinked:
            if digest.owner == reply.owner:
                raise
            raise UserError(
                f"It runs with the key of {digest.owner_name}, which no longer works: `/digest take over "
                f"{digest.id}` makes it yours."
            ) from None
        stopped = ""
        if state is RunState.DROPPED:
            after = await digests.one(reply.owner, reply.channel, digest.id)
            stopped = views.why(after, reply.owner, reply.wording.command) if after.paused else ""
        return views.ran(digest, state, stopped, reply.wording.service)

    async def add_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Add a digest*."""
        await self.open_add(reply, AddDigest())

    async def open_add(self, reply: Reply, asked: AddDigest) -> None:
        """Open the form at once, then fill it with what was typed; what can't be used of that is said above."""
        await reply.open(loading("New digest"))
        channel_id, said = reply.place.channel_id, []
        try:
            await self.digest_channel(reply, channel_id)
        except UserError as error:
            channel_id = None
            said.append(reply.wording.sentence(error))
        async with self._accounts.reading(reply.owner) as session:
            project = await self._project(reply, session, asked.project, said)
            chosen = await self._chosen(reply, session, asked, project, said)
        filled = digest_form.Filled(
            zone=asked.zone or (await reply.profile()).zone.key,
            project=Choice(project.id, project.name) if project else None,
            group=asked.group or "tracker",
            empty=asked.empty,
            chosen=chosen,
        )
        metadata = json.dumps({"place": reply.place.as_json()})
        await reply.show(digest_form.add_form(filled, channel_id, metadata, " ".join(said) or None))

    async def _project(
        self, reply: Reply, session: Session, wanted: str | None, said: list[str]
    ) -> Project | None:
        try:
            return await self._projects.chosen(session, wanted, reply.channel)
        except UserError as error:
            if wanted is not None:
                said.append(reply.wording.sentence(error))
            return None

    async def _chosen(
        self, reply: Reply, session: Session, asked: AddDigest, project: Project | None, said: list[str]
    ) -> dict[str, tuple[Choice, ...]]:
        typed = {"tracker": asked.tracker, "priority": asked.priority, "category": asked.category}
        if not any(typed.values()):
            return {}
        known = choices_of(await self._catalogs.of(session, project.id if project else None))

        def found(kind: str, names: Iterable[str]) -> Iterable[Ref]:
            for name in names:
                try:
                    yield pick(kind, name, known[kind])
                except UserError as error:
                    said.append(reply.wording.sentence(error))

        return {
            kind: tuple(Choice(r.id, r.name) for r in found(kind, names)) for kind, names in typed.items()
        }

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The form was submitted: add once, and say back to the person alone what was understood."""
        view = form.view.json
        reply = reply.at(Place.from_json(metadata_of(view).get("place")))
        made: list[Planned] = []

        async def work() -> Reply:
            try:
                wanted = digest_form.submitted(view)
            except UserError as error:
                return Reply(errors={"schedule": reply.wording.sentence(error)})
            try:
                channel = await self.digest_channel(reply, forms.Values(view).conversation("channel"))
                await self._joined(reply, channel.channel_id)
            except UserError as error:
                return Reply(errors={"channel": reply.wording.sentence(error)})
            try:
                if wrong := await self._of_another_project(reply, view):
                    return Reply(errors=wrong)
                async with once(reply):
                    made.append(await self._digests.add(reply.owner, channel, wanted))
            except NotLinked:
                raise
            except UserError as error:
                return Reply(errors={"project": reply.wording.sentence(error)})
            except BotError as error:
                return refused(reply, error)
            return Reply()

        await settle(reply, ack, work(), f"Looking at the project in {reply.wording.service}…")
        for planned in made:
            await reply.privately(views.added(planned))

    async def _of_another_project(self, reply: Reply, view: JSON) -> dict[str, str]:
        """Errors at choices that were made before another project was chosen, and that it doesn't have."""
        values = forms.Values(view)
        project = values.number("project")
        if project is None or not any(values.all_chosen(kind) for kind in digest_form.KINDS):
            return {}
        known = choices_of(await self._digests.catalog(reply.owner, project))
        return digest_form.strangers(
            view, {kind: [ref.id for ref in known[kind]] for kind in digest_form.KINDS}
        )

    async def change_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Change*."""
        await self.open_change(reply, number_in(press.value))

    async def open_change(self, reply: Reply, digest_id: int | None) -> None:
        """Open the form for a digest, with all that is set."""
        await reply.open(loading("Change digest"))
        digest = await self._meant(reply, digest_id)
        metadata = {
            "digest": digest.id,
            "project": digest.plan.project_id,
            "place": reply.place.as_json(),
            "replace": self._private(reply),
        }
        await reply.show(digest_form.change_form(digest, json.dumps(metadata)))

    async def submit_change(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The form was submitted: set the digest anew if the person may."""
        view = form.view.json
        metadata = metadata_of(view)
        pass
        done: list[Planned] = []

        async def work() -> Reply:
            try:
                wanted = digest_form.submitted(view)
            except UserError as error:
                return Reply(errors={"schedule": reply.wording.sentence(error)})
            try:
                async with once(reply):
                    digest = await self._meant(reply, forms.number_in(metadata.get("digest")))
                    done.append(await self._digests.change(reply.owner, self._here(reply), digest.id, wanted))
            except BotError as error:
                return refused(reply, error)
            return Reply()

        await settle(reply, ack, work(), f"Looking at the project in {reply.wording.service}…")
        for planned in done:
            said = views.told(views.changed(planned))
            if metadata.get("replace") and reply.place.channel_id == planned.digest.channel_id:
                await self.show(reply, said, replace=True)
            else:
                await reply.privately(said)

    async def zone_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Time zones by a part of their name."""
        return [option(zone, zone) for zone in zones_called(request.text)]

    async def choice_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Trackers, priorities and categories of the form's project; none until there is one."""
        view = reply.body.get("view") or {}
        project = forms.Values(view).chosen("project") or metadata_of(view).get("project")
        if project is None:
            return []
        catalog = await self._digests.catalog(reply.owner, forms.number_in(project))
        kind = str(reply.body.get("action_id", "")).partition(".")[2]
        sought = request.text.strip().casefold()
        return [
            option(ref.name, str(ref.id))
            for ref in choices_of(catalog)[kind]
            if sought in ref.name.casefold()
        ]
