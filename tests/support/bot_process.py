"""Offices whose bots run in processes of their own."""

import asyncio
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from pydantic import SecretStr

from bot.service.client import Client
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from tests.support import proc
from tests.support.hasty import Forked, Pace
from tests.support.office import TEAM, TIMEOUT_SECONDS, Office
from tests.support.people import BARE
from tests.support.ports import free_port
from tests.support.reading import until

ROOT = Path(__file__).parents[2]
SECONDS_TO_START = 90
SECONDS_TO_STOP = 60


@dataclass(eq=False)
class BotProcess:
    """A bot of an office, started as in production: `issuebot run`. It can be started again after it ended.

    With a `pace` it runs like that, but with that one.
    """

    office: Office
    pace: Pace | None = None
    port: int = field(default_factory=free_port)
    """The port of the bot's HTTP listener."""
    _process: Process | Forked | None = field(init=False, default=None)

    async def start(self) -> None:
        """Starts the process and waits until it is ready."""
        directory, output = self.office.directory, self._output
        starts = self._starts
        environment = BARE | {"PYTHONPATH": str(ROOT)} | self.office.environment(self.port)
        if self.pace:
            self._process = Forked(self.pace, directory, environment, output)
        else:
            with output.open("ab") as file:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "bot", "run"),
                    cwd=directory,
                    env=environment,
                    stdout=file,
                    stderr=asyncio.subprocess.STDOUT,
                )

        async def started() -> bool:
            assert self.alive, self.printed
            return self._starts > starts and await self.is_ready()  # which it caches, so not sooner

        await until(started, SECONDS_TO_START)

    async def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Sends the signal, and SIGKILL after a timeout; returns the exit code."""
        if self.alive:
            self.process.send_signal(how)
        with suppress(TimeoutError):
            return await asyncio.wait_for(self.process.wait(), SECONDS_TO_STOP)
        self.process.kill()
        return await self.process.wait()

    @property
    def process(self) -> Process | Forked:
        """The latest process."""
        assert self._process, "not started"
        return self._process

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def is_ready(self) -> bool:
        """Runs the readiness check of a load balancer."""
        with suppress(aiohttp.ClientError, TimeoutError):
            timeout = aiohttp.ClientTimeout(2)
            async with self.office.http.get(self._url("/readyz"), timeout=timeout) as answer:
                return answer.status == 200
        return False

    @property
    def printed(self) -> str:
        """What the process has printed so far, its log included."""
        return self._output.read_text(errors="replace")

    async def get(self, path: str) -> str:
        """Returns the response body of the bot's own HTTP listener."""
        async with self.office.http.get(self._url(path)) as answer:
            return await answer.text()

    def megabytes(self) -> float:
        """Returns the bot's resident memory (Linux only)."""
        return proc.megabytes(self.process.pid)

    def cpu_seconds(self) -> float:
        """Returns the CPU time that the bot has used (Linux only)."""
        return proc.cpu_seconds(self.process.pid)

    @property
    def _starts(self) -> int:
        return self.printed.count("bot.started") if self._output.exists() else 0

    @property
    def _output(self) -> Path:
        return self.office.directory / f"bot-{self.port}.log"

    def _url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@dataclass(repr=False)
class Apart(Office):
    """An office without a bot in this process."""

    database: Database = field(init=False)
    store: Store = field(init=False)

    async def start_bot(self) -> None:
        self.database = Database(self.database_url)
        self.store = Store(self.database, Vault([self.encryption_key]))
        await self.database.open()

    async def stop_bot(self) -> None:
        await self.database.close()

    async def _first_turns(self) -> None:
        """Delays nothing: the bots can't be looked into."""

    async def link(self, slack_id: str, key: str) -> None:
        async with Client(self.service_url) as client:
            user = await client.get_user(SecretStr(key))
        await self.store.links.put(Owner(None, TEAM, slack_id), SecretStr(key), user.id, user.name)

    async def idle(self) -> None:
        """Delays until the bots, which can't be looked into, have called Slack nothing for a while."""
        message_count = -1
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while message_count != (message_count := sum(map(len, self.workspace.state.messages.values()))):
                await asyncio.sleep(0.3)


@asynccontextmanager
async def apart(office: Apart) -> AsyncIterator[BotProcess]:
    """Opens an office with one bot, which takes Slack's requests itself, while the block runs."""
    async with office.opened():
        bot = BotProcess(office, port=office.port)
        await bot.start()
        try:
            yield bot
        finally:
            await bot.end()
