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
from bot.slack.posting import Place
from bot.slack.submissions import TAKEN_IN, Reply, at_fields, metadata_of, settle, text_in
from bot.slack.text import prose
from bot.slack.turn import Turn


async def account(turn: Turn) -> None:
    """`/tracker`: the account's state, then what can be done."""
    link = await turn.parts.accounts.linked_as(turn.owner)
    state = views.state(turn.service, turn.parts.command("tracker"), link.name if link else None)
    overview = help_views.overview(turn.parts.command, turn.service)
    said = f"You are linked as {link.name}." if link else "You haven't linked your account yet."
    await turn.answer(Message(prose(said), (*state, *overview.blocks)))


async def open_link(turn: Turn) -> None:
    """`/tracker link`: the form for the key."""
    await turn.show(
        views.link_form(
            turn.service, account_url(turn.parts.client.base_url), metadata=_metadata(None, turn.place)
        )
    )


async def open_link_from_message(turn: Turn) -> None:
    """The button *Link*: the form, going on with what was asked before."""
    continuation = turn.value if turn.action.get("value") else None
    kept = await turn.parts.store.continuations.get(turn.owner, continuation) if continuation else None
    typed = _typed(kept) if kept else None
    await turn.show(
        views.link_form(
            turn.service,
            account_url(turn.parts.client.base_url),
            waiting=typed,
            metadata=_metadata(continuation, turn.place, offered=True),
        )
    )


async def unlink(turn: Turn) -> None:
    """`/tracker unlink`: forget the key."""
    if await turn.parts.accounts.unlink(turn.owner):
        said = f"Your {turn.service} key is forgotten. `/tracker link` links you again."
        if stopped := await turn.parts.digests.unlinked(turn.owner):
            yours = "Your digest stops" if stopped == 1 else f"Your {stopped} digests stop"
            said += f" {yours}: link again and resume, or somebody else can take over, with `/digest`."
        await turn.answer(sentence(turn.worded(said)))
    else:
        await turn.answer(sentence(f"You weren't linked to {turn.service}; there is nothing to forget."))


async def whoami(turn: Turn) -> None:
    """`/tracker whoami`: the person as the service knows them now."""
    user = await turn.parts.accounts.whoami(turn.owner)
    await turn.answer(views.whoami(turn.service, user, full_name(user)))


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


async def close_link(turn: Turn) -> None:
    """The link form was closed: what was asked before stays at hand behind a button."""
    metadata = metadata_of(turn.view)
    continuation = text_in(metadata, "continue")
    if not continuation or metadata.get("offered"):
        return
    kept = await turn.parts.store.continuations.get(turn.owner, continuation)
    if kept is None:
        return
    typed = _typed(kept)
    said = NotLinked().sentence(turn.service)
    place = Place.from_json(metadata.get("place"))
    await turn.at(place).answer(views.link_offer(turn.service, said, typed, continuation))


def _metadata(continuation: str | None, place: Place, *, offered: bool = False) -> str:
    return json.dumps({"continue": continuation, "place": place.as_json(), "offered": offered})


def _typed(kept: JSON) -> str | None:
    """The kept command as it was typed."""
    return f"{kept['command']} {as_typed(kept.get('text') or '')}".strip() if "command" in kept else None
