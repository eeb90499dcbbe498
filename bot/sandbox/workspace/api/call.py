"""Parse the arguments of a Web API call from its query, form or JSON body."""

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from bot.sandbox.workspace.model import Channel, JsonObject, as_object, parsed
from bot.sandbox.workspace.state import ApiError, State

STRUCTURED = frozenset({"blocks", "view", "unfurls", "metadata", "outputs"})


class Arguments:
    """A method's arguments, without the token."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.all: JsonObject = {
            key: value for key, value in given.items() if key != "token" and value is not None
        }
        for key in STRUCTURED & self.all.keys():
            if isinstance(text := self.all[key], str) and (structure := parsed(text)) is not None:
                self.all[key] = structure  # invalid JSON stays as it is for the method to reject

    def text(self, name: str) -> str:
        """Return a text argument, or an empty string when it is missing."""
        value = self.all.get(name)
        return "" if value is None else str(value)

    def required(self, *names: str) -> list[str]:
        """Return the named text arguments; raises ApiError listing the missing ones."""
        missing = [
            f"missing required field: {name} [json-pointer:/{name}]" for name in names if not self.text(name)
        ]
        if missing:
            raise ApiError("invalid_arguments", messages=missing)
        return [self.text(name) for name in names]

    def flag(self, name: str) -> bool:
        """Return a boolean argument, in JSON or form spelling."""
        return self.all.get(name) in (True, 1, "1", "true", "True")

    def number(self, name: str, default: int) -> int:
        text = self.text(name)
        return int(text) if text.isdigit() else default


async def arguments(request: web.Request) -> tuple[Arguments, str]:
    """Return a request's arguments, and its token: a header, or one of the arguments."""
    given: JsonObject = dict(request.query)
    if request.content_type == "application/json":
        body = await request.read()
        try:
            given |= as_object(json.loads(body)) if body else {}
        except ValueError as error:
            raise ApiError("invalid_json", "The body is no JSON.") from error
    elif request.method == "POST":
        form = await request.post()
        given |= {key: value for key, value in form.items() if isinstance(value, str)}
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return Arguments(given), token.strip() if kind.lower() == "bearer" else str(given.get("token") or "")


def visible_channel(state: State, channel_id: str) -> Channel:
    """Return a conversation the app can see; raises ApiError for any other, as if it didn't exist."""
    channel = state.channels.get(channel_id)
    if channel is None or (channel.kind != "channel" and state.app.bot_user_id not in channel.members):
        raise ApiError("channel_not_found", f"The app can't see the conversation {channel_id}.", broken=False)
    return channel


def need_scope(state: State, *alternatives: str) -> None:
    """Raise ApiError unless the manifest requests one of these scopes."""
    if alternatives and not set(alternatives) & set(state.app.scopes):
        raise ApiError(
            "missing_scope",
            f"The manifest requests none of these scopes: {', '.join(alternatives)}.",
            extra={"needed": ",".join(alternatives), "provided": ",".join(state.app.scopes)},
        )
