"""In Socket Mode, too, malformed input breaks neither the bot nor its connection."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from bot.slack.waits import Waits
from tests.hostile.mutating import EXAMPLES, JUNK, added, mutated, tried
from tests.hostile.recording import Recorded
from tests.hostile.test_payloads import broken, fresh
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of, until

FRAMES = [
    *("", " ", "{", "[]", "null", "5", '"hello"', "ping", "\x00", "{}", '{"type": null}', "[" * 2000),
    *('{"type": "interactive"}', '{"type": [], "envelope_id": {}, "payload": {}}', '{"type": "goodbye"}'),
    *('{"type": "hello", "connection_info": 5}', '{"type": "warning", "debug_info": []}'),
]


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with Office(tmp_path, waits=Waits(acknowledged=0.01, typing=0.01)).opened("ana") as office:
        yield office
        await goes_on(office)


async def goes_on(office: Office) -> None:
    """Asserts that the bot answers over its only connection."""
    await office.idle()
    ana = Person(office, "U0ANA0001")
    await ana.command("/tracker whoami")

    async def answered() -> bool:
        return any("Ana Ruiz" in text_of(message) for message in await ana.messages())

    await until(answered)
    assert len(office.workspace._delivery._connections) == 1  # type: ignore[attr-defined] # only Socket Mode's


async def test_no_frame_breaks_the_connection(office: Office) -> None:
    envelopes = [{"type": "interactive", "envelope_id": "1", "payload": junk} for junk in JUNK]
    connection = office.workspace._delivery._connections[0]  # type: ignore[attr-defined] # only Socket Mode's

    for text in (*FRAMES, *map(json.dumps, envelopes)):
        await connection.send_str(text)
    await office.idle()

    await goes_on(office)


async def sent(office: Office, recording: Recorded) -> None:
    """Sends a payload in an envelope and waits until the bot has handled it."""
    payload: Any = fresh(office, recording.at(office))
    envelope = {"type": recording.kind, "envelope_id": "x", "payload": payload}
    connection = office.workspace._delivery._connections[0]  # type: ignore[attr-defined] # only Socket Mode's
    await connection.send_str(json.dumps(envelope))
    await asyncio.sleep(0.01)
    await office.idle()


@tried(EXAMPLES // 3)
@given(recording=mutated())
async def test_no_payload_breaks_the_bot(office: Office, printed: io.StringIO, recording: Recorded) -> None:
    printed.seek(0)
    printed.truncate()

    await sent(office, recording)

    assert broken(printed) == []


async def test_additions_to_a_payload_do_not_break_the_bot(office: Office, printed: io.StringIO) -> None:
    for recording in added():
        await sent(office, recording)

    assert broken(printed) == []
