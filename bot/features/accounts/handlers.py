"""The account commands of `/tracker` (link, unlink, whoami) and the form that links an account."""

from contextlib import suppress
from functools import partial

from pydantic import SecretStr

from bot.access.accounts import KEY_REFUSED
from bot.errors import BotError, NotLinked, Offer, StoredSecretError, Unauthorized
from bot.features.accounts import views
from bot.features.accounts.views import LinkAccount
from bot.features.parts import Parts
from bot.service.models import User
from bot.slack.incoming.feature import Feature, Form
from bot.slack.language.values import NoZone
from bot.slack.outgoing import posting
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import NotPosted
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Message
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.drafts import FormExpired, ResumeRequest
from bot.slack.surfaces.forms import FormResult
from bot.slack.surfaces.interaction import ButtonPress, Destination, FormClosed, FormSubmission, read
from bot.store.digests import Pause
from bot.store.jobs import Job, Later
from bot.store.owner import Owner
from bot.store.saved_input import LIFETIME


class AccountHandlers:
    def __init__(self, parts: Parts) -> None:
        self.accounts, self.store, self.platform = parts.accounts, parts.store, parts.platform

    def feature(self) -> Feature:
        doing = "Checking your key with {service}…"
        return Feature(
            buttons={LinkAccount: self.link_pressed},
            forms={
                "link": Form(self.submit_link, doing, repeatable=True),
                "link.anyway": Form(self.submit_anyway, doing, repeatable=True),
            },
            closed={"link": self.close_link, "link.anyway": self.close_link},
            jobs={KEY_REFUSED: self.key_refused},
        )

    async def account(self, reply: Reply) -> None:
        link = await self.store.links.get(reply.owner)
        await reply.privately(views.account(reply.wording, link.name if link else None))

    async def open_link(self, reply: Reply) -> None:
        """`/tracker link`: the form, or after a message its button."""
        if reply.form_needs_press:
            await reply.privately(views.link_offer(f"Link your {reply.wording.service} account."))
            return
        await reply.show(views.link_form(reply.wording, reply.place), for_anyone=True)

    async def ask(self, reply: Reply, why: str, saved: str) -> None:
        """Ask for an API key. `why` is the reason, `saved` the ID of the request that waits for it."""
        waiting = reply.interaction.typed if reply.give_back else None
        form = views.link_form(reply.wording, reply.place, saved, reason=why, waiting=waiting)
        answered = reply.acknowledge(response_action="update", view=form)
        if not (answered or await reply.try_show(form, for_anyone=True)):
            await reply.privately(views.link_offer(why, waiting, saved))

    async def verify(self, owner: Owner) -> None:
        """Check the user's key with the service. Raises NotLinked, KeyRejected."""
        await self.accounts.whoami(owner)

    async def key_refused(self, job: Job) -> Later | None:
        """Notify a user that the service has refused their key for an hour, unless it works by now."""
        owner = Owner.named(job.content)

        async def ready() -> Message | NotPosted:
            link = await self.store.links.get(owner)
            return views.key_refused(self.platform.wording) if link and link.refusals else NotPosted()

        post = Post(owner=owner, channel_id=owner.user_id, mark=job.key)
        return await self.platform.posts.send(job, post, ready)

    async def link_pressed(self, press: ButtonPress[LinkAccount], reply: Reply) -> JSON | None:
        """Open the form, which resumes the saved request; resume it now if the user has linked since."""
        saved_id = press.button.saved or None
        link = await self.store.links.get(reply.owner) if saved_id else None
        if saved_id and link and not link.refusals:
            if (waits := await reply.saved(ResumeRequest, saved_id)) is None:
                raise ActionExpired
            if await self.store.claims.claim_once(f"link:{saved_id}", LIFETIME):
                await posting.dismiss(reply.slack, reply.place)
            return waits.resumed

        saved = await reply.saved(ResumeRequest, saved_id) if saved_id else None
        waiting = _typed(saved) if saved else None
        form = views.link_form(reply.wording, reply.place, saved_id, waiting=waiting, offered=True)
        await reply.show(form, for_anyone=True)
        return None

    async def ask_to_unlink(self, reply: Reply) -> None:
        """`/tracker logout`: asks first, because people may expect less of it."""
        if await self.store.links.user_id(reply.owner) is None:
            await reply.privately(views.link_offer(views.NOT_LINKED))
        else:
            buttons = await reply.offered(Offer("Unlink account", "unlink"))
            await reply.privately(views.unlink_question(reply.wording, buttons))

    async def unlink(self, reply: Reply) -> None:
        if await self.store.links.delete(reply.owner):
            stopped = await self.accounts.stop_work(reply.owner, Pause.KEY, tell_owner=False)
            await reply.privately(views.unlinked(reply.wording, stopped))
        else:
            await reply.privately(views.link_offer(views.NOT_LINKED))

    async def without_account(self, reply: Reply) -> None:
        service = reply.wording.service
        text = f"Ask a {service} administrator to create an account for you. Then link it to Slack."
        await reply.privately(views.link_offer(text))

    async def whoami(self, reply: Reply) -> None:
        await reply.privately(views.whoami(await self.accounts.whoami(reply.owner)))

    async def submit_link(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Verify and store the key, then resume the saved request.

        Asks first if the account's email isn't the user's in Slack; until then, the key is saved encrypted.
        """
        key = (forms.Values(form.view.json).text(views.KEY) or "").strip()
        if not key.isascii() or not key.isprintable() or " " in key or not key:
            return FormResult(errors={views.KEY: views.NOT_A_KEY})
        try:
            user = await self.accounts.owner_of(SecretStr(key))
        except Unauthorized:
            return FormResult(errors={views.KEY: views.unknown_key(reply.wording.service)})
        except BotError as error:
            return FormResult(errors={views.KEY: reply.wording.sentence(error)})

        own_mail = (await reply.profile()).mail
        if own_mail and user.mail and own_mail.casefold() != user.mail.casefold():
            metadata = form.view.metadata | {
                "key": await self.store.saved_input.put(reply.owner, {"key": key})
            }
            view = views.other_email_form(user, own_mail, metadata)
            return FormResult(view=view, warning=views.other_account(user))
        return await self._link(form, reply, SecretStr(key), user)

    async def submit_anyway(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Link the saved key; asks for a key again if the service refuses it."""
        saved = await self.store.saved_input.get(reply.owner, form.view.text("key") or "")
        if saved is None:
            raise FormExpired
        key = SecretStr(saved["key"])
        try:
            user = await self.accounts.owner_of(key)
        except Unauthorized:
            warning = views.unknown_key(reply.wording.service)
            view = views.link_form(reply.wording, reply.place, form.view.text("continue"), reason=warning)
            return FormResult(view=view, warning=warning)
        return await self._link(form, reply, key, user)

    async def close_link(self, closed: FormClosed, reply: Reply) -> None:
        """Delete a key that delays, and offer a button that links and resumes the saved request."""
        await self.store.saved_input.take(reply.owner, closed.view.text("key") or "")
        metadata, saved_id = closed.view.metadata, closed.view.text("continue")
        if not saved_id or metadata.get("offered"):
            return
        if (saved := await reply.saved(ResumeRequest, saved_id)) is None:
            return
        text = reply.wording.sentence(NotLinked())
        offer = views.link_offer(text, _typed(saved), saved_id)
        await reply.at(Destination.from_json(metadata.get("place"))).privately(offer)

    async def _link(self, form: FormSubmission, reply: Reply, key: SecretStr, user: User) -> FormResult:
        await self.accounts.link(reply.owner, key, user)
        zone = (await reply.profile()).zone
        if zone is not NoZone.UNKNOWN:
            await self.store.links.keep_zone(reply.owner.team_id, reply.owner.user_id, zone.key)
        await self.store.saved_input.take(reply.owner, form.view.text("key") or "")

        saved = None
        if saved_id := form.view.text("continue"):
            with suppress(StoredSecretError):  # linking succeeded even if the request can't be decrypted
                saved = await reply.saved(ResumeRequest, saved_id)
        offered = form.view.metadata.get("offered")
        dismiss = partial(posting.dismiss, reply.slack, reply.place) if offered else None
        view = views.linked(reply.wording, user, resuming=bool(saved))
        return FormResult(view=view, then=dismiss, resume=saved.resumed if saved else None)


def _typed(saved: ResumeRequest) -> str | None:
    interaction = read(saved.payload)
    return interaction.typed if interaction else None
