"""The bot over signed HTTP: command prefix, shutdown and malformed requests."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.slack.http import Readiness
from tests.hostile.sending import FORM, post, signed
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import text_of


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path, transport="http", variables={"COMMAND_PREFIX": "acme-"})
    await office.open()
    await office.link("U0ANA0001", KEYS["ana"])
    yield office
    await office.close()
    assert office.violations() == []


@pytest.fixture
def ana(office: Office) -> Person:
    return Person(office, "U0ANA0001")


async def test_sentences_use_the_command_prefix(ana: Person) -> None:
    assert "`/acme-tracker connect`" in (await ana.ask("/acme-tracker nonsense"))["text"]
    assert "/acme-issues to:me" in text_of(await ana.ask("/acme-tracker help"))


async def test_in_flight_work_finishes_before_the_bot_stops(office: Office, ana: Person) -> None:
    asking = asyncio.create_task(ana.ask("/acme-issues status:any"))
    while not len(office.bot.in_flight):
        await asyncio.sleep(0)

    await office.bot.stop(5)

    assert "recently updated first" in text_of(await asking)


async def test_new_requests_are_rejected_while_stopping(office: Office) -> None:
    office.bot._web.stopping = True

    assert (await post(office, b"", signed(office, b""))).status == 503
    for path, status in (("readyz", 503), ("healthz", 200)):
        async with office.http.get(f"http://127.0.0.1:{office.bot.port}/{path}") as answer:
            assert answer.status == status, path


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

    assert "Ana Ruiz" in (await ana.ask("/acme-tracker whoami"))["text"]


async def test_ssl_check_is_answered(office: Office) -> None:
    body = b"ssl_check=1&token=x"

    assert (await post(office, body, signed(office, body))).status == 200


async def test_readiness_asks_each_dependency_once_for_all_callers() -> None:
    asked = []

    async def fine() -> bool:
        asked.append("database")
        return True

    async def broken() -> bool:
        raise OSError("away")

    readiness = Readiness({"database": fine, "slack": broken})

    answers = await asyncio.gather(*(readiness.answers() for _ in range(5)))

    assert answers == [{"database": True, "slack": False}] * 5
    assert asked == ["database"]


async def test_callers_share_the_result_of_a_dependency_that_hangs() -> None:
    asked = []

    async def hang() -> bool:
        asked.append("slack")
        await asyncio.Event().wait()
        return True

    readiness = Readiness({"slack": hang}, seconds=0.5)

    assert await asyncio.gather(*(readiness.answers() for _ in range(3))) == [{"slack": False}] * 3
    assert asked == ["slack"]
