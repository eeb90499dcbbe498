"""A running workspace, an app built on slack_sdk's clients, and the page's API client."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from io import BytesIO
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.workspace.server import Workspace
from bot.sandbox.workspace.state import Clock

Json = dict[str, Any]
COMMAND = {"command": "/issue", "description": "Create an issue", "usage_hint": "[n]", "should_escape": True}
SCOPES = (
    "commands chat:write channels:read groups:read channels:history im:write links:write "
    "metadata.message:read users:read files:read"
)
EVENTS = (
    "app_home_opened app_mention message.im link_shared entity_details_requested entity_comments_requested "
    "member_joined_channel"
)
MANIFEST: Json = {
    "display_information": {"name": "Issue Bot"},
    "features": {
        "bot_user": {"display_name": "Issue Bot"},
        "rich_previews": {"is_active": True, "entity_types": ["slack#/entities/task"]},
        "slash_commands": [COMMAND],
        "shortcuts": [
            {"name": "Create issue", "type": "global", "callback_id": "create_issue"},
            {"name": "Issue from message", "type": "message", "callback_id": "issue_from_message"},
        ],
    },
    "oauth_config": {"scopes": {"bot": SCOPES.split()}},
    "settings": {"event_subscriptions": {"bot_events": EVENTS.split()}},
}
TIMEOUT_SECONDS = 60
"""Upper limit for everything, on a slow machine too."""
SERVICE_URL = "http://127.0.0.1:8081/"
Answering = Callable[[SocketModeRequest], Awaitable[object]]


class ManualClock(Clock):
    """A clock that tests advance manually; sleepers wake when it passes their time."""

    def __init__(self) -> None:
        self.time = time.time()
        self._moved = asyncio.Event()

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        until = self.time + seconds
        while self.time < until:
            await self._moved.wait()
        await asyncio.sleep(0)

    async def advance(self, seconds: float) -> None:
        self.time += seconds
        self._moved.set()
        self._moved = asyncio.Event()
        await asyncio.sleep(0.02)


class App:
    """A Slack app: queues what arrives over Socket Mode and answers from `answers`."""

    def __init__(self, workspace: Workspace) -> None:
        self.web = AsyncWebClient(token=workspace.bot_token, base_url=workspace.api_url)
        self.client = SocketModeClient(app_token=workspace.app_token, web_client=self.web, ping_interval=1)
        self.client.socket_mode_request_listeners.append(self._received)
        self.answers: dict[str, object] = {}
        self.silent = False
        self.received: asyncio.Queue[SocketModeRequest] = asyncio.Queue()

    async def _received(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        await self.received.put(request)
        if not self.silent:
            kind = str(request.payload.get("type", request.type))
            answer: Json = {"envelope_id": request.envelope_id}
            if kind in self.answers:
                answer["payload"] = self.answers[kind]
            await client.send_socket_mode_response(answer)

    async def open(self) -> None:
        self.client.wss_uri = await self.client.issue_new_wss_url()
        await self.client.connect()  # type: ignore[no-untyped-call]  # slack_sdk has no types here

    async def close(self) -> None:
        await self.client.close()  # type: ignore[no-untyped-call]  # slack_sdk has no types here

    async def next(self) -> Json:
        request = await asyncio.wait_for(self.received.get(), TIMEOUT_SECONDS)
        return dict(request.payload)

    async def error(self, call: Awaitable[object]) -> str:
        """Return the error code of a failed call, or "ok"."""
        try:
            await call
        except SlackApiError as error:
            return str(error.response["error"])
        return "ok"


class Page:
    """The requests the web page makes, for one user at a time."""

    def __init__(self, workspace: Workspace, session: aiohttp.ClientSession) -> None:
        self.url = workspace.url
        self.session = session
        self.user = "U0ANA0001"

    async def post(self, path: str, **body: object) -> Json:
        return await self._post(path, json={"user": self.user, **body})

    async def _post(self, path: str, **request: Any) -> Json:
        headers = {"X-Sandbox": "1"}
        async with self.session.post(f"{self.url}page/{path}", headers=headers, **request) as response:
            answer: Json = await response.json()
            return answer

    async def state(self) -> Json:
        async with self.session.get(f"{self.url}page/state", params={"user": self.user}) as response:
            answer: Json = await response.json()
            return answer

    def events(self) -> AbstractAsyncContextManager[aiohttp.ClientWebSocketResponse]:
        return self.session.ws_connect(f"{self.url}page/events", params={"user": self.user})

    async def until(self, holds: Callable[[Json], object]) -> Json:
        """Return the user's snapshot once `holds` is true for it."""
        async with asyncio.timeout(TIMEOUT_SECONDS), self.events() as events:
            while not holds(state := await self.state()):
                await events.receive()
        return state

    async def upload(self, name: str, content: bytes, mimetype: str) -> Json:
        form = aiohttp.FormData(quote_fields=False)
        form.add_field("file", BytesIO(content), filename=name, content_type=mimetype)
        form.add_field("user", self.user)
        return await self._post("upload", data=form)


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def button(action_id: str) -> Json:
    part = {"type": "button", "action_id": action_id, "text": plain("Press"), "value": "12"}
    return {"type": "actions", "block_id": "b", "elements": [part]}


def field(block_id: str, kind: str, **element: object) -> Json:
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(block_id),
        "element": {"type": kind, "action_id": "value", **element},
    }


def text_input(block_id: str, **element: object) -> Json:
    return field(block_id, "plain_text_input", **element)


def modal(*blocks: Json, **more: object) -> Json:
    return {
        "type": "modal",
        "callback_id": "form",
        "title": plain("New issue"),
        "submit": plain("Create"),
        "blocks": list(blocks),
        **more,
    }
