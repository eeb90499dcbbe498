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
from slack_sdk.web.async_client import AsyncWebClient

from bot import telemetry
from bot.config import Settings, ignore_proxies
from bot.features import registry
from bot.features.digests.runs import DigestRuns
from bot.features.registry import Features
from bot.jobs import Scheduler
from bot.service.client import Client
from bot.slack import web_client
from bot.slack.acknowledgements import PendingRequests
from bot.slack.audience import Audiences
from bot.slack.bolt_app import bolt_app
from bot.slack.completed_deliveries import CompletedDeliveries
from bot.slack.crash_recovery import CrashRecovery
from bot.slack.directory import Profiles
from bot.slack.dispatch import Dispatch
from bot.slack.failures import Failures
from bot.slack.http import Readiness, Web
from bot.slack.in_flight import InFlight
from bot.slack.oauth import flow
from bot.slack.replies import Platform
from bot.slack.socket_mode import SocketMode
from bot.slack.waits import Waits
from bot.slack.wording import Wording
from bot.slack.workspaces import InstalledWorkspaces, OneWorkspace
from bot.store.database import Database
from bot.store.retention import delete_expired
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import DEFAULT, Timings

SECONDS_TO_DRAIN = 2
"""How long a load balancer has to notice that this replica is shutting down."""
SECONDS_TO_ACKNOWLEDGE = 3  # Slack's limit
SECONDS_BETWEEN_CLEANUPS = 3600
COLLECTION_THRESHOLD = 10_000
"""Garbage collection threshold: collect after this many new objects."""

log = structlog.get_logger()


class Bot:
    """The bot and all its parts: call `start`, then `stop`.

    After `start`: `slack` is the Web API client (without a token if there are several workspaces), `digests`
    runs due digests, `port` is the HTTP port actually in use, and `ready` is true until `stop`.
    """

    slack: AsyncWebClient
    features: Features
    dispatch: Dispatch
    platform: Platform
    digests: DigestRuns
    port: int

    def __init__(self, settings: Settings, timings: Timings = DEFAULT, waits: Waits | None = None) -> None:
        self.settings = settings
        self._timings = timings
        self._waits = waits or Waits()
        self.database = Database(settings.database_url)
        self.store = Store(
            self.database,
            Vault(settings.encryption_keys),
            settings.slack_client_id,
            timings=self._timings,
        )
        self.client = Client(
            settings.service_base_url,
            key_header=settings.service_api_key_header,
            on_answer=telemetry.service_answered,
        )
        self.in_flight = InFlight()
        self.ready = False
        self._pending = PendingRequests()
        self._scheduler: Scheduler | None = None
        self._socket: SocketMode | None = None
        self._web: Web | None = None
        self._closing = AsyncExitStack()

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
        if self._web:
            self._web.draining = True

    async def stop(self, grace: float = 10) -> None:
        """Stop accepting work, wait up to `grace` seconds for in-flight work, and close everything."""
        self.ready = False
        deadline = time.monotonic() + grace
        scheduler, self._scheduler = self._scheduler, None
        if scheduler:
            await scheduler.stop()
        if self._web:
            self._web.stopping = True
        # The socket stays open for responses that go over it: acknowledgements and form errors.
        await self._pending.idle(min(SECONDS_TO_ACKNOWLEDGE, grace))
        if self._socket:
            await self._socket.close()
        await _cancel(self._watching)
        left = max(0, deadline - time.monotonic())
        finishing_digests = [self.digests.stop(left)] if scheduler else []
        cut_off, *_ = await asyncio.gather(self.in_flight.drain(left), *finishing_digests)
        await self.completed.stop()
        await self._closing.aclose()
        log.info("stopped", action="bot.stopped", cut_off=cut_off)

    async def _start(self) -> None:
        settings, closing = self.settings, self._closing
        closing.push_async_callback(self.client.aclose)
        closing.push_async_callback(self.database.close)
        await self.database.open(_log_migration)
        if urlsplit(settings.slack_api_url).hostname in {"127.0.0.1", "::1", "localhost"}:
            ignore_proxies()
        connections = await closing.enter_async_context(web_client.session(self._waits.slack))
        several = settings.several_workspaces
        token = SecretStr("") if several else settings.slack_bot_token
        self.slack = slack = web_client.web_client(token, settings.slack_api_url, connections)
        credentials = (settings.slack_client_id, settings.slack_client_secret)
        workspaces = (
            InstalledWorkspaces(
                slack, self.store, self.in_flight, *credentials, renewal_seconds=self._waits.renewal
            )
            if several
            else OneWorkspace(slack)
        )
        wording = Wording(
            self.client.base_url,
            settings.service_name,
            settings.service_text_format,
            settings.command_prefix,
        )
        self.platform = platform = Platform(wording, Audiences(), Profiles())
        failures = Failures(self.store.saved_input)
        self.features = features = registry.build(
            self.client,
            self.store,
            workspaces,
            platform,
            failures,
            file_hosts=settings.file_hosts,
            timings=self._timings,
            waits=self._waits,
        )
        self.completed = CompletedDeliveries(self.store.unfinished)
        self.dispatch = Dispatch(
            features.routes,
            platform,
            deliveries=self.store.deliveries,
            completed=self.completed,
            saved=self.store.saved_input,
            failures=failures,
            in_flight=self.in_flight,
            linking=features.linking,
            home=features.home.refresh,
            waits=self._waits,
        )
        app = bolt_app(slack, workspaces, self.dispatch)
        recovery = CrashRecovery(self.store.unfinished, self.completed, failures, workspaces, platform)
        telemetry.TASKS_IN_FLIGHT.set_function(lambda: len(self.in_flight))
        telemetry.DIGESTS_WAITING.set_function(lambda: len(features.poster))
        readiness = Readiness(
            {
                "database": self._database_answers,
                "slack": self._slack_answers,
                "service": self.client.reachable,
            }
        )
        secret = None if settings.socket_mode else settings.slack_signing_secret or None
        installing = flow(slack, self.store.installations, *credentials) if several else None
        self._web = Web(
            app,
            self._pending,
            readiness,
            telemetry.REGISTRY,
            secret,
            installing=installing,
            waits=self._waits,
        )
        await self.store.processes.beat()
        closing.push_async_callback(self._sign_off, asyncio.create_task(self._send_heartbeats()))
        await self._listen(self._web)
        closing.push_async_callback(_cancel, asyncio.create_task(self._delete_expired()))
        self._watching = asyncio.create_task(recovery.watch(self._timings.interval))
        closing.push_async_callback(_cancel, self._watching)
        if settings.socket_mode:
            self._socket = SocketMode(
                app, settings.slack_app_token, self.slack, self._pending, self._waits.ping
            )
            closing.push_async_callback(self._socket.close)
            if not await self._socket.connect(self._waits.connect):
                log.warning("not connected to Slack yet, still trying", action="slack.unconnected")
        self.digests = features.digest_runs
        self._scheduler = Scheduler(self.digests, self.store.digest_runs, self._timings.interval)
        self._scheduler.start()

    async def _listen(self, listener: Web) -> None:
        runner = listener.runner()
        await runner.setup()
        self._closing.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, self.settings.host, self.settings.port).start()
        self.port = runner.addresses[0][1]

    async def _database_answers(self) -> bool:
        await self.database.ping()
        return True

    async def _slack_answers(self) -> bool:
        if self._socket and not await self._socket.is_connected():
            return False
        ask = self.slack.api_test if self.settings.several_workspaces else self.slack.auth_test
        return bool((await ask()).get("ok"))

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(self._timings.interval)
            try:
                await self.store.processes.beat()
            except Exception:
                log.exception("heartbeat failed", action="process.no_heartbeat")

    async def _sign_off(self, heartbeats: asyncio.Task[None]) -> None:
        await _cancel(heartbeats)
        try:
            await self.store.processes.leave()
        except Exception:
            log.exception(
                "could not sign off; the heartbeat will time out",
                action="process.not_left",
            )

    async def _delete_expired(self) -> None:
        while True:
            try:
                await delete_expired(self.store)
            except Exception:
                log.exception("could not delete expired data", action="bot.prune_failed")
            await asyncio.sleep(SECONDS_BETWEEN_CLEANUPS)


def _log_migration(migration: str) -> None:
    log.info("migrating the database", action="database.migrating", migration=migration)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


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
