"""The forms that add and change digests, with their selects and *Preview*."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.access.accounts import Accounts
from bot.access.projects import ProjectNotChosen, Projects
from bot.errors import BotError, NotLinked, Unauthorized, UserError
from bot.features.digests import form as digest_form
from bot.features.digests import views
from bot.features.digests.buttons import (
    Act,
    ChooseSchedule,
    OpenAddForm,
    OpenChangeForm,
    PreviewDigest,
    PreviewForm,
    SetUpPersonal,
)
from bot.features.digests.channels import (
    channel_of,
    digest_channel,
    direct_messages,
    find_digest,
    require_member,
)
from bot.features.digests.commands import AddDigest, PersonalDigest
from bot.features.digests.digests import Digests, Preview
from bot.features.digests.form import DigestMetadata
from bot.features.digests.plans import collected
from bot.features.digests.schedules import ScheduleError, zones_matching
from bot.slack.incoming.feature import Feature, Form
from bot.slack.incoming.interaction import ButtonPress, FormSubmission, OptionsRequest
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Message, option
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.forms import FormResult, loading
from bot.store.digest_plans import Plan
from bot.store.digests import Digest


async def show_list(
    reply: Reply, digests: Digests, said: Message | None = None, *, replace: bool = False
) -> None:
    """Show the channel's digests below `said`, the result of the last action."""
    found = await digests.listed(channel_of(reply))
    await reply.privately(views.listing(found, reply.owner, reply.wording, said), replace=replace)


async def notify_owner(reply: Reply, digest: Digest, act: Act) -> None:
    if digest.owner != reply.owner:
        message = views.owner_notice(digest, reply.owner.user_id, act)
        await reply.platform.outbox.tell(digest.owner, message)


async def in_own_zone(plan: Plan, reply: Reply) -> Plan:
    """The plan, in the user's time zone unless it names another."""
    return plan if plan.zone else replace(plan, zone=(await reply.profile()).zone.key)


def ephemeral(reply: Reply) -> bool:
    """Whether the pressed button is in a message that only this user sees."""
    return isinstance(reply.interaction, ButtonPress) and reply.interaction.ephemeral


@dataclass(frozen=True)
class DigestForms:
    digests: Digests
    accounts: Accounts
    projects: Projects

    def feature(self) -> Feature:
        reading = "Reading the project in {service}…"
        return Feature(
            buttons={
                OpenAddForm: self.add_pressed,
                ChooseSchedule: self.schedule_chosen,
                OpenChangeForm: self.change_pressed,
                SetUpPersonal: self.set_up_pressed,
                PreviewForm: self.preview_pressed,
                PreviewDigest: self.preview_pressed,
            },
            forms={
                "digest.add": Form(self.submit, reading),
                "digest.change": Form(self.submit_change, reading),
                "digest.me": Form(self.submit_personal, "Reading your issues in {service}…"),
            },
            options={
                "digest.zone": self.zone_options,
                **{f"digest.{field}": self.choice_options for field in digest_form.CHOICE_FIELDS},
            },
        )

    async def add_pressed(self, _: ButtonPress[OpenAddForm], reply: Reply) -> None:
        await self.open_add(reply, AddDigest())

    async def open_add(self, reply: Reply, request: AddDigest) -> None:
        """Open the form, then fill it from the command; errors in the command appear above the fields."""
        if not reply.view_id:
            await reply.open(loading("New digest"))
        problems = list(request.problems)
        channel_id, project = None, None
        with collected(problems):
            channel_id = (await digest_channel(reply, reply.place.channel_id)).channel_id
        async with self.accounts.reading(reply.owner) as session:
            with collected(problems if request.wanted.project else []):
                project = await self.projects.chosen(session, request.wanted.project, reply.channel)
            plan = await self.digests.plans.of(session, project, request.wanted, problems)
        plan = await in_own_zone(plan, reply)
        metadata = DigestMetadata(place=reply.place.as_json())
        await self._show(reply, digest_form.add_form(plan, channel_id, metadata), problems)

    async def _show(self, reply: Reply, form: JSON, problems: Sequence[UserError]) -> None:
        said = " ".join(map(reply.wording.sentence, problems))
        await reply.show(forms.warned(form, said) if said else form)

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
            planned = await self.digests.add(reply.owner, channel, wanted)
        except NotLinked:
            raise
        except UserError as error:
            return FormResult(errors={digest_form.field_of(error, view): reply.wording.sentence(error)})

        return FormResult(then=partial(reply.privately, views.added(planned, reply.wording.service)))

    async def schedule_chosen(self, press: ButtonPress[ChooseSchedule], reply: Reply) -> None:
        if press.view is None:
            raise ActionExpired
        await reply.show(digest_form.rescheduled(press.view, press.button.kind))

    async def preview_pressed(self, press: ButtonPress[PreviewDigest | PreviewForm], reply: Reply) -> None:
        """*Preview*, in the list and in the form."""
        await reply.open(loading("Preview"))
        try:
            preview = await self._preview(press, reply)
        except (NotLinked, Unauthorized):
            raise
        except ProjectNotChosen:
            await reply.say(views.CHOOSE_PROJECT, title="Preview")
        except BotError as error:  # the form below has to stay as it is
            await reply.say(reply.wording.sentence(error), title="Preview")
        else:
            await reply.show(forms.said("Preview", views.preview(preview, reply.wording)))

    async def _preview(self, press: ButtonPress[PreviewDigest | PreviewForm], reply: Reply) -> Preview:
        if isinstance(press.button, PreviewDigest):
            digest = await find_digest(reply, self.digests, press.button.digest)
            return await self.digests.preview_of(reply.owner, digest)
        if press.view is None:
            raise ActionExpired
        metadata = DigestMetadata.of(press.view)
        if metadata.digest is None:
            return await self.digests.preview(
                reply.owner, digest_form.submitted(press.view.json), reply.channel
            )
        plan = (await find_digest(reply, self.digests, metadata.digest)).plan
        wanted = replace(digest_form.submitted_change(press.view, plan), project=f"#{plan.project_id}")
        return await self.digests.preview(reply.owner, wanted, reply.channel)

    async def _other_projects_choices(self, reply: Reply, view: JSON) -> dict[str, str]:
        """Errors at choices made before the project was changed to one that doesn't have them."""
        values = forms.Values(view)
        project = values.number("project")
        if project is None or not any(map(values.all_chosen, digest_form.CHOICE_FIELDS)):
            return {}
        return digest_form.unknown_choices(view, await self.digests.choices(reply.owner, project))

    # Changing

    async def change_pressed(self, press: ButtonPress[OpenChangeForm], reply: Reply) -> None:
        await self.open_change(reply, press.button.digest)

    async def open_change(self, reply: Reply, digest_id: int | None) -> None:
        """Open the form with the digest's current settings."""
        await reply.open(loading("Edit digest"))
        digest = await find_digest(reply, self.digests, digest_id)
        metadata = DigestMetadata(
            place=reply.place.as_json(),
            digest=digest.id,
            project=digest.plan.project_id,
            replace=ephemeral(reply),
            owner=digest.owner.user_id,
        )
        await reply.show(digest_form.change_form(digest, metadata, mine=digest.owner == reply.owner))

    async def submit_change(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the digest, and show the result in place of the list that the form was opened from."""
        metadata = DigestMetadata.of(form.view)
        if metadata.digest is None:
            raise ActionExpired
        digest = await find_digest(reply, self.digests, metadata.digest)
        if reply.owner != digest.owner and metadata.owner != digest.owner.user_id:
            said = f"{digest.owner_name} owns this digest now and will be notified of your changes."
            agreed = metadata.model_copy(update={"owner": digest.owner.user_id}).dump()
            return FormResult.again(form.view.json, said, agreed)
        try:
            wanted = digest_form.submitted_change(form.view, digest.plan)
            planned = await self.digests.change(reply.owner, digest, wanted)
        except ScheduleError as error:
            field = digest_form.field_of(error, form.view.json)
            return FormResult(errors={field: reply.wording.sentence(error)})

        async def confirm() -> None:
            await notify_owner(reply, planned.digest, Act.CHANGE)
            said = views.text_message(views.changed(planned))
            if metadata.replace and reply.place.channel_id == planned.digest.channel_id:
                await show_list(reply, self.digests, said, replace=True)
            else:
                await reply.privately(said)

        return FormResult(then=confirm)

    # A personal digest

    async def set_up_pressed(self, _: ButtonPress[SetUpPersonal], reply: Reply) -> None:
        await self.open_personal(reply, PersonalDigest())

    async def open_personal(self, reply: Reply, request: PersonalDigest) -> None:
        """Open the form with what was understood of a command, and its errors above the fields."""
        await reply.open(loading("My digest"))
        plan = await in_own_zone(request.plan, reply)
        form = digest_form.personal_form(plan, DigestMetadata(place=reply.place.as_json()))
        await self._show(reply, form, request.problems)

    async def submit_personal(self, form: FormSubmission, reply: Reply) -> FormResult:
        try:
            wanted = digest_form.submitted(form.view.json)
            channel = await direct_messages(reply)
            planned = await self.digests.set_up_personal(reply.owner, channel, wanted.plan)
        except NotLinked:
            raise
        except UserError as error:
            field = digest_form.field_of(error, form.view.json)
            return FormResult(errors={field: reply.wording.sentence(error)})
        listing = views.personal_listing(planned.digest, reply.wording, views.text_message(views.SET_UP))
        return FormResult(then=partial(reply.privately, listing))

    # Options of the form's selects

    async def zone_options(self, request: OptionsRequest, _: Reply) -> list[JSON]:
        return [option(zone, zone) for zone in zones_matching(request.text)]

    async def choice_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """What the project can be filtered by; none until a project is chosen."""
        if request.view is None:
            return []
        chosen = forms.Values(request.view.json).number("project")
        project = chosen or DigestMetadata.of(request.view).project
        if project is None:
            return []
        choices = await self.digests.choices(reply.owner, project)
        field = request.name.removeprefix("digest.")
        return digest_form.choice_options(field, choices, request.text.strip().casefold())
