"""`issuebot check` names every problem and says how to fix it."""

import base64
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
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import Connection, text

from bot.app_sandbox import Sandbox
from bot.check import check
from bot.check import slack as slack_check
from bot.config import Settings
from bot.slack.surfaces.manifest import SCOPES
from bot.store.database import Database
from bot.store.vault import Vault
from tests.support.serving import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")


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

    assert findings["SLACK_BOT_TOKEN"].startswith("error SLACK_BOT_TOKEN: Slack returned invalid_auth. ")
    assert findings["SLACK_APP_TOKEN"].startswith("error SLACK_APP_TOKEN: Slack returned invalid_auth. ")
    assert "missing path prefix" in findings["SERVICE_BASE_URL"]
    assert findings["ENCRYPTION_KEYS"].startswith("error ENCRYPTION_KEYS: Can't decrypt 2 stored values.")


async def test_check_recognizes_redmine_by_its_challenge(sandbox: Sandbox, tmp_path: Path) -> None:
    async def ask_for_key(_request: web.Request) -> web.Response:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="Redmine API"'})

    application = web.Application()
    application.router.add_get("/{path:.*}", ask_for_key)
    empty = f"sqlite:///{tmp_path / 'empty.db'}"
    async with serving(application) as url:
        settings = sandbox.bot.settings.model_copy(update={"service_base_url": url})
        wrong = await _findings(settings)
        right = await _findings(settings, service_api_key_header="X-Redmine-API-Key")
        unlinked = await _findings(settings, service_api_key_header="X-Redmine-API-Key", database_url=empty)

    assert wrong["SERVICE_BASE_URL"].startswith("ok ")
    assert wrong["SERVICE_API_KEY_HEADER"].endswith("Set it to X-Redmine-API-Key.")
    assert "None of the 2 linked keys work." in right["SERVICE_API_KEY_HEADER"]
    assert unlinked["SERVICE_API_KEY_HEADER"].startswith("ok ")


async def test_check_reports_that_slack_and_service_are_down(sandbox: Sandbox) -> None:
    nowhere = "http://127.0.0.1:1"
    findings = await _findings(
        sandbox.bot.settings,
        slack_api_url=f"{nowhere}/api/",
        service_base_url=nowhere,
        database_url="sqlite:////nowhere/at/all/bot.db",
    )

    assert {"SLACK_BOT_TOKEN", "SERVICE_BASE_URL", "DATABASE_URL"} <= findings.keys()
    assert [line for line in findings.values() if not line.startswith("error ")] == []
    assert "SERVICE_BASE_URL: The tracker doesn't respond." in findings["SERVICE_BASE_URL"]


async def test_check_says_that_keys_are_sent_unencrypted(sandbox: Sandbox) -> None:
    async def ask_for_key(_request: web.Request) -> web.Response:
        return web.Response(status=401)

    application = web.Application()
    application.router.add_get("/{path:.*}", ask_for_key)
    async with serving(application) as url:
        elsewhere = url.replace("127.0.0.1", "0.0.0.0")  # noqa: S104 - this machine, under another name
        findings = await _findings(sandbox.bot.settings, service_base_url=elsewhere)

    assert findings["SERVICE_BASE_URL"].startswith("ok ")
    assert "API keys are sent unencrypted" in findings["SERVICE_BASE_URL"]
    assert "unencrypted" not in (await _findings(sandbox.bot.settings))["SERVICE_BASE_URL"]


async def test_check_says_that_tls_fails(sandbox: Sandbox) -> None:
    url = sandbox.service_url.replace("http://", "https://")

    findings = await _findings(sandbox.bot.settings, service_base_url=url)

    assert "Can't connect with TLS: [SSL: " in findings["SERVICE_BASE_URL"]
    assert "_ssl.c" not in findings["SERVICE_BASE_URL"]


async def test_check_reports_an_env_file_that_others_can_read(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".env"
    file.touch(0o600)
    assert ".env" not in await _findings(sandbox.bot.settings)

    file.chmod(0o644)
    assert (await _findings(sandbox.bot.settings))[".env"].endswith("Run `chmod 600 .env`.")


@pytest.fixture(autouse=True)
def _impatient() -> Iterator[None]:
    """Try a missing service only once."""
    with stamina.set_testing(True, attempts=1):
        yield


SWITCHED_OFF = {"type": "disconnect", "reason": "link_disabled"}


class Slack:
    """A fake Slack whose answers about a token each test chooses."""

    def __init__(self) -> None:
        self.whose: dict[str, Any] = {"ok": True, "team": "Acme", "bot_id": "B1"}
        self.clock = 0
        self.lacking = ""
        self.greeting: dict[str, Any] = {"type": "hello"}
        self.url = ""

    async def test(self, _request: web.Request) -> web.Response:
        scopes = ",".join(scope for scope in SCOPES if scope != self.lacking)
        headers = {"X-OAuth-Scopes": scopes, "Date": formatdate(time.time() + self.clock, usegmt=True)}
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


TOKEN, KEYS, SECRET = "SLACK_BOT_TOKEN", "ENCRYPTION_KEYS", "SLACK_SIGNING_SECRET"
WEAK = [
    (Vault.generate_key(), SecretStr(base64.urlsafe_b64encode(content).decode()))
    for content in (bytes(32), b"correct horse battery staple !!!", bytes(range(8)) * 4)
]


@pytest.mark.parametrize(
    ("answers", "changes", "name", "sentence"),
    [
        ({}, {}, TOKEN, f"ok    {TOKEN}: Works in Acme and has every scope."),
        ({"whose": {"ok": True, "team": "Acme"}}, {}, TOKEN, f"error {TOKEN}: This isn't a bot token."),
        ({"lacking": "users:read"}, {}, TOKEN, f"error {TOKEN}: Missing scopes: users:read. "),
        ({"lacking": "im:history"}, {}, TOKEN, f"error {TOKEN}: Missing scopes: im:history. "),
        ({"lacking": "mpim:history"}, {}, TOKEN, " Optional scopes it doesn't have: mpim:history."),
        ({"greeting": SWITCHED_OFF}, {}, "SLACK_APP_TOKEN", "Socket Mode is off. Turn it on"),
        ({"clock": 400}, {}, "clock", "s behind Slack's. Sync"),
        ({"clock": -400}, {}, "clock", "s ahead of Slack's. Sync"),
        *(({}, {"encryption_keys": keys}, KEYS, f"error {KEYS}: A key isn't random.") for keys in WEAK),
    ],
)
async def test_check_says_what_is_wrong(
    slack: Slack,
    configured: Callable[..., Settings],
    *,
    answers: dict[str, Any],
    changes: dict[str, Any],
    name: str,
    sentence: str,
) -> None:
    vars(slack).update(answers)

    assert sentence in (await _findings(configured(), **changes))[name]


@pytest.mark.parametrize(
    ("secret", "host", "status"),
    [
        ("x" * 32, "slack.com", "error"),
        ("x" * 32, "slack-gov.com", "error"),
        ("0123456789abcdef" * 2, "slack.com", "ok"),
        ("x" * 32, "slack.example", "ok"),
    ],
)
async def test_check_knows_slacks_own_signing_secrets(
    slack: Slack, configured: Callable[..., Settings], secret: str, host: str, status: str
) -> None:
    changes = {"slack_signing_secret": SecretStr(secret), "slack_api_url": f"https://{host}/api/"}
    settings = configured().model_copy(update=changes | {"slack_app_token": SecretStr("")})
    client = AsyncWebClient("xoxb-1", base_url=slack.url)

    findings = {f.name: str(f) async for f in slack_check.check(client, settings)}

    assert findings[SECRET].startswith(f"{status} ")


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

    assert "error DATABASE_URL" in findings["DATABASE_URL"]
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

    refused = "error DATABASE_URL: Can't use the database: a newer version migrated it"
    assert refused in (await _findings(settings))["DATABASE_URL"]
