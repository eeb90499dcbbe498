"""The account commands of `/tracker` (link, unlink, whoami) and the form that links an account."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from pydantic import SecretStr

from bot.errors import BotError, NotLinked, StoredTextError, Unauthorized
from bot.features.accounts import views
from bot.features.accounts.accounts import Accounts
from bot.features.accounts.buttons import LinkAccount
from bot.service.models import User
from bot.slack import forms, posting
from bot.slack.blocks import JSON, Message
from bot.slack.buttons import ActionExpired
from bot.slack.errors import FormExpired
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult
from bot.slack.interaction import ButtonPress, FormClosed, FormSubmission, Place, read
from bot.slack.replies import Reply
from bot.store.owner import Owner
from bot.store.saved_input import SavedInput


@dataclass(frozen=True)
class AccountHandlers:
    """Handles a user's own account. `stop_digests` pauses a user's digests and returns how many."""

    accounts: Accounts
    saved: SavedInput
    stop_digests: Callable[[Owner], Awaitable[int]]

    def feature(self) -> Feature:
        doing = "Checking your key with {service}…"
        return Feature(
            buttons={LinkAccount: self.link_pressed},
            forms={
                "link": Form(self.submit_link, doing, repeatable=True),
                "link.anyway": Form(self.submit_anyway, doing, repeatable=True),
            },
            closed={"link": self.close_link, "link.anyway": self.close_link},
        )

    async def account(self, reply: Reply) -> None:
        """`/tracker`: the caller's account."""
        link = await self.accounts.linked_as(reply.owner)
        await reply.privately(views.account(reply.wording, link.name if link else None))

    async def open_link(self, reply: Reply) -> None:
        await reply.show(views.link_form(reply.wording, reply.place), for_anyone=True)

    def form(self, reply: Reply, why: str, saved: str) -> JSON:
        """The form for an API key. `why` is the reason it opened, `saved` the ID of the saved request."""
        return views.link_form(reply.wording, reply.place, saved, said=why, waiting=_waiting(reply))

    def offer(self, reply: Reply, why: str, saved: str) -> Message:
        """A message with a *Link account* button, for when no form can be opened."""
        return views.link_offer(why, _waiting(reply), saved)

    async def verify(self, owner: Owner) -> None:
        """Check the user's key with the service. Raises NotLinked, KeyRejected."""
        await self.accounts.whoami(owner)

    async def link_pressed(self, press: ButtonPress[LinkAccount], reply: Reply) -> JSON | None:
        """Open the form, which resumes the saved request; resume it at once if the user has linked since."""
        saved_id = press.button.saved or None
        link = await self.accounts.linked_as(reply.owner) if saved_id else None
        if saved_id and link and not link.refusals:
            if (taken := await self.saved.take(reply.owner, saved_id)) is None:
                raise ActionExpired
            await posting.dismiss(reply.slack, reply.place)
            return taken
        saved = await self.saved.get(reply.owner, saved_id) if saved_id else None
        waiting = _typed(saved) if saved else None
        form = views.link_form(reply.wording, reply.place, saved_id, waiting=waiting, offered=True)
        await reply.show(form, for_anyone=True)
        return None

    async def unlink(self, reply: Reply) -> None:
        if await self.accounts.unlink(reply.owner):
            stopped = await self.stop_digests(reply.owner)
            await reply.privately(views.unlinked(reply.wording, stopped))
        else:
            await reply.privately(views.not_linked(reply.wording))

    async def whoami(self, reply: Reply) -> None:
        await reply.privately(views.whoami(await self.accounts.whoami(reply.owner)))

    async def submit_link(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Verify and store the key, then resume the saved request.

        Asks first if the account's email isn't the user's in Slack; the key is saved encrypted meanwhile.
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
            metadata = form.view.metadata | {"key": await self.saved.put(reply.owner, {"key": key})}
            view = views.other_email_form(user, own_mail, metadata)
            return FormResult(view=view, said=views.other_account(user))
        return await self._link(form, reply, SecretStr(key), user)

    async def submit_anyway(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Link the saved key; asks for a key again if the service refuses it."""
        saved = await self.saved.get(reply.owner, form.view.text("key") or "")
        if saved is None:
            raise FormExpired
        key = SecretStr(saved["key"])
        try:
            user = await self.accounts.owner_of(key)
        except Unauthorized:
            said = views.unknown_key(reply.wording.service)
            view = views.link_form(reply.wording, reply.place, form.view.text("continue"), said=said)
            return FormResult(view=view, said=said)
        return await self._link(form, reply, key, user)

    async def close_link(self, closed: FormClosed, reply: Reply) -> None:
        """Delete a key that waits, and offer a button that links and resumes the saved request."""
        await self.saved.take(reply.owner, closed.view.text("key") or "")
        metadata, saved_id = closed.view.metadata, closed.view.text("continue")
        if not saved_id or metadata.get("offered"):
            return
        saved = await self.saved.get(reply.owner, saved_id)
        if saved is None:
            return
        said = reply.wording.sentence(NotLinked())
        offer = views.link_offer(said, _typed(saved), saved_id)
        await reply.at(Place.from_json(metadata.get("place"))).privately(offer)

    async def _link(self, form: FormSubmission, reply: Reply, key: SecretStr, user: User) -> FormResult:
        await self.accounts.link(reply.owner, key, user)
        await self.saved.take(reply.owner, form.view.text("key") or "")
        saved = None
        if saved_id := form.view.text("continue"):
            with suppress(StoredTextError):  # linking succeeded even if the saved request can't be decrypted
                saved = await self.saved.take(reply.owner, saved_id)
        offered = form.view.metadata.get("offered")
        dismiss = partial(posting.dismiss, reply.slack, reply.place) if offered else None
        view = views.linked(reply.wording, user, resuming=bool(saved))
        return FormResult(view=view, then=dismiss, resume=saved)


def _typed(saved: JSON) -> str | None:
    """The saved command as the user typed it."""
    interaction = read(saved)
    return interaction.typed if interaction else None


def _waiting(reply: Reply) -> str | None:
    """The command that waits until the user has linked an account."""
    return reply.interaction.typed if reply.give_back else None
