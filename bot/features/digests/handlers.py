"""`/digest`: lists and adds a channel's digests, and acts on them."""

from dataclasses import replace
from functools import partial

from bot import telemetry
from bot.access.projects import ProjectNotChosen
from bot.errors import NotLinked, UserError
from bot.features.digests import views
from bot.features.digests.buttons import (
    Act,
    ChooseDigestProject,
    DigestButton,
    OpenFilledForm,
    PauseDigest,
    PostNow,
    RemoveDigest,
    RestoreDigest,
    ResumeDigest,
    TakeOverDigest,
)
from bot.features.digests.channels import (
    DigestPoster,
    digest_channel,
    direct_messages,
    find_digest,
    require_access,
)
from bot.features.digests.commands import (
    AddDigest,
    ListDigests,
    OnDigest,
    PersonalDigest,
    digest_command,
)
from bot.features.digests.digests import Digests, NotAgreed, owner_lost_access
from bot.features.digests.form_handlers import DigestForms, ephemeral, in_own_zone, notify_owner, show_list
from bot.features.digests.runs import DigestRuns
from bot.features.help import views as help_views
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature, merged
from bot.slack.incoming.interaction import ButtonPress, SlashCommand
from bot.slack.language.values import Help, UnknownWord
from bot.slack.outgoing.claims import DOUBLE_CLICK
from bot.slack.outgoing.posting import SLACK_FAILED
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import Message, sentence
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.forms import LIST, loading
from bot.store.digest_runs import RunState
from bot.store.digests import Digest

ACT_BUTTONS = (PostNow, PauseDigest, ResumeDigest, TakeOverDigest, RemoveDigest)


class DigestHandlers:
    def __init__(self, parts: Parts) -> None:
        self.digests, self.claims = Digests(parts), parts.store.claims
        self.forms = DigestForms(self.digests, parts.accounts, parts.projects)
        poster = DigestPoster(parts.platform.outbox, parts.platform.wording)
        self.runs = DigestRuns(parts, poster, telemetry.digest_finished)

    def feature(self) -> Feature:
        own = Feature(
            commands={"digest": self.command},
            buttons={
                OpenFilledForm: self.filled_form_pressed,
                ChooseDigestProject: self.project_chosen,
                RestoreDigest: self.restore_pressed,
                **dict.fromkeys(ACT_BUTTONS, self.act_pressed),
            },
            work={"due digests": self.runs},
        )
        return merged([own, self.forms.feature()])

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        try:
            request = digest_command(command.text, reply.owner)
        except UnknownWord as error:
            await show_list(reply, self.digests, sentence(reply.wording.sentence(error)))
            return
        match request:
            case ListDigests():
                await show_list(reply, self.digests)
            case AddDigest(scheduled=False, problems=()):
                await self.forms.open_add(reply, request)
            case AddDigest():
                await self.add(reply, request, command.text)
            case PersonalDigest():
                await self.personal(reply, request, command.text)
            case OnDigest(Act.CHANGE, number):
                await self.forms.open_change(reply, number)
            case Help():
                await reply.privately(help_views.of("digest", reply.wording.command))
            case OnDigest(act, number):
                await reply.privately(await self.run(reply, act, number))

    # Acting on a digest

    async def act_pressed(self, press: ButtonPress[DigestButton], reply: Reply) -> None:
        """A digest's button. The list replaces a message that only this user sees; other messages stay."""
        button = press.button
        said = await self.run(reply, Act(button.action), button.digest, button.owner, button.agreed)
        await self._show_result(reply, said, personal=button.personal)

    async def restore_pressed(self, press: ButtonPress[RestoreDigest], reply: Reply) -> None:
        """*Undo*: restore a removed digest, for anyone who may remove it."""
        digest = await self.digests.removed(reply.owner, reply.channel, press.button.digest)
        await require_access(reply, digest)
        await digest_channel(reply, digest.channel_id)
        restored = await self.digests.restore(digest)
        said = views.text_message(views.restored(restored, reply.owner, reply.wording))
        await notify_owner(reply, digest, Act.RESTORE)
        await self._show_result(reply, said, personal=digest.personal)

    async def _show_result(self, reply: Reply, said: Message, *, personal: bool) -> None:
        if reply.place.home:
            try:
                await reply.platform.publish_home(reply)
            except SLACK_FAILED:
                await reply.privately(said)
        elif ephemeral(reply) and personal:
            await self._show_personal(reply, said, replace=True)
        elif ephemeral(reply):
            await show_list(reply, self.digests, said, replace=True)
        else:
            await reply.privately(said)

    async def run(
        self, reply: Reply, act: Act, digest_id: int | None, agreed: str = "", exposed: int | None = None
    ) -> Message:
        """Act on a digest; the result as a message.

        Someone else's digest needs `agreed` to be its current owner, whom the user was asked about. `exposed`
        is the project that isn't public which the user agrees to show.
        """
        user, wording = reply.owner, reply.wording
        digest = await find_digest(reply, self.digests, digest_id)
        if act in {Act.RESUME, Act.TAKE_OVER}:
            await digest_channel(reply, digest.channel_id)
        if digest.owner != user and agreed != digest.owner.user_id:
            return views.confirmation(digest, act)
        match act:
            case Act.PAUSE:
                said = views.text_message(views.paused(await self.digests.pause(digest), user, wording))
            case Act.RESUME | Act.TAKE_OVER:
                try:
                    said = await self._activate(reply, act, digest, exposed)
                except NotAgreed:
                    return views.exposing(digest, act)
            case Act.REMOVE:
                await self.digests.remove(digest)
                said = views.removed(digest, wording)
            case _:
                state = await self._run_now(reply, digest)
                stopped = ""
                if state is RunState.DROPPED:
                    after = await self.digests.one(user, reply.channel, digest.id)
                    stopped = views.why_paused(after, user, wording) if after.paused else ""
                said = views.text_message(views.run_result(digest, state, stopped, wording.service))
                if state in {RunState.EMPTY, RunState.DROPPED}:
                    return said
        if not (act is Act.PAUSE and digest.paused):
            await notify_owner(reply, digest, act)
        return said

    async def _activate(self, reply: Reply, act: Act, digest: Digest, exposed: int | None) -> Message:
        if act is Act.RESUME:
            return views.text_message(views.resumed(await self.digests.resume(reply.owner, digest, exposed)))
        taken = await self.digests.take_over(reply.owner, digest, exposed)
        return views.text_message(views.taken_over(taken, reply.wording.service))

    async def _run_now(self, reply: Reply, digest: Digest) -> RunState | None:
        """Post a digest's new issues without waiting for the next due time."""
        if digest.paused:
            raise UserError(
                "Digest {digest} is paused. To resume it: `{/digest} resume {digest}`.", digest=digest.id
            )
        if not await self.claims.claim_for(f"digest:{digest.id}", DOUBLE_CLICK):
            raise UserError("Digest {digest} was just sent. Try again in ten seconds.", digest=digest.id)
        try:
            return await self.runs.run_now(digest)
        except NotLinked:
            if digest.owner == reply.owner:
                raise
            raise owner_lost_access(digest) from None

    # A personal digest

    async def personal(self, reply: Reply, request: PersonalDigest, typed: str) -> None:
        """`/digest me …`: show the user's own digest, act on it, or set it up."""
        if request.problems or request.scheduled:
            await self._set_up(reply, request, typed)
        elif request.act is None or (digest := await self.digests.personal(reply.owner)) is None:
            await self._show_personal(reply)
        elif request.act is Act.CHANGE:
            await self.forms.open_change(reply, digest.id)
        else:
            await reply.privately(await self.run(reply, request.act, digest.id))

    async def _set_up(self, reply: Reply, request: PersonalDigest, typed: str) -> None:
        reply.recovery = partial(reply.offer, OpenFilledForm(digest=typed))
        if request.problems:
            raise request.problems[0]
        plan = await in_own_zone(request.plan, reply)
        await self.digests.set_up_personal(reply.owner, await direct_messages(reply), plan)
        await self._show_personal(reply, views.text_message(views.SET_UP))

    async def _show_personal(
        self, reply: Reply, said: Message | None = None, *, replace: bool = False
    ) -> None:
        digest = await self.digests.personal(reply.owner)
        await reply.privately(views.personal_listing(digest, reply.wording, said), replace=replace)

    # Adding

    async def add(self, reply: Reply, request: AddDigest, typed: str, *, replace_asked: bool = False) -> None:
        """Add a digest straight from a command, and confirm its settings privately.

        An error offers the form, filled from what was `typed`; without a project, the user is asked for it.
        """
        reply.recovery = partial(reply.offer, OpenFilledForm(digest=typed))
        if request.problems:
            raise request.problems[0]
        channel = await digest_channel(reply, reply.place.channel_id)
        wanted = replace(request.wanted, plan=await in_own_zone(request.wanted.plan, reply))
        try:
            planned = await self.digests.add(reply.owner, channel, wanted)
        except ProjectNotChosen as error:
            if len(error.projects) > LIST:
                raise
            form = await reply.save(OpenFilledForm(digest=typed))
            await reply.privately(views.which_project(wanted.plan, error.projects, form))
        else:
            await reply.privately(views.added(planned, reply.wording.service), replace=replace_asked)

    async def project_chosen(self, press: ButtonPress[ChooseDigestProject], reply: Reply) -> None:
        """The project for a command without one: add the digest."""
        saved = await reply.saved(OpenFilledForm, press.button.saved)
        request = digest_command(saved.digest, reply.owner) if saved else None
        if saved is None or not isinstance(request, AddDigest):
            raise ActionExpired
        wanted = replace(request.wanted, project=f"#{press.button.project}")
        await self.add(reply, replace(request, wanted=wanted), saved.digest, replace_asked=True)

    async def filled_form_pressed(self, press: ButtonPress[OpenFilledForm], reply: Reply) -> None:
        await reply.open(loading("Digest"))
        match digest_command(press.button.digest, reply.owner):
            case AddDigest() as request:
                await self.forms.open_add(reply, request)
            case PersonalDigest() as request:
                await self.forms.open_personal(reply, request)
            case _:
                raise ActionExpired
