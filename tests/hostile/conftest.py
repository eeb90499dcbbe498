"""An office whose bot is reached over signed HTTP, as by anybody who knows its address, and its logs."""

import io
import logging
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import structlog
from aiohttp import web

from bot import telemetry
from bot.sandbox.demo import demo_data
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.api import rates
from bot.slack import pauses
from tests.hostile.scene import Scene, Stranger, Watched, begun
from tests.journeys.office import Office
from tests.journeys.person import Person
from tests.people import KEYS


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path, transport="http")
    await office.open()
    await office.link("U0ANA0001", KEYS["ana"])
    yield office
    await office.close()


@pytest.fixture
def ana(office: Office) -> Person:
    return Person(office, "U0ANA0001")


@pytest.fixture
def logged(office: Office) -> Iterator[io.StringIO]:  # noqa: ARG001 - the bot sets some levels as it starts
    """All that any logger of the office's process says, down to the last detail, as it is printed."""
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    known = [
        logger for logger in logging.Logger.manager.loggerDict.values() if isinstance(logger, logging.Logger)
    ]
    levels = {logger: logger.level for logger in known}
    telemetry.configure("json", "debug", stream=stream)
    for logger in known:
        logger.setLevel(logging.NOTSET)
    yield stream
    for logger, before in levels.items():
        logger.setLevel(before)
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


@pytest.fixture
def printed(office: Office) -> Iterator[io.StringIO]:  # noqa: ARG001 - as above
    """What the office's bot logs in production."""
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    telemetry.configure("json", "info", stream=stream)
    yield stream
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


@pytest.fixture
async def stranger() -> AsyncIterator[Stranger]:
    stranger = Stranger()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", stranger.hear)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    stranger.port = runner.addresses[0][1]
    yield stranger
    await runner.cleanup()


@pytest.fixture
async def scene(tmp_path: Path, stranger: Stranger, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    """An office of its own, whose service is watched, with Ana's things in it."""
    monkeypatch.setattr(pauses, "PAUSE", 0)
    monkeypatch.setattr(rates.Rates, "admit", lambda *_: None)  # nobody presses as fast as this
    tracker = Tracker(demo_data(datetime.now(UTC)), issue_updates=True)
    await tracker.start()
    watched = Watched(tracker.url)
    await watched.up()
    office = Office(tmp_path, transport="http", service_url=watched.url)
    await office.open()
    try:
        yield await begun(office, tracker, watched, stranger)
    finally:
        await office.close()
        await watched.down()
        await tracker.stop()
