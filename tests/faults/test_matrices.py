"""Every scenario × every fault between the bot and the service, or Slack × every request that it makes.

By default a third of the scenarios run with each: two faults of the service at one of their requests, and one
fault of Slack for each method that they call. Faults and requests rotate from scenario to scenario.
`ISSUEBOT_MATRIX=faults` runs every fault of the service with each scenario. `ISSUEBOT_MATRIX=all` runs every
fault at every request, once and permanently.
"""

import asyncio
import gc
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import structlog

from bot.timings import Delays
from tests.faults import secrets
from tests.faults.matrix import Matrix
from tests.faults.scenarios import sampled
from tests.faults.scene import Scene
from tests.faults.service_matrix import LATE, SHORT_TIMEOUTS, ServiceCell, ServiceMatrix, is_unnoticeable
from tests.faults.slack_matrix import IN_TIME, SlackCell, SlackMatrix, faults_of
from tests.support.office import Office
from tests.support.prepared import demo_tracker
from tests.support.slackwire import SlackWire
from tests.support.wire import FAULTS, Fault, Wire

EXTENT = os.environ.get("ISSUEBOT_MATRIX", "few")
FAULTS_EACH = 2
PARTS, LANES = 2, 4
"""Tests that share the scenarios, and offices open at the same time in each: faults mostly wait."""
LIMITED = pytest.mark.timeout(600 if EXTENT == "few" else 0)
# A notice that the bot is still working isn't a result.
DELAYS = {
    "still_working": 60,
    "slack_backoff": 0.01,
    "acknowledged": 0.1,
    "typing": 0.02,
    "channel_pace": 0,
    "thread": 1,
    "workspace_pace": 0,
    "update_pace": 0,
}
# Selects time out before a slow service answers, and digests take as long as a busy machine needs.
OF_SERVICE = Delays(form=0.5, options=4, lookups=(0.01, 0.02), digest_now=10, **DELAYS)  # type: ignore[arg-type] # all are numbers
OF_LATE_SERVICE = replace(OF_SERVICE, service=SHORT_TIMEOUTS)
# A form shows its result through a call, so a slow machine must not look like a slow service.
OF_SLACK = Delays(form=0, options=IN_TIME, slack=2.5, digest_now=5, **DELAYS)  # type: ignore[arg-type] # all are numbers


@asynccontextmanager
async def service_matrix(delays: Delays, directory: Path, *_: object) -> AsyncIterator[ServiceMatrix]:
    """Opens an office behind a faulty proxy to the service."""
    tracker, wire = demo_tracker(issue_reads=True, roles=True), Wire()
    office = Office(directory, tracker=tracker, wire=wire, delays=delays, rate_limits=False)
    async with office.opened():
        yield ServiceMatrix(Scene(office), wire)


@asynccontextmanager
async def slack_matrix(directory: Path, logs: secrets.Logs, lane: int) -> AsyncIterator[SlackMatrix]:
    """Opens an office behind a faulty proxy to Slack; all its log lines carry the lane's number."""
    structlog.contextvars.bind_contextvars(lane=lane)  # inherited by all tasks of the office
    wire = SlackWire()
    office = Office(directory, slack_wire=wire, delays=OF_SLACK, rate_limits=False, may_crash=True)
    async with office.opened():
        yield SlackMatrix(Scene(office), wire, logs, lane)


def service_cells(
    faults: Sequence[Fault], number: int, name: str, asked: Sequence[str]
) -> Iterator[ServiceCell]:
    """Yields the cells to run for a scenario; none if it makes no request to the service."""
    count = len(asked)
    if EXTENT == "all":
        for fault, at, lasting in product(faults, range(count), (False, True)):
            if not is_unnoticeable(fault, asked[at : at + 1]):
                yield ServiceCell(name, fault, lasting, at)
    elif count:
        for turn in range(len(faults) if EXTENT == "faults" else FAULTS_EACH):
            fault = faults[(number * FAULTS_EACH + turn) % len(faults)]
            at, lasting = (number + turn) % count, (number + turn // count) % 2 == 0
            noticed = not is_unnoticeable(fault, asked[at : at + 1])
            yield ServiceCell(name, fault, *((lasting, at) if noticed else (False, 0)))


def slack_cells(turns: dict[str, int], name: str, methods: Sequence[str]) -> Iterator[SlackCell]:
    """Yields the cells to run for a scenario; `turns` counts how often each method was used."""
    for method in methods:
        faults = faults_of(method)
        if EXTENT == "all":
            yield from (SlackCell(name, *one, method) for one in product(faults, (False, True)))
        else:
            turn = turns[method]
            turns[method] += 1
            yield SlackCell(name, faults[turn % len(faults)], turn % 2 == 0, method)


Opened = Callable[[Path, secrets.Logs, int], AbstractAsyncContextManager[Matrix]]
Cells = Callable[[str, Sequence[str]], Iterator[Any]]


async def run(
    opened: Opened, cells: Cells, names: Sequence[str], directories: pytest.TempPathFactory
) -> None:
    """Runs the cells of these scenarios in several offices at once, and fails for every broken rule."""
    ran, wrong = 0, []

    async def lane(number: int) -> None:
        nonlocal ran
        async with opened(directories.mktemp("office"), logs, number) as matrix:
            for name in names[number::LANES]:
                for cell in cells(name, await matrix.learn(name)):
                    await matrix.run(cell)
            ran += matrix.ran
            wrong.extend([*matrix.wrong, *secrets.stored(matrix.scene), *secrets.logged(matrix.scene, logs)])

    gc.collect()  # reports those of earlier tests
    with secrets.listening() as logs:
        async with asyncio.TaskGroup() as lanes:
            for number in range(LANES):
                lanes.create_task(lane(number))
        gc.collect()  # reports exceptions of tasks that nobody awaited
        wrong += [f"a task died: {line}" for line in logs.raw.lines if "never retrieved" in line]
    print(f"{ran} cells, {len(wrong)} broken rules")  # noqa: T201 - the result of this test
    assert not wrong, "\n".join(wrong)
    assert ran


@LIMITED
@pytest.mark.parametrize("part", range(PARTS))
async def test_service_faults_repeat_no_write(part: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    names = [scenario.name for scenario in sampled(0)]

    def cells(name: str, asked: Sequence[str]) -> Iterator[ServiceCell]:
        each = service_cells(FAULTS, names.index(name), name, asked)
        return (cell for cell in each if cell.fault not in LATE)

    await run(partial(service_matrix, OF_SERVICE), cells, names[part::PARTS], tmp_path_factory)


@LIMITED
async def test_late_answers_repeat_no_write(tmp_path_factory: pytest.TempPathFactory) -> None:
    names = [scenario.name for scenario in sampled(0)]
    some = names[:: len(FAULTS) // len(LATE)] if EXTENT == "few" else names

    def cells(name: str, asked: Sequence[str]) -> Iterator[ServiceCell]:
        return service_cells(LATE, names.index(name), name, asked)

    await run(partial(service_matrix, OF_LATE_SERVICE), cells, some, tmp_path_factory)


@LIMITED
@pytest.mark.parametrize("part", range(PARTS))
async def test_slack_faults_repeat_no_write(part: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    names = [scenario.name for scenario in sampled(1)]
    turns: dict[str, int] = defaultdict(lambda: part * 14)

    def cells(name: str, methods: Sequence[str]) -> Iterator[SlackCell]:
        return slack_cells(turns, name, methods)

    await run(slack_matrix, cells, names[part::PARTS], tmp_path_factory)


LOST: Fault = "lose the request"
UNANSWERED: Fault = "lose the answer"
ALWAYS: tuple[tuple[str, Fault, str, bool, str], ...] = (
    ("submit files", "late", "POST", True, ""),
    ("submit a message's files", UNANSWERED, "POST", True, ""),
    ("submit description", "502 after it", "PATCH", True, ""),
    ("whoami", "429 for a moment", "GET", True, ""),
    ("submit issue", UNANSWERED, "POST", False, "Ana Ruiz created"),
    ("submit issue", LOST, "POST", False, "may not have been saved"),
    ("issue new", "refuse the key", "POST", False, "You don't have permission to do that in Tracker"),
    ("submit changed user", UNANSWERED, "PUT", False, "Updated"),
    ("submit user", UNANSWERED, "POST", False, "Check the user list"),
    ("submit project", UNANSWERED, "POST", False, "Created"),
    ("submit project", LOST, "POST", False, "may not have been saved"),
    ("submit files", UNANSWERED, "PUT", False, r"\.log\* attached"),
    ("submit files", LOST, "PUT", True, "couldn't confirm that"),
    ("submit issue with a file", LOST, "POST /issues", False, "may not have been saved"),
    ("submit issue with a file", UNANSWERED, "POST /issues", False, r"\.log\* attached"),
    ("comment", UNANSWERED, "PUT", False, "Commented on"),
    ("comment", LOST, "PUT", False, "doesn't show the comment"),
    ("submit a message as a comment", LOST, "PUT", False, "I'll check for it first"),
    ("timelog", UNANSWERED, "POST", False, "Logged 1m on.*you can't edit it from Slack"),
    ("timelog", LOST, "POST", False, "before you try again"),
    ("timelog on a project", UNANSWERED, "POST", False, "before you try again.*You entered 1m"),
    ("submit time", LOST, "POST", False, "before you try again.*You entered 1m · Gadget.*Open #12"),
    ("submit changed time", UNANSWERED, "PUT", False, "before you try again"),
    ("delete time", "404", "DELETE", False, "Deleted 1m on"),
)
"""Cells that always run: the scenario, the fault, how the first request that fails starts, whether later ones
fail too, and what the bot says. The first four once broke a rule.
"""


@pytest.mark.parametrize(("late", "delays"), [(False, OF_SERVICE), (True, OF_LATE_SERVICE)])
async def test_lost_requests_are_reported_in_these_words(
    tmp_path_factory: pytest.TempPathFactory, delays: Delays, *, late: bool
) -> None:
    always = [row for row in ALWAYS if (row[1] in LATE) is late]

    def cells(name: str, _: Sequence[str]) -> Iterator[ServiceCell]:
        for scenario, fault, request, lasting, says in always:
            if scenario == name:
                yield ServiceCell(name, fault, lasting, request, says)

    names = list(dict.fromkeys(scenario for scenario, *_ in always))
    await run(partial(service_matrix, delays), cells, names, tmp_path_factory)
