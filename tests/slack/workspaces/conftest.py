from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.sandbox.tracker.server import Tracker
from bot.store.vault import Vault
from bot.timings import Delays
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
    """A company with one running bot, on both databases if the test uses `url`; its parameter is `Delays`."""
    both = "url" in request.fixturenames
    url = request.getfixturevalue("url") if both else sqlite(tmp_path / "bot.db")
    delays = replace(getattr(request, "param", Delays()), slack_backoff=0.01)
    company = Company(slack, tracker, url, Vault.generate_key(), delays=delays)
    await company.start()
    yield company
    await company.close()
