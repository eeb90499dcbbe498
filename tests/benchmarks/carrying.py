"""Copies a 200 MB file from Slack to the service: the bot compared with a minimal copy through httpx.

    python -m tests.benchmarks.carrying FROM TO KEY

copies it once per line of standard input.
"""

import asyncio
import json
import sys
import time
from statistics import median

import httpx

from bot.sandbox.people import ANA
from tests.benchmarks.processes import running
from tests.benchmarks.sides import Scene
from tests.benchmarks.slack import FILE_SIZE
from tests.benchmarks.table import Row

PIECE = 64 * 1024
ISSUE = 12  # in an open project
MEGABYTES_ADDED = 20


async def measure(scene: Scene, rounds: int) -> list[Row]:
    """Runs this many rounds; the clock stops when the service has the whole file."""
    seconds: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    added: list[float] = []
    upload = f"{scene.service_url}/uploads.json?filename=large"
    copy = running(
        scene.directory, "tests.benchmarks.carrying", f"{scene.slack.url}/files/large", upload, ANA.api_key
    )
    async with scene.bot() as (bot, url), copy as other:
        await scene.slack.command(url, f"/issue {ISSUE}")
        for number in range(rounds):
            bot.forget_peak()
            before, spent, began = bot.megabytes, bot.cpu, time.monotonic()
            await scene.slack.submit_file(url, f"F0LARGE{number}", ISSUE)
            seconds[0].append((await scene.seen()).uploaded_at - began)
            cpu[0].append(bot.cpu - spent)
            added.append(bot.peak_megabytes - before)
            spent, began = other.cpu, time.monotonic()
            assert (await other.ask())["status"] == httpx.codes.CREATED
            seconds[1].append((await scene.seen()).uploaded_at - began)
            cpu[1].append(other.cpu - spent)
    name = f"{FILE_SIZE // 10**6} MB from Slack to the service"
    return [
        Row(name, median(seconds[0]), median(seconds[1]), "s"),
        Row(f"{name}: CPU", median(cpu[0]), median(cpu[1]), "s"),
        Row(f"{name}: memory added", max(added), None, "MB", most=MEGABYTES_ADDED),
    ]


async def copy(source: str, target: str, key: str) -> int:
    """Makes one straightforward copy and returns the status of the response."""
    headers = {
        "X-Service-API-Key": key,
        "Content-Type": "application/octet-stream",
        "Content-Length": str(FILE_SIZE),
    }
    async with httpx.AsyncClient(timeout=60) as http, http.stream("GET", source) as file:
        answer = await http.post(target, headers=headers, content=file.aiter_bytes(PIECE))
    return answer.status_code


def main() -> None:
    for _ in sys.stdin:
        sys.stdout.write(json.dumps({"status": asyncio.run(copy(*sys.argv[1:4]))}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
