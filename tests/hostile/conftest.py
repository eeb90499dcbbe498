"""An office whose bot takes signed HTTP requests from anyone who knows its URL, and the bot's logs."""

import io
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from bot import telemetry
from bot.timings import DEFAULT, Delays
from tests.hostile.target import LINKED, Stranger, Target, Watched, begun
from tests.support.office import Office
from tests.support.serving import serving


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path, "http", delays=Delays(typing=0.01), rate_limits=False)
    async with office.opened("ana"):
        yield office


@pytest.fixture
def logged(office: Office) -> io.StringIO:  # noqa: ARG001 - the bot sets some levels as it starts
    """Captures every log line of the office's process, at DEBUG, formatted."""
    stream = io.StringIO()
    telemetry.configure("json", "debug", stream=stream)
    for logger in logging.Logger.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.setLevel(logging.NOTSET)
    return stream


@pytest.fixture
def printed(office: Office) -> io.StringIO:  # noqa: ARG001 - as above
    """Captures what the office's bot logs in production."""
    stream = io.StringIO()
    telemetry.configure("json", "info", stream=stream)
    return stream


@pytest.fixture
async def stranger() -> AsyncIterator[Stranger]:
    stranger = Stranger()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", stranger.hear)
    async with serving(application) as url:
        stranger.port = int(url.rpartition(":")[2])
        yield stranger


@pytest.fixture
async def target(tmp_path: Path, stranger: Stranger) -> AsyncIterator[Target]:
    """Opens a separate office that records requests to its service and holds some of Ana's data."""
    watched = Watched()
    delays = Delays(still_working=60, typing=0)
    # Users never press this fast.
    timings = replace(DEFAULT, interval=3600)  # nothing of Ana's is read in the background
    office = Office(tmp_path, "http", wire=watched, delays=delays, timings=timings, rate_limits=False)
    async with office.opened(*LINKED.values()):
        yield await begun(office, watched, stranger)
