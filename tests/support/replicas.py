"""Several replicas of the bot, each in its own process, killed and restarted."""

import asyncio
import signal
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import count
from urllib.parse import parse_qs

import aiohttp
from aiohttp import web

from tests.support.bot_process import Apart, BotProcess
from tests.support.serving import serving
from tests.support.wire import kept

SLACK_WAITS = 2.9
REPEATED_EVERY = 3


class Replicas:
    """All the replicas of one Slack app. In HTTP mode, requests go to the ready ones in turn.

    A request that isn't acknowledged is retried on the next replica, with a retry number, while Slack would
    wait. Some acknowledged requests are retried as well, as when Slack misses the acknowledgement. `given`
    maps a channel to the processes that got its requests. `killed` holds the processes that were killed
    without time to finish, and `kills` the times.
    """

    def __init__(self, office: Apart, bots: Sequence[BotProcess]) -> None:
        self.bots = bots
        self.ready: set[BotProcess] = set()
        self.given: defaultdict[str, list[object]] = defaultdict(list)
        self.killed: set[object] = set()
        self.kills: list[float] = []
        self._office = office
        self._turn = count()
        self._acknowledged = count()
        self._again: set[asyncio.Task[object]] = set()

    @asynccontextmanager
    async def up(self) -> AsyncIterator["Replicas"]:
        """Runs the replicas, and the load balancer in HTTP mode, while the block lasts."""
        app = web.Application()
        app.router.add_post("/slack/events", self._pass_on)
        async with AsyncExitStack() as serving_too:
            if self._office.transport == "http":
                await serving_too.enter_async_context(serving(app, port=self._office.port))
            looking = asyncio.create_task(self._look())
            try:
                await asyncio.gather(*(bot.start() for bot in self.bots))
                yield self
            finally:
                looking.cancel()
                for bot in self.bots:
                    await bot.end(signal.SIGKILL)
                for task in self._again:
                    task.cancel()
                await asyncio.gather(looking, *self._again, return_exceptions=True)

    async def end(self, number: int, how: signal.Signals) -> None:
        """Stops the replica with that number by signal and starts it again."""
        bot = self.bots[number % len(self.bots)]
        if how is signal.SIGKILL:
            self.killed.add(bot.process)
            self.kills.append(time.monotonic())
        code = await bot.end(how)
        assert code == (-signal.SIGKILL if how is signal.SIGKILL else 0)
        await bot.start()

    async def _look(self) -> None:
        while True:
            ready = await asyncio.gather(*(bot.is_ready() for bot in self.bots))
            self.ready = {bot for bot, is_ready in zip(self.bots, ready, strict=True) if is_ready}
            await asyncio.sleep(0.5)

    async def _pass_on(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = kept(request.headers)
        channel = parse_qs(body.decode()).get("channel_id", [""])[0]
        with suppress(TimeoutError):
            async with asyncio.timeout(SLACK_WAITS):
                for number in count():
                    again = {"X-Slack-Retry-Num": str(number)} if number else {}
                    answer = await self._sent(body, headers | again, channel)
                    if answer is not None:
                        if channel and next(self._acknowledged) % REPEATED_EVERY == 0:
                            self._send_again(body, headers, channel)
                        return answer
                    await asyncio.sleep(0.05)
        return web.Response(status=504)

    def _send_again(self, body: bytes, headers: dict[str, str], channel: str) -> None:
        sending = asyncio.create_task(self._sent(body, headers | {"X-Slack-Retry-Num": "1"}, channel))
        self._again.add(sending)
        sending.add_done_callback(self._again.discard)

    async def _sent(self, body: bytes, headers: dict[str, str], channel: str) -> web.Response | None:
        ready = [bot for bot in self.bots if bot in self.ready]
        if not ready:
            return None
        bot = ready[next(self._turn) % len(ready)]
        self.given[channel].append(bot.process)
        try:
            url = f"http://127.0.0.1:{bot.port}/slack/events"
            async with self._office.http.post(url, data=body, headers=headers) as answer:
                if answer.status == 200:
                    return web.Response(body=await answer.read(), content_type=answer.content_type)
        except aiohttp.ClientError:
            self.ready.discard(bot)
        return None
