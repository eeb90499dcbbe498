"""`/tracker` for the caller's account: link, unlink, whoami, and help."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress

from pydantic import SecretStr
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, NotLinked, StoredTextError, Unauthorized
from bot.features.accounts import views
from bot.features.accounts.accounts import full_name
from bot.features.help import views as help_views
from bot.service.conventions import account_url
from bot.service.models import User
from bot.slack import forms, posting
from bot.slack.blocks import JSON, Message, sentence
from bot.slack.dispatch import Handling
from bot.slack.grammar.tokens import as_typed
from bot.slack.interaction import Place
from bot.slack.text import prose
from bot.slack.replies import Reply
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    Place,
)
from bot.slack.forms import FormResult, number_in


def submit_link(handling: Handling) -> Callable[[Turn, AsyncAck], Awaitable[None]]:
    """The link form: verify the key, store it, carry out what was asked before."""

    async def submit(turn: Turn, ack: AsyncAck) -> None:
        view = turn.view
        metadata = metadata_of(view)
        key = (forms.Values(view).text(views.KEY) or "").strip()
        if not key.isascii() or not key.isprintable() or " " in key or not key:
            await at_fields(ack, {views.KEY: "That isn't an API key: copy it as it stands."})
            return
        place = Place.from_json(metadata.get("place"))
        linked: list[User] = []
        payload: list[JSON] = []

        async def work() -> Reply:
            try:
                user = await turn.parts.accounts.link(turn.owner, SecretStr(key))
            except Unauthorized:
                said = f"{turn.service} doesn't know this key: copy it from your account page again."
                return Reply(errors={views.KEY: said})
            except BotError as error:
                return Reply(errors={views.KEY: turn.sentence(error)})
            linked.append(user)
            if continuation := text_in(metadata, "continue"):
                with suppress(StoredTextError):  # linked is linked
                    kept = await turn.parts.store.continuations.take(turn.owner, continuation)
                    payload.extend([kept] if kept else [])
            return Reply(view=views.linked(turn.service, user, full_name(user), going_on=bool(payload)))

        await settle(turn, ack, work(), f"Asking {turn.service} whose key this is…")
        if linked and metadata.get("offered"):
            await posting.dismiss(turn.slack, place)
        if payload:
            await asyncio.sleep(TAKEN_IN)
        for kept in payload:
            await handling.resume(turn, kept)

    return submit


def _metadata(continuation: str | None, place: Place, *, offered: bool = False) -> str:
    return json.dumps({"continue": continuation, "place": place.as_json(), "offered": offered})


def _typed(kept: JSON) -> str | None:
    """The kept command as it was typed."""
    return f"{kept['command']} {as_typed(kept.get('text') or '')}".strip() if "command" in kept else None


class AccountHandlers:
    """TODO"""

    def __init__(self, accounts: TODO_accounts, saved: TODO_saved, digests: TODO_digests) -> None:
        self._accounts = accounts
        self._saved = saved
        self._digests = digests

    async def account(self, reply: Reply) -> None:
        """`/tracker`: the account's state, then what can be done."""
        link = await self._accounts.linked_as(reply.owner)
        state = views.state(
            reply.wording.service, reply.wording.command("tracker"), link.name if link else None
        )
        overview = help_views.overview(reply.wording.command, reply.wording.service)
        said = f"You are linked as {link.name}." if link else "You haven't linked your account yet."
        await reply.privately(Message(prose(said), (*state, *overview.blocks)))

    async def open_link(self, reply: Reply) -> None:
        """`/tracker link`: the form for the key."""
        await reply.show(
            views.link_form(
                reply.wording.service,
                account_url(reply.wording.base_url),
                metadata=_metadata(None, reply.place),
            )
        )

    async def open_link_from_message(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Link*: the form, going on with what was asked before."""
        continuation = press.value if reply.action.get("value") else None
        kept = await self._saved.get(reply.owner, continuation) if continuation else None
        typed = _typed(kept) if kept else None
        await reply.show(
            views.link_form(
                reply.wording.service,
                account_url(reply.wording.base_url),
                waiting=typed,
                metadata=_metadata(continuation, reply.place, offered=True),
            )
        )

    async def unlink(self, reply: Reply) -> None:
        """`/tracker unlink`: forget the key."""
        if await self._accounts.unlink(reply.owner):
            said = f"Your {reply.wording.service} key is forgotten. `/tracker link` links you again."
            if stopped := await self._digests.unlinked(reply.owner):
                yours = "Your digest stops" if stopped == 1 else f"Your {stopped} digests stop"
                said += f" {yours}: link again and resume, or somebody else can take over, with `/digest`."
            await reply.privately(sentence(reply.wording.prefixed(said)))
        else:
            await reply.privately(
                sentence(f"You weren't linked to {reply.wording.service}; there is nothing to forget.")
            )

    async def whoami(self, reply: Reply) -> None:
        """`/tracker whoami`: the person as the service knows them now."""
        user = await self._accounts.whoami(reply.owner)
        await reply.privately(views.whoami(reply.wording.service, user, full_name(user)))

    async def close_link(self, closed: FormClosed, reply: Reply) -> None:
        """The link form was closed: what was asked before stays at hand behind a button."""
        metadata = closed.view.metadata
        continuation = text_in(metadata, "continue")
        if not continuation or metadata.get("offered"):
            return
        kept = await self._saved.get(reply.owner, continuation)
        if kept is None:
            return
        typed = _typed(kept)
        said = NotLinked().sentence(reply.wording.service)
        place = Place.from_json(metadata.get("place"))
        await reply.at(place).answer(views.link_offer(reply.wording.service, said, typed, continuation))
