"""The composition root: builds the bot's parts, starts them, and shuts them down gracefully."""

import asyncio
import gc
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from types import FrameType

import aiohttp
import structlog
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import Select

from bot import config, telemetry, ttl_cache
from bot.access.access import Access
from bot.config import Settings, ignore_proxies, is_local
from bot.features import build
from bot.features.accounts.handlers import AccountHandlers
from bot.features.parts import Parts
from bot.service.client import Client
from bot.slack.incoming.deliveries import REQUEST
from bot.slack.incoming.dispatch import Dispatch, bolt_app
from bot.slack.incoming.failures import Failures
from bot.slack.incoming.http import PendingRequests, Readiness, Web
from bot.slack.incoming.recovery import CrashRecovery
from bot.slack.incoming.socket_mode import SocketMode
from bot.slack.outgoing.conversations import Conversations
from bot.slack.outgoing.outbox import Outbox
from bot.slack.outgoing.replies import Platform
from bot.slack.outgoing.stored import MESSAGE, StoredPosts
from bot.slack.text.wording import Wording
from bot.slack.workspaces import web_client
from bot.slack.workspaces.directory import Profiles
from bot.slack.workspaces.tokens import InstalledWorkspaces, OneWorkspace, Workspaces, flow
from bot.store.database import Database, DatabaseUnavailableError
from bot.store.store import Store
from bot.store.tables import NOW
from bot.store.vault import Vault
from bot.tasks import PeriodicJob, PeriodicJobs, Tasks
from bot.timings import DEFAULT, Delays, Timings
from bot.worker import Worker

SECONDS_TO_DRAIN = 2  # how long a load balancer has to notice that this replica is shutting down
SECONDS_BETWEEN_CLEANUPS = 3600
SECONDS_TO_ACKNOWLEDGE = 3  # Slack's limit
COLLECTION_THRESHOLD = 10_000

log = structlog.get_logger()


class Bot:
    """The bot and all its parts: call `start`, then `stop`. aiohttp needs a running event loop to build it.

    `slack` is the Web API client (without a token if there are several workspaces), and `ready` is true from
    `start` to `stop`. After `start`, `port` is the HTTP port in use. `clock` is the query for the time that
    all processes share.
    """

    port: int

    def __init__(
        self,
        settings: Settings,
        timings: Timings = DEFAULT,
        delays: Delays | None = None,
        clock: Select[datetime] = NOW,
    ) -> None:
        self.settings, self._delays = settings, delays or Delays()
        timings = replace(timings, notice_every=max(timings.notice_every, settings.notice_interval))
        self.ready = self._stopped = False
        self._closing = AsyncExitStack()
        self.in_flight, self._pending = Tasks(), PendingRequests()

        self.database = Database(settings.database_url)
        vault = Vault(settings.encryption_keys)
        self.store = Store(self.database, vault, settings.slack_client_id, timings=timings, clock=clock)
        self.client = Client(
            settings.service_base_url,
            key_header=settings.service_api_key_header,
            timeout=self._delays.service,
            on_answer=telemetry.service_answered,
        )
        connections = web_client.session(self._delays.slack)
        for close in (self.client.aclose, self.database.close, connections.close):
            self._closing.push_async_callback(close)

        self.slack = self._web_api(connections)
        self._credentials = (settings.slack_client_id, settings.slack_client_secret)
        workspaces = self._workspaces()
        access = Access.to(self.client, self.store, timings, self._delays)
        self.platform = self._platform(workspaces, timings)

        self.parts = Parts.on(access, self.platform, workspaces)
        self.features = build(self.parts)
        failures = Failures(self.parts.shared(AccountHandlers))
        self.dispatch = Dispatch(
            self.features, self.platform, self.store, failures, self.in_flight, self._delays
        )
        recovery = CrashRecovery(workspaces, self.platform, self.dispatch.run_event)
        kinds = {**self.features.jobs, REQUEST: recovery.recover, MESSAGE: self.platform.posts.deliver}
        self.worker = Worker(self.store.jobs, kinds, self._delays.background_retry)
        self._jobs = self._periodic_jobs(timings.interval)

        app = bolt_app(self.slack, workspaces, self.dispatch)
        self._web = self._http(app)
        self._socket: SocketMode | None = None
        if settings.socket_mode:
            self._socket = SocketMode(
                app, settings.slack_app_token, self.slack, self._pending, self._delays.ping
            )
            self._closing.push_async_callback(self._socket.close)

    def _web_api(self, connections: aiohttp.ClientSession) -> AsyncWebClient:
        if is_local(self.settings.slack_api_url):
            ignore_proxies()
        token = SecretStr("") if self.settings.several_workspaces else self.settings.slack_bot_token
        backoff = self._delays.slack_backoff
        return web_client.web_client(token, self.settings.slack_api_url, connections, backoff)

    def _workspaces(self) -> Workspaces:
        if not self.settings.several_workspaces:
            return OneWorkspace(self.slack)
        renewal = self._delays.renewal
        return InstalledWorkspaces(
            self.slack, self.store, self.in_flight, *self._credentials, renewal_seconds=renewal
        )

    def _platform(self, workspaces: Workspaces, timings: Timings) -> Platform:
        settings = self.settings
        wording = Wording(
            self.client.base_url,
            settings.service_name,
            settings.service_text_format,
            settings.command_prefix,
            self.client.optional,
        )
        conversations = Conversations(workspaces, self._delays.channels)
        outbox = Outbox(workspaces, conversations, self._delays, timings.longest_post)
        posts = StoredPosts(self.store.jobs, outbox, timings, self._delays)
        profiles = Profiles(self.store.links)
        return Platform(wording, conversations, profiles, outbox, posts, self.store, settings.file_hosts)

    def _periodic_jobs(self, interval: float) -> PeriodicJobs:
        """`interval` is in seconds."""
        others = (
            PeriodicJob("due jobs", self.worker.run_due, interval, at_once=True),
            PeriodicJob("expired caches", ttl_cache.sweep, interval),
            PeriodicJob("retention", self.store.delete_expired, SECONDS_BETWEEN_CLEANUPS, at_once=True),
        )
        return PeriodicJobs(PeriodicJob("heartbeat", self.store.processes.beat, interval), others)

    def _http(self, app: AsyncApp) -> Web:
        settings = self.settings
        probes = {
            "database": self.store.processes.is_beating,
            "slack": self._slack_answers,
            "service": self.client.reachable,
        }
        secret = None if settings.socket_mode else settings.slack_signing_secret or None
        several = settings.several_workspaces
        installing = flow(self.slack, self.store.installations, *self._credentials) if several else None
        return Web(app, self._pending, Readiness(probes), secret, installing, self._delays)

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

    def check_dependencies(self) -> None:
        """Log, in the background, which of Slack and the service doesn't answer yet, or refuses the bot."""
        self.in_flight.start(self._web.readiness.answers())

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
            await self._pending.idle(max(0, deadline - time.monotonic()))  # what arrived meanwhile
        cut_off = await self.in_flight.drain(max(0, deadline - time.monotonic()))
        # Afterwards, because what people asked for starts work in the background.
        left = max(0, deadline - time.monotonic())
        await self.worker.stop(left)
        await self.dispatch.deliveries.stop()
        await self._closing.aclose()
        log.info("stopped", action="bot.stopped", cut_off=cut_off)

    async def _start(self) -> None:
        await self.database.open(_log_migration)
        telemetry.TASKS_IN_FLIGHT.set_function(lambda: len(self.in_flight))
        await self.store.processes.beat()
        self._jobs.start_heartbeat()
        self._closing.push_async_callback(self._sign_off)
        await self._listen()
        if self._socket and not await self._socket.connect(self._delays.connect):
            log.warning("not connected to Slack yet, still trying", action="slack.unconnected")
        self._jobs.start()

    async def _listen(self) -> None:
        runner = self._web.runner()
        await runner.setup()
        self._closing.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, self.settings.host, self.settings.port).start()
        self.port = runner.addresses[0][1]

    async def _slack_answers(self) -> bool:
        if self._socket and not await self._socket.is_connected():
            return False
        ask = self.slack.api_test if self.settings.several_workspaces else self.slack.auth_test
        return bool((await ask()).get("ok"))

    async def _sign_off(self) -> None:
        await self._jobs.stop_heartbeat()
        try:
            await self.store.jobs.hand_over()
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
    The little garbage among it stays: looking for it would take a fifth of the time to start.
    """
    gc.freeze()
    gc.set_threshold(COLLECTION_THRESHOLD, 10, 10)
    gc.enable()


async def run(
    settings: Settings,
    timings: Timings = DEFAULT,
    delays: Delays | None = None,
    clock: Select[datetime] = NOW,
) -> int:
    """Run the bot until SIGTERM or Ctrl-C and return the exit code, 0. Raises what `Bot.start` raises."""
    with stop_signal() as stop:
        bot = Bot(settings, timings, delays, clock)
        await bot.start()
        bot.check_dependencies()
        tune_garbage_collection()
        await stop.wait()
        bot.drain()
        if not settings.socket_mode:
            await asyncio.sleep(SECONDS_TO_DRAIN)
        await bot.stop()
    return 0


def main() -> int:
    try:
        settings = config.load()
    except config.ConfigError as wrong:
        sys.stderr.writelines(f"{problem}\n" for problem in wrong.problems)
        return 2
    telemetry.configure(settings.log_format, settings.log_level, settings.secrets)
    try:
        return asyncio.run(run(settings))
    except DatabaseUnavailableError as error:
        problem = f"DATABASE_URL: Can't open the database: {error}."
    except OSError as error:
        reason = error.strerror or error
        problem = f"HOST, PORT: Can't listen on {settings.host}:{settings.port}: {reason}."
    sys.stderr.write(f"{problem}\n")
    return 2
