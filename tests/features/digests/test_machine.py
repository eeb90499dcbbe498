"""Digests under everything that may happen to them: no due time twice, no issue missed or repeated."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar, TypeVar

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from bot.features.digests.reading import OVERLAP
from bot.store.database import Database
from bot.store.digests import Pause
from bot.timings import DEFAULT
from tests.features.digests.newsroom import SHOP, VAULT, Board, Died, Fault, Newsroom, Process

T = TypeVar("T")
EXAMPLES = int(os.environ.get("ISSUEBOT_DIGEST_EXAMPLES", "8"))
FAULTS = st.sampled_from(("lose the request", "lose the answer", "refuse", "delay"))
STEPS = st.integers(1, 40)


class Machine(RuleBasedStateMachine):
    """Two processes, a database, a service and a board; what happens to them is drawn."""

    database: ClassVar[Callable[[], Awaitable[Database]]]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(_unless_killed)
        self.run(self._open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    async def _open(self) -> None:
        self.base = await type(self).database()
        self.newsroom = Newsroom(self.base)
        await self.newsroom.open()
        self.board: Board = self.newsroom.board
        self.processes = [Process(self.newsroom), Process(self.newsroom)]
        self.expected: dict[int, set[int]] = {}
        self.unseen = timedelta(0)

    @initialize()
    def digests(self) -> None:
        for number, (project, schedule) in enumerate(
            (("Shop", "hourly"), ("Shop", "cron */20 * * * *"), ("Vault", "daily 10:00"))
        ):
            digest = self.run(self.newsroom.add(f"C{number}", schedule, project=project))
            self.expected[digest.id] = set()

    @rule(project=st.sampled_from((SHOP, VAULT)), visible=st.booleans(), private=st.booleans())
    def report(self, *, project: int, visible: bool, private: bool) -> None:
        issue = self.newsroom.report(project, visible=visible, private=private)
        for digest in (1, 2) if project == SHOP else (3,):
            if not private:
                self.expected[digest].add(issue.id)

    @rule()
    def appear(self) -> None:
        self.newsroom.appear()
        self.unseen = timedelta(0)

    @rule(minutes=st.integers(1, 70))
    def time_passes(self, minutes: int) -> None:
        passing = timedelta(minutes=minutes)
        if self.unseen + passing > OVERLAP - timedelta(hours=1):  # later than that is not promised
            self.appear()
        self.unseen += passing
        self.newsroom.now += passing

    @rule()
    def a_week_passes(self) -> None:
        self.appear()
        self.newsroom.now += timedelta(days=7)

    @rule(minutes=st.integers(-90, 90))
    def the_database_s_clock_jumps(self, minutes: int) -> None:
        self.newsroom.now += timedelta(minutes=minutes)
        self.newsroom.service_is_ahead -= timedelta(minutes=minutes)

    @rule(fault=FAULTS)
    def slack_will_fail(self, fault: Fault) -> None:
        self.board.faults.append(fault)

    @rule(hidden=st.booleans())
    def the_channels_may_be_unreadable(self, *, hidden: bool) -> None:
        self.board.hidden = hidden

    @rule(which=st.integers(0, 1))
    def tick(self, which: int) -> None:
        self.run(self.newsroom.tick(self.processes[which].engine))

    @rule()
    def both_tick_at_once(self) -> None:
        async def both() -> None:
            await asyncio.gather(*(self.newsroom.tick(process.engine) for process in self.processes))

        self.run(both())

    @rule(which=st.integers(0, 1), steps=STEPS)
    def a_process_is_killed_at_work(self, which: int, steps: int) -> None:
        process = self.processes[which]
        process.die_after(steps)
        self.run(self.newsroom.works(process))
        process.dead = True
        self.processes[which] = Process(self.newsroom)

    @rule(which=st.integers(0, 1), steps=STEPS, lease_ends=st.booleans())
    def a_process_stalls_while_the_other_goes_on(self, *, which: int, steps: int, lease_ends: bool) -> None:
        slow, other = self.processes[which], self.processes[1 - which]
        after = timedelta(seconds=DEFAULT.longest_post) * 1.5 if lease_ends else timedelta(0)
        self.run(self.newsroom.stalls(slow, steps, lambda: self.newsroom.tick(other.engine, after=after)))

    @rule(digest=st.integers(1, 3))
    def somebody_pauses_one(self, digest: int) -> None:
        self.run(self.newsroom.digests.pause(self.newsroom.ana, None, digest))

    @rule(digest=st.integers(1, 3))
    def somebody_resumes_one(self, digest: int) -> None:
        self.run(self.newsroom.digests.resume(self.newsroom.ana, None, digest))

    @rule(digest=st.integers(1, 3))
    def somebody_asks_for_one(self, digest: int) -> None:
        async def ask() -> None:
            found = await self.newsroom.store.digests.get("T1", digest)
            if found and not found.paused:
                await self.processes[0].engine.run_now(found)

        self.run(ask())

    @invariant()
    def nothing_comes_twice(self) -> None:
        times = [(post.digest, post.due_at) for post in self.board.posts]
        assert len(times) == len(set(times)), "a due time was posted twice"
        assert self.board.twice() == []

    def teardown(self) -> None:
        try:
            self.run(self._everything_comes_in_the_end())
        finally:
            self.run(self._close())
            self.loop.close()

    async def _everything_comes_in_the_end(self) -> None:
        self.board.faults.clear()
        self.board.hidden = False
        self.newsroom.appear()
        for _ in range(6):
            for digest in self.expected:
                found = await self.newsroom.store.digests.get("T1", digest)
                if found and found.paused:
                    assert found.paused in {Pause.PERSON, Pause.CHANNEL}
                    await self.newsroom.digests.resume(self.newsroom.ana, None, digest)
            await self.newsroom.tick(self.processes[0].engine, after=timedelta(hours=26))
        self.nothing_comes_twice()
        for digest, issues in self.expected.items():
            missed = issues - self.board.covered(digest) - self.board.unsure.get(digest, set())
            assert not missed, f"digest {digest} never had {missed}"
            assert self.board.covered(digest) <= issues

    async def _close(self) -> None:
        await self.newsroom.close()
        await self.base.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_no_due_time_comes_twice_and_no_issue_is_missed_or_repeated(
    dialect: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if dialect == "sqlite":
        template = tmp_path / "template.db"
        asyncio.run(_migrated(f"sqlite:///{template}"))

        async def database() -> Database:
            fresh = Path(mkdtemp(dir=tmp_path)) / "bot.db"
            shutil.copy(template, fresh)
            return Database(f"sqlite:///{fresh}")
    else:
        server: str = request.getfixturevalue("postgresql")
        url = server.replace("/postgres?", "/machine?")
        asyncio.run(_created(server))
        asyncio.run(_migrated(url))

        async def database() -> Database:
            connection = await asyncpg.connect(url)
            await connection.execute("truncate digests, links, processes restart identity cascade")
            await connection.close()
            return Database(url)

    machine = type("DigestMachine", (Machine,), {"database": staticmethod(database)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES if dialect == "sqlite" else EXAMPLES // 2,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def _unless_killed(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if not isinstance(context.get("exception"), Died):
        loop.default_exception_handler(context)


async def _created(server: str) -> None:
    connection = await asyncpg.connect(server)
    await connection.execute("create database machine")
    await connection.close()


async def _migrated(url: str) -> None:
    database = Database(url)
    await database.open()
    await database.close()
