"""The one way to write to Slack in the background: digests, followed issues, direct messages, notices.

A write waits for its turn, and after a 429 as long as Slack asks for. Right before it, the channel is
checked again: people outside the company may have joined. A write whose outcome is unknown isn't repeated:
its caller looks it up first.
"""

import asyncio
import itertools
import math
import time
from bisect import insort
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import structlog

from bot.slack.outgoing import outcomes, posting
from bot.slack.outgoing.conversations import Conversations
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.slack.surfaces.blocks import Message
from bot.slack.workspaces import web_client
from bot.slack.workspaces.slack_errors import SLACK_FAILED, Failure, failure, reason, retry_after, why
from bot.slack.workspaces.tokens import Workspaces
from bot.store.owner import Owner
from bot.timings import Delays

POST, UPDATE = "chat.postMessage", "chat.update"
MAX_ATTEMPTS = 5  # how many times a write that Slack delays is tried
FIRST = datetime.min.replace(tzinfo=UTC)  # when direct messages and notices are due: before everything else
MAX_PAGES = 20
HISTORY_ON_PAGE = 15  # the largest page that every app may request (docs.slack.dev, conversations.history)
CLOCK_MARGIN = timedelta(seconds=10)  # how inaccurate the estimate of Slack's clock may be
CLOCK_STEP = 1.0  # the seconds by which this machine's clock may be set until Slack's is read again

log = structlog.get_logger(__name__)

Ready = Callable[[], Awaitable[Message | outcomes.NotPosted]]
OnDelay = Callable[[], Awaitable[object]]


@dataclass(frozen=True, kw_only=True)
class Post:
    """Where a message goes: a conversation, a thread in it, or with `ts` in place of an earlier post.

    `mark` is the block ID of its first block, by which it is found: Slack returns it without an extra scope.
    """

    owner: Owner
    channel_id: str
    thread_ts: str | None = None
    ts: str | None = None
    mark: str = ""


class Outbox:
    """Writes in the background.

    `longest_post`: the most seconds from the start of a write's turn to the end of its request.
    """

    def __init__(
        self, workspaces: Workspaces, conversations: Conversations, delays: Delays, longest_post: float
    ) -> None:
        self._workspaces, self._conversations = workspaces, conversations
        self._longest_post = longest_post
        self._retry = delays.background_retry
        paces = {POST: delays.workspace_pace, UPDATE: delays.update_pace}
        self._turns: dict[str, Turns] = defaultdict(
            lambda: Turns(delays.channel_pace, delays.channel_burst, paces)
        )
        self._slack_ahead: tuple[timedelta, float] | None = None  # with `_clock_start`

    async def send(
        self, post: Post, ready: Ready, *, due_at: datetime = FIRST, delayed: OnDelay | None = None
    ) -> outcomes.DeliveryOutcome | outcomes.NotPosted:
        """Write once it is the post's turn, in order of `due_at`.

        `ready` is called when the turn has come. It checks once more what may have changed while the post
        waited, records that the message is about to be sent, and returns it, or NotPosted if it must not be.
        After a delay it is called again; `delayed` records before that nothing was sent.
        """
        method, turns = UPDATE if post.ts else POST, self._turns[post.owner.team_id]
        outcome: outcomes.DeliveryOutcome = outcomes.Delayed(0)
        for _ in range(MAX_ATTEMPTS):
            async with turns.turn(method, post.channel_id, due_at):
                if not _is_direct(post):
                    status = await self._conversations.status(post.owner, post.channel_id)
                    if status is ChannelStatus.UNREAD:
                        return outcomes.Delayed(self._retry)
                    if status is not ChannelStatus.OPEN:
                        return outcomes.PostRefused(status)
                began = time.monotonic()
                message = await ready()
                if isinstance(message, outcomes.NotPosted):
                    return message
                outcome = await self._written(post, message, began)
            if not isinstance(outcome, outcomes.Delayed):
                break
            if delayed:
                await delayed()
            turns.hold(method, outcome.seconds)
        return outcome

    async def find(
        self, post: Post, within: tuple[datetime, datetime], searched_to: str | None = None
    ) -> outcomes.PostLookup:
        """Look for a post, sent between the two times; `searched_to` is where an unfinished search continues.

        A channel is searched from the newest message to the oldest, a thread the other way round.
        """
        first, last = within
        channel_id, moving = post.channel_id, "oldest" if post.thread_ts else "latest"
        span = {
            "oldest": str((first - CLOCK_MARGIN).timestamp()),
            "latest": str((last + CLOCK_MARGIN).timestamp()),
        }

        try:
            slack = await self._workspaces.of(post.owner)
            if _is_direct(post):
                opened = await slack.conversations_open(users=channel_id)
                channel_id = str(opened["channel"]["id"])
            for _ in range(MAX_PAGES):
                span[moving] = searched_to or span[moving]
                messages, more = await posting.page_of(
                    slack, channel_id, post.thread_ts, limit=HISTORY_ON_PAGE, **span
                )
                if ts := posting.marked(messages, post.mark):
                    return outcomes.Posted(ts)
                if not more:
                    return outcomes.Absent()
                if not messages or messages[-1]["ts"] == searched_to:
                    return outcomes.Hidden()
                searched_to = str(messages[-1]["ts"])
        except SLACK_FAILED as error:
            log.warning("post not looked up", action="outbox.look_up", error=why(error))
            seconds = _seconds_to_next_search(error, self._retry)
            return outcomes.Hidden() if seconds is None else outcomes.Unfinished(seconds, searched_to)
        return outcomes.Unfinished(self._retry, searched_to)

    async def slack_time(self, owner: Owner) -> datetime:
        """Slack's clock, which sets messages' `ts`, by its last response; this machine's if there's none.

        If this machine's clock was set since that response, asks Slack again.
        """
        if self._slack_ahead and abs(self._slack_ahead[1] - _clock_start()) > CLOCK_STEP:
            self._slack_ahead = None
        if self._slack_ahead is None:
            with suppress(*SLACK_FAILED, TypeError, ValueError):
                answer = await (await self._workspaces.of(owner)).auth_test()
                self._slack_time_is(parsedate_to_datetime(web_client.header(answer, "date")))
        return datetime.now(UTC) + (self._slack_ahead[0] if self._slack_ahead else timedelta())

    def _slack_time_is(self, now: datetime) -> None:
        self._slack_ahead = now - datetime.now(UTC), _clock_start()

    async def _written(self, post: Post, message: Message, began: float) -> outcomes.DeliveryOutcome:
        """Write without retries: once its lease ends, another process may look for the message."""
        if post.mark:
            message = posting.with_mark(message, post.mark)
        try:
            async with asyncio.timeout_at(began + self._longest_post):
                slack = web_client.without_retries(await self._workspaces.of(post.owner))
                if time.monotonic() > began + self._longest_post / 2:  # no await between this and the request
                    return outcomes.Delayed(0)
                outcome = await posting.write(
                    slack, post.channel_id, message, thread_ts=post.thread_ts, ts=post.ts, retry=self._retry
                )
        except SLACK_FAILED as error:  # the workspace has no token, or the time is over
            return posting.outcome_of(error, self._retry)
        if isinstance(outcome, outcomes.Posted) and not post.ts:
            self._slack_time_is(datetime.fromtimestamp(float(outcome.ts), UTC))
        return outcome


def _clock_start() -> float:
    """The machine's time minus its uptime, which changes if its clock is set, or it sleeps."""
    return datetime.now(UTC).timestamp() - time.monotonic()


def _is_direct(post: Post) -> bool:
    """Whether only one person reads it."""
    return post.channel_id == post.owner.user_id


def _seconds_to_next_search(error: BaseException, retry: float) -> float | None:
    """When a search that failed may succeed, `retry` unless Slack says; None if it never will."""
    if (seconds := retry_after(error, retry)) is not None:
        return seconds
    refused = failure(error) in (Failure.GONE, Failure.REFUSED) or reason(error) == "missing_scope"
    return None if refused else retry


class Waiting(NamedTuple):
    """A write that waits for its turn, in the order of its first two fields."""

    due_at: datetime
    number: int
    method: str
    channel_id: str
    turn: asyncio.Future[None]


class Turns:
    """The turns of one workspace.

    The paces are seconds between two writes: to one channel, after a `burst` of them, and by method.
    """

    def __init__(self, channel_pace: float, burst: int, methods: Mapping[str, float]) -> None:
        self._channel_pace = channel_pace
        self._burst = burst
        self._methods = methods
        self._open_at = dict.fromkeys(methods, 0.0)
        self._channels: dict[str, float] = {}
        """By the monotonic clock, when a channel's burst starts over."""
        self._busy: set[str] = set()
        self._numbers = itertools.count()
        self._waiting: list[Waiting] = []
        self._next: asyncio.Handle | None = None

    @asynccontextmanager
    async def turn(self, method: str, channel_id: str, due_at: datetime) -> AsyncIterator[None]:
        """Wait until the method may write to the channel, which stays reserved until the block ends."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        insort(self._waiting, Waiting(due_at, next(self._numbers), method, channel_id, turn))
        self._start_after(0)
        try:
            await turn
            yield
        finally:
            if not turn.cancelled():
                self._busy.discard(channel_id)
                now = time.monotonic()
                self._channels[channel_id] = max(self._channels.get(channel_id, 0), now) + self._channel_pace
            self._start_after(0)

    def hold(self, method: str, seconds: float) -> None:
        """Let a method wait for `seconds`, as Slack asks for with a 429."""
        self._open_at[method] = max(self._open_at[method], time.monotonic() + seconds)

    def _start_after(self, seconds: float) -> None:
        if self._next:
            self._next.cancel()
        self._next = asyncio.get_running_loop().call_later(seconds, self._start)

    def _start(self) -> None:
        """Start the writes that may go now, and come back when the next one may."""
        now, soonest = time.monotonic(), math.inf
        waiting, self._waiting = self._waiting, []
        for write in waiting:
            if write.turn.done():  # the waiting task was canceled
                continue
            free_at = max(self._open_at[write.method], self._free_at(write.channel_id))
            if free_at <= now:
                self._open_at[write.method] = now + self._methods[write.method]
                self._busy.add(write.channel_id)
                write.turn.set_result(None)
            else:
                self._waiting.append(write)
                soonest = min(soonest, free_at)
        self._channels = {channel: at for channel, at in self._channels.items() if at > now}
        if soonest < math.inf:
            self._start_after(soonest - now)

    def _free_at(self, channel_id: str) -> float:
        if channel_id in self._busy:
            return math.inf
        return self._channels.get(channel_id, 0) - (self._burst - 1) * self._channel_pace
