"""Every scenario × every call to Slack it makes × every fault of that call.

By default a third of the scenarios run, and each method meets one fault in those that call it; faults rotate
from scenario to scenario.
`ISSUEBOT_MATRIX=all` runs all faults, at one call and at every call.
"""

import asyncio
import gc
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path

import pytest
import structlog
from slack_sdk.http_retry.builtin_interval_calculators import BackoffRetryIntervalCalculator

from bot.slack.waits import Waits
from tests.faults import secrets
from tests.faults.scenarios import sampled
from tests.faults.scene import Scene
from tests.faults.slack_matrix import IN_TIME, Cell, Matrix, faults_of
from tests.support.office import Office
from tests.support.slackwire import SlackWire

EVERYTHING = os.environ.get("ISSUEBOT_MATRIX") == "all"
PARTS, LANES = 2, 3
"""Tests that share the scenarios, and offices open at the same time in each: faults often wait."""


@pytest.fixture(autouse=True)
def _short_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens how long slack_sdk waits before it retries."""
    monkeypatch.setattr(BackoffRetryIntervalCalculator, "calculate_sleep_duration", lambda *_: 0.01)


@asynccontextmanager
async def matrix_in(directory: Path, logs: secrets.Logs, lane: int) -> AsyncIterator[Matrix]:
    """Opens an office behind a faulty proxy to Slack; all its log lines carry the lane's number."""
    structlog.contextvars.bind_contextvars(lane=lane)  # inherited by all tasks of the office
    wire = SlackWire()
    # A form shows its result through a call, so a slow machine must not look like a slow service.
    waits = Waits(
        still_working=60,
        form=0,
        acknowledged=0.1,
        options=IN_TIME,
        typing=0.02,
        slack=2.5,  # more than a busy machine takes without a fault
        digest_now=5,  # as long as a busy machine may take without a fault
        channel_pace=0,
        thread=1,
        workspace_pace=0,
        update_pace=0,
    )
    office = Office(directory, slack_wire=wire, waits=waits, rate_limits=False, may_crash=True)
    async with office.opened():
        yield Matrix(Scene(office), wire, logs, lane)


def cells(name: str, methods: list[str], turns: dict[str, int]) -> Iterator[Cell]:
    """Returns the cells to run for a scenario; `turns` counts how often each method was used."""
    for method in methods:
        faults = faults_of(method)
        if EVERYTHING:
            yield from (Cell(name, method, *one) for one in product(faults, (False, True)))
        else:
            turn = turns[method]
            turns[method] += 1
            yield Cell(name, method, faults[turn % len(faults)], turn % 2 == 0)


@pytest.mark.timeout(0 if EVERYTHING else 600)
@pytest.mark.parametrize("part", range(PARTS))
async def test_slack_faults_are_reported_truthfully_and_writes_happen_once(
    part: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names, ran = [scenario.name for scenario in sampled(1)], 0
    wrong: list[str] = []
    turns: dict[str, int] = defaultdict(lambda: part * 14)

    async def lane(number: int) -> None:
        nonlocal ran
        async with matrix_in(tmp_path_factory.mktemp("office"), logs, number) as matrix:
            for name in names[part * LANES + number :: PARTS * LANES]:
                for cell in cells(name, await matrix.methods(name), turns):
                    await matrix.run(cell)
            ran += matrix.ran
            wrong.extend([*matrix.wrong, *secrets.stored(matrix.scene), *secrets.logged(matrix.scene, logs)])

    with secrets.listening() as logs:
        async with asyncio.TaskGroup() as lanes:
            for number in range(LANES):
                lanes.create_task(lane(number))
        gc.collect()  # reports exceptions of tasks that nobody awaited
        wrong += [f"a task died: {line}" for line in logs.raw.lines if "never retrieved" in line]
    print(f"{ran} cells, {len(wrong)} broken rules")  # noqa: T201 - the result of this test
    assert ran
    assert not wrong, "\n".join(wrong)
