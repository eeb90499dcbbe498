"""Compares the bot's cost with minimal programs that do the same, in one table of ratios.

    python -m tests.benchmarks [PART…] [--digests 1000]

Each side runs in its own process, and so does the service; this process plays Slack. The sides take turns,
all traffic stays on 127.0.0.1, and the run ends by itself after a few minutes. It reads /proc, so it needs
Linux.
"""

import argparse
import asyncio
import re
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from pydantic import SecretStr

from bot.sandbox.people import ANA
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.model import Channel
from bot.store.digests import Start
from bot.store.owner import Owner
from bot.store.plans import Plan
from bot.store.store import Store
from tests.benchmarks.acts import recorded
from tests.benchmarks.companies import company, reported
from tests.benchmarks.row import Row
from tests.benchmarks.service import ISSUES
from tests.benchmarks.sides import Scene, Side, scene, share
from tests.benchmarks.slack import FILE_SIZE, TEAM, Times
from tests.support.bot_process import Apart, apart
from tests.support.rounds import rounds


async def acts(scene: Scene, _times: int) -> list[Row]:
    """What an action reads and writes in the database, and how much of the bot it runs."""
    return await recorded(scene.directory)


COMMANDS = ("/tracker whoami", "/issue 7", "/issues")
WARM, IN_A_ROW = 5, 10


async def commands(scene: Scene, times: int) -> list[Row]:
    """Slash commands, beside a minimal Bolt app: runs each this many times, alternating in small batches."""
    async with AsyncExitStack() as closing:
        bot, bot_url = await closing.enter_async_context(scene.bot())
        bare, bare_url = await closing.enter_async_context(scene.bare())
        sides = {bot_url: bot, bare_url: bare}
        for typed, url in product(COMMANDS * WARM, sides):
            await scene.slack.command(url, typed)
        return [row for typed in COMMANDS for row in await _one_command(scene, typed, sides, times)]


async def _one_command(scene: Scene, typed: str, sides: dict[str, Side], times: int) -> list[Row]:
    replies: dict[str, list[Times]] = defaultdict(list)
    asked: dict[str, int] = defaultdict(int)
    cpu = {url: -side.cpu for url, side in sides.items()}
    for _ in range(times // IN_A_ROW):
        for url in sides:
            await scene.traffic()
            replies[url] += [await scene.slack.command(url, typed) for _ in range(IN_A_ROW)]
            asked[url] += len((await scene.traffic()).paths)
    count = times // IN_A_ROW * IN_A_ROW
    cpu = {url: (seconds + sides[url].cpu) / count * 1000 for url, seconds in cpu.items()}

    def row(what: str, unit: str, figure: Callable[[str], float], most: float | None = None) -> Row:
        ours, theirs = map(figure, sides)
        return Row(f"{typed}: {what}", ours, theirs, unit, most)

    def answered(part: float) -> Callable[[str], float]:
        return lambda url: share([each.answered * 1000 for each in replies[url]], part)

    return [
        row("requests to the service", "requests", lambda url: asked[url] / count),
        row("acknowledged", "ms", lambda url: median(each.acknowledged * 1000 for each in replies[url])),
        row("answered", "ms", answered(0.5), 1.3),
        row("answered, 99 of 100", "ms", answered(0.99)),
        row("CPU", "ms", lambda url: cpu[url], 1.3),
    ]


FAR = 0.2
BESIDE = 0.2
"""How many latencies of the service all else may take."""
READS = (
    "/tracker whoami",
    "/issue 7",
    "/issues",
    "/issues checkout",
    "/issues project:webshop priority:high",
    "/tracker projects",
)
WRITES = ("/issue new Far away project:webshop", "/timelog 12 20m activity:design")
NOTHING_FOUND = "/issues urgent bugs assigned to ben in webshop zebra"
ROUNDS = {**dict.fromkeys(READS, 1), **dict.fromkeys((*WRITES, NOTHING_FOUND), 2)}


async def far(scene: Scene, times: int) -> list[Row]:
    """How many round trips, and latencies, commands wait for with a service that is far away.

    Runs each this many times, after once to read what the bot remembers for a minute.
    """
    rows: list[Row] = []
    async with scene.bot() as (_, url):
        await scene.delay(FAR)
        for typed, most in ROUNDS.items():
            counted, seconds = [], []
            for _ in range(times + 1):
                await scene.traffic()
                seconds.append((await scene.slack.command(url, typed)).answered)
                counted.append(rounds((await scene.traffic()).spans))
            away = f"{typed}: service {FAR * 1000:.0f} ms away"
            rows.append(Row(f"{away}: rounds", max(counted[1:]), None, "rounds", most))
            rows.append(Row(f"{away}: answered", median(seconds[1:]), FAR, "s", most + BESIDE))
        await scene.delay(0)
    return rows


async def listing(scene: Scene, times: int) -> list[Row]:
    """Lists 5,000 issues with the bot's client and with python-redmine, with latency and without."""
    rows: list[Row] = []
    for where, most, distance in (("far", 0.25, "50 ms away"), ("near", 1, "no latency")):
        url, replies_by_side = f"{scene.service_url}/{where}", defaultdict(list)
        async with scene.worker("ours", url) as ours, scene.worker("theirs", url) as theirs:
            for number in range(times + 1):  # the first round is a warm-up
                for side in (ours, theirs):
                    answer = await side.ask()
                    assert answer["issues"] == ISSUES, answer
                    if number:
                        replies_by_side[side].append(answer)

        middle = [
            {what: median(each[what] for each in answers) for what in ("seconds", "cpu")}
            for answers in replies_by_side.values()
        ]
        name = f"{ISSUES} issues listed, {distance}"
        seconds, theirs_seconds = (each["seconds"] for each in middle)
        rows.append(Row(name, seconds, theirs_seconds, "s", most))
        cpu, theirs_cpu = (each["cpu"] / ISSUES * 1000 * 1000 for each in middle)
        rows.append(Row(f"{name}: CPU for 1,000", cpu, theirs_cpu, "ms"))
    return rows


ISSUE = 12  # in an open project


async def files(scene: Scene, times: int) -> list[Row]:
    """Copies a 200 MB file from Slack to the service; the clock stops when the service has all of it."""
    figures: dict[str, list[float]] = defaultdict(list)
    arguments = (f"{scene.slack.url}/files/large", f"{scene.service_url}/uploads.json?filename=large")
    copy = scene.worker("copy", *arguments, ANA.api_key, str(FILE_SIZE))
    async with scene.bot() as (bot, url), copy as other:
        await scene.slack.command(url, f"/issue {ISSUE}")
        for number in range(times):
            bot.forget_peak()
            before, spent, began = bot.megabytes, bot.cpu, time.monotonic()
            await scene.slack.submit_file(url, f"F0LARGE{number}", ISSUE)
            figures["seconds"].append((await scene.traffic()).uploaded_at - began)
            figures["cpu"].append(bot.cpu - spent)
            figures["added"].append(bot.peak_megabytes - before)
            spent, began = other.cpu, time.monotonic()
            assert (await other.ask())["status"] == httpx.codes.CREATED
            figures["their seconds"].append((await scene.traffic()).uploaded_at - began)
            figures["their cpu"].append(other.cpu - spent)
    name = f"{FILE_SIZE // 10**6} MB from Slack to the service"
    middle = {what: median(each) for what, each in figures.items()}
    return [
        Row(name, middle["seconds"], middle["their seconds"], "s"),
        Row(f"{name}: CPU", middle["cpu"], middle["their cpu"], "s"),
        Row(f"{name}: memory added", max(figures["added"]), None, "MB", most=20),
    ]


async def start(scene: Scene, times: int) -> list[Row]:
    """From start to ready, and memory at rest, beside a process that only imports the bot's packages."""
    figures: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for number in range(times * 2):
        began = time.perf_counter()
        async with AsyncExitStack() as closing:
            if number % 2:
                side = await closing.enter_async_context(scene.worker("imports"))
                await side.ask()
            else:
                side, _ = await closing.enter_async_context(scene.bot())
            figures["seconds"][number % 2].append(time.perf_counter() - began)
            figures["cpu"][number % 2].append(side.cpu)
            await asyncio.sleep(1.5)
            figures["memory"][number % 2].append(side.megabytes)

    def row(name: str, what: str, unit: str, most: float | None = None) -> Row:
        ours, theirs = map(median, figures[what])
        return Row(name, ours, theirs, unit, most)

    return [
        row("start to ready, beside importing the packages", "seconds", "s", 2),
        row("start to ready: CPU", "cpu", "s"),
        row("memory at rest, beside importing the packages", "memory", "MB", 1.5),
    ]


PROJECTS, OWNERS, CHANNELS, REPORTED = 200, 20, 200, 600
A_MINUTE = 300
"""Slack's limit of messages in a workspace, which the local Slack enforces."""
ADDED_A_SECOND = 50  # a low estimate: all of them must exist before they are due


async def digests(scene: Scene, count: int) -> list[Row]:
    """Posts this many digests at once, of two hundred projects and twenty owners."""
    now = (datetime.now(UTC) + timedelta(seconds=5 + count / ADDED_A_SECOND)).replace(microsecond=0)
    data = company(OWNERS, PROJECTS)
    for number in range(REPORTED):
        at, project = now - timedelta(minutes=30) + timedelta(seconds=number), number % PROJECTS + 1
        reported(data, number % OWNERS + 1, project, f"Something is broken in {project}", at)
    office = Apart(scene.directory / "office", tracker=Tracker(data))
    office.directory.mkdir()
    async with apart(office) as bot:
        state = office.workspace.state
        for number in range(CHANNELS):
            name = f"C{number:09}"
            state.add_channel(Channel(name, name.lower(), "channel", {state.app.bot_user_id}))
        await _add_digests(office.store, now, count)
        await asyncio.sleep((now - datetime.now(UTC)).total_seconds())
        spent, began = bot.cpu_seconds(), time.monotonic()
        forced = count / A_MINUTE * 60
        async with asyncio.timeout(60 + 3 * forced):
            while sum(m.by_app for messages in state.messages.values() for m in messages) < count:
                await asyncio.sleep(0.1)
        seconds, spent = time.monotonic() - began, bot.cpu_seconds() - spent
        counted = re.findall(r"\nissuebot_service_requests_total.* ([\d.]+)", await bot.get("/metrics"))
        assert not office.violations()
    name = f"{count} digests due at once"
    return [
        Row(f"{name}, beside what Slack's rates force", seconds, forced, "s"),
        Row(f"{name}: requests to the service", sum(map(float, counted)), None, "requests"),
        Row(f"{name}: CPU", spent, None, "s"),
    ]


async def _add_digests(store: Store, now: datetime, count: int) -> None:
    """Adds digests that are all due now, an hour after their last run."""
    before = now - timedelta(hours=1)
    owners = [Owner(None, TEAM, f"U{number}") for number in range(1, OWNERS + 1)]
    for number, owner in enumerate(owners, 1):
        await store.links.put(owner, SecretStr(f"key-{number}"), number, f"User {number}")
    for number in range(count):
        channel, project = f"C{number % CHANNELS:09}", number % PROJECTS + 1
        plan = Plan(
            project_id=project, project=f"Project {project}", schedule=f"daily {now:%H:%M}", zone="UTC"
        )
        start = Start(covered_to=before)
        owner = owners[number % OWNERS]
        await store.digests.add(owner, "User", channel, plan, next_due=now, start=start, now=before)


PARTS: dict[str, Callable[[Scene, int], Awaitable[list[Row]]]] = {
    part.__name__: part for part in (acts, commands, far, listing, files, start, digests)
}


async def run(options: argparse.Namespace) -> list[Row]:
    """Runs the requested parts one after the other."""
    times: dict[str, Any] = {"commands": options.commands, "digests": options.digests}
    rows: list[Row] = []
    with TemporaryDirectory(prefix="issuebot-benchmarks-") as directory:
        async with scene(Path(directory)) as where:
            for name in options.parts or PARTS:
                sys.stderr.write(f"{name} …\n")
                rows += await PARTS[name](where, times.get(name, options.rounds))
    return rows


def main() -> int:
    """Prints the table; returns 1 if a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; without, all")
    parser.add_argument("--commands", type=int, default=200, help="how often each command, on each side")
    parser.add_argument("--rounds", type=int, default=5, help="of everything else, on each side")
    parser.add_argument("--digests", type=int, default=150, help="how many are due at once")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    rows = asyncio.run(run(options))
    sys.stdout.write("".join(map(str, rows)))
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
