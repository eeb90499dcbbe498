"""Every scenario × every fault between the bot and the service × every request the scenario makes.

By default a third of the scenarios meet two faults each, at one of their requests; faults and requests rotate
from scenario to scenario. `ISSUEBOT_MATRIX=faults` runs every fault with each scenario.
`ISSUEBOT_MATRIX=all` runs every fault at every request, once and permanently.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path

import pytest
import stamina

from bot.service.client import Limits
from bot.slack.waits import Waits
from tests.faults import secrets
from tests.faults.matrix import Cell, Matrix, is_unnoticeable
from tests.faults.scenarios import sampled
from tests.faults.scene import Scene
from tests.support.office import Office
from tests.support.prepared import demo_tracker
from tests.support.wire import FAULTS, OVERSIZED, Fault, Wire

EXTENT = os.environ.get("ISSUEBOT_MATRIX", "few")
FAULTS_EACH = 2
PARTS, LANES = 2, 4
"""Tests that share the scenarios, and offices open at the same time in each: faults mostly wait."""


@pytest.fixture(autouse=True)
def _short_retries() -> Iterator[None]:
    with stamina.set_testing(True, attempts=3):
        yield


@asynccontextmanager
async def matrix_in(directory: Path) -> AsyncIterator[Matrix]:
    """Opens an office behind a faulty proxy to the service."""
    tracker, wire = demo_tracker(issue_reads=True, roles=True), Wire()
    # A notice that the bot is still working isn't a result. Selects time out before a slow service answers.
    waits = Waits(
        still_working=60,
        form=0.5,
        acknowledged=0.1,
        options=4,
        typing=0.02,
        lookups=(0.01, 0.02),
        digest_now=10,  # as long as a busy machine may take without a fault
        channel_pace=0,
        thread=1,
        workspace_pace=0,
        update_pace=0,
    )
    office = Office(directory, tracker=tracker, wire=wire, waits=waits, rate_limits=False)
    async with office.opened():
        office.bot.client._transport._limits = Limits(answer=OVERSIZED)
        yield Matrix(Scene(office), wire)


def cells(number: int, name: str, asked: Sequence[str]) -> list[Cell]:
    """Returns the cells to run for a scenario; none if it makes no request to the service."""
    count = len(asked)
    if not count:
        return []
    if EXTENT == "all":
        places = product(FAULTS, range(count), (False, True))
        return [
            Cell(name, f, at, lasting)
            for f, at, lasting in places
            if not is_unnoticeable(f, asked[at : at + 1])
        ]
    turns = range(len(FAULTS) if EXTENT == "faults" else FAULTS_EACH)
    found = []
    for turn in turns:
        fault = FAULTS[(number * FAULTS_EACH + turn) % len(FAULTS)]
        at, lasting = (number + turn) % count, (number + turn // count) % 2 == 0
        found.append(
            Cell(name, fault, *((0, False) if is_unnoticeable(fault, asked[at : at + 1]) else (at, lasting)))
        )
    return found


async def run_cells(matrix: Matrix, names: Sequence[str], number: Callable[[str], int]) -> None:
    for name in names:
        for cell in cells(number(name), name, await matrix.requests(name)):
            await matrix.run(cell)


@pytest.mark.timeout(600 if EXTENT == "few" else 0)
@pytest.mark.parametrize("part", range(PARTS))
async def test_service_faults_are_reported_truthfully_and_writes_happen_once(
    part: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = [scenario.name for scenario in sampled(0)]
    ran = 0
    wrong: list[str] = []

    async def lane(number: int) -> None:
        nonlocal ran
        async with matrix_in(tmp_path_factory.mktemp("office")) as matrix:
            await run_cells(matrix, names[part * LANES + number :: PARTS * LANES], names.index)
            ran += matrix.ran
            wrong.extend([*matrix.wrong, *secrets.stored(matrix.scene), *secrets.logged(matrix.scene, logs)])

    with secrets.listening() as logs:
        async with asyncio.TaskGroup() as lanes:
            for number in range(LANES):
                lanes.create_task(lane(number))
    print(f"{ran} cells, {len(wrong)} broken rules")  # noqa: T201 - the result of this test
    assert ran
    assert not wrong, "\n".join(wrong)


FOUND: tuple[tuple[str, Fault, str], ...] = (
    ("submit files", "late", "POST"),
    ("submit a message's files", "lose the answer", "POST"),
    ("submit description", "502 after it", "PATCH"),
    ("whoami", "429 for a moment", "GET"),
)
"""Scenarios that once broke a rule, with the fault and the method of the first request that failed."""


async def test_past_failures_stay_fixed(tmp_path: Path) -> None:
    with secrets.listening():
        async with matrix_in(tmp_path) as matrix:
            for name, fault, method in FOUND:
                asked = await matrix.requests(name)
                at = next(at for at, request in enumerate(asked) if request.startswith(method))
                await matrix.run(Cell(name, fault, at, lasting=True))

    assert not matrix.wrong, "\n".join(matrix.wrong)
