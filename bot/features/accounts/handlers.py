"""The account commands of `/tracker`: link, unlink, whoami and help."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from pydantic import SecretStr

from bot.errors import BotError, NotLinked, StoredTextError, Unauthorized
from bot.features.accounts import views
from bot.features.accounts.accounts import Accounts, full_name
from bot.features.help import views as help_views
from bot.service.conventions import account_url
from bot.slack import forms, posting
from bot.slack.blocks import JSON, Message, sentence
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult
from bot.slack.grammar.tokens import as_typed
from bot.slack.interaction import ButtonPress, FormClosed, FormSubmission, Place
from bot.slack.replies import Reply
from bot.slack.text import prose
from bot.store.owner import Owner
from bot.store.saved_input import SavedInput


def _metadata(continuation: str | None, place: Place, *, offered: bool = False) -> str:
    return json.dumps({"continue": continuation, "place": place.as_json(), "offered": offered})


def _typed(saved: JSON) -> str | None:
    """The saved command as the user typed it."""
    return f"{saved['command']} {as_typed(saved.get('text') or '')}".strip() if "command" in saved else None


class AccountHandlers:
    """Handles a user's own account. `stop_digests` pauses a user's digests and returns how many."""

    def __init__(
        self, accounts: Accounts, saved: SavedInput, stop_digests: Callable[[Owner], Awaitable[int]]
    ) -> None:
        self._accounts = accounts
        self._saved = saved
        self._stop_digests = stop_digests

    def feature(self) -> Feature:
        return Feature(
            buttons={"link.open": self.open_link_from_message},
            forms={"link": Form(self.submit_link, "Asking {service} whose key this is…", repeatable=True)},
            closed={"link": self.close_link},
        )

    async def account(self, reply: Reply) -> None:
        """`/tracker`: the caller's account, followed by help."""
        link = await self._accounts.linked_as(reply.owner)
        state = views.state(
            reply.wording.service, reply.wording.command("tracker"), link.name if link else None
        )
        overview = help_views.overview(reply.wording.command, reply.wording.service)
        said = f"You are linked as {link.name}." if link else "You haven't linked your account yet."
        await reply.privately(Message(prose(said), (*state, *overview.blocks)))

    async def open_link(self, reply: Reply) -> None:
        await reply.show(
            views.link_form(
                reply.wording.service,
                account_url(reply.wording.base_url),
                metadata=_metadata(None, reply.place),
            )
        )

    async def open_link_from_message(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The *Link* button: opens the form and resumes the saved request after linking."""
        continuation = press.value if press.carried else None
        saved = await self._saved.get(reply.owner, continuation) if continuation else None
        typed = _typed(saved) if saved else None
        await reply.show(
            views.link_form(
                reply.wording.service,
                account_url(reply.wording.base_url),
                waiting=typed,
                metadata=_metadata(continuation, reply.place, offered=True),
            )
        )

    async def unlink(self, reply: Reply) -> None:
        if await self._accounts.unlink(reply.owner):
            said = f"Your {reply.wording.service} key is forgotten. `/tracker link` links you again."
            if stopped := await self._stop_digests(reply.owner):
                yours = "Your digest stops" if stopped == 1 else f"Your {stopped} digests stop"
                said += f" {yours}: link again and resume, or somebody else can take over, with `/digest`."
            await reply.privately(sentence(reply.wording.prefixed(said)))
        else:
            await reply.privately(
                sentence(f"You weren't linked to {reply.wording.service}; there is nothing to forget.")
            )

    async def whoami(self, reply: Reply) -> None:
        user = await self._accounts.whoami(reply.owner)
        await reply.privately(views.whoami(reply.wording.service, user, full_name(user)))

    async def submit_link(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Verify and store the key, then resume the saved request."""
        service = reply.wording.service
        key = (forms.Values(form.view.json).text(views.KEY) or "").strip()
        if not key.isascii() or not key.isprintable() or " " in key or not key:
            return FormResult(errors={views.KEY: "That isn't an API key: copy it as it stands."})
        try:
            user = await self._accounts.link(reply.owner, SecretStr(key))
        except Unauthorized:
            said = f"{service} doesn't know this key: copy it from your account page again."
            return FormResult(errors={views.KEY: said})
        except BotError as error:
            return FormResult(errors={views.KEY: reply.wording.sentence(error)})
        saved = None
        if continuation := form.view.text("continue"):
            with suppress(StoredTextError):  # linking succeeded even if the saved request can't be decrypted
                saved = await self._saved.take(reply.owner, continuation)

        async def dismiss() -> None:
            if form.view.metadata.get("offered"):
                await posting.dismiss(reply.slack, reply.place)

        view = views.linked(service, user, full_name(user), resuming=bool(saved))
        return FormResult(view=view, then=dismiss, resume=saved)

    async def close_link(self, closed: FormClosed, reply: Reply) -> None:
        """Offer a button that links and resumes the saved request when the form is closed."""
        metadata = closed.view.metadata
        continuation = closed.view.text("continue")
        if not continuation or metadata.get("offered"):
            return
        saved = await self._saved.get(reply.owner, continuation)
        if saved is None:
            return
        typed = _typed(saved)
        said = reply.wording.sentence(NotLinked())
        place = Place.from_json(metadata.get("place"))
        await reply.at(place).privately(views.link_offer(reply.wording.service, said, typed, continuation))
