"""HTTP mode: signed POSTs to the app's URL, with retries."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from bot.sandbox.people import PEOPLE
from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import MANIFEST, Json, ManualClock, Page
from tests.support.serving import serving

GENERAL = "C0GENERAL01"


@dataclass
class Endpoint:
    """An app that listens on HTTP: the requests it received, and its response."""

    status: int = 200
    answer: str = ""
    received: asyncio.Queue[tuple[str, dict[str, str]]] = field(default_factory=asyncio.Queue)
    url: str = ""

    async def take(self, request: web.Request) -> web.Response:
        await self.received.put((await request.text(), dict(request.headers)))
        return web.Response(status=self.status, text=self.answer)

    async def next(self) -> tuple[str, dict[str, str]]:
        return await asyncio.wait_for(self.received.get(), 5)


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_post("/slack/events", endpoint.take)
    async with serving(app) as url:
        endpoint.url = f"{url}/slack/events"
        yield endpoint


@pytest.fixture
async def workspace(clock: ManualClock, endpoint: Endpoint) -> AsyncIterator[Workspace]:
    workspace = Workspace(manifest=MANIFEST, people=PEOPLE, request_url=endpoint.url, clock=clock)
    await workspace.start(port=0)
    yield workspace
    await workspace.stop()


async def test_error_status_is_shown_to_the_user(
    page: Page, endpoint: Endpoint, workspace: Workspace
) -> None:
    endpoint.status = 500
    await page.post("command", channel=GENERAL, text="/issue")
    await page.until(lambda state: state["panel"]["violations"])
    assert workspace.violations[0].rule == "dispatch_failed"


async def test_event_is_retried_immediately_then_after_one_and_five_minutes(
    page: Page, endpoint: Endpoint, clock: ManualClock
) -> None:
    endpoint.status = 503
    await page.post("home")
    bodies: list[Json] = []
    numbers = []
    for wait in (0, 0, 60, 300):
        await clock.advance(wait)
        body, headers = await endpoint.next()
        bodies.append(json.loads(body))
        numbers.append(headers.get("X-Slack-Retry-Num"))
    assert numbers == [None, "1", "2", "3"]
    assert len({body["event_id"] for body in bodies}) == 1
    assert bodies[0]["event"]["type"] == "app_home_opened"
    await clock.advance(3600)
    assert endpoint.received.empty()
