"""The reference service on the contract's data, which tests may look into and change."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from bot.sandbox.tracker.data import Data
from tests.contract import reference
from tests.contract.raw import Wire


@pytest.fixture
def data() -> Data:
    return reference.data()


@pytest_asyncio.fixture
async def wire(data: Data) -> AsyncIterator[Wire]:
    async with reference.running(made=data) as world, aiohttp.ClientSession() as session:
        yield Wire(world, session)
