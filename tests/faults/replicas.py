"""Two replicas of the bot on one database, and duplicate deliveries from Slack."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlencode

from aiohttp import web

from bot.app import Bot
from bot.sandbox.workspace.http import signature
from bot.timings import Delays
from tests.faults.scene import Scene
from tests.support.office import Office
from tests.support.ports import free_port
from tests.support.reading import JSON, until
from tests.support.serving import serving
from tests.support.wire import app, kept

Mode = Literal["once", "duplicate", "repeat"]
Copy = tuple[bytes, dict[str, str]]


class Replicas(Scene):
    """A scene with a second replica of the bot.

    `mode` is how each payload is delivered: "once"; "duplicate", twice to both replicas at the same time,
    with retry headers for events; "repeat", also to the other replica as a second press, or as an event with
    another ID.
    """

    mode: Mode = "once"
    other: Bot

    async def settled(self) -> None:
        """Delays until both replicas have no work in flight."""

        async def idle() -> bool:
            busy = self.office.busy or len(self.other.in_flight) or len(self.other.worker.tasks)
            return not (busy or self.office.workspace._background_tasks._running)

        for _ in range(2):  # finishing one may create work for the other
            await until(idle)
            await asyncio.sleep(0)

    async def take(self, request: web.Request) -> web.Response:
        """Takes the local Slack's requests; returns the last response."""
        body, headers = await request.read(), kept(request.headers)
        ports = (self.office.bot.port, self.other.port)
        copies = [(port, body, headers) for port in ports]
        if self.mode == "once":
            copies = copies[:1]
        if self.mode == "duplicate":
            retried = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
            event = headers["Content-Type"] == "application/json"
            copies += [(port, body, headers | (retried if event else {})) for port in ports]
        if self.mode == "repeat":
            copies[1] = (ports[1], *self._repeated(body, headers))
        sending = [asyncio.create_task(self._send(*copy)) for copy in copies]
        answers = [await answer for answer in asyncio.as_completed(sending)]
        return answers[-1]

    async def _send(self, port: int, body: bytes, headers: dict[str, str]) -> web.Response:
        url = f"http://127.0.0.1:{port}/slack/events"
        async with self.office.http.post(url, data=body, headers=headers) as answer:
            assert answer.status == 200, (answer.status, body)
            return web.Response(body=await answer.read(), content_type=answer.content_type)

    def _repeated(self, body: bytes, headers: dict[str, str]) -> Copy:
        if headers["Content-Type"] == "application/json":
            event: JSON = json.loads(body)
            body = json.dumps(event | {"event_id": event["event_id"] + "B"}).encode()
        elif body.startswith(b"payload="):
            payload: JSON = json.loads(parse_qs(body.decode())["payload"][0])
            body = urlencode({"payload": json.dumps(self._pressed_again(payload))}).encode()
        timestamp = headers["X-Slack-Request-Timestamp"]
        signed = signature(self.office.workspace.signing_secret, timestamp, body)
        return body, headers | {"X-Slack-Signature": signed}

    def _pressed_again(self, payload: JSON) -> JSON:
        if payload["type"] not in ("block_actions", "view_submission"):
            return payload
        workspace = self.office.workspace
        in_modal = (payload.get("view") or {}).get("type") == "modal"
        trigger = workspace._triggers.issue(payload["user"]["id"], in_modal=in_modal)
        actions = [a | {"action_ts": workspace.state.new_ts()} for a in payload.get("actions") or ()]
        return payload | {"trigger_id": trigger} | ({"actions": actions} if actions else {})


@asynccontextmanager
async def replicas(directory: Path, database_url: str) -> AsyncIterator[Replicas]:
    """Opens an office over HTTP with a second replica of the bot."""
    office = Office(
        directory,
        transport="http",
        database_url=database_url,
        rate_limits=False,  # users pause between actions, tests don't
        delays=Delays(still_working=60, form=60),  # on a slow machine only one of two runs would be told
        bot_port=free_port(),
    )
    async with office.opened():
        scene = Replicas(office)
        settings = office.bot.settings.model_copy(update={"port": free_port()})
        scene.other = Bot(settings, delays=office.delays)
        await scene.other.start()
        try:
            async with serving(app(scene.take), port=office.port):
                yield scene
        finally:
            await scene.other.stop(5)
