from collections.abc import AsyncIterator

import aiohttp
import pytest

from bot.sandbox.people import PEOPLE
from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import MANIFEST, SERVICE_URL, App, ManualClock, Page


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def workspace(clock: ManualClock) -> AsyncIterator[Workspace]:
    workspace = Workspace(manifest=MANIFEST, people=PEOPLE, service_url=SERVICE_URL, clock=clock)
    await workspace.start(port=0)
    yield workspace
    await workspace.stop()


@pytest.fixture
async def app(workspace: Workspace) -> AsyncIterator[App]:
    app = App(workspace)
    await app.open()
    yield app
    await app.close()


@pytest.fixture
async def page(workspace: Workspace) -> AsyncIterator[Page]:
    async with aiohttp.ClientSession() as session:
        yield Page(workspace, session)
