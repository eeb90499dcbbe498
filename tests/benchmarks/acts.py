"""What one act costs, whatever the machine: database transactions, and how much of the bot it runs."""

import asyncio
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

from sqlalchemy import Connection, Engine, event

import bot
from bot import telemetry
from bot.sandbox.people import ANA
from bot.store.notices import Topic
from bot.store.owner import Owner
from bot.timings import Timings
from tests.benchmarks.row import Row
from tests.support.digesting import WEB
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.work import run_due, run_due_after

OURS = str(Path(bot.__file__).parent)
STAND_INS = f"{OURS}/sandbox/"
QUIET = 0.6
"""Seconds without a transaction after which an act is over: longer than what is recorded in batches waits."""
SELDOM, TICK = 3600.0, 3.0
WRITER = "database-writer"  # the thread that changes a SQLite database
COMMANDS = {
    "/issue new for someone else": "/issue new Slow cart project:webshop assignee:ben",
    "/issues": "/issues",
    "/issue 12": "/issue 12",
    "/timelog": "/timelog 12 20m activity:design",
}


@dataclass
class Recorder:
    """Counts this process's transactions in SQLite, and the bot's functions that it enters."""

    transactions: Counter[str] = field(default_factory=Counter)
    functions: set[CodeType] = field(default_factory=set)
    last: float = 0

    def began(self, _: Connection) -> None:
        writes = threading.current_thread().name.startswith(WRITER)
        self.transactions["writes" if writes else "reads"] += 1
        self.last = time.monotonic()

    def profile(self, frame: FrameType, what: str, _: object) -> None:
        code = frame.f_code
        if what == "call" and code.co_filename.startswith(OURS) and code.co_name[0] != "<":
            self.functions.add(code)

    async def quiet(self) -> None:
        """Delays until no transaction has begun for a while."""
        self.last = time.monotonic()
        while (left := self.last + QUIET - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def rows(self, what: str, act: Callable[[], Awaitable[object]]) -> list[Row]:
        """Returns the figures of an act, with what it leaves to the background."""
        await self.quiet()
        self.transactions.clear()
        self.functions.clear()
        await act()
        await self.quiet()
        own = [code for code in self.functions if not code.co_filename.startswith(STAND_INS)]
        counted = {kind: self.transactions[kind] for kind in ("reads", "writes")}
        counted |= {"functions": len(own), "files": len({code.co_filename for code in own})}
        return [Row(f"{what}: {kind}", number, None, kind) for kind, number in counted.items()]


@contextmanager
def recording() -> Iterator[Recorder]:
    """Records everything that this process does while the block runs."""
    recorder = Recorder()
    event.listen(Engine, "begin", recorder.began)
    threading.setprofile(recorder.profile)  # the database's threads start later
    sys.setprofile(recorder.profile)
    try:
        yield recorder
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        event.remove(Engine, "begin", recorder.began)


@asynccontextmanager
async def _ana(database: Path, interval: float) -> AsyncIterator[Person]:
    url = f"sqlite:///{database}"
    office = Office(database.parent, timings=Timings(interval=interval), database_url=url)
    async with office.opened("ana"):
        await office.bot.store.notices.switch(Owner(None, TEAM, ANA.slack_id), [Topic.ASSIGNED], None)
        await run_due(office.bot)  # what is assigned to people is read by a job of its own
        yield Person(office, ANA.slack_id)


async def recorded(directory: Path) -> list[Row]:
    """What an act reads and writes in a SQLite database, and how many of the bot's functions it enters.

    Each act is measured the second time, when the bot remembers what it caches.
    """
    telemetry.configure("console", "warning")
    rows: list[Row] = []
    with recording() as recorder:
        async with _ana(directory / "acts.db", SELDOM) as ana:
            days = iter(range(1, 10))

            async def submitted() -> None:
                await ana.submit(await ana.form("New issue"), {"Subject": "From a form"})
                await ana.no_form()

            async def posted() -> None:
                await run_due_after(ana.office, timedelta(days=next(days)))

            await ana.ask(WEB)
            steps: list[tuple[str, str | None, Callable[[], Awaitable[object]]]] = [
                *((what, None, partial(ana.ask, text)) for what, text in COMMANDS.items()),
                ("a form for the same", "/issue new project:webshop assignee:ben", submitted),
                ("a digest's post", "/issue new Something to post project:webshop", posted),
            ]
            for what, before, act in steps:
                for _ in range(2):
                    if before:
                        await ana.command(before)
                        await ana.office.idle()
                    latest = await recorder.rows(what, act)
                rows += latest
        async with _ana(directory / "idle.db", TICK):
            rows += await recorder.rows("an idle tick", partial(asyncio.sleep, TICK - QUIET))
    return rows
