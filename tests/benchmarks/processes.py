"""The sides of a comparison, each in its own process, measured from outside through /proc (Linux only)."""

import asyncio
import json
import os
import re
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from bot.config import Settings

ROOT = Path(__file__).parents[2]
SECONDS_TO_START = 30
SECONDS_TO_STOP = 15
SECONDS_FOR_A_TASK = 120


class Side:
    """A running Python module; its output, except for its answers, goes to a log file."""

    def __init__(self, process: Process, log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def cpu(self) -> float:
        """Returns the CPU seconds so far, of all threads together."""
        fields = self._read("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def megabytes(self) -> float:
        """Returns the current resident memory."""
        return self._kilobytes("VmRSS") / 1024

    @property
    def peak_megabytes(self) -> float:
        """Returns the peak resident memory since `forget_peak`."""
        return self._kilobytes("VmHWM") / 1024

    def forget_peak(self) -> None:
        """Resets `peak_megabytes`."""
        self._path("clear_refs").write_text("5")

    async def ask(self, task: str = "", seconds: float = SECONDS_FOR_A_TASK) -> dict[str, Any]:
        """Writes a task to the process's standard input and returns its answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{task}\n".encode())
        async with asyncio.timeout(seconds):
            line = await self._process.stdout.readline()
        assert line, self._log.read_text(errors="replace")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def answers(self, url: str, *statuses: int) -> None:
        """Waits until the URL answers with one of these statuses, or any if none are given."""
        async with aiohttp.ClientSession() as http, asyncio.timeout(SECONDS_TO_START):
            while not await _answered(http, url, statuses):
                assert self._process.returncode is None, self._log.read_text(errors="replace")
                await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Sends SIGTERM, then SIGKILL after a timeout."""
        if self._process.returncode is None:
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), SECONDS_TO_STOP)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def _path(self, name: str) -> Path:
        return Path(f"/proc/{self._process.pid}/{name}")

    def _read(self, name: str) -> str:
        return self._path(name).read_text()

    def _kilobytes(self, name: str) -> int:
        return int(re.findall(rf"{name}:\s+(\d+)", self._read("status"))[0])


async def _answered(http: aiohttp.ClientSession, url: str, statuses: tuple[int, ...]) -> bool:
    try:
        async with http.get(url) as answer:
            return not statuses or answer.status in statuses
    except aiohttp.ClientError:
        return False


@asynccontextmanager
async def running(
    directory: Path, *arguments: str, variables: Mapping[str, str] | None = None
) -> AsyncIterator[Side]:
    """Runs `python -m …` while the block lasts, without the bot's settings from this environment."""
    bare = {name: value for name, value in os.environ.items() if name.lower() not in Settings.model_fields}
    log = directory / f"{arguments[0]}-{time.monotonic_ns()}.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", *arguments),
            cwd=directory,
            env={**bare, "PYTHONPATH": str(ROOT), **(variables or {})},
            stdin=PIPE,
            stdout=PIPE if arguments[0].startswith("tests.") else output,
            stderr=output,
        )
    side = Side(process, log)
    try:
        yield side
    finally:
        await side.stop()
