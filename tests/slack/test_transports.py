"""The bot over signed HTTP: command prefix, shutdown and malformed requests."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from bot.sandbox.people import PEOPLE
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of

KEY = next(person.api_key for person in PEOPLE if person.login == "ana")


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path, transport="http", variables={"COMMAND_PREFIX": "acme-"})
    await office.open()
    await office.link("U0ANA0001", KEY)
    yield office
    await office.close()
    assert office.violations() == []


@pytest.fixture
def ana(office: Office) -> Person:
    return Person(office, "U0ANA0001")


async def test_linking_and_commands_work_over_signed_http(office: Office, ana: Person) -> None:
    ben = Person(office, "U0BEN0001")
    await ben.command("/acme-issue 28")
    link = await ben.form("Link account")
    key = next(person.api_key for person in PEOPLE if person.login == "ben")
    assert "#28" in (await ben.after(ben.submit(link, {"API key": key})))["text"]

    await ana.command("/acme-issue new project:webshop")
    announced = await ana.after(ana.submit(await ana.form("New issue"), {"Subject": "By HTTP"}))
    assert "By HTTP" in announced["text"]
    assert "By HTTP" in text_of(await ana.ask("/acme-issues by http"))


async def test_sentences_use_the_command_prefix(ana: Person) -> None:
    assert "`/acme-tracker connect`" in (await ana.ask("/acme-tracker nonsense"))["text"]
    assert "/acme-issues to:me" in text_of(await ana.ask("/acme-tracker help"))


async def test_in_flight_work_finishes_before_the_bot_stops(office: Office, ana: Person) -> None:
    asking = asyncio.create_task(ana.ask("/acme-issues status:any"))
    while not len(office.bot.in_flight):
        await asyncio.sleep(0)

    await office.bot.stop(5)

    assert "recently updated first" in text_of(await asking)


PARTS: list[JSON] = [
    {"actions": {}}, {"actions": 5}, {"actions": [[]]}, {"actions": [{}]}, {"user": True}, {"team": True},
    {"channel": 5, "user": {"id": "U"}}, {"enterprise": "E"}, {"view": []}, {"message": "x"},
    {"callback_id": "issue.create", "view": {"callback_id": "issue.create"}},
]  # fmt: skip
KINDS = ("block_actions", "view_submission", "shortcut", "message_action", "block_suggestion")
MALFORMED = [
    *("payload=[]", "payload=null", "payload=5", 'payload="x"', "payload={", "[]", "null", "5"),
    *('{"type":"event_callback","event":null}', '{"type":"event_callback","event":[]}'),
    *(
        f"payload={quote(json.dumps({'type': kind, 'trigger_id': 'T'} | part))}"
        for kind in KINDS
        for part in PARTS
    ),
    "payload=" + "[" * 3000,
]


async def test_malformed_requests_are_rejected_and_the_bot_keeps_running(office: Office, ana: Person) -> None:
    url = f"http://127.0.0.1:{office.bot.port}/slack/events"
    statuses = {}
    for number, body in enumerate(MALFORMED):
        form = body.startswith("payload")
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        headers = {"Content-Type": kind, **signed(office, f"{body}&n={number}" if form else body)}
        sent = f"{body}&n={number}" if form else body
        async with office.http.post(url, data=sent.encode(), headers=headers) as answer:
            statuses[body[:80]] = answer.status

    assert {body: status for body, status in statuses.items() if status >= 500} == {}
    assert "Ana Ruiz" in (await ana.ask("/acme-tracker whoami"))["text"]


async def test_ssl_check_is_answered(office: Office) -> None:
    url = f"http://127.0.0.1:{office.bot.port}/slack/events"
    body = "ssl_check=1&token=x"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    async with office.http.post(url, data=body, headers=headers | signed(office, body)) as answer:
        assert answer.status == 200
    async with office.http.post(url, data=body, headers=headers) as answer:
        assert answer.status == 401


def signed(office: Office, body: str) -> dict[str, str]:
    now = str(int(time.time()))
    secret = office.workspace.signing_secret.encode()
    digest = hmac.new(secret, f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": now, "X-Slack-Signature": f"v0={digest}"}
