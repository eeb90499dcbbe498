"""Over Socket Mode, too, nothing that makes no sense breaks the bot, or its connection."""

import asyncio
import io
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from bot.slack import pauses, submission
from tests.hostile.conftest import KEYS
from tests.hostile.mutating import JUNK, mutated
from tests.hostile.recording import Recorded
from tests.hostile.test_payloads import broken, fresh, idle
from tests.journeys.office import Office
from tests.journeys.person import Person

EXAMPLES = int(os.environ.get("ISSUEBOT_HOSTILE_EXAMPLES", "150")) // 3
FRAMES = [
    *("", " ", "{", "[]", "null", "5", '"hello"', "ping", "\x00", "{}", '{"type": null}', "[" * 2000),
    *('{"type": "interactive"}', '{"type": [], "envelope_id": {}, "payload": {}}', '{"type": "goodbye"}'),
    *('{"type": "hello", "connection_info": 5}', '{"type": "warning", "debug_info": []}'),
]


@pytest.fixture
async def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Office]:
    monkeypatch.setattr(pauses, "PAUSE", 0.01)
    monkeypatch.setattr(submission, "TAKEN_IN", 0.01)
    office = Office(tmp_path)
    await office.open()
    await office.link("U0ANA0001", KEYS["ana"])
    yield office
    await goes_on(office)
    await office.close()


async def goes_on(office: Office) -> None:
    """The bot answers over the one connection that it has."""
    assert "Ana Ruiz" in (await Person(office, "U0ANA0001").ask("/tracker whoami"))["text"]
    assert len(office.workspace._delivery._connections) == 1  # type: ignore[attr-defined]


async def test_no_frame_breaks_the_connection(office: Office) -> None:
    envelopes = [{"type": "interactive", "envelope_id": "1", "payload": junk} for junk in JUNK]
    connection = office.workspace._delivery._connections[0]  # type: ignore[attr-defined]

    for text in (*FRAMES, *map(json.dumps, envelopes)):
        await connection.send_str(text)
    await idle(office)

    await goes_on(office)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(recording=mutated())
async def test_no_payload_breaks_the_bot(office: Office, printed: io.StringIO, recording: Recorded) -> None:
    printed.seek(0)
    printed.truncate()
    payload: Any = fresh(office, recording.at(office))
    envelope = {"type": recording.kind, "envelope_id": "x", "payload": payload}
    connection = office.workspace._delivery._connections[0]  # type: ignore[attr-defined]

    await connection.send_str(json.dumps(envelope))
    await asyncio.sleep(0.01)
    await idle(office)

    assert broken(printed) == []
