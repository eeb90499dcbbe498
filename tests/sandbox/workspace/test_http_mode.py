"""HTTP mode: POSTs to the app's URL, with retries; that they are signed: every office with this transport."""

from collections.abc import AsyncIterator

import pytest

from bot.sandbox.people import PEOPLE
from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import MANIFEST, Json, ManualClock, Page
from tests.service.scripted import Service, running
from tests.support.reading import until_so


@pytest.fixture
async def endpoint() -> AsyncIterator[Service]:
    async with running(Service()) as endpoint:
        endpoint.reply(status=503)
        yield endpoint


@pytest.fixture
async def workspace(clock: ManualClock, endpoint: Service) -> AsyncIterator[Workspace]:
    workspace = Workspace(manifest=MANIFEST, people=PEOPLE, request_url=endpoint.url, clock=clock)
    await workspace.start(port=0)
    yield workspace
    await workspace.stop()


async def test_error_status_is_shown_to_the_user(page: Page, workspace: Workspace) -> None:
    await page.post("command", channel="C0GENERAL01", text="/issue")
    await page.until(lambda state: state["panel"]["violations"])
    assert workspace.violations[0].rule == "dispatch_failed"


async def test_event_is_retried_on_schedule(page: Page, endpoint: Service, clock: ManualClock) -> None:
    await page.post("home")
    for number, wait in enumerate((0, 0, 60, 300), 1):
        await clock.advance(wait)
        await until_so(lambda: len(endpoint.asked) >= number)  # noqa: B023 - awaited at once
    await clock.advance(3600)

    numbers = [asked.headers.get("X-Slack-Retry-Num") for asked in endpoint.asked]
    assert numbers == [None, "1", "2", "3"]
    bodies: list[Json] = [dict(asked.json) for asked in endpoint.asked]  # type: ignore[call-overload] # events are objects
    assert len({body["event_id"] for body in bodies}) == 1
    assert bodies[0]["event"]["type"] == "app_home_opened"
