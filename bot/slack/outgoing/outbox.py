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
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.outgoing import outcomes, posting, web_client
from bot.slack.outgoing.audience import shared_outside
from bot.slack.outgoing.posting import SLACK_FAILED, reason, retry_after
from bot.slack.surfaces.blocks import JSON, Message
from bot.slack.workspaces.tokens import Workspaces
from bot.store.owner import Owner
from bot.timings import Delays
from bot.ttl_cache import TtlCache

POST, UPDATE = "chat.postMessage", "chat.update"
ATTEMPTS = 5  # how many times a write that Slack delays is tried
FIRST = datetime.min.replace(tzinfo=UTC)  # when direct messages and notices are due: before everything else
TYPES = "public_channel,private_channel,mpim,im"
CONVERSATIONS, PAGES = 999, 20
MESSAGES = 15  # the largest page that every app may request (docs.slack.dev, conversations.history)
MARGIN = timedelta(seconds=10)  # how inaccurate the estimate of Slack's clock may be
GONE = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "channel_is_limited_access", "user_not_found"}
)
"""Slack's errors for a conversation where the bot can't post anymore."""
BROKEN = frozenset({None, "internal_error", "fatal_error", "service_unavailable", "request_timeout"})
"""Errors after which the call may still have succeeded (docs.slack.dev, chat.postMessage, Errors)."""
LOCKED_OUT = frozenset(
    {
        *("access_denied", "accesslimited", "account_inactive", "invalid_auth", "message_limit_exceeded"),
        *("missing_scope", "not_authed", "org_login_required", "rate_limited", "ratelimited"),
        *("team_added_to_org", "token_expired", "token_revoked"),
    }
)
"""Errors of the app or the workspace, not the conversation: temporary, or for an administrator to fix."""

log = structlog.get_logger(__name__)

Ready = Callable[[], Awaitable[Message | None]]
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
    """Writes in the background. Facts about a workspace's channels are cached for `Delays.channels`.

    `longest_post`: the most seconds from the start of a write's turn to the end of its request.
    """

    def __init__(self, workspaces: Workspaces, delays: Delays, longest_post: float) -> None:
        self._workspaces = workspaces
        self._longest_post = longest_post
        self._retry = delays.background_retry
        paces = {POST: delays.workspace_pace, UPDATE: delays.update_pace}
        self._turns: dict[str, Turns] = defaultdict(
            lambda: Turns(delays.channel_pace, delays.channel_burst, paces)
        )
        self._channels: TtlCache[str, Mapping[str, outcomes.ChannelStatus]] = TtlCache(
            seconds=delays.channels
        )
        self._listing: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._slack_time: tuple[datetime, float] | None = None

    async def send(
        self, post: Post, ready: Ready, *, due_at: datetime = FIRST, delayed: OnDelay | None = None
    ) -> outcomes.DeliveryOutcome | None:
        """Write once it is the post's turn, in order of `due_at`; None if it must not be written anymore.

        `ready` is called when the turn has come. It checks once more what may have changed while the post
        waited, records that the message is about to be sent, and returns it; None if it must not be. After a
        delay it is called again; `delayed` records before that nothing was sent.
        """
        method, turns = UPDATE if post.ts else POST, self._turns[post.owner.team_id]
        outcome: outcomes.DeliveryOutcome = outcomes.Delayed(0)
        for _ in range(ATTEMPTS):
            async with turns.turn(method, post.channel_id, due_at):
                status = await self._status_of(post)
                if status is outcomes.ChannelStatus.UNKNOWN:
                    return outcomes.Delayed(self._retry)
                if status is not outcomes.ChannelStatus.OPEN:
                    return outcomes.PostRefused(status)
                began = time.monotonic()
                if (message := await ready()) is None:
                    return None
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
        span = {"oldest": str((first - MARGIN).timestamp()), "latest": str((last + MARGIN).timestamp())}
        try:
            slack = await self._client(post.owner)
            if _is_direct(post):
                opened = await slack.conversations_open(users=channel_id)
                channel_id = str(opened["channel"]["id"])
            for _ in range(PAGES):
                span[moving] = searched_to or span[moving]
                about: JSON = {"channel": channel_id, "limit": MESSAGES, **span}
                page = await (
                    slack.conversations_replies(ts=post.thread_ts, **about)
                    if post.thread_ts
                    else slack.conversations_history(**about)
                )
                messages = page.get("messages") or ()
                for message in messages:
                    if any(block.get("block_id") == post.mark for block in message.get("blocks") or ()):
                        return outcomes.Posted(str(message["ts"]))
                if not page.get("has_more"):
                    return outcomes.Absent()
                if not messages or messages[-1]["ts"] == searched_to:
                    return outcomes.Hidden()
                searched_to = str(messages[-1]["ts"])
        except SLACK_FAILED as error:
            log.warning("post not looked up", action="outbox.look_up", error=posting.why(error))
            seconds = _seconds_to_next_search(error, self._retry)
            return outcomes.Hidden() if seconds is None else outcomes.Unfinished(seconds, searched_to)
        return outcomes.Unfinished(self._retry, searched_to)

    async def channel_status(self, owner: Owner, channel_id: str) -> outcomes.ChannelStatus:
        """Read from one list of all the bot's conversations; one that isn't in it is read alone."""
        async with self._listing[owner.team_id]:  # concurrent callers share one read
            listed = await self._channels.get(owner.team_id, partial(self._conversations, owner))
        return listed.get(channel_id) or await self._read_channel(owner, channel_id)

    async def slack_time(self, owner: Owner) -> datetime:
        """Slack's clock, which sets messages' `ts`, by its last response; this machine's if there's none."""
        if self._slack_time is None:
            with suppress(*SLACK_FAILED):
                self._save_time(await (await self._client(owner)).auth_test())
        reported, at = self._slack_time or (datetime.now(UTC), time.monotonic())
        return reported + timedelta(seconds=time.monotonic() - at)

    async def _client(self, owner: Owner) -> AsyncWebClient:
        return await self._workspaces.client(owner.enterprise_id, owner.team_id)

    async def _status_of(self, post: Post) -> outcomes.ChannelStatus:
        if _is_direct(post):  # only one person reads it
            return outcomes.ChannelStatus.OPEN
        return await self.channel_status(post.owner, post.channel_id)

    async def _written(self, post: Post, message: Message, began: float) -> outcomes.DeliveryOutcome:
        """Write without retries: once its lease ends, another process may look for the message."""
        if post.mark:
            headline, *others = message.blocks
            message = replace(message, blocks=({**headline, "block_id": post.mark}, *others))
        try:
            async with asyncio.timeout_at(began + self._longest_post):
                slack = web_client.without_retries(await self._client(post.owner))
                if time.monotonic() > began + self._longest_post / 2:  # no await between this and the request
                    return outcomes.Delayed(0)
                answer = await _request(slack, post, message)
                self._save_time(answer)
        except SlackApiError as error:
            if (seconds := retry_after(error, self._retry)) is not None:
                return outcomes.Delayed(seconds)
            why = reason(error)
            log.warning("Slack refused a post", action="outbox.refused", error=why)
            if why in BROKEN:
                return outcomes.Unsure()
            if why in LOCKED_OUT:
                return outcomes.Delayed(self._retry)
            return outcomes.PostRefused(outcomes.ChannelStatus.GONE if why in GONE else None)
        except aiohttp.ClientConnectorError:
            return outcomes.Delayed(self._retry)
        except SLACK_FAILED as error:
            log.warning("the outcome of a post is unknown", action="outbox.unsure", error=posting.why(error))
            return outcomes.Unsure()
        return outcomes.Posted(str(answer["ts"]))

    async def _conversations(self, owner: Owner) -> Mapping[str, outcomes.ChannelStatus]:
        found: dict[str, outcomes.ChannelStatus] = {}
        cursor = ""
        try:
            for _ in range(PAGES):
                slack = await self._client(owner)
                page = await slack.users_conversations(
                    types=TYPES, exclude_archived=True, limit=CONVERSATIONS, cursor=cursor or None
                )
                self._save_time(page)
                found |= {
                    one["id"]: _status_of(one)
                    for one in page.get("channels") or ()
                    if shared_outside(one) is not None
                }
                cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
                if not cursor:
                    break
        except SLACK_FAILED as error:  # those not found are read one by one
            log.info("conversations not listed", action="channels.list", error=reason(error))
        return found

    def _save_time(self, answer: AsyncSlackResponse) -> None:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        with suppress(ValueError):
            reported = parsedate_to_datetime(headers.get("date", "")).replace(tzinfo=UTC)
            self._slack_time = (reported, time.monotonic())

    async def _read_channel(self, owner: Owner, channel_id: str) -> outcomes.ChannelStatus:
        try:
            slack = await self._client(owner)
            answer = await slack.conversations_info(channel=channel_id)
            self._save_time(answer)
            channel = answer.get("channel") or {}
        except SLACK_FAILED as error:
            why = reason(error)
            log.info("channel not readable", action="channel.read", error=why)
            return outcomes.ChannelStatus.GONE if why in GONE else outcomes.ChannelStatus.UNKNOWN
        if channel.get("is_archived") or not (channel.get("is_im") or channel.get("is_member", True)):
            return outcomes.ChannelStatus.GONE
        return _status_of(channel)


def _is_direct(post: Post) -> bool:
    return post.channel_id == post.owner.user_id


def _status_of(channel: JSON) -> outcomes.ChannelStatus:
    shared = shared_outside(channel)
    if shared is None:
        return outcomes.ChannelStatus.UNKNOWN
    return outcomes.ChannelStatus.SHARED if shared else outcomes.ChannelStatus.OPEN


def _request(slack: AsyncWebClient, post: Post, message: Message) -> Awaitable[AsyncSlackResponse]:
    if post.ts:
        return slack.chat_update(channel=post.channel_id, ts=post.ts, **posting.for_update(message))
    return slack.chat_postMessage(channel=post.channel_id, thread_ts=post.thread_ts, **message.as_arguments())


def _seconds_to_next_search(error: BaseException, retry: float) -> float | None:
    """When a search that failed may succeed, `retry` unless Slack says; None if it never will."""
    if not isinstance(error, SlackApiError):
        return retry
    if (seconds := retry_after(error, retry)) is not None:
        return seconds
    return retry if reason(error) in BROKEN | LOCKED_OUT - {"missing_scope"} else None


Waiting = tuple[datetime, int, str, str, asyncio.Future[None]]
"""When a write is due, its number, its method and channel, and its turn."""


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
        came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        insort(self._waiting, (due_at, next(self._numbers), method, channel_id, came))
        self._start_after(0)
        try:
            await came
            yield
        finally:
            if not came.cancelled():
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
        for one in waiting:
            _, _, method, channel_id, came = one
            if came.done():  # the waiting task was canceled
                continue
            free_at = max(self._open_at[method], self._free_at(channel_id))
            if free_at <= now:
                self._open_at[method] = now + self._methods[method]
                self._busy.add(channel_id)
                came.set_result(None)
            else:
                self._waiting.append(one)
                soonest = min(soonest, free_at)
        self._channels = {channel: at for channel, at in self._channels.items() if at > now}
        if soonest < math.inf:
            self._start_after(soonest - now)

    def _free_at(self, channel_id: str) -> float:
        if channel_id in self._busy:
            return math.inf
        return self._channels.get(channel_id, 0) - (self._burst - 1) * self._channel_pace
