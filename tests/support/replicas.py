"""Three replicas of the bot, each in its own process, behind a load balancer."""

import asyncio
import random
import signal
import time
from asyncio.subprocess import Process
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import count
from urllib.parse import parse_qs

import aiohttp
from aiohttp import web

from tests.support.ports import free_port
from tests.support.reading import until
from tests.support.scene import Scene
from tests.support.serving import serving
from tests.support.wire import HOP_BY_HOP

REPLICAS = 3
SECONDS_TO_START = 60
SECONDS_TO_STOP = 20
SLACK_WAITS = 2.9
REPEATED_EVERY = 3


class Replica:
    """A slot for a process of the bot, which may be killed and restarted."""

    process: Process

    def __init__(self, scene: Scene, http: aiohttp.ClientSession) -> None:
        self.port = free_port()
        self.ready = False
        self._scene = scene
        self._http = http

    async def start(self) -> None:
        """Starts a process in this slot and waits until it is ready."""
        self.process = await self._scene.process(self.port)

        async def is_ready() -> bool:
            assert self.process.returncode is None, "a replica doesn't start"
            return await self.look()

        await until(is_ready, SECONDS_TO_START)

    async def look(self) -> bool:
        """Runs the readiness check of a load balancer."""
        self.ready = False
        with suppress(aiohttp.ClientError, TimeoutError):
            url = f"http://127.0.0.1:{self.port}/readyz"
            async with self._http.get(url, timeout=aiohttp.ClientTimeout(2)) as answer:
                self.ready = answer.status == 200
        return self.ready

    async def end(self, how: signal.Signals) -> int:
        """Sends the signal and returns the exit code."""
        self.process.send_signal(how)
        return await asyncio.wait_for(self.process.wait(), SECONDS_TO_STOP)


async def keep_killing(scene: Scene, rng: random.Random, ended: Callable[[], Awaitable[bool]]) -> int:
    """Kills and replaces one of two ready processes until the work has ended; returns how many."""
    kills = 0
    async with aiohttp.ClientSession() as http:
        replicas = [Replica(scene, http) for _ in range(2)]
        try:
            await asyncio.gather(*(replica.start() for replica in replicas))
            while not await ended():
                await asyncio.sleep(rng.uniform(0.2, 2))
                replica = rng.choice(replicas)
                await replica.end(signal.SIGKILL)
                kills += 1
                await replica.start()
        finally:
            for replica in replicas:
                if replica.process.returncode is None:
                    await replica.end(signal.SIGKILL)
    return kills


class Replicas:
    """All the replicas of one Slack app. In HTTP mode, requests go to the ready ones in turn.

    A request that isn't acknowledged is retried on the next replica, with a retry number, while Slack would
    wait. Some acknowledged requests are retried as well, as when Slack misses the acknowledgement. `given`
    maps a channel to the processes that got its requests. `killed` holds the processes that were killed
    without time to finish, and `kills` the times. `repeated` holds the channels where only a retry was
    acknowledged.
    """

    def __init__(self, scene: Scene, http: aiohttp.ClientSession) -> None:
        self.places = [Replica(scene, http) for _ in range(REPLICAS)]
        self.given: defaultdict[str, list[Process]] = defaultdict(list)
        self.killed: set[Process] = set()
        self.kills: list[float] = []
        self.repeated: set[str] = set()
        self.counts: Counter[str] = Counter()
        self._http = http
        self._turn = count()
        self._acknowledged = count()
        self._again: set[asyncio.Task[object]] = set()

    @asynccontextmanager
    async def up(self, port: int | None) -> AsyncIterator["Replicas"]:
        """Runs the replicas, and the load balancer unless `port` is None, while the block lasts."""
        app = web.Application()
        app.router.add_post("/slack/events", self._pass_on)
        async with AsyncExitStack() as serving_too:
            if port:
                await serving_too.enter_async_context(serving(app, port=port))
            looking = asyncio.create_task(self._look())
            try:
                await asyncio.gather(*(place.start() for place in self.places))
                yield self
            finally:
                looking.cancel()
                for place in self.places:
                    if place.process.returncode is None:
                        place.process.kill()
                        await place.process.wait()
                for task in self._again:
                    task.cancel()
                await asyncio.gather(looking, *self._again, return_exceptions=True)

    async def end(self, number: int, how: signal.Signals) -> None:
        """Stops the replica with that number by signal and starts it again."""
        place = self.places[number % REPLICAS]
        if how is signal.SIGKILL:
            self.killed.add(place.process)
            self.kills.append(time.monotonic())
        code = await place.end(how)
        assert code == (-signal.SIGKILL if how is signal.SIGKILL else 0)
        self.counts[how.name] += 1
        await place.start()

    async def _look(self) -> None:
        while True:
            await asyncio.gather(*(place.look() for place in self.places))
            await asyncio.sleep(0.3)

    async def _pass_on(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = {k: v for k, v in request.headers.items() if k.lower() not in HOP_BY_HOP}
        channel = parse_qs(body.decode()).get("channel_id", [""])[0]
        with suppress(TimeoutError):
            async with asyncio.timeout(SLACK_WAITS):
                for number in count():
                    again = {"X-Slack-Retry-Num": str(number)} if number else {}
                    answer = await self._sent(body, headers | again, channel)
                    if answer is not None:
                        if number:
                            self.repeated.add(channel)
                        self._sometimes_again(body, headers, channel)
                        return answer
                    self.counts["repeated"] += 1
                    await asyncio.sleep(0.05)
        return web.Response(status=504)

    def _sometimes_again(self, body: bytes, headers: dict[str, str], channel: str) -> None:
        if channel and next(self._acknowledged) % REPEATED_EVERY == 0:
            self.counts["sent once more"] += 1
            sending = asyncio.create_task(self._sent(body, headers | {"X-Slack-Retry-Num": "1"}, channel))
            self._again.add(sending)
            sending.add_done_callback(self._again.discard)

    async def _sent(self, body: bytes, headers: dict[str, str], channel: str) -> web.Response | None:
        ready = [place for place in self.places if place.ready]
        if not ready:
            return None
        place = ready[next(self._turn) % len(ready)]
        self.given[channel].append(place.process)
        try:
            url = f"http://127.0.0.1:{place.port}/slack/events"
            async with self._http.post(url, data=body, headers=headers) as answer:
                if answer.status == 200:
                    return web.Response(body=await answer.read(), content_type=answer.content_type)
                self.counts[f"answered {answer.status}"] += 1
        except aiohttp.ClientError:
            place.ready = False
        return None
