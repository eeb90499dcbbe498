"""`issuebot sandbox`: a local Slack, the reference tracker, and the bot running between them."""

import asyncio
import webbrowser
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import SecretStr

from bot.app import Bot, stop_signal
from bot.config import ConfigError, Settings, has_display
from bot.features.digests.digests import Digests
from bot.features.digests.plans import PlanDraft
from bot.sandbox import SERVICE_NAME
from bot.sandbox.demo import demo_data
from bot.sandbox.demo.history import go_on_reporting
from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.server import Workspace
from bot.slack.surfaces.manifest import manifest_yaml, parsed
from bot.store.channels import Channel
from bot.store.owner import Owner
from bot.store.plans import LIVE, Plan
from bot.store.vault import Vault

HOST = "127.0.0.1"
SECONDS_TO_FINISH = 5
FEED_IN, FEED_OF = "triage", "webshop"
"""The sandbox's live feed: its channel and project."""
SECONDS_BETWEEN_ISSUES = 50


class Sandbox:
    """The workspace, the tracker and the bot in one process; they talk over HTTP and Socket Mode only.

    After `start`, `url` is the page's address and `service_url` the tracker's. Port 0 picks any free port.
    """

    bot: Bot
    workspace: Workspace
    tracker: Tracker

    def __init__(self, port: int = 8080, service_port: int = 8081) -> None:
        self._port = port
        self._service_port = service_port
        self._closing = AsyncExitStack()
        self._reading = asyncio.Lock()

    @property
    def url(self) -> str:
        return self.workspace.url

    @property
    def service_url(self) -> str:
        return self.tracker.url

    async def start(self) -> None:
        """Start all three and link the demo accounts. Raises ConfigError if a port is in use."""
        try:
            await self._start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop all three, the bot first, and delete the database."""
        await self._closing.aclose()

    async def _start(self) -> None:
        directory = self._closing.enter_context(TemporaryDirectory(prefix="issuebot-"))
        self.tracker = Tracker(
            demo_data(datetime.now(UTC)),
            issue_updates=True,
            issue_reads=True,
            roles=True,
            time_deletes=True,
            listing=True,
        )
        await _listen(self.tracker, self._service_port, "--service-port")
        self._closing.push_async_callback(self.tracker.stop)

        self.workspace = Workspace(
            manifest=parsed(manifest_yaml()),
            people=PEOPLE,
            service_url=self.tracker.url,
            service_name=SERVICE_NAME,
        )
        await _listen(self.workspace, self._port, "--port")
        self._closing.push_async_callback(self.workspace.stop)

        self.bot = Bot(
            Settings(
                slack_bot_token=SecretStr(self.workspace.bot_token),
                slack_app_token=SecretStr(self.workspace.app_token),
                slack_api_url=self.workspace.api_url,
                service_base_url=self.tracker.url,
                service_name=SERVICE_NAME,
                database_url=f"sqlite:///{Path(directory) / 'issuebot.db'}",
                encryption_keys=(Vault.generate_key(),),
                host=HOST,
                port=0,
            )
        )
        await self.bot.start()
        self._closing.push_async_callback(self.bot.stop, SECONDS_TO_FINISH)

        await self._link_accounts()
        self.workspace.show_links(self._linked_users)
        self._closing.push_async_callback(self._hide_links)
        await self._set_default_projects()
        await self._add_feed()

    async def _set_default_projects(self) -> None:
        """Give each channel named after a project that project as its default."""
        by = self._owner(next(person.slack_id for person in PEOPLE if person.admin))
        for project in self.tracker.data.projects.values():
            for channel in self.workspace.state.channels.values():
                if channel.name == project.identifier:
                    where = Channel(by.team_id, channel.id)
                    await self.bot.store.channels.set_default(by, where, project.id)

    async def _add_feed(self) -> None:
        """Add a live feed, and simulate colleagues who create issues for it."""
        person = next(person for person in PEOPLE if person.linked)
        owner = self._owner(person.slack_id)
        channels = self.workspace.state.channels.values()
        channel = next(channel.id for channel in channels if channel.name == FEED_IN)
        feed = PlanDraft(project=FEED_OF, plan=Plan(schedule=LIVE, zone=person.tz))
        await Digests(self.bot.parts).add(owner, Channel(owner.team_id, channel), feed)
        project = next(p.id for p in self.tracker.data.projects.values() if p.identifier == FEED_OF)
        reporting = asyncio.create_task(go_on_reporting(self.tracker.data, project, SECONDS_BETWEEN_ISSUES))
        self._closing.callback(reporting.cancel)

    async def _link_accounts(self) -> None:
        for person in PEOPLE:
            if person.linked:
                key = SecretStr(person.api_key)
                user = await self.bot.client.get_user(key)
                owner = self._owner(person.slack_id)
                await self.bot.store.links.put(owner, key, user.id, person.name)

    async def _linked_users(self) -> set[str]:
        people = [user.id for user in self.workspace.state.users.values() if user.is_choice]
        async with self._reading:
            links = [await self.bot.store.links.get(self._owner(person)) for person in people]
        return {link.owner.user_id for link in links if link}

    async def _hide_links(self) -> None:
        """Before the database closes: the page is served until the bot has stopped."""
        self.workspace.show_links(None)
        async with self._reading:
            pass

    def _owner(self, slack_id: str) -> Owner:
        return Owner(None, self.workspace.state.team.id, slack_id)


async def _listen(server: Tracker | Workspace, port: int, option: str) -> None:
    try:
        await server.start(HOST, port)
    except OSError:
        raise ConfigError(
            f"Port {port} is in use. Stop the other program or choose another port with {option}."
        ) from None


async def run(port: int, service_port: int, *, browser: bool, say: Callable[[str], None]) -> int:
    """Run the sandbox until SIGTERM or Ctrl-C and return the exit code, 0.

    Calls `say` with the page's address first, once everything is up. Raises ConfigError if a port is in use.
    """
    with stop_signal() as stop:
        sandbox = Sandbox(port, service_port)
        await sandbox.start()
        say(sandbox.url)
        say("Open this page to try the bot in a local Slack workspace.")
        say(f"{SERVICE_NAME}, the issue tracker, is at {sandbox.service_url}")
        say("Nothing leaves this machine, and nothing is saved. Press Ctrl-C to stop.")
        if browser and has_display():
            await asyncio.to_thread(webbrowser.open, sandbox.url)
        await stop.wait()
        await sandbox.stop()
    return 0
