"""The Web API endpoint: checks the token, scope and rate limit, then runs the method."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from bot.sandbox.workspace.api import chat, conversations, entities, lookups, surfaces
from bot.sandbox.workspace.api.call import Arguments, arguments, need_scope
from bot.sandbox.workspace.api.rates import Rates
from bot.sandbox.workspace.shapes import ApiError, JsonObject
from bot.sandbox.workspace.state import State
from bot.sandbox.workspace.triggers import Triggers

Handler = Callable[[State, Arguments], JsonObject]
HISTORY = frozenset({"conversations.history", "conversations.replies"})
"""The methods that apps outside the Marketplace may call once a minute."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method, its rate limit, and the scope it always requires (arguments may require more)."""

    run: Handler
    per_minute: int = 0
    scope: str = ""
    app_level: bool = False


METHODS = {
    "auth.test": Method(lookups.auth_test),
    "users.info": Method(lookups.users_info, 100, "users:read"),
    "users.conversations": Method(conversations.of_member, 50),
    "conversations.info": Method(conversations.info, 50),
    "conversations.open": Method(conversations.open_im, 50),
    "conversations.members": Method(conversations.members, 100),
    "conversations.history": Method(conversations.history, 50),
    "conversations.replies": Method(conversations.replies, 50),
    "chat.postMessage": Method(chat.post_message, 300, "chat:write"),
    "chat.postEphemeral": Method(chat.post_ephemeral, 100, "chat:write"),
    "chat.update": Method(chat.update, 50, "chat:write"),
    "chat.delete": Method(chat.delete, 50, "chat:write"),
    "chat.unfurl": Method(chat.unfurl, 50, "links:write"),
    "chat.getPermalink": Method(chat.permalink),
    "views.update": Method(surfaces.update, 100),
    "views.publish": Method(surfaces.publish, 100),
    "files.info": Method(lookups.files_info, 100, "files:read"),
}


class WebApi:
    """Accepts only this workspace's bot token, and its app token for the methods of apps."""

    def __init__(
        self, state: State, triggers: Triggers, bot_token: str, app_token: str, socket_url: Callable[[], str]
    ) -> None:
        self._state = state
        self._bot_token = bot_token
        self._app_token = app_token
        self._rates = Rates(state.clock)
        self._methods = METHODS | {
            "apps.connections.open": Method(lambda _state, _given: {"url": socket_url()}, app_level=True),
            "views.open": Method(partial(surfaces.open_modal, triggers=triggers, on_top=False), 100),
            "views.push": Method(partial(surfaces.open_modal, triggers=triggers, on_top=True), 100),
            "entity.presentDetails": Method(partial(entities.present, triggers=triggers)),
        }

    async def handle(self, request: web.Request) -> web.Response:
        """Handle GET or POST /api/<method>; errors are 200 with `ok: false`, except 429."""
        name = request.match_info["method"]
        headers = {"X-OAuth-Scopes": ",".join(self._state.app.scopes), "Cache-Control": "no-store"}
        try:
            given, token = await arguments(request)
            answer = {"ok": True, **self._call(name, given, token)}
        except ApiError as error:
            if error.broken:
                self._state.violate(name, error.error, error.detail)
            if error.retry_after is None:
                return web.json_response(error.body(), headers=headers)
            headers["Retry-After"] = str(error.retry_after)
            return web.json_response(error.body(), status=429, headers=headers)
        return web.json_response(answer, headers=headers)

    def _call(self, name: str, given: Arguments, token: str) -> JsonObject:
        self._state.called(name, given.all)
        method = self._methods.get(name)
        if method is None:
            raise ApiError("unknown_method", f"The local Slack has no method {name}.")
        self._admit_token(token, method)
        need_scope(self._state, *([method.scope] if method.scope else []))
        if self._state.rate_limits:
            each = self._state.history_seconds if name in HISTORY else 0
            self._rates.admit(name, method.per_minute, given.text("channel"), each=each)
        return method.run(self._state, given)

    def _admit_token(self, token: str, method: Method) -> None:
        if not token:
            raise ApiError("not_authed", "The request has no token.")
        if token not in (self._bot_token, self._app_token):
            raise ApiError("invalid_auth", "Unknown token. Use the sandbox's tokens only, never real ones.")
        if (token == self._app_token) != method.app_level:
            raise ApiError("not_allowed_token_type", "This method needs the other type of token.")
