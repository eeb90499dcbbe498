"""What makes no sense is refused in a line, whatever it is; the bot goes on as before."""

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

from bot.slack import debounce, payload_schema
from bot.store.tables import DeliveryRow
from tests.hostile.mutating import EXAMPLES, mutated, tried
from tests.hostile.recording import Recorded, recordings, registered
from tests.hostile.sending import FORM, post, signed
from tests.support.office import Office
from tests.support.person import Person

ANSWERS = {200, 400, 404}
SECONDS = 3  # Slack's limit
ROUNDS, KEPT = 6, 20_000
"""How often all is sent while memory is watched, and how much more of it is held for each if it is kept."""


def test_every_kind_that_the_bot_registers_is_recorded() -> None:
    recorded = {recording.name for recording in recordings()}
    options = ("issue.project", "issue.category", "time.issue", "files.issue", "digest.zone")

    names = {name for name in registered() if not name.startswith("options:")}
    assert names | {f"options:{name}" for name in options} <= recorded
    assert "xoxb-" not in str(recordings())
    assert "xapp-" not in str(recordings())


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)
def test_what_slack_sends_makes_sense(recording: Recorded) -> None:
    payload_schema.check(recording.payload)


def test_the_home_tab_needs_no_title_as_slack_documents_it() -> None:
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
async def steadfast(office: Office, ana: Person, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Office]:
    """The office, which is as good as before when the test is over, with nothing broken on the way."""
    monkeypatch.setattr(debounce, "PAUSE", 0.01)
    loose: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: loose.append(context))
    office.wait(acknowledged=0.01)
    yield office
    assert "Ana Ruiz" in (await ana.ask("/tracker whoami"))["text"]
    assert loose == []


def forget(office: Office) -> None:
    """What the local Slack remembers, and a real one would elsewhere."""
    workspace = office.workspace
    workspace.calls.clear()
    for user_id in [*workspace.state.stacks]:
        workspace.state.close_all(user_id)
    for said in workspace.state.messages.values():
        said.clear()


def broken(printed: io.StringIO) -> list[str]:
    """The exceptions that the bot logs; what the local Slack's own server logs isn't the bot's."""
    lines = [json.loads(line) for line in printed.getvalue().splitlines()]
    return [line["exception"] for line in lines if "exception" in line and line["logger"] != "aiohttp.server"]


def fresh(office: Office, payload: Any) -> Any:
    """As if it were sent for the first time, with a trigger that opens a form, where that is as it was."""
    if isinstance(payload.get("trigger_id"), str) and payload["trigger_id"].count(".") == 2:
        payload["trigger_id"] = office.workspace._triggers.issue("U0ANA0001", "C0GENERAL01")
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
    """Content type and body, also where a part of a command is no text."""
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


async def test_a_request_that_is_sent_again_as_it_was_does_nothing(office: Office) -> None:
    told = next(recording for recording in recordings() if recording.name == "command:timelog").at(office)
    body = urlencode(told).encode()
    headers, before = signed(office, body), len(office.tracker.data.time_entries)

    answers = await asyncio.gather(*(post(office, body, headers) for _ in range(3)))
    answers.append(await post(office, body, headers))
    await office.idle()

    assert {answer.status for answer in answers} == {200}
    assert len(office.tracker.data.time_entries) == before + 1


async def test_what_nobody_serves_is_not_taken_either(office: Office) -> None:
    pressed = next(one for one in recordings() if one.name == "action:issue.show")
    payload = fresh(office, pressed.at(office))
    payload["actions"][0]["action_id"] = "retired.button"
    content_type, body = as_sent(pressed, payload)

    answer = await post(office, body, signed(office, body, content_type=content_type))

    assert answer.status == 404
    taken = select(func.count()).select_from(DeliveryRow)
    assert await office.bot.database.read(lambda connection: connection.scalar(taken)) == 0


async def test_memory_stays_as_it_is_whatever_comes(steadfast: Office, printed: io.StringIO) -> None:
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
