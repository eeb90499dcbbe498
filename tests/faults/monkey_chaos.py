"""What the monkey does to a bot: its processes, its database and clock, Slack and the tracker."""

import asyncio
import random
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.support.bot_process import BotProcess
from tests.support.clock import SharedClock
from tests.support.postgresql import PostgreSQL
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire

LATE = 1.5
QUARTER, HOUR = 16 * 60, 60 * 60
ANSWERS = ("response_url", "chat.postEphemeral", "views.open", "views.update", "chat.postMessage")
"""How the bot answers a person: one of these fails at a time, or it has no way to tell them anything."""
READS = (
    *("chat.update", "conversations.history", "conversations.replies", "conversations.info"),
    *("conversations.open", "users.conversations", "users.info"),
)
SECONDS_TO_ANSWER = 3.0
SLACK = (
    *("lose the request", "500 before it", "503 before it", "page", "429:1", "429"),
    *("lose the answer", "500 after it", "page after it", "truncate", f"late answer:{LATE}", f"slow:{LATE}"),
)
TRACKER = (
    *("lose the request", "close at once", "500 before it", "502 before it", "429 for a moment"),
    *("lose the answer", "fail after it", "503 after it", "cut short", "garbage after it", "late", "slow"),
)


@dataclass
class Chaos:
    """`longest_post` is the bot's; `sets_clock` is whether the database's clock differs from Slack's and the
    tracker's meanwhile. `done` says what was done, and when.
    """

    seed: str
    bots: Sequence[BotProcess]
    wire: Wire
    slack_wire: SlackWire
    clock: SharedClock
    longest_post: float
    postgresql: PostgreSQL | None
    sets_clock: bool
    done: list[str] = field(default_factory=list)
    _calm: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a process is stopped."""
    _began: float = field(default_factory=time.monotonic)

    async def run(self, seconds: float) -> None:
        """Interferes for so long, and leaves everything running."""
        strands = [self._processes, self._slack, self._answers, self._tracker, self._time, self._database]
        tasks = [asyncio.create_task(self._repeat(strand, seconds)) for strand in strands]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.slack_wire.lasting, self.slack_wire.faults = {}, []
            self.wire.heal()
            for waiting in (self.wire, self.slack_wire):
                waiting.released.set()

    async def advance(self) -> None:
        """Sets the clock ahead by a quarter of an hour, when nothing of a killed process can still arrive."""
        async with self._calm:
            await asyncio.sleep(self.longest_post)
            self._note("clock ahead")
            self.clock.turn(QUARTER)
            await asyncio.sleep(1)

    async def _repeat(self, strand: Callable[[random.Random], Awaitable[None]], seconds: float) -> None:
        dice = random.Random(f"{self.seed} {strand.__name__}")  # noqa: S311 - not security-relevant
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            await strand(dice)

    def _note(self, what: str) -> None:
        self.done.append(f"{time.monotonic() - self._began:.1f} {datetime.now(UTC):%H:%M:%S} {what}")

    # Each does one thing

    async def _processes(self, dice: random.Random) -> None:
        await asyncio.sleep(dice.uniform(0.2, 1.5))
        number, how = dice.randrange(len(self.bots)), dice.choice(["SIGKILL", "SIGTERM", "SIGSTOP"])
        bot = self.bots[number]
        async with self._calm:
            self._note(f"{how} {number}")
            if how == "SIGSTOP":
                await self._freeze(bot, dice.uniform(1.2, 1.6) * self.longest_post)
            else:
                await bot.end(signal.Signals[how])
                await started(bot)
            self._note(f"{number} is back")

    async def _freeze(self, bot: BotProcess, seconds: float) -> None:
        bot.process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            bot.process.send_signal(signal.SIGCONT)

    async def _slack(self, dice: random.Random) -> None:
        """Breaks what doesn't answer people: some methods for a while, or one once."""
        await asyncio.sleep(dice.uniform(0.2, 0.8))
        fault, methods = dice.choice(SLACK), dice.sample(READS, dice.choice([1, 3]))
        self._note(f"Slack: {fault} for {methods}")
        broken = dict.fromkeys(methods, fault)
        self.slack_wire.lasting |= broken
        await asyncio.sleep(dice.choice([0.1, dice.uniform(0.5, 2)]))
        self._heal(broken)

    async def _answers(self, dice: random.Random) -> None:
        """Breaks one way to answer people, once, or posts for a while."""
        method, fault = dice.choice(ANSWERS), dice.choice(SLACK)
        if method == "chat.postMessage":
            self._note(f"Slack: {fault} for all of {method}")
            self.slack_wire.lasting |= {method: fault}
            await asyncio.sleep(dice.uniform(0.3, 3))
            self._heal([method])
        else:
            self._note(f"Slack: {fault} for one {method}")
            self.slack_wire.faults = [(method, fault)]
            await asyncio.sleep(dice.uniform(0.3, 3))
            self.slack_wire.faults = []
        await asyncio.sleep(SECONDS_TO_ANSWER)

    def _heal(self, methods: Iterable[str]) -> None:
        for method in methods:
            self.slack_wire.lasting.pop(method, None)

    async def _tracker(self, dice: random.Random) -> None:
        await asyncio.sleep(dice.uniform(0.2, 0.8))
        fault, how = dice.choice(TRACKER), dice.choice(["write", "any", "all"])
        self._note(f"Tracker: {fault} for {how}")
        self.wire.heal()
        self.wire.seconds = self.wire.too_late = LATE
        if how == "write":
            self.wire.faults = [fault]
        else:
            self.wire.fail(fault, lasting=how == "all")
        await asyncio.sleep(dice.uniform(0.3, 1.5))
        self.wire.heal()

    async def _time(self, dice: random.Random) -> None:
        """Sets the clock ahead, so that digests come due."""
        await asyncio.sleep(dice.uniform(1, 4))
        if not self.sets_clock:
            return
        await self.advance()

    async def _database(self, dice: random.Random) -> None:
        """Restarts PostgreSQL every few seconds, in about every other round."""
        await asyncio.sleep(dice.uniform(1, 4))
        if self.postgresql and random.Random(self.seed).random() < 0.5:  # noqa: S311 - not security-relevant
            how = dice.choice(["fast", "immediate"])
            self._note(f"PostgreSQL: {how} restart")
            await self.postgresql.restart(how, down=dice.uniform(0, 1))


async def started(bot: BotProcess) -> None:
    """Starts a bot as an orchestrator does: again, if the database wasn't there."""
    while not bot.alive:
        with suppress(AssertionError):
            await bot.start()
