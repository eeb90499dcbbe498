"""The composition root: builds the bot's parts, starts them, and shuts them down gracefully."""

import asyncio
import gc
import signal
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from types import FrameType
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from pydantic import SecretStr

from bot import telemetry
from bot.config import Settings, ignore_proxies
from bot.features import registry
from bot.features.accounts.accounts import Accounts
from bot.jobs import periodic_jobs
from bot.service.client import Client
from bot.slack import sentences, web_client
from bot.slack.audience import Audiences
from bot.slack.bolt_app import bolt_app
from bot.slack.crash_recovery import CrashRecovery
from bot.slack.deliveries import CompletedDeliveries
from bot.slack.directory import Profiles
from bot.slack.dispatch import Dispatch
from bot.slack.http import Readiness, Web
from bot.slack.in_flight import InFlight, PendingRequests
from bot.slack.oauth import flow
from bot.slack.outgoing.outbox import Outbox
from bot.slack.replies import Platform
from bot.slack.socket_mode import SocketMode
from bot.slack.waits import Waits
from bot.slack.wording import Wording
from bot.slack.workspaces import InstalledWorkspaces, OneWorkspace
from bot.store.database import Database
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import DEFAULT, Timings

SECONDS_TO_DRAIN = 2
"""How long a load balancer has to notice that this replica is shutting down."""
SECONDS_TO_ACKNOWLEDGE = 3  # Slack's limit
COLLECTION_THRESHOLD = 10_000
"""Garbage collection threshold: collect after this many new objects."""

log = structlog.get_logger()


class Bot:
    """The bot and all its parts: call `start`, then `stop`. aiohttp needs a running event loop to build it.

    `slack` is the Web API client (without a token if there are several workspaces), `digests` runs due
    digests, `following` updates the posts of followed issues, and `ready` is true from `start` to `stop`.
    After `start`, `port` is the HTTP port in use.
    """

    port: int

    def __init__(self, settings: Settings, timings: Timings = DEFAULT, waits: Waits | None = None) -> None:
        self.settings = settings
        self._waits = waits = waits or Waits()
        self.ready = self._stopped = False
        self._closing = AsyncExitStack()
        self.in_flight = InFlight()
        self._pending = PendingRequests()
        self.database = Database(settings.database_url)
        self.store = Store(
            self.database, Vault(settings.encryption_keys), settings.slack_client_id, timings=timings
        )
        self.client = Client(
            settings.service_base_url,
            key_header=settings.service_api_key_header,
            on_answer=telemetry.service_answered,
        )
        if urlsplit(settings.slack_api_url).hostname in {"127.0.0.1", "::1", "localhost"}:
            ignore_proxies()
        several = settings.several_workspaces
        token = SecretStr("") if several else settings.slack_bot_token
        connections = web_client.session(waits.slack)
        self.slack = web_client.web_client(token, settings.slack_api_url, connections)
        credentials = (settings.slack_client_id, settings.slack_client_secret)
        workspaces = (
            InstalledWorkspaces(
                self.slack, self.store, self.in_flight, *credentials, renewal_seconds=waits.renewal
            )
            if several
            else OneWorkspace(self.slack)
        )
        wording = Wording(
            self.client.base_url,
            settings.service_name,
            settings.service_text_format,
            settings.command_prefix,
            sentences=(sentences.sentence, *registry.SENTENCES),
            lacks=self.client.optional.is_missing,
        )
        outbox = Outbox(workspaces, waits, timings.longest_post)
        linked = Accounts(self.client, self.store).link_of
        self.platform = Platform(wording, Audiences(waits.channels), Profiles(), outbox, linked)
        self.features = registry.build(
            self.client,
            self.store,
            workspaces,
            self.platform,
            file_hosts=settings.file_hosts,
            timings=timings,
            waits=waits,
        )
        self.digests = self.features.digest_runs
        self.following = self.features.follow_runs
        self.completed = CompletedDeliveries(self.store.deliveries, waits.completed)
        self.dispatch = Dispatch(
            self.features.routes,
            self.platform,
            claims=self.store.claims,
            deliveries=self.store.deliveries,
            completed=self.completed,
            failures=self.features.failures,
            in_flight=self.in_flight,
            home=self.features.home.refresh,
            waits=waits,
        )
        app = bolt_app(self.slack, workspaces, self.dispatch)
        recovery = CrashRecovery(
            self.store.deliveries, self.completed, self.features.failures, workspaces, self.platform
        )
        self._jobs = periodic_jobs(
            self.store,
            self.digests,
            self.following,
            recovery,
            tell_assignees=self.features.assigned.tell_unsent,
            interval=timings.interval,
        )
        probes = {"database": self._ping, "slack": self._slack_answers, "service": self.client.reachable}
        self._web = Web(
            app,
            self._pending,
            Readiness(probes),
            telemetry.REGISTRY,
            None if settings.socket_mode else settings.slack_signing_secret or None,
            installing=flow(self.slack, self.store.installations, *credentials) if several else None,
            waits=waits,
        )
        self._socket = (
            SocketMode(app, settings.slack_app_token, self.slack, self._pending, waits.ping)
            if settings.socket_mode
            else None
        )
        for close in (self.client.aclose, self.database.close, connections.close):
            self._closing.push_async_callback(close)
        if self._socket:
            self._closing.push_async_callback(self._socket.close)

    async def start(self) -> None:
        """Open the database and the HTTP listener, and connect to Slack.

        Doesn't fail if Slack or the service is down: the bot keeps retrying. Raises
        DatabaseUnavailableError, or OSError if the port is taken, after closing whatever was opened.
        """
        try:
            await self._start()
        except BaseException:
            await self._closing.aclose()
            raise
        if unreadable := await self.store.encrypted_values.unreadable():
            log.error(
                "stored keys can't be opened: is the right key in ENCRYPTION_KEYS?",
                action="links.unreadable",
                count=unreadable,
            )
        self.ready = True
        mode = "socket" if self._socket else "http"
        log.info("started", action="bot.started", mode=mode, port=self.port)

    def drain(self) -> None:
        """Report not ready so that load balancers send requests elsewhere; requests are still served."""
        self.ready = False
        self._web.draining = True

    async def stop(self, grace: float = 10) -> None:
        """Stop accepting work, wait up to `grace` seconds for in-flight work, and close everything."""
        if self._stopped:
            return
        self.ready, self._stopped = False, True
        deadline = time.monotonic() + grace
        await self._jobs.stop()
        self._web.stopping = True
        # The socket stays open for responses that go over it: acknowledgements and form errors.
        await self._pending.idle(min(SECONDS_TO_ACKNOWLEDGE, grace))
        if self._socket:
            await self._socket.close()
        left = max(0, deadline - time.monotonic())
        cut_off, _, _ = await asyncio.gather(
            self.in_flight.drain(left), self.digests.stop(left), self.following.stop(left)
        )
        await self.completed.stop()
        await self._closing.aclose()
        log.info("stopped", action="bot.stopped", cut_off=cut_off)

    async def _start(self) -> None:
        await self.database.open(_log_migration)
        telemetry.TASKS_IN_FLIGHT.set_function(lambda: len(self.in_flight))
        telemetry.DIGESTS_WAITING.set_function(lambda: len(self.platform.outbox))
        await self.store.processes.beat()
        self._jobs.start_heartbeat()
        self._closing.push_async_callback(self._sign_off)
        await self._listen()
        if self._socket and not await self._socket.connect(self._waits.connect):
            log.warning("not connected to Slack yet, still trying", action="slack.unconnected")
        self._jobs.start()

    async def _listen(self) -> None:
        runner = self._web.runner()
        await runner.setup()
        self._closing.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, self.settings.host, self.settings.port).start()
        self.port = runner.addresses[0][1]

    async def _ping(self) -> bool:
        await self.database.ping()
        return True

    async def _slack_answers(self) -> bool:
        if self._socket and not await self._socket.is_connected():
            return False
        ask = self.slack.api_test if self.settings.several_workspaces else self.slack.auth_test
        return bool((await ask()).get("ok"))

    async def _sign_off(self) -> None:
        await self._jobs.stop_heartbeat()
        try:
            await self.store.processes.leave()
        except Exception:
            log.exception("could not sign off; the heartbeat will time out", action="process.not_left")


def _log_migration(migration: str) -> None:
    log.info("migrating the database", action="database.migrating", migration=migration)


@contextmanager
def stop_signal() -> Iterator[asyncio.Event]:
    """Yield an event that SIGTERM or Ctrl-C sets; a second Ctrl-C kills the process as usual."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.getsignal(number) for number in signals}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def handle(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            restore()
        loop.call_soon_threadsafe(stop.set)

    for number in signals:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        restore()


def tune_garbage_collection() -> None:
    """Exclude everything loaded at startup from garbage collection, and collect less often.

    Otherwise Python scans all the libraries over and over, which takes half the time of reading a long list.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECTION_THRESHOLD, 10, 10)


async def run(settings: Settings, timings: Timings = DEFAULT) -> int:
    """Run the bot until SIGTERM or Ctrl-C and return the exit code, 0. Raises what `Bot.start` raises."""
    with stop_signal() as stop:
        bot = Bot(settings, timings)
        await bot.start()
        tune_garbage_collection()
        await stop.wait()
        bot.drain()
        if not settings.socket_mode:
            await asyncio.sleep(SECONDS_TO_DRAIN)
        await bot.stop()
    return 0
