"""Runs the bot's client against the reference service and a real Redmine."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from bot.service.client import Client
from tests.contract import reference
from tests.contract.raw import Wire
from tests.contract.world import World
from tests.support.office import WIRED, Office


@pytest.fixture
def options() -> dict[str, Any]:
    """The reference service's options. Where the interface allows two behaviors, Redmine 5.0 has one (pages
    of 100, updates answered 204), and this service has the other.
    """
    return {"key_header": "X-Other-Key", "page_cap": 40, "empty_updates": 200}


@pytest_asyncio.fixture(params=["reference", pytest.param("redmine", marks=pytest.mark.redmine)])
async def world(request: pytest.FixtureRequest, options: dict[str, Any]) -> AsyncIterator[World]:
    """Starts a service: a new reference service for each test, one Redmine for all."""
    if request.param == "redmine":
        yield request.getfixturevalue("redmine")
        return
    async with reference.running(**options) as world:
        yield world


@pytest_asyncio.fixture
async def client(world: World) -> AsyncIterator[Client]:
    async with Client(world.url, key_header=world.key_header) as made:
        yield made


@pytest_asyncio.fixture
async def wire(world: World) -> AsyncIterator[Wire]:
    """Requests to the service without the client."""
    async with aiohttp.ClientSession() as session:
        yield Wire(world, session)


@pytest_asyncio.fixture
async def office(world: World, tmp_path: Path) -> AsyncIterator[Office]:
    """Opens the bot in an office that uses this service; nobody is linked yet."""
    real = world.database is not None
    office = Office(
        tmp_path,
        transport="http" if real else "socket",  # tests each transport with one of the services
        service_url=world.url,
        variables={
            "SERVICE_API_KEY_HEADER": world.key_header,
            "SERVICE_TEXT_FORMAT": "textile" if real else "markdown",
        },
        delays=replace(WIRED, options=60, form=60),  # a real Redmine may be slow on a busy machine
    )
    await office.open()
    yield office
    await office.close()
    assert office.violations() == []
