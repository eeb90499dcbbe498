from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from slack_sdk.http_retry.builtin_interval_calculators import BackoffRetryIntervalCalculator

from bot.sandbox.tracker.server import Tracker
from bot.store.vault import Vault
from tests.slack.workspaces.company import Company
from tests.slack.workspaces.slack import Slack
from tests.support.prepared import demo, sqlite


@pytest.fixture(autouse=True)
def _short_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens how long slack_sdk waits before it retries."""
    monkeypatch.setattr(BackoffRetryIntervalCalculator, "calculate_sleep_duration", lambda *_: 0.01)


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
    company = Company(slack, tracker, url, Vault.generate_key(), delays=getattr(request, "param", None))
    await company.start()
    yield company
    await company.close()
