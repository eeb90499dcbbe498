import asyncio
from pathlib import Path

import aiohttp
import pytest
from pydantic import SecretStr

from bot.app import Bot
from bot.app_sandbox import Sandbox
from bot.config import Settings
from bot.sandbox.people import PEOPLE
from bot.store.owner import Owner
from bot.store.vault import Vault
from tests.support.reading import until_so

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_sandbox_starts_with_linked_accounts(sandbox: Sandbox) -> None:
    team_id = (await sandbox.bot.slack.auth_test())["team_id"]
    owners = [Owner(None, team_id, person.slack_id) for person in PEOPLE if person.in_slack]
    links = [await sandbox.bot.store.links.get(owner) for owner in owners]

    keys = {link.name: link.key.get_secret_value() for link in links if link}
    assert keys == {person.name: person.api_key for person in PEOPLE if person.linked}


async def test_the_sandbox_bot_uses_only_socket_mode(sandbox: Sandbox) -> None:
    url = f"http://127.0.0.1:{sandbox.bot.port}"
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/readyz") as answer:
            assert await answer.json() == {"ready": True, "database": True, "slack": True, "service": True}
        async with session.post(f"{url}/slack/events") as answer:
            assert answer.status == 404


async def test_the_page_can_be_read_until_the_sandbox_has_stopped() -> None:
    sandbox, statuses = Sandbox(port=0, service_port=0), list[int]()
    await sandbox.start()

    async def poll(page: aiohttp.ClientSession) -> None:
        while True:
            async with page.get(f"{sandbox.url}page/state") as response:
                statuses.append(response.status)

    async with aiohttp.ClientSession() as page:
        polling = asyncio.create_task(poll(page))
        await until_so(lambda: statuses)
        await sandbox.stop()
        with pytest.raises(aiohttp.ClientError):
            await polling

    assert set(statuses) == {200}, statuses[-3:]


async def test_in_flight_work_finishes_or_is_canceled_after_the_grace_period(sandbox: Sandbox) -> None:
    bot, finished = Bot(sandbox.bot.settings), []
    await bot.start()

    async def work(seconds: float) -> None:
        await asyncio.sleep(seconds)
        finished.append(seconds)

    tasks = [bot.in_flight.start(work(seconds)) for seconds in (0.1, 60)]
    await asyncio.sleep(0)

    async with asyncio.timeout(5):
        await bot.stop(grace=0.5)

    assert finished == [0.1]
    assert [task.cancelled() for task in tasks] == [False, True]
    assert not bot.ready


async def test_a_stop_waits_for_what_work_in_flight_starts(sandbox: Sandbox) -> None:
    bot = Bot(sandbox.bot.settings)
    await bot.start()
    started: list[asyncio.Task[None]] = []

    async def work() -> None:
        await asyncio.sleep(0.1)
        started.append(bot.in_flight.start(asyncio.sleep(0.2)))

    bot.in_flight.start(work())
    await bot.stop(grace=5)

    assert [task.cancelled() for task in started] == [False]


async def test_a_failed_start_closes_everything(sandbox: Sandbox) -> None:
    second = Bot(sandbox.bot.settings.model_copy(update={"port": sandbox.bot.port}))

    with pytest.raises(OSError, match="in use"):
        await second.start()
    assert not second.ready


async def test_bot_starts_while_slack_and_service_are_down(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:1"
    bot = Bot(
        Settings(
            slack_bot_token=SecretStr("xoxb-1"),
            slack_signing_secret=SecretStr("a-signing-secret"),
            slack_api_url=f"{nowhere}/api/",
            service_base_url=f"{nowhere}/redmine",
            encryption_keys=(Vault.generate_key(),),
            database_url=f"sqlite:///{tmp_path}/bot.db",
            host="127.0.0.1",
            port=0,
        )
    )
    await bot.start()
    url = f"http://127.0.0.1:{bot.port}/readyz"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        ready = answer.status, await answer.json()
    await bot.stop(grace=1)

    assert ready == (503, {"ready": False, "database": True, "slack": False, "service": False})
