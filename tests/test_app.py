import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from bot.app import Bot
from bot.app_sandbox import Sandbox
from bot.sandbox.people import PEOPLE
from bot.store.owner import Owner


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(port=0, service_port=0)
    await sandbox.start()
    yield sandbox
    await sandbox.stop()


async def test_the_sandbox_starts_with_linked_accounts(sandbox: Sandbox) -> None:
    team_id = (await sandbox.bot.slack.auth_test())["team_id"]
    links = {
        person.login: await sandbox.bot.store.links.get(Owner(None, team_id, person.slack_id))
        for person in PEOPLE
        if person.in_slack
    }

    assert {login for login, link in links.items() if link} == {p.login for p in PEOPLE if p.linked}
    for person in PEOPLE:
        if person.linked and (link := links[person.login]):
            assert link.name == f"{person.firstname} {person.lastname}"
            assert link.key.get_secret_value() == person.api_key


async def test_the_sandbox_bot_uses_only_socket_mode(sandbox: Sandbox) -> None:
    url = f"http://127.0.0.1:{sandbox.bot.port}"
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/readyz") as answer:
            assert await answer.json() == {"ready": True, "database": True, "slack": True, "service": True}
        async with session.post(f"{url}/slack/events") as answer:
            assert answer.status == 404


async def test_in_flight_work_finishes_or_is_canceled_after_the_grace_period(sandbox: Sandbox) -> None:
    finished = []

    async def work(seconds: float) -> None:
        await asyncio.sleep(seconds)
        finished.append(seconds)

    tasks = [sandbox.bot.in_flight.start(work(seconds)) for seconds in (0.2, 60)]
    await asyncio.sleep(0)

    async with asyncio.timeout(5):
        await sandbox.bot.stop(grace=1)

    assert finished == [0.2]
    assert [task.cancelled() for task in tasks] == [False, True]
    assert not sandbox.bot.ready


async def test_a_failed_start_closes_everything(sandbox: Sandbox) -> None:
    second = Bot(sandbox.bot.settings.model_copy(update={"port": sandbox.bot.port}))

    with pytest.raises(OSError, match="in use"):
        await second.start()
    assert not second.ready
