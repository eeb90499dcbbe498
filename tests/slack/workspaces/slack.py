"""A fake Slack with several workspaces that records which token each call used."""

import base64
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
from aiohttp import web

from bot.sandbox.workspace.api.call import arguments
from bot.sandbox.workspace.http import signature
from bot.slack.surfaces.manifest import SCOPES
from tests.support.serving import serving
from tests.support.wire import broken

CLIENT_ID, CLIENT_SECRET = "123.456", "0123456789abcdef0123456789abcdef"
SIGNING_SECRET = "a-signing-secret"
HALF_A_DAY = 43_200


@dataclass(frozen=True)
class Place:
    """A workspace by its team, or a whole organization if there is none."""

    team: str | None
    enterprise: str | None = None

    def of_user(self, user: str, team: str | None = None) -> dict[str, str]:
        """The identity fields of a user's command; `team` is the workspace within an organization."""
        ids = {"team_id": team or self.team or "", "user_id": user}
        if self.enterprise:
            ids |= {"enterprise_id": self.enterprise}
        return ids | {"is_enterprise_install": str(self.team is None).lower()}


@dataclass(frozen=True)
class Call:
    """A call of the Web API."""

    method: str
    token: str
    arguments: dict[str, Any]


@dataclass
class Slack:
    """The Web API, the page that asks whether to install the app, and a sender of signed requests.

    `lives` is how many seconds the next tokens live, 0 for ever. `loses_answers` of renewals when told.
    `taken_out` are the teams that their organizations' tokens don't reach any more.
    """

    lives: int = HALF_A_DAY
    loses_answers: bool = False
    before_renewal: Callable[[], Awaitable[None]] | None = None
    """Awaited before a token is renewed."""
    taken_out: set[str] = field(default_factory=set)
    trouble: str = ""
    """What calls with a bot token get instead of an answer: a status, an error code, or `broken`."""
    calls: list[Call] = field(default_factory=list)
    replies: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The answers to commands by the last part of their response URLs."""
    tokens: dict[str, Place] = field(default_factory=dict)
    """The valid tokens."""
    refresh: dict[str, Place] = field(default_factory=dict)
    codes: dict[str, Place] = field(default_factory=dict)
    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    """The scopes of every token."""
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    @asynccontextmanager
    async def up(self) -> AsyncIterator["Slack"]:
        app = web.Application()
        app.router.add_route("*", "/api/{method}", self._answer)
        app.router.add_post("/api/respond/{name}", self._respond)
        async with serving(app) as url, aiohttp.ClientSession() as self.http:
            self.api_url = f"{url}/api/"
            yield self

    def with_tokens_of(self, place: Place, method: str) -> list[Call]:
        """The calls of a method with a token of that place."""
        own = f"xoxe.xoxb-{_name(place)}-"
        return [call for call in self.called(method) if call.token.startswith(own)]

    def called(self, method: str) -> list[Call]:
        """The calls of a method."""
        return [call for call in self.calls if call.method == method]

    def revoke(self, place: Place) -> None:
        """Invalidate all tokens of a place."""
        for kept in (self.tokens, self.refresh):
            for token in [token for token, whose in kept.items() if whose == place]:
                del kept[token]

    async def install(self, port: int, place: Place) -> int:
        """Complete an installation in a browser; returns the last page's status."""
        cookie, state = await self.begin(port)
        return (await self.end(port, code=self.code(place), state=state, cookie=cookie))[0]

    async def begin(self, port: int) -> tuple[str, str]:
        """Start an installation; returns its cookie and state."""
        url = f"http://127.0.0.1:{port}/slack/install"
        async with self.http.get(url, allow_redirects=False) as answer:
            assert answer.status == 302
            asked = urlsplit(answer.headers["Location"])
            query = parse_qs(asked.query)
            assert asked.path == "/oauth/v2/authorize"
            assert (query["client_id"], query["scope"]) == ([CLIENT_ID], [",".join(SCOPES)])
            attributes = answer.headers["Set-Cookie"]
            assert "HttpOnly" in attributes
            assert "Secure" in attributes
            return attributes.partition(";")[0], query["state"][0]

    async def end(self, port: int, cookie: str = "", **query: str) -> tuple[int, str]:
        """Return from Slack in a browser; returns the last page."""
        url = f"http://127.0.0.1:{port}/slack/oauth_redirect?{urlencode(query)}"
        async with self.http.get(url, headers={"Cookie": cookie} if cookie else {}) as answer:
            return answer.status, await answer.text()

    def code(self, place: Place) -> str:
        """The OAuth code for a user who agreed."""
        code = f"code-{next(self._numbers)}"
        self.codes[code] = place
        return code

    async def command(self, port: int, who: Mapping[str, str], text: str) -> str:
        """Send `/tracker …` as a user; returns the ID of the response URL."""
        name = f"r{next(self._numbers)}"
        form = {
            "command": "/tracker",
            "text": text,
            "trigger_id": f"{name}.trigger",
            "channel_id": "C1",
            "response_url": f"{self.api_url}respond/{name}",
            **who,
        }
        self.replies[name] = []
        status, answer = await self._send(port, urlencode(form), "application/x-www-form-urlencoded")
        assert status == 200, answer
        if answer:
            self.replies[name].append(json.loads(answer))
        return name

    async def event(self, port: int, content: Mapping[str, Any], **about: object) -> int:
        """Send an event; returns the response status (Slack would repeat it unless 200)."""
        body = {"type": "event_callback", "api_app_id": "A1", "event": content, **about}
        return (await self._send(port, json.dumps(body), "application/json"))[0]

    async def _send(self, port: int, body: str, kind: str) -> tuple[int, str]:
        now = str(int(time.time()))
        signed = signature(SIGNING_SECRET, now, body.encode())
        headers = {"X-Slack-Request-Timestamp": now, "X-Slack-Signature": signed, "Content-Type": kind}
        url = f"http://127.0.0.1:{port}/slack/events"
        async with self.http.post(url, data=body, headers=headers) as answer:
            return answer.status, await answer.text()

    async def _respond(self, request: web.Request) -> web.Response:
        self.replies[request.match_info["name"]].append(await request.json())
        return web.Response(text="ok")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        given, _ = await arguments(request)
        self.calls.append(Call(method, token, given.all))
        if method == "oauth.v2.access":
            if self.before_renewal and given.all.get("grant_type") == "refresh_token":
                await self.before_renewal()
            return self._access(request, given.all)
        if method == "api.test":
            return web.json_response({"ok": True})
        if self.trouble:
            return self._troubled(request)
        if token not in self.tokens:
            return _refused("invalid_auth")
        place, name = self.tokens[token], _name(self.tokens[token])
        if place.team is None and given.all.get("team_id") in self.taken_out and method != "auth.test":
            return _refused("team_access_not_granted")
        match method:
            case "auth.test":
                more: dict[str, Any] = {"team_id": place.team, "user_id": f"UBOT{name}", "bot_id": f"B{name}"}
            case "conversations.info":
                more = {"channel": {"id": given.all["channel"], "is_member": True, "is_ext_shared": False}}
            case "users.conversations":
                more = {"channels": []}
            case "chat.postMessage":
                more = {"ts": f"{next(self._numbers)}.0"}
            case _:
                more = {"view": {"id": f"V{next(self._numbers)}"}}
        return web.json_response({"ok": True, **more}, headers={"X-OAuth-Scopes": ",".join(self.scopes)})

    def _troubled(self, request: web.Request) -> web.StreamResponse:
        if self.trouble == "broken":
            return broken(request, None)
        if self.trouble.isdecimal():
            return web.Response(status=int(self.trouble), text="<html>One moment please</html>")
        return _refused(self.trouble)

    def _access(self, request: web.Request, given: dict[str, Any]) -> web.StreamResponse:
        pair = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {pair}":
            return _refused("bad_client_secret")
        renewing = given.get("grant_type") == "refresh_token"
        known, secret = (
            (self.refresh, given.get("refresh_token")) if renewing else (self.codes, given["code"])
        )
        place = known.pop(str(secret), None)
        if place is None:
            return _refused("invalid_refresh_token" if renewing else "invalid_code")
        number = next(self._numbers)
        token, refresh = f"xoxe.xoxb-{_name(place)}-{number}", f"xoxe-{_name(place)}-{number}"
        self.tokens[token] = place
        if self.lives:
            self.refresh[refresh] = place
        if renewing and self.loses_answers:
            return broken(request, None)
        return web.json_response(
            {
                "ok": True,
                "app_id": "A1",
                "token_type": "bot",
                "access_token": token,
                "scope": ",".join(SCOPES),
                "bot_user_id": f"UBOT{_name(place)}",
                "team": {"id": place.team, "name": f"The <b>{place.team}</b>"} if place.team else None,
                "enterprise": {"id": place.enterprise, "name": "The group"} if place.enterprise else None,
                "is_enterprise_install": place.team is None,
                "authed_user": {"id": "U0ADMIN", "access_token": "xoxp-of-a-person"},
                "incoming_webhook": {"url": "https://hooks.slack.com/a-webhook"},
                **({"expires_in": self.lives, "refresh_token": refresh} if self.lives else {}),
            }
        )


def _refused(error: str) -> web.Response:
    return web.json_response({"ok": False, "error": error})


def _name(place: Place) -> str:
    return place.team or place.enterprise or ""
