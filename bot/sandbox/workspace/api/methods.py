"""The Web API endpoint: checks the token, scope and rate limit, then runs the method.

Limits: https://docs.slack.dev/apis/web-api/rate-limits. One message per second per channel, with a small
burst; other methods by tier, with bursts of up to a minute's worth. After a 429, the method stays closed for
the workspace until `Retry-After` has passed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from aiohttp import web

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.api import chat, conversations, entities, surfaces
from bot.sandbox.workspace.api.call import Arguments, arguments, need_scope
from bot.sandbox.workspace.delivery import Triggers
from bot.sandbox.workspace.model import JsonObject
from bot.sandbox.workspace.state import ApiError, Clock, State

Handler = Callable[[State, Arguments], JsonObject]
HISTORY = frozenset({"conversations.history", "conversations.replies"})
"""The methods that apps outside the Marketplace may call once a minute."""
MESSAGE_BURST = 5


@dataclass(frozen=True, slots=True)
class Method:
    """A method, its rate limit, and the scope it always requires (arguments may require more)."""

    run: Handler
    per_minute: int = 0
    scope: str = ""
    app_level: bool = False


def _auth_test(state: State, _: Arguments) -> JsonObject:
    return {
        "url": state.base_url,
        "team": state.team.name,
        "user": state.users[state.app.bot_user_id].name,
        "team_id": state.team.id,
        "user_id": state.app.bot_user_id,
        "bot_id": state.app.bot_id,
        "is_enterprise_install": False,
    }


def _users_info(state: State, given: Arguments) -> JsonObject:
    user = state.users.get(given.required("user")[0])
    if user is None:
        raise ApiError("user_not_found", "The user doesn't exist.", broken=False)
    return {"user": payloads.user_object(state, user, locale=given.flag("include_locale"))}


def _files_info(state: State, given: Arguments) -> JsonObject:
    file = state.files.get(given.required("file")[0])
    if file is None or not state.sees_file(file):
        raise ApiError("file_not_found", "The app can't see this file.", broken=False)
    return {"file": payloads.file_object(state, file), "comments": []}


def _end_step(state: State, given: Arguments) -> JsonObject:
    """functions.completeSuccess and functions.completeError."""
    execution = given.required("function_execution_id")[0]
    if state.steps.get(execution, {}) is not None:
        broken = execution not in state.steps
        raise ApiError("function_execution_not_found", "This step isn't running.", broken=broken)
    state.steps[execution] = {key: given.all[key] for key in ("outputs", "error") if key in given.all}
    state.changed()
    return {}


METHODS = {
    "auth.test": Method(_auth_test),
    "users.info": Method(_users_info, 100, "users:read"),
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
    **dict.fromkeys(("functions.completeSuccess", "functions.completeError"), Method(_end_step, 50)),
    "reactions.get": Method(conversations.reactions, 50, "reactions:read"),
    "views.update": Method(surfaces.update, 100),
    "views.publish": Method(surfaces.publish, 100),
    "files.info": Method(_files_info, 100, "files:read"),
}


@dataclass(slots=True)
class Bucket:
    maximum: float
    each_second: float
    left: float
    at: float

    def take(self, now: float) -> float:
        """Take one permit, or return the seconds to wait for one."""
        self.left = min(self.maximum, self.left + (now - self.at) * self.each_second)
        self.at = now
        if self.left < 1:
            return (1 - self.left) / self.each_second
        self.left -= 1
        return 0.0


@dataclass
class Rates:
    """Enforces the rate limits of one workspace."""

    clock: Clock
    _buckets: dict[str, Bucket] = field(default_factory=dict, init=False)
    _closed: dict[str, float] = field(default_factory=dict, init=False)

    def admit(self, method: str, per_minute: int, channel: str, *, each: float = 0) -> None:
        """Count a call, or raise ApiError with the seconds to wait; 0 `per_minute` is no limit.

        `each` is the interval in seconds of a method that apps outside the Marketplace may rarely call. They
        can't know it, so calling too early breaks no rule.
        """
        now = self.clock.now()
        if each:
            if wait := self._take(f"{method} rarely", 1, 1 / each, now):
                self._refuse(method, wait, broken=False)
            return
        if now < self._closed.get(method, 0.0):
            self._refuse(method, self._closed[method] - now)
        wait = 0.0
        if per_minute:
            wait = self._take(method, per_minute, per_minute / 60, now)
        if method == "chat.postMessage" and channel:
            wait = max(wait, self._take(f"{method} {channel}", MESSAGE_BURST, 1.0, now))
        if wait:
            self._closed[method] = now + math.ceil(wait)
            self._refuse(method, wait)

    def _take(self, key: str, maximum: float, each_second: float, now: float) -> float:
        return self._buckets.setdefault(key, Bucket(maximum, each_second, maximum, now)).take(now)

    @staticmethod
    def _refuse(method: str, wait: float, *, broken: bool = True) -> None:
        seconds = max(1, math.ceil(wait))
        detail = f"{method} is called too often; wait {seconds} s."
        raise ApiError("ratelimited", detail, broken=broken, retry_after=seconds)


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
            "entity.acknowledgeCommentAction": Method(
                partial(entities.acknowledge_comment, triggers=triggers)
            ),
            "entity.presentComments": Method(partial(entities.present_comments, triggers=triggers)),
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
