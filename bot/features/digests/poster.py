"""Posts digests to Slack: checks their channels, posts each one once, and looks up earlier posts."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.features.digests import message as digest_message
from bot.features.digests import notices as digest_notices
from bot.features.digests.posts import (
    Absent,
    ChannelStatus,
    Delayed,
    Edition,
    Found,
    Hidden,
    Outcome,
    Posted,
    Refused,
    Unfinished,
    Unsure,
)
from bot.slack.audience import shared_outside
from bot.slack.blocks import JSON, Message
from bot.slack.posting import SLACK_FAILED, reason, retry_after
from bot.slack.rate_limiter import RateLimiter
from bot.slack.waits import Waits
from bot.slack.wording import Wording
from bot.slack.workspaces import Workspaces
from bot.store.digests import Digest, Notice, Pause
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

EVENT_TYPE = "issuebot_digest"
TYPES = "public_channel,private_channel,mpim,im"
CONVERSATIONS, PAGES = 999, 20
MESSAGES = 15
"""The largest page that every app may request (docs.slack.dev, conversations.history)."""
MARGIN = timedelta(seconds=10)
"""How inaccurate the estimate of Slack's clock may be."""
WAIT = 30.0
"""Seconds until a retry, if Slack can't be reached or locks the app out."""
GONE = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "channel_is_limited_access", "user_not_found"}
)
"""Slack's errors for a conversation where the bot can't post anymore."""
BROKEN = frozenset({None, "internal_error", "fatal_error", "service_unavailable", "request_timeout"})
"""Errors after which the call may still have succeeded (docs.slack.dev, chat.postMessage, Errors)."""
LOCKED_OUT = frozenset(
    {
        "access_denied",
        "accesslimited",
        "account_inactive",
        "invalid_auth",
        "message_limit_exceeded",
        "missing_scope",
        "not_authed",
        "org_login_required",
        "rate_limited",
        "ratelimited",
        "team_added_to_org",
        "token_expired",
        "token_revoked",
    }
)
"""Errors of the app or the workspace, not the conversation: temporary, or for an administrator to fix."""

log = structlog.get_logger(__name__)


class SlackPoster:
    """Implements `posts.Poster` with Slack."""

    def __init__(self, workspaces: Workspaces, wording: Wording, waits: Waits) -> None:
        self._workspaces = workspaces
        self._wording = wording
        self._pacers: dict[str, RateLimiter] = defaultdict(
            lambda: RateLimiter(waits.channel_pace, waits.workspace_pace)
        )
        self._channels: TtlCache[str, Mapping[str, ChannelStatus]] = TtlCache(seconds=waits.channels)
        self._listing: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._slack_time: tuple[datetime, float] | None = None

    def __len__(self) -> int:
        return sum(map(len, self._pacers.values()))

    async def channel_status(self, owner: Owner, channel_id: str) -> ChannelStatus:
        """Read from one list of all the bot's conversations; one that isn't in it is read alone."""
        async with self._listing[owner.team_id]:  # concurrent callers share one read
            listed = await self._channels.get(owner.team_id, partial(self._conversations, owner))
        return listed.get(channel_id) or await self._read_channel(owner, channel_id)

    def turn(self, digest: Digest, due_at: datetime) -> AbstractAsyncContextManager[None]:
        """Wait for the rate limiter."""
        return self._pacers[digest.owner.team_id].turn(digest.channel_id, due_at)

    def prepared(self, edition: Edition) -> Callable[[float], Awaitable[Outcome]]:
        """Build the message; the function returned posts it once."""
        digest = edition.digest
        message = digest_message.message(edition, self._wording)
        headline, *others = message.blocks
        marked = replace(
            message, blocks=({**headline, "block_id": _block_id(digest, edition.due_at)}, *others)
        )
        metadata = _metadata(digest, edition.due_at)

        async def post(latest: float) -> Outcome:
            outcome = await self._post(digest.owner, digest.channel_id, marked, metadata, latest=latest)
            if isinstance(outcome, Delayed):
                self._pacers[digest.owner.team_id].hold(outcome.seconds)
            return outcome

        return post

    def slack_time(self) -> datetime | None:
        """Estimated from the last conversations response, which precedes every post."""
        if self._slack_time is None:
            return None
        reported, at = self._slack_time
        return reported + timedelta(seconds=time.monotonic() - at)

    async def find(
        self, digest: Digest, due_at: datetime, within: tuple[datetime, datetime], searched_to: str | None
    ) -> Found:
        """Search from the newest message to the oldest."""
        first, last = within
        oldest = str((first - MARGIN).timestamp())
        latest = searched_to or str((last + MARGIN).timestamp())
        try:
            for _ in range(PAGES):
                slack = await self._slack(digest.owner)
                page = await slack.conversations_history(
                    channel=digest.channel_id,
                    oldest=oldest,
                    latest=latest,
                    limit=MESSAGES,
                    include_all_metadata=True,
                )
                messages = page.get("messages") or ()
                for message in messages:
                    if _is_of(message, digest, due_at):
                        return Posted(str(message["ts"]))
                if not page.get("has_more"):
                    return Absent()
                if not messages:
                    return Hidden()
                latest = searched_to = str(messages[-1]["ts"])
        except SlackApiError as error:
            log.warning("digest post not looked up", action="digest.look_up", error=reason(error))
            if (seconds := retry_after(error, WAIT)) is not None:
                return Unfinished(seconds, searched_to)
            passes = reason(error) in BROKEN | LOCKED_OUT - {"missing_scope"}
            return Unfinished(WAIT, searched_to) if passes else Hidden()
        except SLACK_FAILED as error:
            log.warning("digest post not looked up", action="digest.look_up", error=type(error).__name__)
        return Unfinished(WAIT, searched_to)

    async def notify_owner(self, digests: Sequence[Digest], notice: Notice) -> bool:
        """Send one direct message."""
        message = digest_notices.to_owner(digests, notice, self._wording)
        return await self._send(digests[0].owner, digests[0].owner.user_id, message)

    async def notify_channel(self, digests: Sequence[Digest]) -> bool:
        """Post one message in the channel."""
        message = digest_notices.to_channel(digests, self._wording)
        return await self._send(digests[0].owner, digests[0].channel_id, message)

    async def _slack(self, owner: Owner) -> AsyncWebClient:
        return await self._workspaces.client(owner.enterprise_id, owner.team_id)

    async def _send(self, owner: Owner, channel_id: str, message: Message) -> bool:
        outcome = await self._post(owner, channel_id, message, None)
        if not isinstance(outcome, Posted):
            log.warning("digest notice not sent", action="digest.tell", outcome=str(outcome))
        return not isinstance(outcome, Delayed)

    async def _post(
        self,
        owner: Owner,
        channel_id: str,
        message: Message,
        metadata: JSON | None,
        *,
        latest: float = math.inf,
    ) -> Outcome:
        try:
            slack = await self._slack(owner)
            if time.monotonic() > latest:  # no await between this check and the request
                return Delayed(0)
            answer = await slack.chat_postMessage(
                channel=channel_id, metadata=metadata, **message.as_arguments()
            )
        except SlackApiError as error:
            return _refused(error)
        except aiohttp.ClientConnectorError:
            return Delayed(WAIT)
        except SLACK_FAILED as error:
            log.warning("digest post outcome unknown", action="digest.post", error=type(error).__name__)
            return Unsure()
        return Posted(str(answer["ts"]))

    async def _conversations(self, owner: Owner) -> Mapping[str, ChannelStatus]:
        found: dict[str, ChannelStatus] = {}
        cursor = ""
        try:
            for _ in range(PAGES):
                slack = await self._slack(owner)
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
            log.info("conversations not listed", action="digest.channels", error=reason(error))
        return found

    def _save_time(self, answer: AsyncSlackResponse) -> None:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        with suppress(ValueError):
            reported = parsedate_to_datetime(headers.get("date", "")).replace(tzinfo=UTC)
            self._slack_time = (reported, time.monotonic())

    async def _read_channel(self, owner: Owner, channel_id: str) -> ChannelStatus:
        try:
            slack = await self._slack(owner)
            answer = await slack.conversations_info(channel=channel_id)
            self._save_time(answer)
            channel = answer.get("channel") or {}
        except SLACK_FAILED as error:
            why = reason(error)
            log.info("channel not readable", action="digest.channel", error=why)
            return ChannelStatus.GONE if why in GONE else ChannelStatus.UNKNOWN
        if channel.get("is_archived") or not (channel.get("is_im") or channel.get("is_member", True)):
            return ChannelStatus.GONE
        return _status_of(channel)


def _block_id(digest: Digest, due_at: datetime) -> str:
    """The block id of a digest's headline: Slack returns it without an extra scope."""
    return f"{EVENT_TYPE}:{digest.id}:{due_at.isoformat()}"


def _status_of(channel: JSON) -> ChannelStatus:
    shared = shared_outside(channel)
    if shared is None:
        return ChannelStatus.UNKNOWN
    return ChannelStatus.SHARED if shared else ChannelStatus.OPEN


def _is_of(message: JSON, digest: Digest, due_at: datetime) -> bool:
    """Whether a message is this digest's; older ones are recognized by their metadata."""
    if any(block.get("block_id") == _block_id(digest, due_at) for block in message.get("blocks") or ()):
        return True
    metadata, wanted = message.get("metadata") or {}, _metadata(digest, due_at)
    return {name: metadata.get(name) for name in wanted} == wanted


def _metadata(digest: Digest, due_at: datetime) -> JSON:
    """What identifies a digest's message (docs.slack.dev, Message metadata)."""
    payload = {"digest": digest.id, "due_at": due_at.isoformat(), "channel": digest.channel_id}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def _refused(error: SlackApiError) -> Outcome:
    if (seconds := retry_after(error, WAIT)) is not None:
        return Delayed(seconds)
    why = reason(error)
    log.warning("digest post refused", action="digest.post", error=why)
    if why in BROKEN:
        return Unsure()
    if why in LOCKED_OUT:
        return Delayed(WAIT)
    return Refused(Pause.CHANNEL if why in GONE else Pause.REFUSED)
