"""A local Slack on loopback: Web API, Socket Mode or signed HTTP, and a web page."""

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from aiohttp import web

from bot.sandbox import SERVICE_NAME
from bot.sandbox.loopback import Handler, Listener, loopback_only
from bot.sandbox.people import Person
from bot.sandbox.workspace import events, uploads
from bot.sandbox.workspace.api.methods import WebApi
from bot.sandbox.workspace.delivery import Delivery, Exchange, Triggers
from bot.sandbox.workspace.http import HttpDelivery
from bot.sandbox.workspace.model import MAX_BODY, App, Team
from bot.sandbox.workspace.page_api import Linked, PageApi, page_errors
from bot.sandbox.workspace.response_urls import ResponseUrls
from bot.sandbox.workspace.seed import populate
from bot.sandbox.workspace.snapshot import ServicePanel
from bot.sandbox.workspace.socket import SocketDelivery
from bot.sandbox.workspace.state import BackgroundTasks, Clock, State

TEAM = Team("T0HARBOR01", "Harbor", "harbor")


@web.middleware
async def _same_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Reject the page's POSTs without the custom header, which other sites can't send."""
    page = request.path.startswith("/page/") and request.method == "POST"
    if page and request.headers.get("X-Sandbox") != "1":
        raise web.HTTPForbidden(text="The header X-Sandbox is missing.")
    response = await handler(request)
    if not response.prepared:
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers.setdefault("X-Frame-Options", "DENY")
    return response


class Workspace:
    """A workspace with one app, installed as its manifest describes.

    Without `request_url`, the app uses Socket Mode; otherwise payloads are posted there, signed with
    `signing_secret`. Tests can read `state` and its collections below: messages, views, violations and calls.
    """

    def __init__(
        self,
        *,
        manifest: Mapping[str, Any],
        people: Sequence[Person],
        service_url: str = "",
        service_name: str = SERVICE_NAME,
        request_url: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.bot_token = f"xoxb-sandbox-{secrets.token_hex(12)}"
        self.app_token = f"xapp-sandbox-{secrets.token_hex(12)}"
        self.signing_secret = secrets.token_hex(16)
        self.state = State(TEAM, App.installed(manifest), clock or Clock(), service_url)
        self.messages = self.state.messages
        self.views = self.state.views
        self.violations = self.state.violations
        self.calls = self.state.calls
        self._listener = Listener()
        self._background_tasks = BackgroundTasks()
        self._triggers = Triggers(self.state)
        self._response_urls = ResponseUrls(self.state)
        self._socket = SocketDelivery(self.state)
        self._delivery: Delivery = self._socket
        if request_url is not None:
            self._delivery = HttpDelivery(request_url, self.signing_secret, self.state)
        exchange = Exchange(
            self.state, self._delivery, self._triggers, self._response_urls, self._background_tasks
        )
        self._page = PageApi(exchange, ServicePanel(people, service_name))
        populate(self.state, people)

    @property
    def url(self) -> str:
        """The page's address, and the root of all other URLs."""
        return self.state.base_url

    @property
    def api_url(self) -> str:
        """The value for `SLACK_API_URL`."""
        return f"{self.url}api/"

    @property
    def connected(self) -> bool:
        """Return whether the app has an open Socket Mode connection (always true for HTTP)."""
        return self._delivery.connected

    def show_links(self, linked: Linked | None) -> None:
        """Show on the page who has linked an account; the page calls `linked` on each refresh.

        None shows it for nobody.
        """
        self._page.linked = linked

    def deactivate(self, user_id: str) -> None:
        """Deactivate a user's account, as an administrator does in Slack."""
        user = self.state.users[user_id]
        user.is_deactivated = True
        for channel in self.state.channels.values():
            if channel.kind != "im":
                channel.members.discard(user_id)
        events.user_changed(self._page.exchange, user)

    def _socket_url(self) -> str:
        root = f"ws{self.url.removeprefix('http')}"
        return f"{root}link/?ticket={self._socket.ticket()}&app_id={self.state.app.id}"

    async def _permalink(self, request: web.Request) -> web.StreamResponse:
        channel = self.state.channels.get(request.match_info["channel"])
        members = channel.members if channel else set()
        user = next((one.id for one in self.state.users.values() if one.is_choice and one.id in members), "")
        raise web.HTTPFound(f"/#{user}/{channel.id}" if channel and user else "/")

    def _application(self) -> web.Application:
        app = web.Application(
            middlewares=[loopback_only, _same_origin, page_errors], client_max_size=MAX_BODY
        )
        file = partial(uploads.hand_over, self.state, self.bot_token)
        api = WebApi(self.state, self._triggers, self.bot_token, self.app_token, self._socket_url)
        app.add_routes(
            [
                web.route("*", "/api/{method}", api.handle),
                web.get("/link/", self._socket.accept),
                web.post("/{kind:commands|actions|app}/{team}/{key}", self._response_urls.respond),
                web.get("/files-pri/{file}/{name}", file),
                web.get("/files-pri/{file}/download/{name}", file),
                web.get("/archives/{channel}/{message}", self._permalink),
                *self._page.routes(),
            ]
        )
        return app

    async def start(self, host: str = "127.0.0.1", port: int = 8080) -> None:
        """Start listening, as `Listener.start` does."""
        self.state.base_url = await self._listener.start(self._application(), host, port) + "/"

    async def stop(self) -> None:
        """Close connections, cancel background tasks, then stop listening."""
        await self._background_tasks.stop()
        await self._page.close()
        await self._delivery.close()
        await self._listener.stop()
