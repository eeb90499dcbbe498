"""Response URLs (https://docs.slack.dev/interactivity/handling-user-interaction#message_responses).

Five posts in 30 minutes. A command's URL has no original message: `replace_original` posts a new one instead,
as users reported (slackapi/bolt-python#1268, slackapi/bolt-js#2287).
"""

import secrets
from dataclasses import dataclass
from typing import Literal

from aiohttp import web

from bot.sandbox.workspace.model import Message
from bot.sandbox.workspace.posting import content, post, replace, thread_of
from bot.sandbox.workspace.shapes import ApiError, JsonObject, as_object, parsed
from bot.sandbox.workspace.state import State

LIFE_SECONDS = 1_800.0
MAX_POSTS = 5
WHERE = "response_url"


@dataclass(slots=True)
class ResponseUrl:
    """The user and channel it responds to, and the message it may replace."""

    user: str
    channel: str
    original: str | None
    at: float
    posts: int = 0


Kind = Literal["commands", "actions", "app"]


class ResponseUrls:
    """The response URLs of the last half hour."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._known: dict[str, ResponseUrl] = {}

    def issue(
        self,
        kind: Literal["commands", "actions", "app"],
        user: str,
        channel: str,
        original: str | None = None,
    ) -> str:
        """Return a new response URL for an interaction by `user` in `channel`."""
        now = self._state.clock.now()
        self._known = {key: known for key, known in self._known.items() if known.at > now - 2 * LIFE_SECONDS}
        key = secrets.token_urlsafe(24)
        self._known[key] = ResponseUrl(user, channel, original, now)
        return f"{self._state.base_url}{kind}/{self._state.team.id}/{key}"

    async def respond(self, request: web.Request) -> web.Response:
        """Handle a POST to a response URL; the secret is in the path, so there is no token."""
        body = as_object(parsed(await request.read()))
        self._state.received(WHERE, body)
        try:
            self._respond(request.match_info["key"], body)
        except ApiError as error:
            if error.broken:
                self._state.violate(WHERE, error.error, error.detail)
            status = 404 if error.error in ("used_url", "expired_url") else 400
            return web.json_response(error.body(), status=status)
        return web.json_response({"ok": True})

    def _respond(self, key: str, body: JsonObject) -> None:
        url = self._known.get(key)
        if url is None or self._state.clock.now() > url.at + LIFE_SECONDS:
            raise ApiError("expired_url", "A response_url expires after 30 minutes.")
        if url.posts >= MAX_POSTS:
            raise ApiError("used_url", "A response_url accepts 5 posts.")
        url.posts += 1
        channel = self._state.channels.get(url.channel)
        if channel is None:
            raise ApiError("channel_not_found", "The channel was deleted.", broken=False)
        original = self._state.find(url.channel, url.original) if url.original else None
        if body.get("delete_original") in (True, "true"):
            self._delete(original)
            return
        if body.get("replace_original") in (True, "true") and self._replaced(original, body):
            return
        in_channel = body.get("response_type") == "in_channel"
        said = content(self._state, body, WHERE)
        thread = thread_of(self._state, channel, body.get("thread_ts"))
        post(self._state, channel, said, to=None if in_channel else url.user, thread=thread)

    def _delete(self, original: Message | None) -> None:
        if original is None:
            raise ApiError("message_not_found", "The original message doesn't exist.")
        self._state.remove(original)

    def _replaced(self, original: Message | None, body: JsonObject) -> bool:
        if original is None:
            self._state.violate(
                WHERE, "no_original", "There was no message to replace, so a new one was posted."
            )
            return False
        if original.to is not None and body.get("response_type") == "in_channel":
            self._state.violate(WHERE, "stays_ephemeral", "An ephemeral message can't become public.")
        replace(self._state, original, content(self._state, body, WHERE), mark=False)
        return True
