"""Lists 5,000 issues: the bot's client compared with python-redmine.

    python -m tests.benchmarks.listing ours|theirs URL

lists them once per line of standard input, and prints seconds and CPU time.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from statistics import median

from pydantic import SecretStr
from redminelib import Redmine

from bot.app import tune_garbage_collection
from bot.service.client import Client
from bot.service.filters import IssueFilters
from tests.benchmarks.processes import Side, running
from tests.benchmarks.service import ISSUES
from tests.benchmarks.sides import Scene
from tests.benchmarks.table import Row

KEY = "0" * 40


async def measure(scene: Scene, rounds: int) -> list[Row]:
    """Runs this many rounds with network latency and without."""
    rows: list[Row] = []
    for where, least, said in (("far", 4, "50 ms away"), ("near", 1, "no latency")):
        url = f"{scene.service_url}/{where}"
        async with AsyncExitStack() as closing:
            sides = [
                await closing.enter_async_context(
                    running(scene.directory, "tests.benchmarks.listing", side, url)
                )
                for side in ("ours", "theirs")
            ]
            ours, theirs = await _rounds(sides, rounds)
        name = f"{ISSUES} issues listed, {said}"
        seconds = (median(each["seconds"] for each in ours), median(each["seconds"] for each in theirs))
        rows.append(Row(f"{name} (times as fast)", *seconds, "s", least=least, inverse=True))
        cpu = [median(each["cpu"] for each in side) / ISSUES * 1000 * 1000 for side in (ours, theirs)]
        rows.append(Row(f"{name}: CPU for 1,000", cpu[0], cpu[1], "ms"))
    return rows


async def _rounds(sides: list[Side], rounds: int) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    told: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    for number in range(rounds + 1):  # the first round is a warm-up
        for answers, side in zip(told, sides, strict=True):
            answer = await side.ask()
            assert answer["issues"] == ISSUES, answer
            if number:
                answers.append(answer)
    return told


def ours(url: str) -> Callable[[], int]:
    """The bot's client in one event loop for all rounds, with all of the bot in memory as when it runs."""
    tune_garbage_collection()
    loop = asyncio.new_event_loop()
    client = Client(url)

    async def read() -> int:
        issues = client.iter_issues(SecretStr(KEY), IssueFilters(status="any"))
        seen = [bool(i.subject and i.status and i.status.name and i.updated_on) async for i in issues]
        return sum(seen)

    return lambda: loop.run_until_complete(read())


def theirs(url: str) -> Callable[[], int]:
    """Returns a function that lists with python-redmine."""
    redmine = Redmine(url, key=KEY)

    def read() -> int:
        issues = redmine.issue.filter(status_id="*", sort="id")
        return sum(bool(i.subject and i.status.name and i.updated_on) for i in issues)

    return read


def main() -> None:
    read = {"ours": ours, "theirs": theirs}[sys.argv[1]](sys.argv[2])
    for _ in sys.stdin:
        cpu, began = time.process_time(), time.perf_counter()
        issues = read()
        told = {
            "issues": issues,
            "seconds": time.perf_counter() - began,
            "cpu": time.process_time() - cpu,
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
