"""Everything that people do × every fault between the bot and the service × the requests that it makes.

By default each doing meets a fault of every third kind, others than the doing before it, at one of its
requests, another one from kind to kind. `ISSUEBOT_MATRIX=faults` has each doing meet every fault,
`ISSUEBOT_MATRIX=all` every fault at every request, once and lastingly.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from itertools import chain, product
from pathlib import Path

import pytest
import stamina

from bot.features.files import attach as files
from bot.features.issues import assign as assigning
from bot.features.issues import issues
from bot.features.projects import projects
from bot.features.timelog import handlers as time_listeners
from bot.features.timelog import timelog
from bot.sandbox.demo import demo_data
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.api import rates
from bot.service.client import Limits
from bot.slack import debounce
from bot.slack import rate_limiter as pacing
from bot.slack.dispatch import Waits
from tests.faults import secrets
from tests.faults.doings import DOINGS
from tests.faults.matrix import Cell, Matrix, flawless
from tests.faults.scene import Scene
from tests.support.office import Office
from tests.support.wire import KINDS, OVERSIZED, Fault, Wire

EXTENT = os.environ.get("ISSUEBOT_MATRIX", "kinds")
PARTS, LANES = 2, 6
"""Tests that share the doings, and offices that are open at the same time in each: most faults are waits."""


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever waits, the bot or Slack's rates, waits for a moment only."""
    for usecase in (assigning, files, issues, projects, timelog):
        monkeypatch.setattr(usecase, "LOOKS", (0.01, 0.02))
    monkeypatch.setattr(debounce, "PAUSE", 0.02)
    monkeypatch.setattr(pacing, "SECONDS_PER_CHANNEL", 0)
    monkeypatch.setattr(pacing, "SECONDS_PER_WORKSPACE", 0)
    monkeypatch.setattr(time_listeners, "TRIGGER_LIFE", 60)  # no slow machine is a fault to look for
    monkeypatch.setattr(rates, "PER_MINUTE", {})
    monkeypatch.setattr(rates, "MESSAGE_BURST", 10**6)
    with stamina.set_testing(True, attempts=3):
        yield


@asynccontextmanager
async def matrix_in(directory: Path) -> AsyncIterator[Matrix]:
    """An office whose way to the service can fail."""
    service = Tracker(demo_data(datetime.now(UTC)), issue_updates=True)
    await service.start()
    wire = Wire(service.url)
    await wire.up()
    # What is said meanwhile is no answer to what was done; a select waits less than a slow service is silent.
    waits = Waits(still_working=60, form=0.5, acknowledged=0.1, options=4)
    office = Office(directory, service_url=wire.url, waits=waits)
    await office.open()
    office.bot.client._transport._limits = Limits(answer=OVERSIZED)
    try:
        yield Matrix(Scene(office, service), wire)
    finally:
        await office.close()
        await wire.down()
        await service.stop()


def cells(number: int, name: str, asked: Sequence[str]) -> list[Cell]:
    """What a doing is put through; nothing when it asks the service for nothing."""
    count = len(asked)
    if not count:
        return []
    if EXTENT == "all":
        places = product(chain(*KINDS), range(count), (False, True))
        return [
            Cell(name, f, at, lasting) for f, at, lasting in places if not flawless(f, asked[at : at + 1])
        ]
    faults = list(chain(*KINDS)) if EXTENT == "faults" else [kind[number % len(kind)] for kind in KINDS]
    found = []
    for turn, fault in enumerate(faults):
        if EXTENT == "kinds" and (number + turn) % 3:
            continue
        at, lasting = (number + turn) % count, (number + turn // count) % 2 == 0
        found.append(
            Cell(name, fault, *((0, False) if flawless(fault, asked[at : at + 1]) else (at, lasting)))
        )
    return found


async def go_through(matrix: Matrix, names: Sequence[str], number: Callable[[str], int]) -> None:
    for name in names:
        for cell in cells(number(name), name, await matrix.requests(name)):
            await matrix.run(cell)


@pytest.mark.timeout(120 if EXTENT == "kinds" else 0)
@pytest.mark.parametrize("part", range(PARTS))
async def test_whatever_fails_people_hear_the_truth_and_it_is_done_once(
    part: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = list(DOINGS)
    ran = 0
    wrong: list[str] = []
    one_by_one = asyncio.Lock()  # migrations can't run side by side in one process

    async def lane(number: int) -> None:
        nonlocal ran
        async with AsyncExitStack() as closing:
            async with one_by_one:
                matrix = await closing.enter_async_context(matrix_in(tmp_path_factory.mktemp("office")))
            await go_through(matrix, names[part * LANES + number :: PARTS * LANES], names.index)
            ran += matrix.ran
            wrong.extend([*matrix.wrong, *secrets.stored(matrix.scene), *secrets.logged(matrix.scene, logs)])

    with secrets.listening() as logs:
        async with asyncio.TaskGroup() as lanes:
            for number in range(LANES):
                lanes.create_task(lane(number))
    print(f"{ran} cells, {len(wrong)} promises broken")  # noqa: T201 - the figure that is asked for
    assert ran
    assert not wrong, "\n".join(wrong)


FOUND: tuple[tuple[str, Fault, str], ...] = (
    ("submit files", "late", "POST"),
    ("submit a message's files", "lose the answer", "POST"),
    ("submit description", "502 after it", "PATCH"),
    ("whoami", "429 for a moment", "GET"),
)
"""What this matrix once found to be said wrongly, or to be lost, from the first request of that method on."""


async def test_what_was_found_once_stays_mended(tmp_path: Path) -> None:
    with secrets.listening():
        async with matrix_in(tmp_path) as matrix:
            for name, fault, method in FOUND:
                asked = await matrix.requests(name)
                at = next(at for at, request in enumerate(asked) if request.startswith(method))
                await matrix.run(Cell(name, fault, at, lasting=True))

    assert not matrix.wrong, "\n".join(matrix.wrong)
