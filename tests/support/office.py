"""An office to test in: the reference service, the local Slack, and the bot between them."""

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import aiohttp
from pydantic import SecretStr

from bot.app import Bot
from bot.config import Settings
from bot.features.accounts.accounts import Accounts
from bot.features.digests.digests import Digests
from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.data import Issue, TimeEntry
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.server import Workspace
from bot.slack.manifest import manifest
from bot.slack.waits import Waits
from bot.store.owner import Owner
from bot.store.vault import Vault
from bot.timings import DEFAULT, Timings
from tests.support.ports import free_port
from tests.support.prepared import demo, sqlite
from tests.support.reading import LOOK_EVERY
from tests.support.slackwire import SlackWire

TIMEOUT_SECONDS = 60
"""Timeout in seconds for any work to finish, even on a slow machine."""

WIRED = Waits(still_working=60, lookups=(0.05, 0.1))
"""For a service that is slow on purpose and loses responses."""

Transport = Literal["socket", "http"]
TEAM = "T0HARBOR01"


def digests_of(bot: Bot) -> Digests:
    """Builds the digests use case as the bot does."""
    accounts = Accounts(bot.client, bot.store)
    return Digests(bot.client, bot.store, accounts, bot.features.projects, bot.features.catalogs)


@dataclass
class Office:
    """Runs the reference service, the local Slack and the bot in this process, connected as in production."""

    directory: Path
    transport: Transport = "socket"
    service_url: str | None = None
    service_name: str = "Tracker"
    key_header: str = "X-Service-API-Key"
    text_format: Literal["markdown", "textile"] = "markdown"
    prefix: str = ""
    issue_updates: bool = True
    issue_reads: bool = False
    roles: bool = False
    time_deletes: bool = True
    database_url: str | None = None
    timings: Timings = DEFAULT
    waits: Waits | None = None
    rate_limits: bool = True
    slack_wire: SlackWire | None = None
    """A faulty proxy between the bot and Slack; started and stopped with the office."""
    tracker: Tracker = field(init=False)
    workspace: Workspace = field(init=False)
    bot: Bot = field(init=False)
    http: aiohttp.ClientSession = field(init=False)

    async def open(self) -> None:
        self.tracker = Tracker(
            demo(),
            issue_updates=self.issue_updates,
            issue_reads=self.issue_reads,
            roles=self.roles,
            time_deletes=self.time_deletes,
        )
        await self.tracker.start()
        port = free_port()
        url = f"http://127.0.0.1:{port}/slack/events"
        self.workspace = Workspace(
            manifest=manifest(self.transport, url, self.prefix),
            people=PEOPLE,
            service_url=self.service_url or self.tracker.url,
            request_url=url if self.transport == "http" else None,
        )
        self.workspace.state.ack_seconds = self.workspace.state.trigger_seconds = TIMEOUT_SECONDS
        self.workspace.state.rate_limits = self.rate_limits
        await self.workspace.start(port=0)
        if self.slack_wire:  # every address that the workspace gives out goes through the proxy
            self.workspace.state.base_url = await self.slack_wire.up(self.workspace.url)
        way_in: dict[str, Any] = {"slack_signing_secret": SecretStr(self.workspace.signing_secret)}
        if self.transport == "socket":
            way_in = {"slack_app_token": SecretStr(self.workspace.app_token)}
        self.bot = Bot(
            Settings(
                **way_in,
                slack_bot_token=SecretStr(self.workspace.bot_token),
                slack_api_url=self.workspace.api_url,
                service_base_url=self.service_url or self.tracker.url,
                service_name=self.service_name,
                service_api_key_header=self.key_header,
                service_text_format=self.text_format,
                command_prefix=self.prefix,
                database_url=self.database_url or sqlite(self.directory / "bot.db"),
                encryption_keys=(Vault.generate_key(),),
                host="127.0.0.1",
                port=port,
            ),
            self.timings,
            self.waits or (WIRED if self.service_url else Waits()),
        )
        await self.bot.start()
        self.http = aiohttp.ClientSession(headers={"X-Sandbox": "1"})

    async def close(self) -> None:
        await self.workspace._background_tasks.stop()  # so that no delivery reaches a bot that is stopping
        await self.http.close()
        await self.bot.stop(5)
        if self.slack_wire:
            await self.slack_wire.down()
        await self.workspace.stop()
        await self.tracker.stop()

    async def link(self, slack_id: str, key: str) -> None:
        """Links a user without going through the bot."""
        user = await self.bot.client.get_user(SecretStr(key))
        await self.bot.store.links.put(Owner(None, TEAM, slack_id), SecretStr(key), user.id, user.name)

    def wait(self, **seconds: Any) -> None:
        """Changes how long the bot waits from now on; see `bot.slack.waits.Waits`."""
        self.bot.dispatch.waits = replace(self.bot.dispatch.waits, **seconds)

    @property
    def digests(self) -> Digests:
        return digests_of(self.bot)

    async def idle(self) -> None:
        """Waits until the bot has no work in flight and the workspace has delivered everything."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            for _ in range(2):  # finishing one may create work for the other
                await asyncio.sleep(0)
                while len(self.bot.in_flight) or self.workspace._background_tasks._running:
                    await asyncio.sleep(LOOK_EVERY)

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
