import asyncio
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.app import Bot
from bot.app_check import check
from bot.app_sandbox import Sandbox
from bot.config import Settings
from bot.sandbox.people import PEOPLE
from bot.store.owner import Owner
from bot.store.vault import Vault


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(port=0, service_port=0)
    await sandbox.start()
    yield sandbox
    await sandbox.stop()


async def _findings(settings: Settings, **changes: Any) -> dict[str, str]:
    return {f.name: str(f) async for f in check(settings.model_copy(update=changes))}


async def test_the_sandbox_is_ready_with_everybody_linked_who_should_be(sandbox: Sandbox) -> None:
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


async def test_it_is_reachable_over_socket_mode_only(sandbox: Sandbox) -> None:
    url = f"http://127.0.0.1:{sandbox.bot.port}"
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/readyz") as answer:
            assert await answer.json() == {"ready": True, "database": True, "slack": True, "service": True}
        async with session.post(f"{url}/slack/events") as answer:
            assert answer.status == 404


async def test_work_in_progress_finishes_and_what_takes_too_long_is_cut_off(sandbox: Sandbox) -> None:
    finished = []

    async def work(seconds: float) -> None:
        with sandbox.bot.in_flight.track():
            await asyncio.sleep(seconds)
            finished.append(seconds)

    tasks = [asyncio.create_task(work(seconds)) for seconds in (0.2, 60)]
    await asyncio.sleep(0)

    async with asyncio.timeout(5):
        await sandbox.bot.stop(grace=1)

    assert finished == [0.2]
    assert [task.cancelled() for task in tasks] == [False, True]
    assert not sandbox.bot.ready


async def test_a_bot_that_cannot_listen_closes_what_it_opened(sandbox: Sandbox) -> None:
    second = Bot(sandbox.bot.settings.model_copy(update={"port": sandbox.bot.port}))

    with pytest.raises(OSError, match="in use"):
        await second.start()
    assert not second.ready


async def test_check_finds_nothing_wrong_where_nothing_is(sandbox: Sandbox) -> None:
    findings = await _findings(sandbox.bot.settings)

    assert [line for line in findings.values() if not line.startswith("ok ")] == []
    assert list(findings) == [
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "SERVICE_BASE_URL",
        "SERVICE_API_KEY_HEADER",
        "DATABASE_URL",
        "ENCRYPTION_KEYS",
    ]


async def test_check_says_how_to_mend_what_is_wrong(sandbox: Sandbox) -> None:
    findings = await _findings(
        sandbox.bot.settings,
        slack_bot_token=SecretStr("xoxb-revoked"),
        slack_app_token=SecretStr("xapp-revoked"),
        service_base_url=f"{sandbox.service_url}/redmine",
        encryption_keys=(Vault.generate_key(),),
    )

    assert findings["SLACK_BOT_TOKEN"].startswith("wrong SLACK_BOT_TOKEN: Slack says invalid_auth: ")
    assert findings["SLACK_APP_TOKEN"].startswith("wrong SLACK_APP_TOKEN: Slack says invalid_auth: ")
    assert "is a path prefix" in findings["SERVICE_BASE_URL"]
    assert findings["ENCRYPTION_KEYS"].startswith("wrong ENCRYPTION_KEYS: open all stored keys but 2:")


async def test_check_knows_redmine_by_the_way_it_asks_for_a_key(sandbox: Sandbox) -> None:
    async def ask_for_key(_request: web.Request) -> web.Response:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="Redmine API"'})

    application = web.Application()
    application.router.add_get("/{path:.*}", ask_for_key)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"

    wrong = await _findings(sandbox.bot.settings, service_base_url=url)
    right = await _findings(
        sandbox.bot.settings, service_base_url=url, service_api_key_header="X-Redmine-API-Key"
    )
    await runner.cleanup()

    assert wrong["SERVICE_BASE_URL"].startswith("ok ")
    assert wrong["SERVICE_API_KEY_HEADER"].endswith("set it to X-Redmine-API-Key")
    assert right["SERVICE_API_KEY_HEADER"].startswith("ok ")


async def test_check_names_missing_scopes(sandbox: Sandbox) -> None:
    app = sandbox.workspace.state.app
    scopes = tuple(scope for scope in app.scopes if scope != "users:read")
    sandbox.workspace.state.app = dataclasses.replace(app, scopes=scopes)

    findings = await _findings(sandbox.bot.settings)

    assert findings["SLACK_BOT_TOKEN"].startswith("wrong SLACK_BOT_TOKEN: lacks users:read: ")


async def test_check_tells_when_slack_and_the_service_are_away(sandbox: Sandbox) -> None:
    nowhere = "http://127.0.0.1:1"
    findings = await _findings(
        sandbox.bot.settings,
        slack_api_url=f"{nowhere}/api/",
        service_base_url=nowhere,
        database_url="sqlite:////nowhere/at/all/bot.db",
    )

    assert all(line.startswith("wrong ") for line in findings.values())
    assert "SERVICE_BASE_URL: doesn't answer" in findings["SERVICE_BASE_URL"]
