from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from bot.sandbox.demo import demo_data
from bot.sandbox.tracker.server import Tracker
from bot.store.vault import Vault
from tests.workspaces.company import Company
from tests.workspaces.slack import Slack


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    slack = Slack()
    await slack.up()
    yield slack
    await slack.down()


@pytest.fixture
async def tracker() -> AsyncIterator[Tracker]:
    tracker = Tracker(demo_data(datetime.now(UTC)))
    await tracker.start()
    yield tracker
    await tracker.stop()


@pytest.fixture
async def company(slack: Slack, tracker: Tracker, url: str) -> AsyncIterator[Company]:
    """On each database; its bot has started."""
    company = Company(slack, tracker, url, Vault.generate_key())
    await company.start()
    yield company
    await company.close()
