"""An office whose bot is reached over signed HTTP, as by anybody who knows its address, and its logs."""

import io
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog

from bot import telemetry
from bot.sandbox.people import PEOPLE
from tests.journeys.office import Office
from tests.journeys.person import Person

KEYS = {person.login: person.api_key for person in PEOPLE}


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
