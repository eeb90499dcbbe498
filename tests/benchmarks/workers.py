"""What runs in a process of its own beside the bot: `python -m tests.benchmarks.workers NAME [ARGUMENT…]`.

Each worker does its task once per line of standard input and prints what came of it as JSON. It imports only
what its own task needs, since its start and its memory are measured, too.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Work = Callable[[str], dict[str, Any]]


def imports() -> Work:
    """Imports what the bot uses of the packages it is built on, and does nothing else."""
    import apscheduler.schedulers.asyncio
    import httpx
    import pydantic
    import slack_bolt.async_app
    import sqlalchemy.ext.asyncio
    import sqlalchemy.orm

    used = (
        apscheduler.schedulers.asyncio.AsyncIOScheduler,
        httpx.AsyncClient,
        pydantic.BaseModel,  # pydantic and SQLAlchemy import their parts when they are used
        slack_bolt.async_app.AsyncApp,
        sqlalchemy.ext.asyncio.AsyncEngine,
        sqlalchemy.orm.DeclarativeBase,
    )
    return lambda _: {"imported": len(used)}


def copy(source: str, target: str, key: str, size: str) -> Work:
    """Makes one straightforward copy of a file through httpx."""
    import httpx

    headers = {
        "X-Service-API-Key": key,
        "Content-Type": "application/octet-stream",
        "Content-Length": size,
    }

    async def once() -> dict[str, Any]:
        async with httpx.AsyncClient(timeout=60) as http, http.stream("GET", source) as file:
            answer = await http.post(target, headers=headers, content=file.aiter_bytes(64 * 1024))
        return {"status": answer.status_code}

    return lambda _: asyncio.run(once())


def _timed(read: Callable[[], int]) -> Work:
    def work(_: str) -> dict[str, Any]:
        cpu, began = time.process_time(), time.perf_counter()
        issues = read()
        return {
            "issues": issues,
            "seconds": time.perf_counter() - began,
            "cpu": time.process_time() - cpu,
        }

    return work


def ours(url: str) -> Work:
    """Lists with the bot's client in one event loop, with all of the bot in memory as when it runs."""
    from pydantic import SecretStr

    from bot.app import tune_garbage_collection
    from bot.service.client import Client
    from bot.service.filters import IssueFilters

    tune_garbage_collection()
    loop, client = asyncio.new_event_loop(), Client(url)

    async def read() -> int:
        issues = client.iter_issues(SecretStr("0" * 40), IssueFilters(status="any"))
        seen = [bool(i.subject and i.status and i.status.name and i.updated_on) async for i in issues]
        return sum(seen)

    return _timed(lambda: loop.run_until_complete(read()))


def theirs(url: str) -> Work:
    """Lists with python-redmine."""
    from redminelib import Redmine

    redmine = Redmine(url, key="0" * 40)

    def read() -> int:
        issues = redmine.issue.filter(status_id="*", sort="id")
        return sum(bool(i.subject and i.status.name and i.updated_on) for i in issues)

    return _timed(read)


PROJECTS, OWNERS, CHANNELS, ISSUES = 200, 20, 200, 600
TEAM = "T0HARBOR01"
A_MINUTE = 300
"""Slack's limit of messages in a workspace, which the local Slack enforces."""
ADDED_A_SECOND = 50  # a low estimate: all of them must exist before they are due


def digests() -> Work:
    """Posts as many digests at once as the line says, of two hundred projects and twenty owners.

    Service, Slack and bot share one process.
    """
    return lambda count: asyncio.run(_post_digests(int(count)))


async def _post_digests(count: int) -> dict[str, Any]:
    from bot import telemetry
    from bot.sandbox.tracker.server import Tracker
    from bot.sandbox.workspace.model import Channel
    from tests.benchmarks.companies import company, reported
    from tests.support.office import Office

    telemetry.configure("console", "warning")
    now = (datetime.now(UTC) + timedelta(seconds=5 + count / ADDED_A_SECOND)).replace(microsecond=0)
    data = company(OWNERS, PROJECTS)
    for number in range(ISSUES):
        at, project = now - timedelta(minutes=30) + timedelta(seconds=number), number % PROJECTS + 1
        reported(data, number % OWNERS + 1, project, f"Something is broken in {project}", at)
    with TemporaryDirectory() as directory:
        office = Office(Path(directory), tracker=Tracker(data))
        async with office.opened():
            state = office.workspace.state
            for number in range(CHANNELS):
                name = f"C{number:09}"
                state.add_channel(Channel(name, name.lower(), "channel", {state.app.bot_user_id}))
            await _add_digests(office.bot.store, now, count)

            def posts() -> int:
                return sum(m.by_app for those in state.messages.values() for m in those)

            while datetime.now(UTC) < now:
                await asyncio.sleep(0.05)
            cpu, started = time.process_time(), time.monotonic()
            forced = count / A_MINUTE * 60
            while posts() < count and time.monotonic() - started < 3 * forced:
                await asyncio.sleep(0.1)
            return {
                "posted": posts(),
                "seconds": time.monotonic() - started,
                "forced": forced,
                "requests": _requests(),
                "cpu": time.process_time() - cpu,
                "violations": len(office.workspace.violations),
            }


async def _add_digests(store: Any, now: datetime, count: int) -> None:
    """Adds digests that are all due now, an hour after their last run."""
    from pydantic import SecretStr

    from bot.store.digest_plans import Plan
    from bot.store.digests import Start
    from bot.store.owner import Owner

    hour = timedelta(hours=1)
    for number in range(1, OWNERS + 1):
        owner = Owner(None, TEAM, f"U{number}")
        await store.links.put(owner, SecretStr(f"key-{number}"), number, f"User {number}")
    for number in range(count):
        project = number % PROJECTS + 1
        await store.digests.add(
            Owner(None, TEAM, f"U{number % OWNERS + 1}"),
            "User",
            f"C{number % CHANNELS:09}",
            Plan(project_id=project, project=f"Project {project}", schedule=f"daily {now:%H:%M}", zone="UTC"),
            next_due=now,
            start=Start(covered_to=now - hour),
            now=now - hour,
        )


def _requests() -> int:
    """Returns the number of requests to the service so far."""
    from bot import telemetry

    samples = (sample for metric in telemetry.SERVICE_REQUESTS.collect() for sample in metric.samples)
    return sum(int(sample.value) for sample in samples if sample.name.endswith("_total"))


WORKERS: dict[str, Callable[..., Work]] = {
    work.__name__: work for work in (imports, copy, ours, theirs, digests)
}


def main() -> None:
    work = WORKERS[sys.argv[1]](*sys.argv[2:])
    for line in sys.stdin:
        sys.stdout.write(json.dumps(work(line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
