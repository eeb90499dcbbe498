from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.tracker.server import Tracker
from bot.store.vault import Vault
from tests.slack.workspaces.company import Company
from tests.slack.workspaces.slack import Slack
from tests.support.prepared import demo, sqlite


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    async with Slack().up() as slack:
        yield slack


@pytest.fixture
async def tracker() -> AsyncIterator[Tracker]:
    tracker = Tracker(demo())
    await tracker.start()
    yield tracker
    await tracker.stop()


@pytest.fixture
async def company(
    slack: Slack, tracker: Tracker, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Company]:
    """A company with one running bot, on both databases if the test uses `url`; its parameter is `Waits`."""
    both = "url" in request.fixturenames
    url = request.getfixturevalue("url") if both else sqlite(tmp_path / "bot.db")
    company = Company(slack, tracker, url, Vault.generate_key(), waits=getattr(request, "param", None))
    await company.start()
    yield company
    await company.close()
