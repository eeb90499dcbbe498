from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from bot.service.client import Client
from bot.timings import Timeouts
from tests.service.scripted import Service, running


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with running(Service()) as service:
        yield service


@pytest.fixture
async def elsewhere() -> AsyncIterator[Service]:
    async with running(Service()) as service:
        service.reply({})
        yield service


@pytest.fixture
async def client(service: Service) -> AsyncIterator[Client]:
    async with Client(
        service.url + "/prefix/", timeout=Timeouts(connect=1, read=0.3, total=5, upload=5)
    ) as client:
        yield client


@pytest.fixture
def key() -> SecretStr:
    return SecretStr("0123456789abcdef-very-secret")
