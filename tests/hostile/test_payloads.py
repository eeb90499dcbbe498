"""Malformed payloads are rejected with one log line, over HTTP and sockets, and the bot keeps working."""

import asyncio
import gc
import io
import json
import time
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from sqlalchemy import func, select

from bot.slack.incoming.deliveries import REQUEST
from bot.slack.incoming.payload import parse
from bot.store.tables import JobRow
from bot.timings import Delays
from tests.hostile.mutating import EXAMPLES, JUNK, added, mutated, tried
from tests.hostile.recording import Recorded, recordings, registered
from tests.hostile.sending import FORM, Answer, post, signed
from tests.support.office import Office, Transport
from tests.support.person import Person
from tests.support.reading import text_of

ANSWERS = {200, 400, 404}
SECONDS = 15  # a payload that hangs the bot is never answered
ROUNDS, KEPT = 4, 20_000
"""How often to send everything while memory is watched, and how many bytes each payload may keep at most."""


def test_every_registered_handler_has_a_recorded_payload() -> None:
    recorded = {recording.name for recording in recordings()}
    options = ("issue.project", "issue.value", "time.issue", "files.issue", "digest.zone")

    names = {name for name in registered() if not name.startswith("options:")}
    assert names | {f"options:{name}" for name in options} <= recorded
    assert "xoxb-" not in str(recordings())
    assert "xapp-" not in str(recordings())


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)
def test_real_payloads_are_accepted(recording: Recorded) -> None:
    parse(recording.payload)


def test_the_home_tab_needs_no_title() -> None:
    home = next(one.payload for one in recordings() if one.name == "event:app_home_opened")
    view = {
        "id": "V1",
        "type": "home",
        "blocks": [],
        "hash": "1.a",
        "private_metadata": "",
        "callback_id": "",
    }
    parse(home | {"event": home["event"] | {"view": view}})


BOTH = pytest.mark.parametrize("office", ["http", "socket"], indirect=True)
FRAMES = (
    *("", " ", "{", "[]", "null", "5", '"hello"', '"{"', "ping", "\x00", "{}", '{"type": null}', "[" * 5000),
    *('{"type": "interactive"}', '{"type": [], "envelope_id": {}, "payload": {}}', '{"type": "goodbye"}'),
    *(
        '{"type": "hello", "connection_info": 5}',
        '{"type": "hello"}',
        '{"type": "warning", "debug_info": []}',
    ),
    *('{"type": "slash_commands"}', '{"envelope_id": 5}', '{"type": "interactive", "envelope_id": "1"}'),
    '{"type": "events_api", "envelope_id": [], "payload": 5}',
    '{"type": "slash_commands", "envelope_id": "3", "payload": {"command": {}}}',
)


@pytest.fixture
async def office(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Office]:
    delays = Delays(acknowledged=0.01, typing=0.01)
    transport: Transport = getattr(request, "param", "http")
    # Events fail with Slack's error where their trigger isn't valid.
    office = Office(tmp_path, transport, delays=delays, rate_limits=False, may_crash=True)
    async with office.opened("ana"):
        yield office


@pytest.fixture
async def steadfast(office: Office, ana: Person) -> AsyncIterator[Office]:
    """An office that must work as before after the test, without errors in between."""
    loose: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: loose.append(context))
    yield office
    await office.idle()
    await ana.command("/tracker whoami")

    await ana.sees(lambda message: "Ana Ruiz" in text_of(message))
    assert len(connections(office)) == (office.transport == "socket")
    assert loose == []


def connections(office: Office) -> list[Any]:
    """Returns the bot's sockets."""
    return getattr(office.workspace._delivery, "_connections", [])


def forget(office: Office) -> None:
    """Clears what the local Slack remembers and the real one keeps elsewhere."""
    workspace = office.workspace
    workspace.calls.clear()
    for view in [*workspace.state.views.values()]:
        workspace.state.close(view)
    for messages in workspace.state.messages.values():
        messages.clear()


def broken(printed: io.StringIO) -> list[str]:
    """Returns the exceptions that the bot logged, without those of the local Slack's server."""
    lines = [json.loads(line) for line in printed.getvalue().splitlines()]
    return [line["exception"] for line in lines if "exception" in line and line["logger"] != "aiohttp.server"]


def fresh(office: Office, payload: Any) -> Any:
    """Returns the payload with a new ID and a valid trigger, unless those parts were changed."""
    if isinstance(payload.get("trigger_id"), str) and payload["trigger_id"].count(".") == 2:
        payload["trigger_id"] = office.workspace._triggers.issue("U0ANA0001")
    if isinstance(event := payload.get("event"), dict) and "event_ts" in event:
        event["event_ts"] = f"{time.time():.6f}"
    if isinstance(view := payload.get("view"), dict) and isinstance(view.get("id"), str):
        view["id"] = office.workspace.state.new_id("V")
    actions = payload.get("actions")
    for action in (payload, *(actions if isinstance(actions, list) else ())):
        if isinstance(action, dict) and isinstance(action.get("action_ts"), str):
            action["action_ts"] = office.workspace.state.new_ts()
    return payload


async def posted(office: Office, recording: Recorded, payload: Any) -> Answer:
    """Posts a payload, even if a command's fields aren't strings."""
    form = payload if recording.kind == "slash_commands" else {"payload": json.dumps(payload)}
    body, content_type = urlencode(form, errors="surrogatepass").encode(), FORM
    if recording.kind == "events_api":
        body, content_type = json.dumps(payload).encode(), "application/json"
    return await post(office, body, signed(office, body, content_type=content_type))


async def send(office: Office, recording: Recorded, printed: io.StringIO) -> None:
    """Sends a payload and waits until the bot has handled it; it mustn't log an exception."""
    printed.truncate(printed.seek(0))
    payload = fresh(office, recording.at(office))
    async with asyncio.timeout(SECONDS):
        if office.transport == "socket":
            envelope = {"type": recording.kind, "envelope_id": "x", "payload": payload}
            await connections(office)[0].send_str(json.dumps(envelope))
            await asyncio.sleep(0.01)
        else:
            assert (await posted(office, recording, payload)).status in ANSWERS
    await office.idle()
    assert "\n".join(broken(printed)) == ""


@BOTH
@tried(EXAMPLES)
@given(recording=mutated())
async def test_no_payload_breaks_the_bot(
    steadfast: Office, printed: io.StringIO, recording: Recorded
) -> None:
    await send(steadfast, recording, printed)


@BOTH
async def test_additions_to_a_payload_do_not_break_the_bot(steadfast: Office, printed: io.StringIO) -> None:
    for recording in added():
        await send(steadfast, recording, printed)


@pytest.mark.parametrize("office", ["socket"], indirect=True)
async def test_no_frame_breaks_the_connection(steadfast: Office) -> None:
    [connection] = connections(steadfast)
    envelopes = [{"type": "interactive", "envelope_id": "1", "payload": junk} for junk in JUNK]

    for text in (*FRAMES, *map(json.dumps, envelopes)):
        await connection.send_str(text)
    await connection.send_bytes(b"\xff\x00{")
    await steadfast.idle()

    assert connections(steadfast) == [connection]


async def test_a_replayed_request_does_nothing(office: Office) -> None:
    form = next(recording for recording in recordings() if recording.name == "command:timelog").at(office)
    body = urlencode(form).encode()
    headers, before = signed(office, body), len(office.tracker.data.time_entries)

    answers = await asyncio.gather(*(post(office, body, headers) for _ in range(3)))
    answers.append(await post(office, body, headers))
    await office.idle()

    assert {answer.status for answer in answers} == {200}
    assert len(office.tracker.data.time_entries) == before + 1


@pytest.mark.parametrize(
    ("name", "changed", "why"),
    [
        ("form:issue.create", {"view": {"type": "modal"}}, "payload.view without id"),
        ("form:time.log", {"user": {"id": 5}}, "payload.user.id has another type"),
        ("event:reaction_added", {"event": {"type": "reaction_added"}}, "payload.event without user"),
        ("command:issue", {"user_id": "a\x00b"}, "payload.user_id has another type"),
        ("form:link", {"view": None}, "payload without view"),
    ],
)
async def test_a_missing_or_wrong_field_is_one_logged_line(
    office: Office, printed: io.StringIO, name: str, changed: dict[str, Any], why: str
) -> None:
    recording = next(one for one in recordings() if one.name == name)

    answer = await posted(office, recording, recording.at(office) | changed)

    assert answer == Answer(400, "")
    [line] = [json.loads(line) for line in printed.getvalue().splitlines()]
    assert (line["action"], line["why"]) == ("slack.malformed", why)


async def test_a_null_field_counts_as_missing(office: Office, printed: io.StringIO) -> None:
    recording = next(one for one in recordings() if one.name == "action:issue.show")

    payload = fresh(office, recording.at(office)) | {"message": None, "view": None}
    assert (await posted(office, recording, payload)).status == 200
    await office.idle()

    assert broken(printed) == []


async def test_payloads_without_a_handler_are_rejected(office: Office) -> None:
    pressed = next(one for one in recordings() if one.name == "action:issue.show")
    payload = fresh(office, pressed.at(office))
    payload["actions"][0]["action_id"] = "retired.button"

    assert (await posted(office, pressed, payload)).status == 404
    taken = select(func.count()).where(JobRow.kind == REQUEST)
    assert await office.bot.database.read(lambda connection: connection.scalar(taken)) == 0


async def test_memory_stays_constant_under_junk(steadfast: Office, printed: io.StringIO) -> None:
    async def held_after(rounds: int) -> int:
        for _ in range(rounds):
            for recording in sent:
                payload = fresh(steadfast, recording.at(steadfast)) | {"kept": "x" * KEPT}
                assert (await posted(steadfast, recording, payload)).status in ANSWERS
            await steadfast.idle()
        forget(steadfast)
        printed.truncate(printed.seek(0))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    kinds = {recording.name.partition(":")[0]: recording for recording in recordings()}
    sent = [*kinds.values()]
    await held_after(2)
    tracemalloc.start()
    first = await held_after(1)
    then = await held_after(ROUNDS)
    tracemalloc.stop()

    assert (then - first) / (ROUNDS * len(sent)) < KEPT / 2
