"""Startup time and idle memory: the bot compared with a minimal Bolt app."""

import asyncio
import time
from statistics import median

from tests.benchmarks.sides import Scene
from tests.benchmarks.table import Row

REST = 1.5


async def measure(scene: Scene, rounds: int) -> list[Row]:
    """Starts each side this many times, taking turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    memory: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for number in (0, 1):
            began = time.perf_counter()
            async with scene.bare("{}") if number else scene.bot() as (side, _):
                seconds[number].append(time.perf_counter() - began)
                cpu[number].append(side.cpu)
                await asyncio.sleep(REST)
                memory[number].append(side.megabytes)
    return [
        Row("start to ready", median(seconds[0]), median(seconds[1]), "s"),
        Row("start to ready: CPU", median(cpu[0]), median(cpu[1]), "s"),
        Row("memory at rest", median(memory[0]), median(memory[1]), "MB"),
    ]
