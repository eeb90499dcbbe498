"""A monkey kills and freezes the bot's processes, restarts its database, sets the clock, and breaks Slack and
the tracker, while people work and much goes on in the background: everything is done once, never lost, or the
person is told.

`ISSUEBOT_MONKEY_MINUTES=10` plays rounds for that long in each mode, and `-n 0 -s` shows what was checked.
`ISSUEBOT_MONKEY_SEED` is the seed of the first round, and the next ones count up from it; even ones set the
clock. With `ISSUEBOT_MONKEY_STRICT=1` nothing is tolerated (see `Checker`).
"""

import asyncio
import os
import random
import time
from pathlib import Path

import pytest

from bot.timings import Delays, Timings
from tests.faults.monkey_chaos import Chaos
from tests.faults.monkey_checker import Checker
from tests.faults.monkey_load import PEOPLE_IN_SLACK, WORKERS, Load
from tests.support.bot_process import Apart, BotProcess
from tests.support.clock import SharedClock
from tests.support.deliveries import listening
from tests.support.hasty import Pace
from tests.support.postgresql import PostgreSQL
from tests.support.prepared import demo_tracker, new_postgresql
from tests.support.replicas import Replicas
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire

MINUTES = float(os.environ.get("ISSUEBOT_MONKEY_MINUTES", "0"))
SEED = int(os.environ.get("ISSUEBOT_MONKEY_SEED", "4"))
STRICT = "ISSUEBOT_MONKEY_STRICT" in os.environ
SECONDS = 20.0 if MINUTES else 6.0
PATIENCE = 120.0
QUIET = 2.5
"""Seconds without anything new in Slack after which nothing more is expected."""
SECONDS_BETWEEN_TURNS = 10.0
TIMINGS = Timings(
    interval=0.5,
    heartbeat_timeout=4,
    longest_post=3,
    look_up_after=1,
    follow_every=1,
    notice_every=1,
    notice_after=1.5,
)
DELAYS = Delays(
    background_retry=1, slack=3, channel_pace=0.1, workspace_pace=0.05, update_pace=0.1, channels=1
)


@pytest.mark.timeout(0 if MINUTES else 300)
@pytest.mark.parametrize("mode", ["postgresql", "sqlite"])
async def test_everything_is_done_once_or_the_person_is_told(
    mode: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ends = time.monotonic() + MINUTES * 60
    seed, failed = SEED, {}
    while seed == SEED or time.monotonic() < ends:
        directory = tmp_path / str(seed)
        directory.mkdir()
        server = request.getfixturevalue("postgresql_server") if mode == "postgresql" else None
        if problems := await play(seed, directory, server):
            failed[seed] = problems
        seed += 1
    assert failed == {}


async def play(seed: int, directory: Path, server: PostgreSQL | None) -> list[str]:
    """Plays one round; returns what was done twice, lost, or not told."""
    began = time.monotonic()
    wire, slack_wire, clock = Wire(), SlackWire(), SharedClock(directory / "clock")
    office = Apart(
        directory,
        "http",
        tracker=demo_tracker(issue_reads=True),
        database_url=await new_postgresql(server.url) if server else "",
        wire=wire,
        slack_wire=slack_wire,
        people=PEOPLE_IN_SLACK,
        rate_limits=False,
    )
    bots = [BotProcess(office, Pace(TIMINGS, DELAYS, clock)) for _ in range(2 if server else 1)]
    chaos = Chaos(str(seed), bots, wire, slack_wire, clock, TIMINGS.longest_post, server, seed % 2 == 0)
    load = Load(office, random.Random(seed))  # noqa: S311 - not security-relevant
    with listening("delivered", load.heard):
        async with office.opened(*(one.login for one in WORKERS)), Replicas(office, bots).up():
            office.workspace.state.retry_seconds = (0.0, 2.0, 5.0)
            await load.set_up(digests=3, feeds=2, followed=3, stopping=2)
            checker = Checker(load, chaos, strict=STRICT)
            ready = time.monotonic()
            await during(load, chaos)
            ended = time.monotonic()
            missing = await settled(checker, chaos, office)
            problems = [*missing, *checker.wrong()]
    times = f"set up {ready - began:.0f}s, settled {time.monotonic() - ended:.0f}s"
    print(f"\nseed {seed} ({'PostgreSQL' if server else 'SQLite'}, {times}): {checker.summary()}")  # noqa: T201 - the result of this test
    if problems:
        print("\n".join(["", *problems, "", *chaos.done, f"logs: {directory}"]))  # noqa: T201 - the result of this test
    return problems


async def during(load: Load, chaos: Chaos) -> None:
    """Interferes while the load goes on."""
    tasks = [asyncio.ensure_future(strand()) for strand in load.strands()]
    try:
        await chaos.run(SECONDS)
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    broken = [one for one in ended if isinstance(one, Exception)]
    assert broken == []


async def settled(checker: Checker, chaos: Chaos, office: Apart) -> list[str]:
    """Waits until nothing is missing, and then until nothing new comes; returns what is still missing.

    Digests come due when the clock is set ahead: not before the rest had time, since what is tried again
    waits the longer, the older it is.
    """
    patience = time.monotonic() + PATIENCE
    while checker.missing() and time.monotonic() < patience:
        turn = time.monotonic() + SECONDS_BETWEEN_TURNS
        while checker.missing(due=False) and time.monotonic() < turn:
            await asyncio.sleep(0.5)
        await chaos.advance()
        while checker.missing() and time.monotonic() < turn:
            await asyncio.sleep(0.5)
    count, since = -1, time.monotonic()
    while time.monotonic() - since < QUIET:
        messages = sum(map(len, office.workspace.state.messages.values()))
        if messages != count:
            count, since = messages, time.monotonic()
        await asyncio.sleep(0.2)
    return checker.missing()
