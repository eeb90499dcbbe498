"""`/digest`: lists and adds digests, acts on them, and their forms."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

from bot.access.projects import ProjectNotChosen
from bot.errors import BotError, NotLinked, Unauthorized, UnknownWord, UserError, WrongField
from bot.features.digests import buttons, channels, commands, schedules, views
from bot.features.digests import form as digest_form
from bot.features.digests.buttons import (
    ACTS,
    DigestAction,
    DigestButton,
    OpenFilledForm,
    PreviewForm,
)
from bot.features.digests.digests import Digests, NotAgreed, Preview, owner_lost_access
from bot.features.digests.feeds import FeedRuns
from bot.features.digests.form import DigestMetadata
from bot.features.digests.plans import PlanDraft, collected
from bot.features.digests.runs import DigestRuns, RunResult
from bot.features.digests.schedules import ScheduleError
from bot.features.help import views as help_views
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature, Form
from bot.slack.language.values import Help
from bot.slack.outgoing.replies import DOUBLE_CLICK, Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Message, rows, sentence
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.forms import FormResult, loading
from bot.slack.surfaces.interaction import ButtonPress, FormSubmission, SlashCommand
from bot.slack.workspaces.slack_errors import SLACK_FAILED
from bot.slack_limits import MAX_SELECT_OPTIONS
from bot.spelling import squashed
from bot.store.digests import Digest
from bot.store.notices import NOTICE
from bot.store.plans import DIGEST, FEED, Plan


class DigestHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.digests = parts, parts.shared(Digests)
        self.runs, self.feeds = DigestRuns(parts), FeedRuns(parts)

    def feature(self) -> Feature:
        reading, choices = "Reading the project in {service}…", partial(digest_form.choices, self.digests)
        return Feature(
            commands={"digest": self.command},
            buttons={
                OpenFilledForm: self.filled_form_pressed,
                buttons.ChooseDigestProject: self.project_chosen,
                ACTS[DigestAction.CHANGE]: lambda press, reply: self.open_change(
                    reply, press.button.digest, press.button.schedule
                ),
                ACTS[DigestAction.NOW]: self.act_pressed,
                ACTS[DigestAction.PAUSE]: self.act_pressed,
                ACTS[DigestAction.PREVIEW]: self.preview_pressed,
                ACTS[DigestAction.REMOVE]: self.act_pressed,
                ACTS[DigestAction.RESTORE]: self.restore_pressed,
                ACTS[DigestAction.RESUME]: self.act_pressed,
                ACTS[DigestAction.TAKE_OWNERSHIP]: self.act_pressed,
                buttons.OpenAddForm: lambda _, reply: self.open_add(reply, commands.AddDigest()),
                buttons.SetUpPersonal: lambda _, reply: self.open_add(
                    reply, commands.AddDigest(PlanDraft(plan=Plan(kind="personal")))
                ),
                buttons.ReplacePersonal: self.replace_pressed,
                buttons.ChooseSchedule: self.schedule_chosen,
                PreviewForm: self.preview_pressed,
            },
            forms={
                "digest.add": Form(self.submit, reading),
                "digest.change": Form(self.submit_change, reading),
                "digest.me": Form(self.submit_personal, "Reading your issues in {service}…"),
            },
            options={
                "digest.zone": digest_form.zone_options,
                **{f"digest.{field}": choices for field in digest_form.CHOICE_FIELDS},
            },
            jobs={
                NOTICE: partial(channels.send_notice, self.parts),
                DIGEST: self.runs,
                FEED: self.feeds,
            },
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        try:
            request = await digest_form.read_command(self.parts, reply, command.text)
        except UnknownWord as error:
            result, buttons = sentence(reply.wording.sentence(error)), await reply.leading_on(error)
            result = replace(result, blocks=(*result.blocks, *rows(buttons)))
            await self._show(reply, result, personal=error.command == commands.ME)
            return
        match request:
            case commands.ListDigests():
                await self._show(reply)
            case commands.AddDigest(scheduled=False, problems=(), personal=True):
                await self._show(reply, personal=True)
            case commands.AddDigest(scheduled=False, problems=()):
                await self.open_add(reply, request)
            case commands.AddDigest():
                await self.add(reply, request, command.text)
            case commands.OnDigest(personal=True):
                digest = await self.digests.personal(reply.owner)
                if digest is None:
                    await self._show(reply, personal=True)
                else:
                    await self._act(reply, request.act, digest.id, request.schedule)
            case commands.OnDigest():
                await self._act_on(reply, request)
            case Help():
                await reply.privately(help_views.of("digest", reply.wording.command))

    async def _show(
        self, reply: Reply, result: Message | None = None, *, personal: bool = False, replace: bool = False
    ) -> None:
        """Show the channel's digests, or the user's own, below `result`, the result of the last action."""
        if personal:
            own = await self.digests.personal(reply.owner)
            message = views.personal_listing(own, reply.wording, result)
        elif reply.channel is None:
            raise UserError("Digests belong to channels. Type `{/digest}` in one.")
        else:
            digests = await self.parts.store.digests.in_channel(reply.channel)
            message = views.listing(digests, reply.owner, reply.wording, result)
        await reply.privately(message, replace=replace)

    # Acting on a digest

    async def _act_on(self, reply: Reply, request: commands.OnDigest) -> None:
        """Act on the digest with the number or the project, or on the channel's only one; else ask which."""
        if request.id is not None:
            await self._act(reply, request.act, request.id, request.schedule)
            return
        here = await channels.digests_here(reply, self.parts.store.digests)
        named = [one for one in here if squashed(one.plan.project).startswith(squashed(request.named))]
        if len(named) == 1:
            await self._act(reply, request.act, named[0].id, request.schedule)
        else:
            await reply.privately(views.which_digest(named or here, request.act, request.schedule))

    async def _act(self, reply: Reply, act: DigestAction, digest_id: int, schedule: str = "") -> None:
        if act is DigestAction.PREVIEW:
            preview = await self._previewed(reply, digest_id)
            await reply.privately(Message("Preview", tuple(views.preview(preview, reply.wording))))
        elif act is DigestAction.CHANGE:
            await self.open_change(reply, digest_id, schedule)
        else:
            result, digest = await self.run(reply, ACTS[act](digest=digest_id))
            await reply.privately(result)
            await _notify_owner(reply, digest, act)

    async def act_pressed(self, press: ButtonPress[DigestButton], reply: Reply) -> None:
        """A digest's button. The list replaces a message that only this user sees; other messages stay."""
        result, digest = await self.run(reply, press.button)
        await self._show_result(reply, result, personal=press.button.personal)
        await _notify_owner(reply, digest, DigestAction(press.button.action))

    async def restore_pressed(self, press: ButtonPress[DigestButton], reply: Reply) -> None:
        digest = await self.digests.removed(reply.owner, reply.channel, press.button.digest)
        await channels.require_access(reply, digest)
        await channels.digest_channel(reply, digest.channel_id)
        restored = await self.digests.restore(digest)
        result = views.text_message(views.restored(restored, reply.owner, reply.wording))
        await self._show_result(reply, result, personal=digest.personal)
        await _notify_owner(reply, digest, DigestAction.RESTORE)

    async def _show_result(self, reply: Reply, result: Message, *, personal: bool) -> None:
        if reply.place.home:
            try:
                await reply.platform.publish_home(reply)
            except SLACK_FAILED:
                await reply.privately(result)
        elif _ephemeral(reply):
            await self._show(reply, result, personal=personal, replace=True)
        else:
            await reply.privately(result)

    async def run(self, reply: Reply, chosen: DigestButton) -> tuple[Message, Digest | None]:
        """Act on a digest; returns the result as a message, and the digest if its owner must be notified.

        Asks first about someone else's digest, unless the user confirmed that for its current owner.
        """
        act = DigestAction(chosen.action)
        digest = await channels.find_digest(reply, self.digests, chosen.digest)
        if act in {DigestAction.RESUME, DigestAction.TAKE_OWNERSHIP}:
            await channels.digest_channel(reply, digest.channel_id)
        if digest.owner != reply.owner and chosen.confirmed_owner != digest.owner.user_id:
            return views.confirmation(digest, act), None
        try:
            result, done = await self._acted(reply, act, digest, chosen.agreed_project)
        except NotAgreed:
            return views.agreement(digest, act), None
        return result, digest if done else None

    async def _acted(
        self, reply: Reply, act: DigestAction, digest: Digest, agreed_project: int | None
    ) -> tuple[Message, bool]:
        """The result, and whether something was done. Raises NotAgreed, and the other UserErrors."""
        user, wording = reply.owner, reply.wording
        match act:
            case DigestAction.NOW:
                return await self._send_now(reply, digest)
            case DigestAction.PAUSE:
                paused = await self.digests.pause(digest)
                return views.text_message(views.paused(paused, user, wording)), digest.paused is None
            case DigestAction.REMOVE:
                await self.parts.store.digests.remove(digest)
                return views.removed(digest, wording), True
            case DigestAction.RESUME:
                resumed = await self.digests.resume(user, digest, agreed_project)
                return views.text_message(views.resumed(resumed, digest)), digest.paused is not None
            case DigestAction.TAKE_OWNERSHIP:
                taken = await self.digests.take_ownership(user, digest, agreed_project)
                return views.text_message(views.ownership_taken(taken, digest, wording.service)), True
        raise ActionExpired  # the others have their own handlers

    async def _send_now(self, reply: Reply, digest: Digest) -> tuple[Message, bool]:
        result, stopped = await self._run_now(reply, digest), ""
        if result is RunResult.DROPPED:
            after = await self.digests.one(reply.owner, reply.channel, digest.id)
            stopped = views.why_paused(after, reply.owner, reply.wording) if after.paused else ""
        text = views.run_result(digest, result, stopped, reply.wording.service)
        return views.text_message(text), result not in {RunResult.EMPTY, RunResult.DROPPED}

    async def _run_now(self, reply: Reply, digest: Digest) -> RunResult | None:
        """Post a digest's new issues without waiting for the next due time."""
        if digest.paused:
            raise UserError(
                "Digest {digest} is paused. To resume it: `{/digest} resume {digest}`.", digest=digest.id
            )
        if digest.plan.live:
            raise UserError(
                "Digest {digest} is a live feed, so it posts each new issue within two minutes.",
                digest=digest.id,
            )
        if not await self.parts.store.claims.claim_once(f"{digest.job_key}:now", DOUBLE_CLICK):
            raise UserError("Digest {digest} was just sent. Try again in ten seconds.", digest=digest.id)
        try:
            return await self.runs.run_now(digest)
        except NotLinked:
            if digest.owner == reply.owner:
                raise
            raise owner_lost_access(digest) from None

    async def add(
        self, reply: Reply, request: commands.AddDigest, typed: str, *, replace_asked: bool = False
    ) -> None:
        """Add a digest straight from a command, and confirm its settings privately.

        After an error, offers the form, filled in from the `typed` text; without a project, asks for it.
        """
        reply.fallback = partial(reply.leading_on, draft=OpenFilledForm(digest=typed))
        if request.problems:
            raise request.problems[0]
        if request.personal:
            plan = await _in_own_zone(request.draft.plan, reply)
            own = await self.digests.personal(reply.owner)
            if own and (own.plan.schedule, own.plan.zone) != (plan.schedule, plan.zone):
                await reply.privately(views.replace_personal(own, plan))
            else:
                await self._set_up(reply, plan)
            return
        channel = await channels.digest_channel(reply, reply.place.channel_id)
        draft = replace(request.draft, plan=await _in_own_zone(request.draft.plan, reply))
        try:
            planned = await self.digests.add(reply.owner, channel, draft)
        except ProjectNotChosen as error:
            if len(error.projects) > MAX_SELECT_OPTIONS:
                raise
            form = await reply.save(OpenFilledForm(digest=typed))
            await reply.privately(views.which_project(draft.plan, error.projects, form))
        else:
            await reply.privately(views.added(planned, reply.wording.service), replace=replace_asked)

    async def _set_up(self, reply: Reply, plan: Plan, *, replace: bool = False) -> None:
        await self.digests.set_up_personal(reply.owner, await channels.direct_messages(reply), plan)
        await self._show(reply, views.text_message(views.SET_UP), personal=True, replace=replace)

    async def replace_pressed(self, press: ButtonPress[buttons.ReplacePersonal], reply: Reply) -> None:
        plan = Plan(schedule=press.button.schedule, zone=press.button.zone)
        await self._set_up(reply, plan, replace=_ephemeral(reply))

    async def project_chosen(self, press: ButtonPress[buttons.ChooseDigestProject], reply: Reply) -> None:
        """The project for a command without one: add the digest."""
        saved = await reply.saved(OpenFilledForm, press.button.saved)
        typed = saved.digest if saved else ""
        request = await digest_form.read_command(self.parts, reply, typed, f"#{press.button.project}")
        if not isinstance(request, commands.AddDigest):
            raise ActionExpired
        await self.add(reply, request, typed, replace_asked=True)

    async def filled_form_pressed(self, press: ButtonPress[OpenFilledForm], reply: Reply) -> None:
        await reply.open(loading("Digest"))
        request = await digest_form.read_command(self.parts, reply, press.button.digest)
        if not isinstance(request, commands.AddDigest):
            raise ActionExpired
        await self.open_add(reply, request)

    async def open_add(self, reply: Reply, request: commands.AddDigest) -> None:
        """Open the form, then fill it from the command; errors in the command appear above the fields."""
        if not reply.view_id:
            await reply.open(loading("My digest" if request.personal else "New digest"))
        problems, plan = list(request.problems), request.draft.plan
        channel_id, project = None, None
        if not request.personal:
            with collected(problems):
                channel_id = (await channels.digest_channel(reply, reply.place.channel_id)).channel_id
            async with self.parts.accounts.reading(reply.owner) as session:
                named = request.draft.project
                with collected(problems) if named else suppress(UserError):  # without one, the form asks
                    project = await self.parts.projects.chosen(session, named, reply.channel)
                plan, wrong = await self.digests.plans.of(session, project, request.draft)
            problems += wrong
        with collected(problems):
            plan = await _in_own_zone(plan, reply)
        metadata = DigestMetadata(place=reply.place.as_json())
        form = digest_form.add_form(plan, channel_id, metadata)
        warning = " ".join(dict.fromkeys(map(reply.wording.sentence, problems)))
        await reply.show(forms.warned(form, warning) if warning else form)

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        view = form.view.json
        try:
            channel = await channels.digest_channel(reply, forms.Values(view).conversation("channel"))
            await channels.require_member(reply, channel.channel_id)
        except UserError as error:
            return FormResult(errors={"channel": reply.wording.sentence(error)})
        try:
            draft = await digest_form.read(self.parts, reply, form.view)
            if errors := await digest_form.unknown_choices(self.digests, reply, view):
                return FormResult(errors=errors)
            planned = await self.digests.add(reply.owner, channel, draft)
        except (NotLinked, WrongField):
            raise
        except UserError as error:
            return _at_field(error, view, reply)
        return FormResult(then=partial(reply.privately, views.added(planned, reply.wording.service)))

    async def schedule_chosen(self, press: ButtonPress[buttons.ChooseSchedule], reply: Reply) -> None:
        await reply.show(digest_form.rescheduled(press.form, press.button.kind))

    async def preview_pressed(self, press: ButtonPress[DigestButton | PreviewForm], reply: Reply) -> None:
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
            await reply.show(forms.result("Preview", views.preview(preview, reply.wording)))

    async def _preview(self, press: ButtonPress[DigestButton | PreviewForm], reply: Reply) -> Preview:
        if isinstance(press.button, DigestButton):
            return await self._previewed(reply, press.button.digest)
        number = DigestMetadata.of(press.form).digest
        before = (await channels.find_digest(reply, self.digests, number)).plan if number else None
        draft = await digest_form.read(self.parts, reply, press.form, before)
        return await self.digests.preview(reply.owner, draft, reply.channel)

    async def _previewed(self, reply: Reply, digest_id: int) -> Preview:
        plan = (await channels.find_digest(reply, self.digests, digest_id)).plan
        draft = PlanDraft(plan=plan, project=f"#{plan.project_id}")
        return await self.digests.preview(reply.owner, draft, reply.channel)

    async def open_change(self, reply: Reply, digest_id: int, schedule: str = "") -> None:
        """Open the form with the digest's current settings, and another schedule if one was typed."""
        await reply.open(loading("Edit digest"))
        digest = await channels.find_digest(reply, self.digests, digest_id)
        if schedule:
            text = schedules.changed(schedule, digest.plan.schedule).text
            digest = replace(digest, plan=replace(digest.plan, schedule=text))
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
        digest = await channels.find_digest(reply, self.digests, metadata.digest)
        if reply.owner != digest.owner and metadata.owner != digest.owner.user_id:
            message = f"{digest.owner_name} owns this digest now and will be notified of your changes."
            agreed = metadata.model_copy(update={"owner": digest.owner.user_id}).dump()
            return FormResult.again(form.view.json, message, agreed)
        try:
            draft = await digest_form.read(self.parts, reply, form.view, digest.plan)
            planned = await self.digests.change(reply.owner, digest, draft)
        except ScheduleError as error:
            return _at_field(error, form.view.json, reply)

        async def confirm() -> None:
            message = views.text_message(views.changed(planned))
            if metadata.replace and reply.place.channel_id == planned.digest.channel_id:
                await self._show(reply, message, replace=True)
            else:
                await reply.privately(message)
            await _notify_owner(reply, planned.digest, DigestAction.CHANGE)

        return FormResult(then=confirm)

    async def submit_personal(self, form: FormSubmission, reply: Reply) -> FormResult:
        try:
            draft = digest_form.submitted(form.view.json)
            channel = await channels.direct_messages(reply)
            planned = await self.digests.set_up_personal(reply.owner, channel, draft.plan)
        except NotLinked:
            raise
        except UserError as error:
            return _at_field(error, form.view.json, reply)
        listing = views.personal_listing(planned.digest, reply.wording, views.text_message(views.SET_UP))
        return FormResult(then=partial(reply.privately, listing))


async def _notify_owner(reply: Reply, digest: Digest | None, act: DigestAction) -> None:
    """Tell the owner what somebody else did."""
    if digest and digest.owner != reply.owner:
        message = views.owner_notice(digest, reply.owner.user_id, act)
        await reply.platform.posts.tell(digest.owner, message)


async def _in_own_zone(plan: Plan, reply: Reply) -> Plan:
    """The plan, in the user's time zone unless it names another. Raises ZoneUnknown."""
    return plan if plan.zone else replace(plan, zone=(await reply.typist()).known_zone().key)


def _ephemeral(reply: Reply) -> bool:
    """Whether the chosen button is in a message that only this user sees."""
    return isinstance(reply.interaction, ButtonPress) and reply.interaction.ephemeral


def _at_field(error: UserError, view: JSON, reply: Reply) -> FormResult:
    return FormResult(errors={digest_form.field_of(error, view): reply.wording.sentence(error)})
