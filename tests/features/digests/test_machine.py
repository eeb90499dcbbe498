"""State machine test: no due time is posted twice, and no issue is missed or repeated."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.features.digests.plans import OVERLAP
from bot.store.digests import Digest, Pause
from bot.timings import DEFAULT
from tests.features.digests.newsroom import ANA, HISTORY, POST, SECURITY, WEBSHOP, Digests
from tests.support.prepared import new_postgresql

T = TypeVar("T")
ANAS = 1
FITTING = 30
"""How many issues a post lists at least. It has a link to the others, which this machine doesn't follow."""
EXAMPLES = int(os.environ.get("ISSUEBOT_DIGEST_EXAMPLES", "4"))
DIGESTS, PROCESS, STEPS, MINUTES = (
    st.integers(1, 4),
    st.integers(0, 1),
    st.integers(1, 20),
    st.integers(0, 70),
)
FAULTS = st.sampled_from(
    (["lose the request"], ["lose the answer"], ["refuse:is_archived"], ["429:0"] * 5)  # which gives up
)


class Machine(RuleBasedStateMachine):
    """Two processes, their database, the service and Slack; Hypothesis draws the events."""

    office: ClassVar[Callable[[], Awaitable[Digests]]]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.running = AsyncExitStack()
        self.run(self._open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    async def _open(self) -> None:
        digests = await type(self).office()
        self.digests = await self.running.enter_async_context(digests.opened("ana"))
        self.processes = [await self.digests.process() for _ in range(2)]
        self.added: list[Digest] = []
        self.expected: dict[int, set[int]] = {}
        self.unseen_for = timedelta(0)
        self.killed_with: set[int] = set()
        self.hidden_with: set[int] = set()
        """The issues that there were when a process was killed, and while the history was hidden."""

    @initialize()
    def add_digests(self) -> None:
        for channel, project, schedule in (
            ("general", "webshop", "hourly"),
            ("webshop", "webshop", "cron */20 * * * *"),
            ("general", "security", "daily 10:00"),
        ):
            self.added.append(self.run(self.digests.add(channel, project, schedule=schedule)))
        self.added.append(self.run(self.digests.add_personal()))
        self.expected = {digest.id: set() for digest in self.added}
        self.report(project=WEBSHOP, hidden=False, private=False)

    @precondition(lambda machine: max(map(len, machine.expected.values())) < FITTING)
    @rule(project=st.sampled_from((WEBSHOP, SECURITY)), hidden=st.booleans(), private=st.booleans())
    def report(self, *, project: int, hidden: bool, private: bool) -> None:
        issue = self.digests.report(project=project, hidden=hidden, is_private=private, assigned_to_id=ANAS)
        for digest in self.added:
            if digest.personal or (digest.plan.project_id == project and not private):
                self.expected[digest.id].add(issue.id)

    @rule()
    def reveal(self) -> None:
        self.digests.reveal()
        self.unseen_for = timedelta(0)

    def pass_time(self, minutes: int) -> None:
        passing = timedelta(minutes=minutes)
        if self.unseen_for + passing > OVERLAP - timedelta(hours=1):  # hidden for longer, it may be missed
            self.reveal()
        self.unseen_for += passing
        self.digests.pass_time(passing)

    @rule()
    def a_week_passes(self) -> None:
        self.digests.reveal()
        self.digests.pass_time(timedelta(days=7))

    @rule(minutes=st.integers(-90, 90))
    def database_clock_jumps(self, minutes: int) -> None:
        self.digests.office.clock.ahead += timedelta(minutes=minutes)

    @rule(faults=FAULTS)
    def slack_fails(self, faults: list[str]) -> None:
        self.digests.wire.faults += [(POST, fault) for fault in faults]

    @rule(hidden=st.booleans())
    def channel_history_becomes_hidden(self, *, hidden: bool) -> None:
        self._note_hidden()
        self.digests.wire.lasting = {HISTORY: "refuse:missing_scope"} if hidden else {}

    def _note_hidden(self) -> None:
        if self.digests.wire.lasting:
            self.hidden_with |= set().union(*self.expected.values())

    @rule(which=PROCESS, minutes=MINUTES)
    def tick(self, which: int, minutes: int) -> None:
        self.pass_time(minutes)
        self.run(self.digests.tick(timedelta(0), by=self.processes[which]))

    @rule(minutes=MINUTES)
    def both_tick_at_once(self, minutes: int) -> None:
        async def both() -> None:
            await self.digests.beats(*(process.bot for process in self.processes))
            await asyncio.gather(*(process.run() for process in self.processes))

        self.pass_time(minutes)
        self.run(both())

    @rule(which=PROCESS, minutes=MINUTES, step=STEPS)
    def process_is_killed_at_step(self, which: int, minutes: int, step: int) -> None:
        self.killed_with |= set().union(*self.expected.values())
        self.processes[which].dies_at = step
        self.tick(which, minutes)
        self.run(self.processes[which].close())
        self.processes[which] = self.run(self.digests.process())

    @rule(which=PROCESS, minutes=MINUTES, write=STEPS, lease_ends=st.booleans())
    def process_stalls_while_the_other_runs(
        self, *, which: int, minutes: int, write: int, lease_ends: bool
    ) -> None:
        slow, other = self.processes[which], self.processes[1 - which]
        after = timedelta(seconds=DEFAULT.longest_post) * 1.5 if lease_ends else timedelta(0)

        async def stall() -> None:
            await self.digests.beats(slow.bot)
            async with slow.stalled(write):
                await self.digests.tick(after, by=other)

        self.pass_time(minutes)
        self.run(stall())

    @rule(digest=DIGESTS)
    def user_pauses_digest(self, digest: int) -> None:
        self.run(self.digests.office.digests.pause(self._stored(digest)))

    @rule(digest=DIGESTS)
    def user_resumes_digest(self, digest: int) -> None:
        self.run(self.digests.office.digests.resume(ANA, self._stored(digest)))

    @rule(digest=DIGESTS)
    def user_sends_digest_now(self, digest: int) -> None:
        self.run(self.digests.send_now(self._stored(digest)))

    @invariant()
    def nothing_is_posted_twice(self) -> None:
        assert self.digests.repeated() == []

    def teardown(self) -> None:
        try:
            if self.added:
                self.run(self._every_issue_is_posted_eventually())
        finally:
            self.run(self.running.aclose())
            self.loop.close()

    async def _every_issue_is_posted_eventually(self) -> None:
        self._note_hidden()
        self.digests.wire.faults, self.digests.wire.lasting = [], {}
        self.digests.reveal()
        for _ in range(6):
            for digest in self.added:
                found = await self.digests.stored(digest)
                if found.paused:
                    assert found.paused in {Pause.PERSON, Pause.CHANNEL}
                    await self.digests.office.digests.resume(ANA, found)
            await self.digests.tick(timedelta(hours=26), by=self.processes[0])
        self.nothing_is_posted_twice()
        for number, issues in self.expected.items():
            covered = self.digests.covered(number)
            sent = {issue for post in self.digests.sent() if post.digest == number for issue in post.issues}
            unconfirmed = (sent | self.killed_with) & self.hidden_with  # what may be posted isn't repeated
            missed = issues - covered - unconfirmed
            assert not missed, f"digest {number} never posted {missed}"
            assert covered <= issues

    def _stored(self, number: int) -> Digest:
        return self.run(self.digests.stored(self.added[number - 1]))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_digests_post_every_issue_once(dialect: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server = request.getfixturevalue("postgresql") if dialect == "postgresql" else ""

    async def office() -> Digests:
        url = await new_postgresql(server) if server else ""
        return Digests(Path(mkdtemp(dir=tmp_path)), url)

    machine = type("DigestMachine", (Machine,), {"office": staticmethod(office)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES if dialect == "sqlite" else EXAMPLES // 2,
            stateful_step_count=40,
            phases=set(Phase) - {Phase.shrink},  # which takes minutes
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
