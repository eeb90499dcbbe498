"""The reference service of the load test, in its own process: slow, with occasional faults."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection

from aiohttp import web

from bot.sandbox.demo import demo_data
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Data, User, free_id, put
from bot.sandbox.tracker.server import Tracker
from tests.support.wire import AFTER, BEFORE, Fault, broken

FAULTS: tuple[Fault, ...] = (
    "lose the request",
    "lose the answer",
    "500 before it",
    "fail after it",
    "502 after it",
    "HTML after it",
    "429",
    "cut short",
    "late",
)
SECONDS_LATE = 3
PROJECTS = (1, 2, 3)


@dataclass
class Held:
    """What the service holds at the end: subjects, comments and file names, with how often each occurs."""

    written: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    requests: int = 0


def key_of(number: int) -> str:
    """Returns a user's API key."""
    return f"{number:040x}"


def company(people: int) -> Data:
    """Returns the demo data with this many more developers in its public projects."""
    data = demo_data(datetime.now(UTC))
    for number in range(people):
        login = f"colleague{number}"
        user = User(
            free_id(data.users), login, "Colleague", str(number), f"{login}@x.example", key_of(number)
        )
        put(data.users, user)
        for project in PROJECTS:
            data.join(data.projects[project], user, defaults.DEVELOPER)
    return data


def serve(pipe: Connection, people: int, latency: float) -> None:
    """Runs the service until it is told to stop.

    Sends its URL and the numbers of issues that all users see. Then receives the share of requests that
    should fail, any number of times, and finally None, which it answers with what it holds.
    """
    asyncio.run(_serve(pipe, people, latency))


async def _serve(pipe: Connection, people: int, latency: float) -> None:
    tracker = Tracker(company(people), issue_updates=True)
    held, failing, chance = Held(), 0.0, random.Random(1)  # noqa: S311 - not used for security

    @web.middleware
    async def faulty(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        held.requests += 1
        await asyncio.sleep(latency)
        if chance.random() >= failing:
            return await handler(request)
        fault = chance.choice(FAULTS)
        held.faults[fault] += 1
        return await _failed(fault, request, handler)

    app = tracker.app()
    app.middlewares.insert(0, faulty)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    issues = tracker.data.issues.values()
    seen = [issue.id for issue in issues if issue.project_id in PROJECTS and not issue.is_private]
    pipe.send((f"http://127.0.0.1:{runner.addresses[0][1]}", seen))
    while (said := await asyncio.to_thread(pipe.recv)) is not None:
        failing = said
    await runner.cleanup()
    data = tracker.data
    held.written.update(issue.subject for issue in data.issues.values())
    held.written.update(entry.comments or "" for entry in data.time_entries.values())
    held.written.update(file.filename for file in data.attachments.values() if file.issue_id)
    pipe.send(held)


async def _failed(
    fault: Fault, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    if fault in BEFORE:
        return broken(request, BEFORE[fault](""))
    if fault == "late":
        await asyncio.sleep(SECONDS_LATE)
    answer = await handler(request)
    if fault not in AFTER or not isinstance(answer, web.Response):
        return answer
    content = answer.body if isinstance(answer.body, bytes) else b""
    return broken(request, AFTER[fault](f"{answer.status} {answer.reason}", content))
