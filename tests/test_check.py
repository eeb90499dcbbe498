"""`issuebot check` names every problem and says how to fix it."""

import base64
import dataclasses
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import stamina
from aiohttp import web
from pydantic import SecretStr
from sqlalchemy import Connection, text

from bot.app_sandbox import Sandbox
from bot.check import check
from bot.check import slack as slack_check
from bot.config import Settings
from bot.slack.manifest import SCOPES
from bot.store.database import Database
from bot.store.vault import Vault
from tests.support.serving import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(port=0, service_port=0)
    await sandbox.start()
    yield sandbox
    await sandbox.stop()


async def _findings(settings: Settings, **changes: Any) -> dict[str, str]:
    return {f.name: str(f) async for f in check(settings.model_copy(update=changes))}


async def test_check_passes_for_a_working_setup(sandbox: Sandbox) -> None:
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


async def test_check_explains_how_to_fix_problems(sandbox: Sandbox) -> None:
    findings = await _findings(
        sandbox.bot.settings,
        slack_bot_token=SecretStr("xoxb-revoked"),
        slack_app_token=SecretStr("xapp-revoked"),
        service_base_url=f"{sandbox.service_url}/redmine",
        encryption_keys=(Vault.generate_key(),),
    )

    assert findings["SLACK_BOT_TOKEN"].startswith("wrong SLACK_BOT_TOKEN: Slack returned invalid_auth. ")
    assert findings["SLACK_APP_TOKEN"].startswith("wrong SLACK_APP_TOKEN: Slack returned invalid_auth. ")
    assert "missing path prefix" in findings["SERVICE_BASE_URL"]
    assert findings["ENCRYPTION_KEYS"].startswith("wrong ENCRYPTION_KEYS: Can't decrypt 2 stored values.")


async def test_check_recognizes_redmine_by_its_challenge(sandbox: Sandbox, tmp_path: Path) -> None:
    async def ask_for_key(_request: web.Request) -> web.Response:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="Redmine API"'})

    application = web.Application()
    application.router.add_get("/{path:.*}", ask_for_key)
    async with serving(application) as url:
        wrong = await _findings(sandbox.bot.settings, service_base_url=url)
        right = await _findings(
            sandbox.bot.settings, service_base_url=url, service_api_key_header="X-Redmine-API-Key"
        )
        unlinked = await _findings(
            sandbox.bot.settings,
            service_base_url=url,
            service_api_key_header="X-Redmine-API-Key",
            database_url=f"sqlite:///{tmp_path / 'empty.db'}",
        )

    assert wrong["SERVICE_BASE_URL"].startswith("ok ")
    assert wrong["SERVICE_API_KEY_HEADER"].endswith("Set it to X-Redmine-API-Key.")
    assert "None of the 2 linked keys work." in right["SERVICE_API_KEY_HEADER"]
    assert unlinked["SERVICE_API_KEY_HEADER"].startswith("ok ")


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        ("users:read", "wrong SLACK_BOT_TOKEN: Missing scopes: users:read. "),
        (
            "im:history",
            "ok    SLACK_BOT_TOKEN: Works in Harbor. Optional scopes it doesn't have: im:history.",
        ),
    ],
)
async def test_check_names_missing_scopes(sandbox: Sandbox, lacking: str, said: str) -> None:
    app = sandbox.workspace.state.app
    scopes = tuple(scope for scope in app.scopes if scope != lacking)
    sandbox.workspace.state.app = dataclasses.replace(app, scopes=scopes)

    findings = await _findings(sandbox.bot.settings)

    sandbox.workspace.state.app = app
    assert findings["SLACK_BOT_TOKEN"].startswith(said)


async def test_check_reports_that_slack_and_service_are_down(sandbox: Sandbox) -> None:
    nowhere = "http://127.0.0.1:1"
    findings = await _findings(
        sandbox.bot.settings,
        slack_api_url=f"{nowhere}/api/",
        service_base_url=nowhere,
        database_url="sqlite:////nowhere/at/all/bot.db",
    )

    assert {"SLACK_BOT_TOKEN", "SERVICE_BASE_URL", "DATABASE_URL"} <= findings.keys()
    assert [line for line in findings.values() if not line.startswith("wrong ")] == []
    assert "SERVICE_BASE_URL: The service doesn't respond." in findings["SERVICE_BASE_URL"]


@pytest.fixture(autouse=True)
def _impatient() -> Iterator[None]:
    """Try a missing service only once."""
    with stamina.set_testing(True, attempts=1):
        yield


class Slack:
    """A fake Slack whose answers about a token each test chooses."""

    def __init__(self) -> None:
        self.whose: dict[str, Any] = {"ok": True, "team": "Acme", "bot_id": "B1"}
        self.date = formatdate(usegmt=True)
        self.greeting: dict[str, Any] = {"type": "hello"}
        self.url = ""

    async def test(self, _request: web.Request) -> web.Response:
        headers = {"X-OAuth-Scopes": ",".join(SCOPES), "Date": self.date}
        return web.json_response(self.whose, headers=headers)

    async def open(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"{self.url}link"})

    async def link(self, request: web.Request) -> web.WebSocketResponse:
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        await connection.send_json(self.greeting)
        await connection.close()
        return connection


@pytest_asyncio.fixture(loop_scope="module")
async def slack() -> AsyncIterator[Slack]:
    slack = Slack()
    application = web.Application()
    application.router.add_post("/api/auth.test", slack.test)
    application.router.add_post("/api/apps.connections.open", slack.open)
    application.router.add_get("/api/link", slack.link)
    async with serving(application) as url:
        slack.url = f"{url}/api/"
        yield slack


@pytest.fixture
def configured(tmp_path: Path, slack: Slack) -> Callable[..., Settings]:
    """Valid settings for the fake Slack, except that the service doesn't exist."""

    def settings(**changes: Any) -> Settings:
        good: dict[str, Any] = {
            "slack_bot_token": SecretStr("xoxb-1"),
            "slack_app_token": SecretStr("xapp-1"),
            "slack_api_url": slack.url,
            "service_base_url": "http://127.0.0.1:1",
            "database_url": f"sqlite:///{tmp_path / 'bot.db'}",
            "encryption_keys": (Vault.generate_key(),),
        }
        return Settings(**good | changes)

    return settings


async def test_check_rejects_a_user_token(slack: Slack, configured: Callable[..., Settings]) -> None:
    assert "Missing scopes" not in (await _findings(configured()))["SLACK_BOT_TOKEN"]
    slack.whose.pop("bot_id")

    findings = await _findings(configured())

    assert "wrong SLACK_BOT_TOKEN: This isn't a bot token." in findings["SLACK_BOT_TOKEN"]


async def test_check_reports_disabled_socket_mode(slack: Slack, configured: Callable[..., Settings]) -> None:
    slack.greeting = {"type": "disconnect", "reason": "link_disabled"}

    findings = await _findings(configured())

    assert "Socket Mode is off. Turn it on" in findings["SLACK_APP_TOKEN"]


@pytest.mark.parametrize(("seconds", "way"), [(400, "behind"), (-400, "ahead of")])
async def test_check_reports_clock_skew(
    slack: Slack, configured: Callable[..., Settings], seconds: int, way: str
) -> None:
    slack.date = formatdate(time.time() + seconds, usegmt=True)

    findings = await _findings(configured())

    assert f"s {way} Slack's clock. Sync" in findings["clock"]


async def test_check_rejects_a_malformed_signing_secret(
    configured: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_check, "SLACK_ITSELF", re.compile(r"127\.0\.0\.1"))

    for secret, outcome in {"x" * 32: "wrong", "0123456789abcdef" * 2: "ok "}.items():
        settings = configured(slack_signing_secret=SecretStr(secret))
        findings = await _findings(settings, slack_app_token=SecretStr(""))
        assert findings["SLACK_SIGNING_SECRET"].startswith(outcome)


@pytest.mark.parametrize("content", [bytes(32), b"correct horse battery staple !!!", bytes(range(8)) * 4])
async def test_check_rejects_a_weak_encryption_key(
    configured: Callable[..., Settings], content: bytes
) -> None:
    weak = SecretStr(base64.urlsafe_b64encode(content).decode())

    findings = await _findings(configured(encryption_keys=(Vault.generate_key(), weak)))

    assert "wrong ENCRYPTION_KEYS: A key isn't random." in findings["ENCRYPTION_KEYS"]


async def test_check_reports_a_read_only_database(
    configured: Callable[..., Settings], url_of_postgresql: str
) -> None:
    database = Database(url_of_postgresql)

    def forbid(connection: Connection) -> None:
        name = connection.scalar(text("select current_database()"))
        connection.execute(text(f'alter database "{name}" set default_transaction_read_only = on'))

    await database.write(forbid)
    await database.close()

    findings = await _findings(configured(database_url=url_of_postgresql))

    assert "wrong DATABASE_URL" in findings["DATABASE_URL"]
    assert "read-only transaction" in findings["DATABASE_URL"]


async def test_check_reports_the_schema_version(configured: Callable[..., Settings]) -> None:
    settings = configured()
    assert "`issuebot db upgrade`" in (await _findings(settings))["DATABASE_URL"]
    database = Database(settings.database_url)
    await database.open()
    assert "up to date" in (await _findings(settings))["DATABASE_URL"]
    await database.write(
        lambda connection: connection.execute(text("update alembic_version set version_num = '9999'"))
    )
    await database.close()

    assert "from a newer version" in (await _findings(settings))["DATABASE_URL"]
