"""Commands with a service that is far away: how many round trips they wait for."""

from statistics import median

from tests.benchmarks.sides import Scene
from tests.benchmarks.table import Row
from tests.support.rounds import rounds

LATENCY = 0.2
READS = (
    "/tracker whoami",
    "/issue 7",
    "/issues",
    "/issues project:webshop priority:high",
    "/tracker projects",
)
WRITES = ("/issue new Far away project:webshop", "/timelog 12 20m activity:design")
MOST_READING, MOST_WRITING = 1, 2


async def measure(scene: Scene, times: int) -> list[Row]:
    """Runs each command this many times, after once to read what the bot remembers for a minute."""
    rows: list[Row] = []
    async with scene.bot() as (_, url):
        await scene.delay(LATENCY)
        try:
            for typed in (*READS, *WRITES):
                rows += await _one(scene, url, typed, times)
        finally:
            await scene.delay(0)
    return rows


async def _one(scene: Scene, url: str, typed: str, times: int) -> list[Row]:
    counted: list[int] = []
    seconds: list[float] = []
    for _ in range(times + 1):
        await scene.seen()
        seconds.append((await scene.slack.command(url, typed)).answered)
        counted.append(rounds((await scene.seen()).spans))
    most = MOST_WRITING if typed in WRITES else MOST_READING
    away = f"{typed}: service {LATENCY * 1000:.0f} ms away"
    return [
        Row(f"{away}: rounds at first", counted[0], None, "rounds"),
        Row(f"{away}: rounds", max(counted[1:]), None, "rounds", most=most),
        Row(f"{away}: answered, beside the rounds alone", median(seconds[1:]), most * LATENCY, "s"),
    ]
