"""Malformed payloads are rejected with one log line, and the bot keeps working."""

import asyncio
import gc
import io
import json
import time
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from sqlalchemy import func, select

from bot.slack import payload_schema
from bot.store.tables import DeliveryRow
from tests.hostile.mutating import EXAMPLES, mutated, tried
from tests.hostile.recording import Recorded, recordings, registered
from tests.hostile.sending import FORM, post, signed
from tests.support.office import Office
from tests.support.person import Person

ANSWERS = {200, 400, 404}
SECONDS = 15  # a payload that hangs the bot is never answered
ROUNDS, KEPT = 4, 20_000
"""How often to send everything while memory is watched, and how many bytes each payload may keep at most."""


def test_every_registered_handler_has_a_recorded_payload() -> None:
    recorded = {recording.name for recording in recordings()}
    options = ("issue.project", "issue.category", "time.issue", "files.issue", "digest.zone")

    names = {name for name in registered() if not name.startswith("options:")}
    assert names | {f"options:{name}" for name in options} <= recorded
    assert "xoxb-" not in str(recordings())
    assert "xapp-" not in str(recordings())


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)
def test_real_payloads_are_accepted(recording: Recorded) -> None:
    payload_schema.check(recording.payload)


def test_the_home_tab_needs_no_title() -> None:
    home = next(one.payload for one in recordings() if one.name == "event:app_home_opened")
    view = {
        "id": "V1",
        "type": "home",
        "blocks": [],
        "private_metadata": "",
        "callback_id": "",
        "hash": "1.a",
    }
    payload_schema.check(home | {"event": home["event"] | {"view": view}})


@pytest.fixture
async def steadfast(office: Office, ana: Person) -> AsyncIterator[Office]:
    """An office that must work as before after the test, without errors in between."""
    loose: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: loose.append(context))
    office.wait(acknowledged=0.01)
    yield office
    assert "Ana Ruiz" in (await ana.ask("/tracker whoami"))["text"]
    assert loose == []


def forget(office: Office) -> None:
    """Clears what the local Slack remembers and the real one keeps elsewhere."""
    workspace = office.workspace
    workspace.calls.clear()
    for view in [*workspace.state.views.values()]:
        workspace.state.close(view)
    for said in workspace.state.messages.values():
        said.clear()


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


def as_sent(recording: Recorded, payload: Any) -> tuple[str, bytes]:
    """Returns content type and body, even if a command's fields aren't strings."""
    if recording.kind == "events_api":
        return "application/json", json.dumps(payload).encode()
    form = payload if recording.kind == "slash_commands" else {"payload": json.dumps(payload)}
    return FORM, urlencode(form, errors="surrogatepass").encode()


@tried(EXAMPLES)
@given(recording=mutated())
async def test_no_payload_breaks_the_bot(
    steadfast: Office, printed: io.StringIO, recording: Recorded
) -> None:
    content_type, body = as_sent(recording, fresh(steadfast, recording.at(steadfast)))
    printed.seek(0)
    printed.truncate()

    async with asyncio.timeout(SECONDS):
        answer = await post(steadfast, body, signed(steadfast, body, content_type=content_type))
    await steadfast.idle()

    assert answer.status in ANSWERS, answer
    assert "\n".join(broken(printed)) == ""


async def test_a_replayed_request_does_nothing(office: Office) -> None:
    told = next(recording for recording in recordings() if recording.name == "command:timelog").at(office)
    body = urlencode(told).encode()
    headers, before = signed(office, body), len(office.tracker.data.time_entries)

    answers = await asyncio.gather(*(post(office, body, headers) for _ in range(3)))
    answers.append(await post(office, body, headers))
    await office.idle()

    assert {answer.status for answer in answers} == {200}
    assert len(office.tracker.data.time_entries) == before + 1


async def test_payloads_without_a_handler_are_rejected(office: Office) -> None:
    pressed = next(one for one in recordings() if one.name == "action:issue.show")
    payload = fresh(office, pressed.at(office))
    payload["actions"][0]["action_id"] = "retired.button"
    content_type, body = as_sent(pressed, payload)

    answer = await post(office, body, signed(office, body, content_type=content_type))

    assert answer.status == 404
    taken = select(func.count()).select_from(DeliveryRow)
    assert await office.bot.database.read(lambda connection: connection.scalar(taken)) == 0


async def test_memory_stays_constant_under_junk(steadfast: Office, printed: io.StringIO) -> None:
    async def held_after(rounds: int) -> int:
        for _ in range(rounds):
            for recording in sent:
                payload = fresh(steadfast, recording.at(steadfast)) | {"kept": "x" * KEPT}
                content_type, body = as_sent(recording, payload)
                answer = await post(steadfast, body, signed(steadfast, body, content_type=content_type))
                assert answer.status in ANSWERS
            await steadfast.idle()
        forget(steadfast)
        printed.seek(0)
        printed.truncate()
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
