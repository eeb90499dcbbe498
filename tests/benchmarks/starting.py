"""Startup time and idle memory: the bot compared with a process that only imports its packages."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import median

from tests.benchmarks.processes import Side, running
from tests.benchmarks.sides import Scene
from tests.benchmarks.table import Row

REST = 1.5
MOST_TIME, MOST_MEMORY = 2, 1.3


async def measure(scene: Scene, rounds: int) -> list[Row]:
    """Starts each side this many times, taking turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    memory: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for number in (0, 1):
            began = time.perf_counter()
            async with _importing(scene) if number else _bot(scene) as side:
                seconds[number].append(time.perf_counter() - began)
                cpu[number].append(side.cpu)
                await asyncio.sleep(REST)
                memory[number].append(side.megabytes)
    return [
        _row("start to ready, beside importing the packages", seconds, "s", MOST_TIME),
        _row("start to ready: CPU", cpu, "s"),
        _row("memory at rest, beside importing the packages", memory, "MB", MOST_MEMORY),
    ]


def _row(what: str, figures: tuple[list[float], list[float]], unit: str, most: float | None = None) -> Row:
    ours, theirs = figures
    return Row(what, median(ours), median(theirs), unit, most=most)


@asynccontextmanager
async def _bot(scene: Scene) -> AsyncIterator[Side]:
    async with scene.bot() as (side, _):
        yield side


@asynccontextmanager
async def _importing(scene: Scene) -> AsyncIterator[Side]:
    async with running(scene.directory, "tests.benchmarks.imports") as side:
        await side.ask()
        yield side
