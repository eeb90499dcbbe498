"""`/digest`: lists, adds and changes a channel's digests, and handles their buttons."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

from bot.errors import BotError, NotLinked, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.digests import form as digest_form
from bot.features.digests import message as digest_message
from bot.features.digests import views
from bot.features.digests.buttons import (
    Act,
    ChooseProject,
    ChooseSchedule,
    DigestButton,
    OpenAddForm,
    OpenChangeForm,
    OpenFilledForm,
    PauseDigest,
    PostNow,
    PreviewDigest,
    PreviewForm,
    RemoveDigest,
    RestoreDigest,
    ResumeDigest,
    TakeOverDigest,
)
from bot.features.digests.channels import channel_of, digest_channel, require_access, require_member
from bot.features.digests.commands import AddDigest, ListDigests, OnDigest, collected, digest_command
from bot.features.digests.digests import Digests, DigestSettings, Preview, choices_of, picked
from bot.features.digests.errors import DigestPaused, NeverDue, OwnersKeyRejected, RepeatedRequest, TooOften
from bot.features.digests.form import DigestMetadata
from bot.features.digests.reasons import why_paused
from bot.features.digests.runs import DigestRuns
from bot.features.digests.schedules import ScheduleError, zones_matching
from bot.features.help import views as help_views
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import ProjectNotChosen, Projects
from bot.service.models import Project
from bot.slack import forms, posting
from bot.slack.blocks import JSON, Block, Message, button_row, option, sentence
from bot.slack.buttons import ActionExpired
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.grammar.errors import UnknownWord
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
from bot.store.digests import FILTER_KINDS, Choice, Digest, FilterKind
from bot.store.saved_input import SavedInput

DOUBLE_CLICK = timedelta(seconds=5)
ACT_BUTTONS = (PostNow, PauseDigest, ResumeDigest, TakeOverDigest, RemoveDigest)


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
        saved: SavedInput,
        deliveries: Deliveries,
        publish_home: Callable[[Reply], Awaitable[None]],
    ) -> None:
        self._digests = digests
        self._runs = runs
        self._accounts = accounts
        self._projects = projects
        self._catalogs = catalogs
        self._saved = saved
        self._deliveries = deliveries
        self._publish_home = publish_home

    def feature(self) -> Feature:
        reading = "Reading the project in {service}…"
        return Feature(
            commands={"digest": self.command},
            buttons={
                OpenAddForm: self.add_pressed,
                OpenFilledForm: self.filled_form_pressed,
                ChooseProject: self.project_chosen,
                ChooseSchedule: self.schedule_chosen,
                OpenChangeForm: self.change_pressed,
                RestoreDigest: self.restore_pressed,
                PreviewForm: self.preview_pressed,
                PreviewDigest: self.preview_pressed,
                **dict.fromkeys(ACT_BUTTONS, self.act_pressed),
            },
            forms={
                "digest.add": Form(self.submit, reading),
                "digest.change": Form(self.submit_change, reading),
            },
            options={
                "digest.zone": self.zone_options,
                **{f"digest.{kind}": self.choice_options for kind in FILTER_KINDS},
            },
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/digest …`."""
        try:
            request = digest_command(command.text)
        except UnknownWord as error:
            await self.show(reply, sentence(reply.wording.sentence(error)))
            return
        match request:
            case ListDigests():
                await self.show(reply)
            case AddDigest(schedule=None, problems=()):
                await self.open_add(reply, request)
            case AddDigest():
                await self.add(reply, request, command.text)
            case OnDigest(Act.CHANGE, number):
                await self.open_change(reply, number)
            case Help():
                await reply.privately(help_views.of("digest", reply.wording.command))
            case OnDigest(act, number):
                await reply.privately(await self.run(reply, act, number))

    async def show(self, reply: Reply, said: Message | None = None, *, replace: bool = False) -> None:
        """Show the channel's digests below `said`, the result of the last action."""
        found = await self._digests.listed(channel_of(reply))
        await reply.privately(views.listing(found, reply.owner, reply.wording, said), replace=replace)

    # Acting on a digest

    async def act_pressed(self, press: ButtonPress[DigestButton], reply: Reply) -> None:
        """A digest's button. The list replaces a message that only this user sees; other messages stay."""
        button = press.button
        await self._show_result(reply, await self.run(reply, Act(button.action), button.digest, button.owner))

    async def restore_pressed(self, press: ButtonPress[RestoreDigest], reply: Reply) -> None:
        """*Undo*: restore a removed digest, for anyone who may remove it."""
        digest = await self._digests.removed(reply.owner, reply.channel, press.button.digest)
        await require_access(reply, digest)
        await digest_channel(reply, digest.channel_id)
        restored = await self._digests.restore(digest)
        said = views.text_message(views.restored(restored, reply.owner, reply.wording))
        await _notify_owner(reply, digest, Act.RESTORE)
        await self._show_result(reply, said)

    async def _show_result(self, reply: Reply, said: Message) -> None:
        if reply.place.home:
            try:
                await self._publish_home(reply)
            except SLACK_FAILED:
                await reply.privately(said)
        elif _ephemeral(reply):
            await self.show(reply, said, replace=True)
        else:
            await reply.privately(said)

    async def run(self, reply: Reply, act: Act, digest_id: int | None, agreed: str = "") -> Message:
        """Act on a digest; the result as a message.

        Someone else's digest needs `agreed` to be its current owner, whom the user was asked about.
        """
        user, wording = reply.owner, reply.wording
        digest = await self._find(reply, digest_id)
        if act in {Act.RESUME, Act.TAKE_OVER}:
            await digest_channel(reply, digest.channel_id)
        if digest.owner != user and agreed != digest.owner.user_id:
            return views.confirmation(digest, act)
        match act:
            case Act.PAUSE:
                said = views.text_message(views.paused(await self._digests.pause(digest), user, wording))
            case Act.RESUME:
                said = views.text_message(views.resumed(await self._digests.resume(user, digest)))
            case Act.TAKE_OVER:
                taken = await self._digests.take_over(user, digest)
                said = views.text_message(views.taken_over(taken, wording.service))
            case Act.REMOVE:
                await self._digests.remove(digest)
                said = views.removed(digest, wording)
            case _:
                state = await self._run_now(reply, digest)
                if state in {RunState.EMPTY, RunState.DROPPED}:
                    return views.text_message(await self._not_posted(reply, digest, state))
                said = views.text_message(views.run_result(digest, state, "", wording.service))
        if not (act is Act.PAUSE and digest.paused):
            await _notify_owner(reply, digest, act)
        return said

    async def _run_now(self, reply: Reply, digest: Digest) -> RunState | None:
        """Post a digest's new issues without waiting for the next due time."""
        if digest.paused:
            raise DigestPaused(digest.id)
        if not await self._deliveries.claim_for(f"digest:{digest.id}", DOUBLE_CLICK):
            raise RepeatedRequest(digest.id)
        try:
            return await self._runs.run_now(digest)
        except NotLinked:
            if digest.owner == reply.owner:
                raise
            raise OwnersKeyRejected(digest.id, digest.owner_name) from None

    async def _not_posted(self, reply: Reply, digest: Digest, state: RunState) -> str:
        stopped = ""
        if state is RunState.DROPPED:
            after = await self._digests.one(reply.owner, reply.channel, digest.id)
            stopped = why_paused(after, reply.owner, reply.wording) if after.paused else ""
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

    async def add(
        self,
        reply: Reply,
        request: AddDigest,
        typed: str,
        project: str | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Add a digest straight from a command, and confirm its settings privately.

        An error offers the form, filled from what was `typed`; without a project, the user is asked for it.
        """

        async def offer_form(_: BotError) -> Block:
            return button_row("Open form", OpenFilledForm(saved=await self._save(reply, typed)))

        reply.recovery = offer_form
        if request.problems:
            raise request.problems[0]
        channel = await digest_channel(reply, reply.place.channel_id)
        zone = request.zone or (await reply.profile()).zone.key
        wanted = DigestSettings(
            project=project or request.project,
            schedule=request.schedule or digest_form.DEFAULT_SCHEDULE,
            zone=zone,
            filters=request.filters,
            group=request.group,
            empty=request.empty,
        )
        try:
            planned = await self._digests.add(reply.owner, channel, wanted)
        except ProjectNotChosen as error:
            if len(error.projects) > forms.LIST:
                raise
            saved = await self._save(reply, typed)
            await reply.privately(views.which_project(wanted, error.projects, saved))
        else:
            await reply.privately(views.added(planned, reply.wording.service), replace=replace)

    async def project_chosen(self, press: ButtonPress[ChooseProject], reply: Reply) -> None:
        """The project for a command without one: add the digest."""
        request, typed = await self._saved_command(reply, press.button.saved)
        await self.add(reply, request, typed, f"#{press.button.project}", replace=True)

    async def filled_form_pressed(self, press: ButtonPress[OpenFilledForm], reply: Reply) -> None:
        """*Open form*: what was understood of a command."""
        await reply.open(loading("New digest"))
        request, _ = await self._saved_command(reply, press.button.saved)
        await self.open_add(reply, request)

    async def _save(self, reply: Reply, typed: str) -> str:
        return await self._saved.put(reply.owner, {"digest": typed})

    async def _saved_command(self, reply: Reply, saved: str) -> tuple[AddDigest, str]:
        match await self._saved.get(reply.owner, saved):
            case {"digest": str(typed)}:
                request = digest_command(typed)
                if isinstance(request, AddDigest):
                    return request, typed
        raise ActionExpired

    async def add_pressed(self, _: ButtonPress[OpenAddForm], reply: Reply) -> None:
        """*Add digest*."""
        await self.open_add(reply, AddDigest())

    async def open_add(self, reply: Reply, request: AddDigest) -> None:
        """Open the form, then fill it from the command; errors in the command appear above the fields."""
        if not reply.view_id:
            await reply.open(loading("New digest"))
        errors = list(request.problems)
        channel_id, project = None, None
        with collected(errors):
            channel_id = (await digest_channel(reply, reply.place.channel_id)).channel_id
        async with self._accounts.reading(reply.owner) as session:
            with collected(errors if request.project else []):
                project = await self._projects.chosen(session, request.project, reply.channel)
            chosen = await self._chosen(session, request, project, errors)
        filled = digest_form.Filled(
            zone=request.zone or (await reply.profile()).zone.key,
            project=Choice(project.id, project.name) if project else None,
            schedule=request.schedule or digest_form.DEFAULT_SCHEDULE,
            group=request.group,
            empty=request.empty,
            filters=chosen,
        )
        said = " ".join(map(reply.wording.sentence, errors))
        metadata = DigestMetadata(place=reply.place.as_json())
        await reply.show(digest_form.add_form(filled, channel_id, metadata, said or None))

    async def _chosen(
        self, session: Session, request: AddDigest, project: Project | None, errors: list[UserError]
    ) -> dict[FilterKind, tuple[Choice, ...]]:
        if not request.filters:
            return {}
        known = choices_of(await self._catalogs.of(session, project.id if project else None))
        chosen: dict[FilterKind, tuple[Choice, ...]] = dict.fromkeys(request.filters, ())
        for kind, names in request.filters.items():
            for name in names:
                with collected(errors):
                    chosen[kind] += (picked(kind, name, known),)
        return chosen

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Add the digest, and confirm its settings privately."""
        view = form.view.json
        try:
            channel = await digest_channel(reply, forms.Values(view).conversation("channel"))
            await require_member(reply, channel.channel_id)
        except UserError as error:
            return FormResult(errors={"channel": reply.wording.sentence(error)})
        try:
            wanted = digest_form.submitted(view)
            if errors := await self._other_projects_choices(reply, view):
                return FormResult(errors=errors)
            planned = await self._digests.add(reply.owner, channel, wanted)
        except NotLinked:
            raise
        except UserError as error:
            return FormResult(errors={digest_form.field_of(error, view): reply.wording.sentence(error)})

        async def confirm() -> None:
            await reply.privately(views.added(planned, reply.wording.service))

        return FormResult(then=confirm)

    async def schedule_chosen(self, press: ButtonPress[ChooseSchedule], reply: Reply) -> None:
        """Another kind of schedule was chosen: show its fields."""
        if press.view is None:
            raise ActionExpired
        await reply.show(digest_form.rescheduled(press.view.json, press.button.kind))

    async def preview_pressed(self, press: ButtonPress[PreviewDigest | PreviewForm], reply: Reply) -> None:
        """*Preview*, in the list and in the form."""
        await reply.open(loading("Preview"))
        try:
            preview = await self._preview(press, reply)
        except NotLinked:
            raise
        except UserError as error:  # the form below has to stay as it is
            await reply.say(reply.wording.sentence(error), title="Preview")
        else:
            await reply.show(forms.said("Preview", digest_message.preview(preview, reply.wording)))

    async def _preview(self, press: ButtonPress[PreviewDigest | PreviewForm], reply: Reply) -> Preview:
        if isinstance(press.button, PreviewDigest):
            return await self._digests.preview_of(reply.owner, await self._find(reply, press.button.digest))
        if press.view is None:
            raise ActionExpired
        wanted = digest_form.submitted(press.view.json)
        if project := DigestMetadata.of(press.view).project:
            wanted = replace(wanted, project=f"#{project}")
        return await self._digests.preview(reply.owner, wanted, reply.channel)

    async def _other_projects_choices(self, reply: Reply, view: JSON) -> dict[str, str]:
        """Errors at choices made before the project was changed to one that doesn't have them."""
        values = forms.Values(view)
        project = values.number("project")
        if project is None or not any(values.all_chosen(kind) for kind in FILTER_KINDS):
            return {}
        return digest_form.unknown_choices(view, await self._digests.choices(reply.owner, project))

    # Changing

    async def change_pressed(self, press: ButtonPress[OpenChangeForm], reply: Reply) -> None:
        """*Edit*."""
        await self.open_change(reply, press.button.digest)

    async def open_change(self, reply: Reply, digest_id: int | None) -> None:
        """Open the form with the digest's current settings."""
        await reply.open(loading("Edit digest"))
        digest = await self._find(reply, digest_id)
        metadata = DigestMetadata(
            place=reply.place.as_json(),
            digest=digest.id,
            project=digest.plan.project_id,
            replace=_ephemeral(reply),
            owner=digest.owner.user_id,
        )
        await reply.show(digest_form.change_form(digest, metadata, mine=digest.owner == reply.owner))

    async def submit_change(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the digest, and show the result in place of the list that the form was opened from."""
        metadata = DigestMetadata.of(form.view)
        if metadata.digest is None:
            raise ActionExpired
        digest = await self._find(reply, metadata.digest)
        if reply.owner != digest.owner and metadata.owner != digest.owner.user_id:
            said = f"This digest belongs to {digest.owner_name} now, who will be notified of your changes."
            agreed = metadata.model_copy(update={"owner": digest.owner.user_id}).dump()
            return FormResult(view=forms.refilled(form.view.json, said, agreed), said=said)
        try:
            planned = await self._digests.change(reply.owner, digest, digest_form.submitted(form.view.json))
        except (ScheduleError, TooOften, NeverDue) as error:
            field = digest_form.field_of(error, form.view.json)
            return FormResult(errors={field: reply.wording.sentence(error)})

        async def confirm() -> None:
            await _notify_owner(reply, planned.digest, Act.CHANGE)
            said = views.text_message(views.changed(planned))
            if metadata.replace and reply.place.channel_id == planned.digest.channel_id:
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
        if request.view is None:
            return []
        chosen = forms.Values(request.view.json).number("project")
        project = chosen or DigestMetadata.of(request.view).project
        if project is None:
            return []
        choices = await self._digests.choices(reply.owner, project)
        refs = next(refs for kind, refs in choices.items() if request.name == f"digest.{kind}")
        sought = request.text.strip().casefold()
        return [option(ref.name, str(ref.id)) for ref in refs if sought in ref.name.casefold()]


async def _notify_owner(reply: Reply, digest: Digest, act: Act) -> None:
    """Tell a digest's owner what someone else did with it."""
    if digest.owner != reply.owner:
        message = views.owner_notice(digest, reply.owner.user_id, act)
        await posting.to_person(reply.slack, digest.owner.user_id, message)


def _ephemeral(reply: Reply) -> bool:
    """Whether the pressed button is in a message that only this user sees."""
    return isinstance(reply.interaction, ButtonPress) and reply.interaction.ephemeral
