"""`/digest`: lists, adds and changes a channel's digests, and handles their buttons."""

import json
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Literal

from bot.errors import NotLinked, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.digests import form as digest_form
from bot.features.digests import views
from bot.features.digests.channels import channel_of, digest_channel, require_access, require_member
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
from bot.features.digests.digests import Digests, DigestSettings
from bot.features.digests.runs import DigestRuns
from bot.features.digests.schedules import Schedule, zones_matching
from bot.features.help import views as help_views
from bot.features.home.handlers import HomeHandlers
from bot.features.issues.fields import choices_of
from bot.features.name_matching import pick
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import Projects
from bot.service.models import Project, Ref
from bot.slack import forms, posting
from bot.slack.blocks import JSON, Message, option
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading, number_in
from bot.slack.grammar.requests import Help
from bot.slack.interaction import (
    ButtonPress,
    FormSubmission,
    OptionsRequest,
    SlashCommand,
)
from bot.slack.posting import SLACK_FAILED
from bot.slack.replies import Reply
from bot.store.deliveries import Deliveries
from bot.store.digest_runs import RunState
from bot.store.digests import Choice, Digest

DOUBLE_CLICK = timedelta(seconds=5)
Action = DigestNow | PauseDigest | ResumeDigest | TakeOverDigest | RemoveDigest
BUTTONS: dict[str, Callable[[int], Action]] = {
    "digest.now": DigestNow,
    "digest.pause": PauseDigest,
    "digest.resume": ResumeDigest,
    "digest.take_over": TakeOverDigest,
    "digest.remove": RemoveDigest,
}


class DigestHandlers:
    """Handles `/digest`, its forms and the buttons of digests."""

    def __init__(
        self,
        digests: Digests,
        runs: DigestRuns,
        accounts: Accounts,
        projects: Projects,
        catalogs: Catalogs,
        *,
        deliveries: Deliveries,
        home: HomeHandlers,
    ) -> None:
        self._digests = digests
        self._runs = runs
        self._accounts = accounts
        self._projects = projects
        self._catalogs = catalogs
        self._deliveries = deliveries
        self._home = home

    def feature(self) -> Feature:
        reading = "Looking at the project in {service}…"
        return Feature(
            commands={"digest": self.command},
            buttons={
                "digest.add": self.add_pressed,
                "digest.change": self.change_pressed,
                "digest.undo": self.undo_pressed,
                **dict.fromkeys(BUTTONS, self.action_pressed),
            },
            forms={
                "digest.add": Form(self.submit, reading),
                "digest.change": Form(self.submit_change, reading),
            },
            options={
                "digest.zone": self.zone_options,
                **{f"digest.{kind}": self.choice_options for kind in digest_form.KINDS},
            },
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/digest …`."""
        match digest_command(command.text):
            case ListDigests():
                await self.show(reply)
            case AddDigest(schedule=Schedule() as schedule) as request:
                await self.add(reply, request, schedule)
            case AddDigest() as request:
                await self.open_add(reply, request)
            case ChangeDigest() as request:
                await self.open_change(reply, request.id)
            case Help():
                await reply.privately(help_views.of("digest", reply.wording.command))
            case action:
                await reply.privately(await self.run(reply, action))

    async def show(self, reply: Reply, said: Message | None = None, *, replace: bool = False) -> None:
        """Show the channel's digests below `said`, the result of the last action."""
        found = await self._digests.listed(channel_of(reply))
        await reply.privately(views.listing(found, reply.owner, reply.wording.command, said), replace=replace)

    # Acting on a digest

    async def action_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """A digest's button. The list replaces a message that only this user sees; other messages stay."""
        number, _, agreed = press.value.partition(":")
        action = BUTTONS[press.name](number_in(number))
        await self._show_result(reply, await self.run(reply, action, agreed))

    async def undo_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """*Undo*: restore a removed digest, for anyone who may remove it."""
        digests, number = self._digests, number_in(press.value)
        digest = await digests.removed(reply.owner, reply.channel, number)
        await require_access(reply, digest)
        await digest_channel(reply, digest.channel_id)
        restored = await digests.restore(reply.owner, reply.channel, number)
        said = views.text_message(views.restored(restored, reply.owner, reply.wording.command))
        await _notify_owner(reply, digest, "restored")
        await self._show_result(reply, said)

    async def _show_result(self, reply: Reply, said: Message) -> None:
        if reply.place.home:
            try:
                await self._home.show(reply, None, again=True)
            except SLACK_FAILED:
                await reply.privately(said)
        elif _ephemeral(reply):
            await self.show(reply, said, replace=True)
        else:
            await reply.privately(said)

    async def run(self, reply: Reply, action: Action, agreed: str = "") -> Message:
        """Act on a digest; the result as a message.

        Someone else's digest is removed or taken over only if `agreed` is its current owner, whom the user
        was asked about.
        """
        digests, user, channel = self._digests, reply.owner, reply.channel
        match action:
            case DigestNow():
                return views.text_message(await self.run_now(reply, action.id))
            case PauseDigest():
                digest = await self._find(reply, action.id)
                paused = await digests.pause(user, channel, digest.id)
                return views.text_message(views.paused(paused, user, reply.wording.command))
            case ResumeDigest():
                digest = await self._find(reply, action.id)
                await digest_channel(reply, digest.channel_id)
                return views.text_message(views.resumed(await digests.resume(user, channel, digest.id)))
            case TakeOverDigest():
                digest = await self._find(reply, action.id)
                await digest_channel(reply, digest.channel_id)
                if digest.owner != user and digest.owner.user_id != agreed:
                    return views.confirmation(digest, "take_over")
                taken = await digests.take_over(user, channel, digest.id)
                await _notify_owner(reply, digest, "took over")
                return views.text_message(views.taken_over(taken))
            case RemoveDigest():
                digest = await self._find(reply, action.id)
                if digest.owner != user and digest.owner.user_id != agreed:
                    return views.confirmation(digest, "remove")
                removed = await digests.remove(user, channel, digest.id)
                await _notify_owner(reply, removed, "removed")
                return views.removed(removed, reply.wording.command)

    async def run_now(self, reply: Reply, digest_id: int | None) -> str:
        """Post a digest's new issues without waiting for the next due time; the result in mrkdwn."""
        digest = await self._find(reply, digest_id)
        if digest.paused:
            raise UserError(f"Digest {digest.id} stands still: `/digest resume {digest.id}` first.")
        if not await self._deliveries.claim_for(f"digest:{digest.id}", DOUBLE_CLICK):
            raise UserError(f"Digest {digest.id} was asked for a moment ago: try again in ten seconds.")
        try:
            state = await self._runs.run_now(digest)
        except NotLinked:
            if digest.owner == reply.owner:
                raise
            raise UserError(
                f"It runs with the key of {digest.owner_name}, which no longer works: `/digest take over "
                f"{digest.id}` makes it yours."
            ) from None
        stopped = ""
        if state is RunState.DROPPED:
            after = await self._digests.one(reply.owner, reply.channel, digest.id)
            stopped = views.why(after, reply.owner, reply.wording.command) if after.paused else ""
        return views.run_result(digest, state, stopped, reply.wording.service)

    async def _find(self, reply: Reply, digest_id: int | None) -> Digest:
        """A digest that the user may act on: someone else's only while they are in its channel."""
        try:
            digest = await self._digests.one(reply.owner, reply.channel, digest_id)
        except UserError:  # the error may name the channel's digests, and a form's place can be forged
            if reply.channel and isinstance(reply.interaction, FormSubmission):
                await require_member(reply, reply.channel.channel_id)
            raise
        await require_access(reply, digest)
        return digest

    # Adding

    async def add(self, reply: Reply, request: AddDigest, schedule: Schedule) -> None:
        """Add a digest straight from a command, and confirm its settings privately."""
        channel = await digest_channel(reply, reply.place.channel_id)
        wanted = DigestSettings(
            project=request.project,
            schedule=schedule,
            zone=request.zone or (await reply.profile()).zone.key,
            tracker=request.tracker,
            priority=request.priority,
            category=request.category,
            group=request.group or "tracker",
            empty=request.empty,
        )
        await reply.privately(views.added(await self._digests.add(reply.owner, channel, wanted)))

    async def add_pressed(self, _: ButtonPress[Any], reply: Reply) -> None:
        """*Add a digest*."""
        await self.open_add(reply, AddDigest())

    async def open_add(self, reply: Reply, request: AddDigest) -> None:
        """Open the form, then fill it from the command; errors in the command appear above the fields."""
        await reply.open(loading("New digest"))
        channel_id = reply.place.channel_id
        errors: list[str] = []
        try:
            await digest_channel(reply, channel_id)
        except UserError as error:
            channel_id = None
            errors.append(reply.wording.sentence(error))
        async with self._accounts.reading(reply.owner) as session:
            project = await self._project(reply, session, request.project, errors)
            chosen = await self._chosen(reply, session, request, project, errors)
        filled = digest_form.Filled(
            zone=request.zone or (await reply.profile()).zone.key,
            project=Choice(project.id, project.name) if project else None,
            group=request.group or "tracker",
            empty=request.empty,
            chosen=chosen,
        )
        metadata = json.dumps({"place": reply.place.as_json()})
        await reply.show(digest_form.add_form(filled, channel_id, metadata, " ".join(errors) or None))

    async def _project(
        self, reply: Reply, session: Session, wanted: str | None, errors: list[str]
    ) -> Project | None:
        try:
            return await self._projects.chosen(session, wanted, reply.channel)
        except UserError as error:
            if wanted is not None:
                errors.append(reply.wording.sentence(error))
            return None

    async def _chosen(
        self, reply: Reply, session: Session, request: AddDigest, project: Project | None, errors: list[str]
    ) -> dict[str, tuple[Choice, ...]]:
        typed = {"tracker": request.tracker, "priority": request.priority, "category": request.category}
        if not any(typed.values()):
            return {}
        known = choices_of(await self._catalogs.of(session, project.id if project else None))

        def found(kind: str, names: Iterable[str]) -> Iterable[Ref]:
            for name in names:
                try:
                    yield pick(kind, name, known[kind])
                except UserError as error:
                    errors.append(reply.wording.sentence(error))

        return {
            kind: tuple(Choice(ref.id, ref.name) for ref in found(kind, names))
            for kind, names in typed.items()
        }

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Add the digest, and confirm its settings privately."""
        view = form.view.json
        try:
            wanted = digest_form.submitted(view)
        except UserError as error:
            return FormResult(errors={"schedule": reply.wording.sentence(error)})
        try:
            channel = await digest_channel(reply, forms.Values(view).conversation("channel"))
            await require_member(reply, channel.channel_id)
        except UserError as error:
            return FormResult(errors={"channel": reply.wording.sentence(error)})
        try:
            if errors := await self._other_projects_choices(reply, view):
                return FormResult(errors=errors)
            planned = await self._digests.add(reply.owner, channel, wanted)
        except NotLinked:
            raise
        except UserError as error:
            return FormResult(errors={"project": reply.wording.sentence(error)})

        async def confirm() -> None:
            await reply.privately(views.added(planned))

        return FormResult(then=confirm)

    async def _other_projects_choices(self, reply: Reply, view: JSON) -> dict[str, str]:
        """Errors at choices made before the project was changed to one that doesn't have them."""
        values = forms.Values(view)
        project = values.number("project")
        if project is None or not any(values.all_chosen(kind) for kind in digest_form.KINDS):
            return {}
        known = choices_of(await self._digests.catalog(reply.owner, project))
        ids = {kind: [ref.id for ref in known[kind]] for kind in digest_form.KINDS}
        return digest_form.unknown_choices(view, ids)

    # Changing

    async def change_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """*Change*."""
        await self.open_change(reply, number_in(press.value))

    async def open_change(self, reply: Reply, digest_id: int | None) -> None:
        """Open the form with the digest's current settings."""
        await reply.open(loading("Change digest"))
        digest = await self._find(reply, digest_id)
        metadata = {
            "digest": digest.id,
            "project": digest.plan.project_id,
            "place": reply.place.as_json(),
            "replace": _ephemeral(reply),
        }
        await reply.show(digest_form.change_form(digest, json.dumps(metadata)))

    async def submit_change(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the digest, and show the result in place of the list that the form was opened from."""
        metadata = form.view.metadata
        try:
            wanted = digest_form.submitted(form.view.json)
        except UserError as error:
            return FormResult(errors={"schedule": reply.wording.sentence(error)})
        digest = await self._find(reply, number_in(metadata.get("digest")))
        planned = await self._digests.change(reply.owner, channel_of(reply), digest.id, wanted)

        async def confirm() -> None:
            said = views.text_message(views.changed(planned))
            if metadata.get("replace") and reply.place.channel_id == planned.digest.channel_id:
                await self.show(reply, said, replace=True)
            else:
                await reply.privately(said)

        return FormResult(then=confirm)

    # Options of the form's selects

    async def zone_options(self, request: OptionsRequest, _: Reply) -> list[JSON]:
        """Time zones whose name contains the text."""
        return [option(zone, zone) for zone in zones_matching(request.text)]

    async def choice_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """The project's trackers, priorities or categories; none until a project is chosen."""
        view = request.view
        project = (
            (forms.Values(view.json).chosen("project") or view.metadata.get("project")) if view else None
        )
        if project is None:
            return []
        catalog = await self._digests.catalog(reply.owner, number_in(project))
        kind = request.name.partition(".")[2]
        sought = request.text.strip().casefold()
        return [
            option(ref.name, str(ref.id))
            for ref in choices_of(catalog)[kind]
            if sought in ref.name.casefold()
        ]


async def _notify_owner(
    reply: Reply, digest: Digest, done: Literal["removed", "restored", "took over"]
) -> None:
    """Tell a digest's owner what someone else did with it."""
    if digest.owner != reply.owner:
        message = views.owner_notice(digest, reply.owner.user_id, done)
        await posting.to_person(reply.slack, digest.owner.user_id, message)


def _ephemeral(reply: Reply) -> bool:
    """Whether the pressed button is in a message that only this user sees."""
    return isinstance(reply.interaction, ButtonPress) and reply.interaction.ephemeral
