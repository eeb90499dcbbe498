"""The sides of a comparison, each in its own process, measured from outside through /proc (Linux only).

The bot as in production, a minimal Bolt app, and workers, with the same Slack and the same service.
"""

import asyncio
import json
import math
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from pydantic import SecretStr

from bot.sandbox.people import ANA
from bot.service.client import Client
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from tests.benchmarks.slack import SECRET, TEAM, TOKEN, USER, Slack
from tests.support import proc
from tests.support.people import BARE
from tests.support.ports import free_port
from tests.support.rounds import Span

ROOT = Path(__file__).parents[2]
SECONDS_TO_START = 30
SECONDS_FOR_A_TASK = 120


class Side:
    """A running Python module; its output, except for its answers, goes to a log file."""

    def __init__(self, process: Process, log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def cpu(self) -> float:
        """Returns the CPU seconds so far, of all threads together."""
        return proc.cpu_seconds(self._process.pid)

    @property
    def megabytes(self) -> float:
        """Returns the current resident memory."""
        return proc.megabytes(self._process.pid)

    @property
    def peak_megabytes(self) -> float:
        """Returns the peak resident memory since `forget_peak`."""
        return proc.megabytes(self._process.pid, "VmHWM")

    def forget_peak(self) -> None:
        """Resets `peak_megabytes`."""
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5")

    async def ask(self) -> dict[str, Any]:
        """Lets a worker do its task once and returns its answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(b"\n")
        async with asyncio.timeout(SECONDS_FOR_A_TASK):
            line = await self._process.stdout.readline()
        assert line, self._log.read_text(errors="replace")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def answers(self, url: str, *statuses: int) -> None:
        """Delays until the URL answers with one of these statuses, or any if none are given."""
        async with aiohttp.ClientSession() as http, asyncio.timeout(SECONDS_TO_START):
            while not await _answered(http, url, statuses):
                assert self._process.returncode is None, self._log.read_text(errors="replace")
                await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Kills the process, which has nothing to keep."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


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
    log = directory / f"{arguments[0]}-{time.monotonic_ns()}.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", *arguments),
            cwd=directory,
            env={**BARE, "PYTHONPATH": str(ROOT), **(variables or {})},
            stdin=PIPE,
            stdout=PIPE if arguments[0].startswith("tests.") else output,
            stderr=output,
        )
    side = Side(process, log)
    try:
        yield side
    finally:
        await side.stop()


@dataclass(frozen=True)
class Traffic:
    """The service's requests and their times, and when its last upload was complete."""

    paths: list[str]
    spans: list[Span]
    uploaded_at: float


@dataclass
class Scene:
    """Slack and the service, both running, and a user who is linked in the bot's database."""

    directory: Path
    slack: Slack
    service_url: str
    database_url: str
    encryption_key: str

    @asynccontextmanager
    async def bot(self) -> AsyncIterator[tuple[Side, str]]:
        """Yields the bot, once it is ready, and its URL."""
        port = free_port()
        variables = {
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_API_URL": f"{self.slack.url}/api/",
            "SERVICE_BASE_URL": self.service_url,
            "DATABASE_URL": self.database_url,
            "ENCRYPTION_KEYS": self.encryption_key,
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "LOG_FORMAT": "json",
        }
        async with running(self.directory, "bot", "run", variables=variables) as side:
            await side.answers(f"http://127.0.0.1:{port}/readyz", 200)
            yield side, f"http://127.0.0.1:{port}"

    @asynccontextmanager
    async def bare(self) -> AsyncIterator[tuple[Side, str]]:
        """Yields the minimal app, once it listens, and its URL."""
        port = free_port()
        variables = {
            "SLACK": f"{self.slack.url}/api/",
            "SECRET": SECRET,
            "SERVICE": self.service_url,
            "SERVICE_KEY": ANA.api_key,
            "PORT": str(port),
        }
        async with running(self.directory, "tests.benchmarks.bare", variables=variables) as side:
            await side.answers(f"http://127.0.0.1:{port}/")
            yield side, f"http://127.0.0.1:{port}"

    def worker(self, *arguments: str) -> AbstractAsyncContextManager[Side]:
        """Runs one of `tests.benchmarks.workers`."""
        return running(self.directory, "tests.benchmarks.workers", *arguments)

    async def traffic(self, **changes: str) -> Traffic:
        """Returns what the service has seen since the last call."""
        url = f"{self.service_url}/seen"
        async with aiohttp.ClientSession() as http, http.get(url, params=changes) as answer:
            report = await answer.json()
        paths = [path for path, *_ in report["seen"]]
        return Traffic(paths, [Span(*times) for _, *times in report["seen"]], report["uploaded_at"])

    async def delay(self, seconds: float) -> None:
        """Makes the service answer every request this much later."""
        await self.traffic(latency=str(seconds))


@asynccontextmanager
async def scene(directory: Path, database_url: str | None = None) -> AsyncIterator[Scene]:
    """Runs Slack and the service while the block lasts; the database is SQLite's unless another is given."""
    database_url = database_url or f"sqlite:///{directory / 'bot.db'}"
    async with AsyncExitStack() as closing:
        slack = await closing.enter_async_context(Slack().up())
        port = free_port()
        service = await closing.enter_async_context(running(directory, "tests.benchmarks.service", str(port)))
        url = f"http://127.0.0.1:{port}"
        await service.answers(f"{url}/seen", 200)
        key = Vault.generate_key()
        database = Database(database_url)
        closing.push_async_callback(database.close)
        await database.open()
        async with Client(url) as client:
            user = await client.get_user(SecretStr(ANA.api_key))
        await Store(database, Vault((key,))).links.put(
            Owner(None, TEAM, USER), SecretStr(ANA.api_key), user.id, ANA.name
        )
        yield Scene(directory, slack, url, database_url, key.get_secret_value())


def share(figures: Sequence[float], part: float) -> float:
    """Returns the percentile of the figures, with `part` between 0 and 1."""
    return sorted(figures)[max(0, math.ceil(part * len(figures)) - 1)]
