"""Anything pressed, submitted or delivered more than once acts once, across replicas too."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.replicas import Mode, Replicas, replicas
from tests.faults.scenarios import SCENARIOS, WHOLE, sampled
from tests.faults.scene import Scenario

PARTS = 2
_SPOKEN = [d for d in SCENARIOS.values() if not (d.effect or d.handlers[0].startswith("options:"))]
DELIVERED = sampled(d for d in SCENARIOS.values() if d.effect) + sampled(_SPOKEN)[:: 1 if WHOLE else 3]
"""Every handler that takes effect, and a part of those that only answer."""
READS = ("auth.", "conversations.", "users.", "files.info")


@pytest.fixture
async def scene(tmp_path: Path, url_of_postgresql: str) -> AsyncIterator[Replicas]:
    async with replicas(tmp_path, url_of_postgresql) as scene:
        yield scene


async def do(scene: Replicas, scenario: Scenario, mode: Mode) -> Counter[str]:
    """Runs the scenario, its last step in that mode; counts its effect and its calls to Slack."""
    await scene.reset()
    steps = scenario.steps(scene)
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
    if scenario.effect:
        seen["effect"] = await scenario.effect(scene)
    return seen


def _messages(scene: Replicas) -> int:
    rows = scene.office.workspace.state.messages.values()
    return sum(message.by_app for messages in rows for message in messages)


@pytest.mark.parametrize("part", range(PARTS))
async def test_simultaneous_duplicates_to_two_replicas_act_once(scene: Replicas, part: int) -> None:
    wrong = {}
    for scenario in DELIVERED[part::PARTS]:
        once = await do(scene, scenario, "once")
        if not (scenario.effect or once["messages"]):
            continue
        again = await do(scene, scenario, "duplicate")
        if once != again or once["effect"] != bool(scenario.effect):
            wrong[scenario.name] = {"once": dict(once), "again": dict(again)}
    assert wrong == {}


PRESSED = sampled(
    d for d in SCENARIOS.values() if d.effect and d.handlers[0].startswith(("action:", "form:"))
)
HEARD = [d for d in SCENARIOS.values() if d.handlers[0].startswith("event:")]


async def test_a_repeated_press_or_submission_on_another_replica_acts_once(scene: Replicas) -> None:
    wrong = {}
    for scenario in PRESSED:
        done = await do(scene, scenario, "repeat")
        if done["effect"] != 1:
            wrong[scenario.name] = dict(done)
    assert wrong == {}


async def test_an_event_with_a_new_id_is_still_a_duplicate(scene: Replicas) -> None:
    wrong = {}
    for scenario in HEARD:
        once, again = await do(scene, scenario, "once"), await do(scene, scenario, "repeat")
        if once != again or not once.total():
            wrong[scenario.name] = {"once": dict(once), "again": dict(again)}
    assert wrong == {}
