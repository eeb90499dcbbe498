"""The bot over signed HTTP: command prefix, shutdown and malformed requests; and over a socket that fails."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.incoming.http import PendingRequests, Readiness
from bot.slack.incoming.socket_mode import SocketMode
from bot.timings import Delays
from tests.hostile.sending import FORM, post, signed
from tests.support.office import TIMEOUT_SECONDS, Office
from tests.support.person import Person
from tests.support.ports import free_port
from tests.support.reading import text_of, until_so


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    variables = {"COMMAND_PREFIX": "acme-"}
    async with Office(tmp_path, transport="http", variables=variables).opened("ana") as office:
        yield office
    assert office.violations() == []


async def test_sentences_use_the_command_prefix(ana: Person) -> None:
    assert "`/acme-tracker connect`" in (await ana.ask("/acme-tracker conect"))["text"]
    assert "/acme-issues to:me" in text_of(await ana.ask("/acme-tracker help"))


async def test_new_requests_are_rejected_while_stopping(office: Office) -> None:
    answered = asyncio.Event()
    office.bot.in_flight.start(answered.wait())
    stopping = asyncio.create_task(office.bot.stop(TIMEOUT_SECONDS))
    await until_so(lambda: office.bot._web.stopping)

    assert (await post(office, b"", signed(office, b""))).status == 503
    for path, status in (("readyz", 503), ("healthz", 200)):
        async with office.http.get(f"http://127.0.0.1:{office.bot.port}/{path}") as answer:
            assert answer.status == status, path
    answered.set()
    await stopping


MALFORMED = (
    *(b"payload=[]", b"payload=null", b"payload=5", b'payload="x"', b"payload={", b"[]", b"null", b"5"),
    *(b'{"type":"event_callback","event":null}', b'{"type":"event_callback","event":[]}', b"\xff\xfe"),
    b"payload=" + b"[" * 3000,
)


async def test_malformed_bodies_are_rejected_and_the_bot_keeps_running(office: Office, ana: Person) -> None:
    for body in MALFORMED:
        kind = FORM if body.startswith(b"payload") else "application/json"
        answer = await post(office, body, signed(office, body, content_type=kind))
        assert answer.status == 400, body
    checked = b"ssl_check=1&token=x"
    assert (await post(office, checked, signed(office, checked))).status == 200

    assert "Ana Ruiz" in (await ana.ask("/acme-tracker whoami"))["text"]


async def test_readiness_asks_each_dependency_once_for_all_callers() -> None:
    asked = []

    async def fine() -> bool:
        asked.append("database")
        return True

    async def broken() -> bool:
        raise OSError("away")

    async def hang() -> bool:
        asked.append("service")
        await asyncio.Event().wait()
        return True

    readiness = Readiness({"database": fine, "slack": broken, "service": hang}, seconds=0.2)

    answers = await asyncio.gather(*(readiness.answers() for _ in range(5)))

    assert answers == [{"database": True, "slack": False, "service": False}] * 5
    assert sorted(asked) == ["database", "service"]


async def test_failed_connections_are_logged_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    slack = AsyncWebClient("xoxb-1", base_url=f"http://127.0.0.1:{free_port()}/api/", retry_handlers=[])
    app = AsyncApp(client=slack, signing_secret="-", logger=logging.getLogger("slack_bolt"))
    socket = SocketMode(app, SecretStr("xapp-1"), slack, PendingRequests(), Delays().ping)

    assert not await socket.connect(0.5)
    await socket.close()

    records = [record for record in caplog.records if record.getMessage().startswith("Failed to connect")]
    assert records
    assert not any(record.exc_info for record in records)
