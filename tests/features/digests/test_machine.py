"""State machine test: whatever happens, no due time runs twice and no issue is missed or repeated."""

import asyncio
import os
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
from bot.store.channels import Channel
from bot.store.database import Database
from bot.store.digests import Digest, Pause
from bot.store.plans import Plan
from bot.timings import DEFAULT
from tests.features.digests.newsroom import SHOP, VAULT, DigestHarness, FakePoster, Fault, Process
from tests.support.prepared import new_postgresql, sqlite

T = TypeVar("T")
ANA, PERSONAL = 1, 4
"""Who owns the digests, and the number of the personal one."""
EXAMPLES = int(os.environ.get("ISSUEBOT_DIGEST_EXAMPLES", "4"))
FAULTS = st.sampled_from(("lose the request", "lose the answer", "refuse", "delay"))
PROCESS, STEPS = st.integers(0, 1), st.integers(1, 40)
MINUTES = st.integers(0, 70)


class Machine(RuleBasedStateMachine):
    """Two processes, a database, a service and a fake poster; Hypothesis draws the events."""

    database: ClassVar[Callable[[], Awaitable[Database]]]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.run(self._open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    async def _open(self) -> None:
        self.base = await type(self).database()
        self.harness = DigestHarness(self.base)
        await self.harness.open()
        self.poster: FakePoster = self.harness.poster
        self.processes = [Process(self.harness), Process(self.harness)]
        self.expected: dict[int, set[int]] = {}
        self.hidden_for = timedelta(0)

    @initialize()
    def digests(self) -> None:
        for number, (project, schedule) in enumerate(
            (("Shop", "hourly"), ("Shop", "cron */20 * * * *"), ("Vault", "daily 10:00"))
        ):
            digest = self.run(self.harness.add(f"C{number}", schedule, project=project))
            self.expected[digest.id] = set()
        plan = Plan(schedule="hourly", zone="UTC")
        work = self.harness.digests.set_up_personal(self.harness.ana, Channel("T1", "D1"), plan)
        self.expected[self.run(work).digest.id] = set()
        self.report(project=SHOP, visible=True, private=False)

    @rule(project=st.sampled_from((SHOP, VAULT)), visible=st.booleans(), private=st.booleans())
    def report(self, *, project: int, visible: bool, private: bool) -> None:
        issue = self.harness.report(project, visible=visible, private=private)
        issue.assigned_to_id = ANA
        self.expected[PERSONAL].add(issue.id)
        for digest in (1, 2) if project == SHOP else (3,):
            if not private:
                self.expected[digest].add(issue.id)

    @rule()
    def reveal_hidden(self) -> None:
        self.harness.reveal_hidden()
        self.hidden_for = timedelta(0)

    def pass_time(self, minutes: int) -> None:
        passing = timedelta(minutes=minutes)
        if self.hidden_for + passing > OVERLAP - timedelta(hours=1):  # issues hidden for longer may be missed
            self.reveal_hidden()
        self.hidden_for += passing
        self.harness.now += passing

    @rule()
    def a_week_passes(self) -> None:
        self.reveal_hidden()
        self.harness.now += timedelta(days=7)

    @rule(minutes=st.integers(-90, 90))
    def database_clock_jumps(self, minutes: int) -> None:
        self.harness.now += timedelta(minutes=minutes)
        self.harness.service_clock_offset -= timedelta(minutes=minutes)

    @rule(fault=FAULTS)
    def slack_fails(self, fault: Fault) -> None:
        self.poster.faults.append(fault)

    @rule(hidden=st.booleans())
    def channel_history_becomes_hidden(self, *, hidden: bool) -> None:
        self.poster.hidden = hidden

    @rule(which=PROCESS, minutes=MINUTES)
    def tick(self, which: int, minutes: int) -> None:
        self.pass_time(minutes)
        self.run(self.harness.tick(self.processes[which].engine))

    @rule(minutes=MINUTES)
    def both_tick_at_once(self, minutes: int) -> None:
        async def both() -> None:
            await asyncio.gather(*(self.harness.tick(process.engine) for process in self.processes))

        self.pass_time(minutes)
        self.run(both())

    @rule(which=PROCESS, minutes=MINUTES, steps=STEPS)
    def process_is_killed_at_step(self, which: int, minutes: int, steps: int) -> None:
        self.pass_time(minutes)
        process = self.processes[which]
        process.steps_left = steps
        self.run(self.harness.run_until_killed(process))
        process.dead = True
        self.processes[which] = Process(self.harness)

    @rule(which=PROCESS, minutes=MINUTES, steps=STEPS, lease_ends=st.booleans())
    def process_stalls_while_the_other_runs(
        self, *, which: int, minutes: int, steps: int, lease_ends: bool
    ) -> None:
        self.pass_time(minutes)
        slow, other = self.processes[which], self.processes[1 - which]
        after = timedelta(seconds=DEFAULT.longest_post) * 1.5 if lease_ends else timedelta(0)
        self.run(
            self.harness.while_stalled(slow, steps, lambda: self.harness.tick(other.engine, after=after))
        )

    @rule(digest=st.integers(1, 4))
    def user_pauses_digest(self, digest: int) -> None:
        self.run(self.harness.digests.pause(self.run(self._stored(digest))))

    @rule(digest=st.integers(1, 4))
    def user_resumes_digest(self, digest: int) -> None:
        self.run(self.harness.digests.resume(self.harness.ana, self.run(self._stored(digest))))

    @rule(digest=st.integers(1, 4))
    def user_runs_digest_now(self, digest: int) -> None:
        async def ask() -> None:
            found = await self._stored(digest)
            if not found.paused:
                await self.processes[0].engine.run_now(found)

        self.run(ask())

    @invariant()
    def nothing_is_posted_twice(self) -> None:
        times = [(post.digest.id, post.due_at) for post in self.poster.posts]
        assert len(times) == len(set(times)), "a due time was posted twice"
        assert self.poster.repeated_issues() == []

    def teardown(self) -> None:
        try:
            self.run(self._every_issue_is_posted_eventually())
        finally:
            self.run(self._close())
            self.loop.close()

    async def _every_issue_is_posted_eventually(self) -> None:
        self.poster.faults.clear()
        self.poster.hidden = False
        self.harness.reveal_hidden()
        for _ in range(6):
            for digest in self.expected:
                found = await self._stored(digest)
                if found.paused:
                    assert found.paused in {Pause.PERSON, Pause.CHANNEL}
                    await self.harness.digests.resume(self.harness.ana, found)
            await self.harness.tick(self.processes[0].engine, after=timedelta(hours=26))
        self.nothing_is_posted_twice()
        for digest, issues in self.expected.items():
            missed = issues - self.poster.covered(digest) - self.poster.unsure.get(digest, set())
            assert not missed, f"digest {digest} never posted {missed}"
            assert self.poster.covered(digest) <= issues

    async def _stored(self, digest: int) -> Digest:
        found = await self.harness.store.digests.get("T1", digest)
        assert found
        return found

    async def _close(self) -> None:
        await self.harness.close()
        await self.base.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_digests_post_every_issue_once_whatever_happens(
    dialect: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if dialect == "sqlite":

        async def database() -> Database:
            return Database(sqlite(Path(mkdtemp(dir=tmp_path)) / "bot.db"))
    else:
        url = asyncio.run(new_postgresql(request.getfixturevalue("postgresql")))

        async def database() -> Database:
            connection = await asyncpg.connect(url)
            await connection.execute("truncate digests, jobs, links, processes restart identity cascade")
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
