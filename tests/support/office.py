"""An office to test in: the reference service, the local Slack, and the bot between them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import aiohttp
from pydantic import SecretStr

from bot import telemetry
from bot.app import Bot
from bot.config import Settings
from bot.features.digests.digests import Digests
from bot.sandbox.people import PEOPLE
from bot.sandbox.people import Person as Invented
from bot.sandbox.tracker.data import Issue, TimeEntry
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.server import Workspace
from bot.slack.surfaces.manifest import manifest_yaml, parsed
from bot.store.owner import Owner
from bot.store.vault import Vault
from bot.timings import DEFAULT, Delays, KeyTimings, Timings
from tests.support.clock import SetClock
from tests.support.people import IDS, KEYS
from tests.support.ports import free_port
from tests.support.prepared import demo_tracker, sqlite
from tests.support.reading import LOOK_EVERY, until_so
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire

parse_once = lru_cache(8)(parsed)
TIMEOUT_SECONDS = 60
"""Timeout in seconds for any work to finish, even on a slow machine."""

WIRED = Delays(still_working=60, lookups=(0.05, 0.1))
"""For a service that is slow on purpose and loses responses."""

FORGETFUL = Timings(keys=KeyTimings(recheck=0.01, first_retry=0, notify_after=0, delete_after=0))
"""For keys whose owner is notified of the first refusal, and that the second one deletes."""

Transport = Literal["socket", "http"]
TEAM = "T0HARBOR01"


def crashes() -> Counter[str]:
    """How often each handler has failed with an unexpected error in this process."""
    samples = (sample for metric in telemetry.COMMANDS.collect() for sample in metric.samples)
    failed = (s for s in samples if s.name.endswith("_total") and s.labels["outcome"] == "failed")
    return Counter({sample.labels["name"]: int(sample.value) for sample in failed})


def digests_of(bot: Bot) -> Digests:
    """Builds the digests use case as the bot does."""
    return Digests(bot.parts)


@dataclass(repr=False)  # asyncio makes the repr of each fixture's result
class Office:
    """Runs the reference service, the local Slack and the bot in this process, connected as in production.

    `wire` and `slack_wire` are faulty proxies between the bot and its neighbors, started and stopped with the
    office. With `service_url` the bot uses another service than `tracker`.
    """

    directory: Path
    transport: Transport = "socket"
    tracker: Tracker = field(default_factory=demo_tracker)
    service_url: str = ""
    wire: Wire | None = None
    slack_wire: SlackWire | None = None
    people: Sequence[Invented] = PEOPLE
    database_url: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More settings of the bot, as environment variables."""
    timings: Timings = DEFAULT
    delays: Delays | None = None
    rate_limits: bool = True
    port: int = field(default_factory=free_port)
    """Where Slack sends its requests, over HTTP."""
    bot_port: int = 0
    """Where the bot listens, if something else takes Slack's requests for it."""
    clock: SetClock = field(default_factory=SetClock)
    """The database's clock."""
    may_crash: bool = False
    """Whether the test makes handlers fail with unexpected errors."""
    workspace: Workspace = field(init=False)
    bot: Bot = field(init=False)
    http: aiohttp.ClientSession = field(init=False)

    async def open(self) -> None:
        if not self.service_url:
            await self.tracker.start()
            self.service_url = self.tracker.url
            if self.wire:
                self.service_url = await self.wire.up(self.tracker.url)
        url = f"http://127.0.0.1:{self.port}/slack/events"
        self.workspace = Workspace(
            manifest=parse_once(manifest_yaml(self.transport, url, self.variables.get("COMMAND_PREFIX", ""))),
            people=self.people,
            service_url=self.service_url,
            request_url=url if self.transport == "http" else None,
        )
        self.workspace.state.rate_limits = self.rate_limits
        await self.workspace.start(port=0)
        if self.slack_wire:  # every address that the workspace gives out goes through the proxy
            self.workspace.state.base_url = await self.slack_wire.up(self.workspace.url)
        self.http = aiohttp.ClientSession(headers={"X-Sandbox": "1"})
        self.database_url = self.database_url or sqlite(self.directory / "bot.db")
        self.encryption_key = Vault.generate_key()
        await self.start_bot()

    async def start_bot(self) -> None:
        self.workspace.state.ack_seconds = self.workspace.state.trigger_seconds = TIMEOUT_SECONDS
        delays = self.delays or (WIRED if self.wire else Delays())
        environment = self.environment(self.bot_port or self.port)
        settings = Settings.model_validate({name.lower(): value for name, value in environment.items()})
        self.bot = Bot(settings, self.timings, delays, self.clock.query())
        await self.bot.start()

    async def stop_bot(self) -> None:
        await self.bot.stop(5)

    async def close(self) -> None:
        await self.workspace._background_tasks.stop()  # so that no delivery reaches a bot that is stopping
        await self.http.close()
        await self.stop_bot()
        for wire in (self.slack_wire, self.wire):
            if wire:
                await wire.down()
        await self.workspace.stop()
        await self.tracker.stop()

    @asynccontextmanager
    async def opened(self, *linked: str) -> AsyncIterator[Self]:
        """Opens the office with these users linked while the block runs; no handler may crash meanwhile."""
        before = crashes()
        await self.open()
        try:
            await self._first_turns()
            for login in linked:
                await self.link(IDS[login], KEYS[login])
            yield self
        finally:
            await self.close()
        assert self.may_crash or not crashes() - before

    async def _first_turns(self) -> None:
        """Delays until periodic work has had its first turn, before anybody is linked or sets a clock."""
        jobs, now = self.bot._jobs, datetime.now(UTC)
        due = jobs._scheduler.get_job("due jobs")
        await until_so(lambda: due.next_run_time > now and due.id not in jobs._running)

    def environment(self, port: int) -> dict[str, str]:
        """Returns the settings of a bot that listens on this port, as environment variables."""
        way_in = {"SLACK_APP_TOKEN": self.workspace.app_token}
        if self.transport == "http":
            way_in = {"SLACK_SIGNING_SECRET": self.workspace.signing_secret}
        return {
            **way_in,
            "SLACK_BOT_TOKEN": self.workspace.bot_token,
            "SLACK_API_URL": self.workspace.api_url,
            "SERVICE_BASE_URL": self.service_url,
            "SERVICE_NAME": "Tracker",
            "DATABASE_URL": self.database_url,
            "ENCRYPTION_KEYS": self.encryption_key.get_secret_value(),
            "HOST": "127.0.0.1",
            "PORT": str(port),
            **self.variables,
        }

    async def link(self, slack_id: str, key: str) -> None:
        """Links a user without going through the bot."""
        user = await self.bot.client.get_user(SecretStr(key))
        await self.bot.store.links.put(Owner(None, TEAM, slack_id), SecretStr(key), user.id, user.name)

    def wait(self, **seconds: Any) -> None:
        """Changes how long the bot waits from now on; see `bot.timings.Delays`."""
        self.bot.dispatch.delays = replace(self.bot.dispatch.delays, **seconds)

    @property
    def faulty_slack(self) -> SlackWire:
        """The proxy between the bot and Slack, in an office that has one."""
        assert self.slack_wire
        return self.slack_wire

    @property
    def digests(self) -> Digests:
        return digests_of(self.bot)

    @property
    def busy(self) -> bool:
        """Whether the bot has work in flight."""
        return bool(len(self.bot.in_flight) or len(self.bot.worker.tasks))

    async def idle(self) -> None:
        """Delays until the bot has no work in flight and the workspace has delivered everything."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            for _ in range(2):  # finishing one may create work for the other
                await asyncio.sleep(0)
                while self.busy or self.workspace._background_tasks._running:
                    await asyncio.sleep(LOOK_EVERY)

    def public_issue(self, nth: int = 0) -> Issue:
        """Returns an issue of the Web Shop that everyone sees."""
        issues = self.tracker.data.issues.values()
        return [issue for issue in issues if issue.project_id == 1 and not issue.is_private][nth]

    def link_to(self, issue: Issue | int) -> str:
        """Returns the address of an issue, or of the issue with a number."""
        number = issue if isinstance(issue, int) else issue.id
        return f"{self.service_url.rstrip('/')}/issues/{number}"

    def newest_issue(self) -> Issue:
        issues = self.tracker.data.issues
        return issues[max(issues)]

    def newest_time(self) -> TimeEntry:
        entries = self.tracker.data.time_entries
        return entries[max(entries)]

    def channel_id(self, name: str) -> str:
        return next(channel.id for channel in self.workspace.state.channels.values() if channel.name == name)

    def violations(self) -> list[str]:
        """Returns the violations of Slack's rules that the bot has committed."""
        return [f"{v.where}: {v.rule}: {v.detail}" for v in self.workspace.violations]
