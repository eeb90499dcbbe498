"""What runs in a process of its own beside the bot: `python -m tests.benchmarks.workers NAME [ARGUMENT…]`.

Each worker does its task once per line of standard input and prints what came of it as JSON. It imports only
what its own task needs, since its start and its memory are measured, too.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any

Work = Callable[[], dict[str, Any]]


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
    return lambda: {"imported": len(used)}


def copy(source: str, target: str, key: str, size: str) -> Work:
    """Makes one straightforward copy of a file through httpx."""
    import httpx

    headers = {"X-Service-API-Key": key, "Content-Type": "application/octet-stream", "Content-Length": size}

    async def once() -> dict[str, Any]:
        async with httpx.AsyncClient(timeout=60) as http, http.stream("GET", source) as file:
            answer = await http.post(target, headers=headers, content=file.aiter_bytes(64 * 1024))
        return {"status": answer.status_code}

    return lambda: asyncio.run(once())


def _timed(read: Callable[[], int]) -> Work:
    def work() -> dict[str, Any]:
        cpu, began = time.process_time(), time.perf_counter()
        issues = read()
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        return {"issues": issues, "seconds": seconds, "cpu": cpu}

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
        is_complete = [bool(i.subject and i.status and i.status.name and i.updated_on) async for i in issues]
        return sum(is_complete)

    return _timed(lambda: loop.run_until_complete(read()))


def theirs(url: str) -> Work:
    """Lists with python-redmine."""
    from redminelib import Redmine

    redmine = Redmine(url, key="0" * 40)

    def read() -> int:
        issues = redmine.issue.filter(status_id="*", sort="id")
        return sum(bool(i.subject and i.status.name and i.updated_on) for i in issues)

    return _timed(read)


WORKERS: dict[str, Callable[..., Work]] = {work.__name__: work for work in (imports, copy, ours, theirs)}


def main() -> None:
    work = WORKERS[sys.argv[1]](*sys.argv[2:])
    for _ in sys.stdin:
        sys.stdout.write(json.dumps(work()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
