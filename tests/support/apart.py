"""An office whose bot runs in its own process, started as in production: `issuebot run`."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from bot.config import Settings
from bot.sandbox.people import PEOPLE
from bot.sandbox.people import Person as Invented
from bot.sandbox.workspace.server import Workspace
from bot.slack.manifest import manifest
from bot.store.vault import Vault
from tests.support.office import TIMEOUT_SECONDS, Office
from tests.support.ports import free_port
from tests.support.reading import until

ROOT = Path(__file__).parents[2]
SECONDS_TO_START = 90
SECONDS_TO_STOP = 60


@dataclass
class Apart(Office):
    """Runs the local Slack in this process and the bot in another one. `service_url` is required.

    `port` is the port of the bot's HTTP listener. `printed` is the bot's output so far, its log included.
    """

    people: Sequence[Invented] = PEOPLE
    variables: Mapping[str, str] = field(default_factory=dict)
    """Extra environment variables for the bot."""
    process: Process = field(init=False)
    port: int = field(init=False)
    encryption_key: str = field(init=False, repr=False)
    exit_code: int | None = field(init=False, default=None)

    async def idle(self) -> None:
        """Waits until the bot, which can't be looked into, has called Slack nothing for a while."""
        seen = -1
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while seen != (seen := self._calls()):
                await asyncio.sleep(0.3)

    def _calls(self) -> int:
        return sum(map(len, self.workspace.state.messages.values()))

    async def open(self) -> None:
        """Starts the local Slack and the bot, and waits until the bot logs that it started."""
        self.port = free_port()
        url = f"http://127.0.0.1:{self.port}/slack/events"
        self.workspace = Workspace(
            manifest=manifest(self.transport, url),
            people=self.people,
            service_url=self.service_url or "",
            request_url=url if self.transport == "http" else None,
        )
        await self.workspace.start(port=0)
        self.http = aiohttp.ClientSession(headers={"X-Sandbox": "1"})
        self.encryption_key = Vault.generate_key().get_secret_value()
        with self._output.open("wb") as output:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bot", "run"),
                cwd=self.directory,
                env=self._environment(),
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
            )

        async def started() -> bool:
            assert self.process.returncode is None, self.printed
            return "bot.started" in self.printed

        await until(started, SECONDS_TO_START)

    async def close(self) -> None:
        """Stops the bot with SIGTERM, then SIGKILL after a timeout, and stops the local Slack."""
        if self.process.returncode is None:
            self.process.terminate()
        try:
            self.exit_code = await asyncio.wait_for(self.process.wait(), SECONDS_TO_STOP)
        except TimeoutError:
            self.process.kill()
            self.exit_code = await self.process.wait()
        await self.http.close()
        await self.workspace.stop()

    @property
    def printed(self) -> str:
        return self._output.read_text(errors="replace")

    async def get(self, path: str) -> str:
        """Returns the response body of the bot's own HTTP listener."""
        async with self.http.get(f"http://127.0.0.1:{self.port}{path}") as answer:
            return await answer.text()

    def megabytes(self) -> float:
        """Returns the bot's resident memory (Linux only)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024

    def cpu_seconds(self) -> float:
        """Returns the CPU time that the bot has used (Linux only)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def _output(self) -> Path:
        return self.directory / "bot.log"

    def _environment(self) -> dict[str, str]:
        """Returns this process's environment with only this office's settings of the bot."""
        bare = {
            name: value for name, value in os.environ.items() if name.lower() not in Settings.model_fields
        }
        way_in = {"SLACK_APP_TOKEN": self.workspace.app_token}
        if self.transport == "http":
            way_in = {"SLACK_SIGNING_SECRET": self.workspace.signing_secret}
        return {
            **bare,
            **way_in,
            "PYTHONPATH": str(ROOT),
            "SLACK_BOT_TOKEN": self.workspace.bot_token,
            "SLACK_API_URL": self.workspace.api_url,
            "SERVICE_BASE_URL": self.service_url or "",
            "SERVICE_NAME": self.service_name,
            "SERVICE_API_KEY_HEADER": self.key_header,
            "DATABASE_URL": self.database_url or f"sqlite:///{self.directory / 'bot.db'}",
            "ENCRYPTION_KEYS": self.encryption_key,
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "LOG_FORMAT": "json",
            **self.variables,
        }
