"""Whatever comes more than once, pressed, sent or delivered, acts once, across replicas too."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.workspace.api import rates
from tests.faults.doings import DOINGS
from tests.faults.replicas import Mode, Replicas, replicas
from tests.faults.scene import Doing

PARTS = 4
READS = ("auth.", "conversations.", "users.", "files.info")


@pytest.fixture
async def scene(
    tmp_path: Path, url_of_postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Replicas]:
    monkeypatch.setattr(rates.Bucket, "take", lambda *_: 0.0)  # people have time; a test has none
    async with replicas(tmp_path, url_of_postgresql) as scene:
        yield scene


async def do(scene: Replicas, doing: Doing, mode: Mode) -> Counter[str]:
    """Do it, its last step in that mode; what was done: its effect, and what Slack was told to show."""
    await scene.begin()
    steps = doing.way(scene)
    await anext(steps)
    await scene.settled()
    state = scene.office.workspace.state
    calls, messages = len(state.calls), _messages(scene)
    scene.mode = mode
    await anext(steps, None)
    await scene.settled()
    scene.mode = "once"
    seen = Counter(call.method for call in list(state.calls)[calls:] if not call.method.startswith(READS))
    seen["messages"] = _messages(scene) - messages
    if doing.effect:
        seen["effect"] = await doing.effect(scene)
    return seen


def _messages(scene: Replicas) -> int:
    rows = scene.office.workspace.state.messages.values()
    return sum(message.by_app for messages in rows for message in messages)


@pytest.mark.parametrize("part", range(PARTS))
async def test_the_same_delivery_to_two_replicas_at_once_acts_once(scene: Replicas, part: int) -> None:
    wrong = {}
    for doing in list(DOINGS.values())[part::PARTS]:
        if doing.serves[0].startswith("options:"):
            continue
        once = await do(scene, doing, "once")
        if not (doing.effect or once["messages"]):
            continue
        again = await do(scene, doing, "again")
        if once != again or once["effect"] != bool(doing.effect):
            wrong[doing.name] = {"once": dict(once), "again": dict(again)}
    assert wrong == {}


PRESSED = [d for d in DOINGS.values() if d.effect and d.serves[0].startswith(("action:", "form:"))]
HEARD = [d for d in DOINGS.values() if d.serves[0].startswith("event:")]


async def test_a_button_pressed_twice_and_a_form_sent_twice_to_two_replicas_act_once(scene: Replicas) -> None:
    wrong = {}
    for doing in PRESSED:
        done = await do(scene, doing, "anew")
        if done["effect"] != 1:
            wrong[doing.name] = dict(done)
    assert wrong == {}


async def test_an_event_under_another_id_is_the_same_event(scene: Replicas) -> None:
    wrong = {}
    for doing in HEARD:
        once, again = await do(scene, doing, "once"), await do(scene, doing, "anew")
        if once != again or not once.total():
            wrong[doing.name] = {"once": dict(once), "again": dict(again)}
    assert wrong == {}
