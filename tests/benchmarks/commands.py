"""Slash commands: total time and time to acknowledgment, compared with a minimal Bolt app.

There are two such apps: one uses httpx, as the bot does, the other aiohttp.
"""

import json
from collections import defaultdict
from contextlib import AsyncExitStack
from statistics import median

from tests.benchmarks.processes import Side
from tests.benchmarks.sides import Scene, Seen
from tests.benchmarks.slack import Times
from tests.benchmarks.table import Row, share
from tests.support.rounds import round_of_each

COMMANDS = ("/tracker whoami", "/issue 7", "/issues")
WARM, IN_A_ROW = 5, 10
LATENCY = 0.05  # tells apart the rounds of a command's requests
AIM = 1.3


async def measure(scene: Scene, times: int) -> list[Row]:
    """Runs each command this many times on each side, alternating in small batches."""
    async with AsyncExitStack() as closing:
        bot, bot_url = await closing.enter_async_context(scene.bot())
        requests: dict[str, list[list[str]]] = {}
        for typed in COMMANDS:
            for _ in range(WARM):
                await scene.slack.command(bot_url, typed)
            await scene.delay(LATENCY)
            await scene.slack.command(bot_url, typed)
            requests[typed] = _by_round(await scene.seen())
            await scene.delay(0)
        sides = {bot_url: bot}
        for by in ("httpx", "aiohttp"):
            bare, bare_url = await closing.enter_async_context(scene.bare(json.dumps(requests), by))
            sides[bare_url] = bare
            for typed in COMMANDS:
                for _ in range(WARM):
                    await scene.slack.command(bare_url, typed)
        return [row for typed in COMMANDS for row in await _one(scene, typed, sides, times)]


def _by_round(seen: Seen) -> list[list[str]]:
    """The requests in the order of their rounds; those of one round are sent together."""
    found: dict[int, list[str]] = defaultdict(list)
    for number, path in zip(round_of_each(seen.spans), seen.paths, strict=True):
        found[number].append(path)
    return [found[number] for number in sorted(found)]


async def _one(scene: Scene, typed: str, sides: dict[str, Side], times: int) -> list[Row]:
    told: dict[str, list[Times]] = defaultdict(list)
    asked: dict[str, int] = defaultdict(int)
    cpu = {url: -side.cpu for url, side in sides.items()}
    for _ in range(times // IN_A_ROW):
        for url in sides:
            await scene.seen()
            told[url] += [await scene.slack.command(url, typed) for _ in range(IN_A_ROW)]
            asked[url] += len((await scene.seen()).paths)
    ours, theirs, on_aiohttp = sides
    cpu = {url: seconds + sides[url].cpu for url, seconds in cpu.items()}
    done = {url: [each.answered * 1000 for each in told[url]] for url in sides}
    acknowledged = {url: [each.acknowledged * 1000 for each in told[url]] for url in sides}
    count = len(told[ours])
    return [
        Row(f"{typed}: requests to the service", asked[ours] / count, asked[theirs] / count, "requests"),
        Row(f"{typed}: acknowledged, median", median(acknowledged[ours]), median(acknowledged[theirs]), "ms"),
        Row(f"{typed}: answered, median", median(done[ours]), median(done[theirs]), "ms", most=AIM),
        Row(f"{typed}: answered, 99 of 100", share(done[ours], 0.99), share(done[theirs], 0.99), "ms"),
        Row(f"{typed}: CPU", cpu[ours] / count * 1000, cpu[theirs] / count * 1000, "ms", most=AIM),
        Row(f"{typed}: answered, and by aiohttp", median(done[ours]), median(done[on_aiohttp]), "ms"),
        Row(f"{typed}: CPU, and by aiohttp", cpu[ours] / count * 1000, cpu[on_aiohttp] / count * 1000, "ms"),
    ]
