"""Response URLs (https://docs.slack.dev/interactivity/handling-user-interaction#message_responses).

Five posts in 30 minutes. A command's URL has no original message: `replace_original` posts a new one instead,
as users reported (slackapi/bolt-python#1268, slackapi/bolt-js#2287).
"""

import secrets
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from bot.sandbox.workspace.model import JsonObject, as_object, parsed
from bot.sandbox.workspace.posting import content, post, replace, thread_of
from bot.sandbox.workspace.state import ApiError, State

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


@dataclass
class ResponseUrls:
    """The response URLs of the last half hour."""

    state: State
    _known: dict[str, ResponseUrl] = field(default_factory=dict, init=False)

    def issue(self, kind: Kind, user: str, channel: str, original: str | None = None) -> str:
        now = self.state.clock.now()
        self._known = {key: known for key, known in self._known.items() if known.at > now - 2 * LIFE_SECONDS}
        key = secrets.token_urlsafe(24)
        self._known[key] = ResponseUrl(user, channel, original, now)
        return f"{self.state.base_url}{kind}/{self.state.team.id}/{key}"

    async def respond(self, request: web.Request) -> web.Response:
        """Handle a POST to a response URL; the secret is in the path, so there is no token."""
        body = as_object(parsed(await request.read()))
        self.state.received(WHERE, body)
        try:
            self._respond(request.match_info["key"], body)
        except ApiError as error:
            if error.broken:
                self.state.violate(WHERE, error.error, error.detail)
            status = 404 if error.error in ("used_url", "expired_url") else 400
            return web.json_response(error.body(), status=status)
        return web.json_response({"ok": True})

    def _respond(self, key: str, body: JsonObject) -> None:
        url = self._known.get(key)
        if url is None or self.state.clock.now() > url.at + LIFE_SECONDS:
            raise ApiError("expired_url", "A response_url expires after 30 minutes.")
        if url.posts >= MAX_POSTS:
            raise ApiError("used_url", "A response_url accepts 5 posts.")
        url.posts += 1
        channel = self.state.channels.get(url.channel)
        if channel is None:
            raise ApiError("channel_not_found", "The channel was deleted.", broken=False)
        original = self.state.find(url.channel, url.original) if url.original else None
        if body.get("delete_original") in (True, "true"):
            if original is None:
                raise ApiError("message_not_found", "The original message doesn't exist.")
            self.state.remove(original)
            return
        in_channel = body.get("response_type") == "in_channel"
        replaces = body.get("replace_original") in (True, "true")
        if replaces and original is not None:
            if original.to is not None and in_channel:
                detail = "An ephemeral message can't become public."
                self.state.violate(WHERE, "stays_ephemeral", detail)
            replace(self.state, original, content(self.state, body, WHERE), mark=False)
            return
        if replaces:
            detail = "There was no message to replace, so a new one was posted."
            self.state.violate(WHERE, "no_original", detail)
        new_content = content(self.state, body, WHERE)
        thread = thread_of(self.state, channel, body.get("thread_ts"))
        post(self.state, channel, new_content, to=None if in_channel else url.user, thread=thread)
