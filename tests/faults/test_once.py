"""Anything pressed, submitted or delivered more than once acts once, across replicas too."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.faults.replicas import Mode, Replicas, replicas
from tests.faults.scenario import Scenario
from tests.faults.scenarios import SCENARIOS, WHOLE, first_of_each_handler, sampled

DELIVERED = [one for one in sampled(2) if not one.handlers[0].startswith("options:")][:: 1 if WHOLE else 2]
EACH = SCENARIOS.values() if WHOLE else first_of_each_handler()
PRESSED = [one for one in EACH if one.effect and one.handlers[0].startswith(("action:", "form:"))]
HEARD = [one for one in SCENARIOS.values() if one.handlers[0].startswith("event:")]
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
    counts = Counter(call.method for call in list(state.calls)[calls:] if not call.method.startswith(READS))
    counts["messages"] = _messages(scene) - messages
    if scenario.effect:
        counts["effect"] = await scenario.effect(scene)
    return counts


def _messages(scene: Replicas) -> int:
    rows = scene.office.workspace.state.messages.values()
    return sum(message.by_app for messages in rows for message in messages)


async def differences(
    scene: Replicas, scenarios: Sequence[Scenario], mode: Mode
) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """Returns what each scenario did once and in that mode, where that isn't the same single effect."""
    outcomes = {}
    for scenario in scenarios:
        once, again = await do(scene, scenario, "once"), await do(scene, scenario, mode)
        ignored = scenario in HEARD and not once.total()
        if once != again or once["effect"] != bool(scenario.effect) or ignored:
            outcomes[scenario.name] = (once, again)
    return outcomes


async def test_simultaneous_duplicates_to_two_replicas_act_once(scene: Replicas) -> None:
    assert await differences(scene, DELIVERED, "duplicate") == {}


async def test_an_event_with_a_new_id_is_still_a_duplicate(scene: Replicas) -> None:
    assert await differences(scene, HEARD, "repeat") == {}


async def test_a_repeated_press_or_submission_on_another_replica_acts_once(scene: Replicas) -> None:
    effects = {scenario.name: (await do(scene, scenario, "repeat"))["effect"] for scenario in PRESSED}

    assert {name: effect for name, effect in effects.items() if effect != 1} == {}
