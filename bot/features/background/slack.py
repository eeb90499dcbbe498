"""Posts to Slack in the background: checks channels first, and never retries a write."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.features.background.outcomes import ChannelStatus, Delayed, Outcome, Posted, Refused, Unsure
from bot.slack.audience import shared_outside
from bot.slack.blocks import JSON
from bot.slack.posting import SLACK_FAILED, reason, retry_after
from bot.slack.workspaces import Workspaces
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

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


class BackgroundSlack:
    """Checks channels and writes to them. What it knows of a workspace's channels is kept for `seconds`."""

    def __init__(self, workspaces: Workspaces, seconds: float) -> None:
        self._workspaces = workspaces
        self._channels: TtlCache[str, Mapping[str, ChannelStatus]] = TtlCache(seconds=seconds)
        self._listing: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._slack_time: tuple[datetime, float] | None = None

    async def client(self, owner: Owner) -> AsyncWebClient:
        return await self._workspaces.client(owner.enterprise_id, owner.team_id)

    async def channel_status(self, owner: Owner, channel_id: str) -> ChannelStatus:
        """Read from one list of all the bot's conversations; one that isn't in it is read alone."""
        async with self._listing[owner.team_id]:  # concurrent callers share one read
            listed = await self._channels.get(owner.team_id, partial(self._conversations, owner))
        return listed.get(channel_id) or await self._read_channel(owner, channel_id)

    def slack_time(self) -> datetime | None:
        """Estimated from the last conversations response, which precedes every post."""
        if self._slack_time is None:
            return None
        reported, at = self._slack_time
        return reported + timedelta(seconds=time.monotonic() - at)

    async def sent(
        self,
        owner: Owner,
        write: Callable[[AsyncWebClient], Awaitable[AsyncSlackResponse]],
        *,
        action: str,
        latest: float = math.inf,
    ) -> Outcome:
        """Write once, unless it is later than `latest` on the monotonic clock. `action` is for the log."""
        try:
            slack = await self.client(owner)
            if time.monotonic() > latest:  # no await between this check and the request
                return Delayed(0)
            answer = await write(slack)
        except SlackApiError as error:
            if (seconds := retry_after(error, WAIT)) is not None:
                return Delayed(seconds)
            why = reason(error)
            log.warning("Slack refused a post", action=action, error=why)
            if why in BROKEN:
                return Unsure()
            return Delayed(WAIT) if why in LOCKED_OUT else Refused(gone=why in GONE)
        except aiohttp.ClientConnectorError:
            return Delayed(WAIT)
        except SLACK_FAILED as error:
            log.warning("the outcome of a post is unknown", action=action, error=type(error).__name__)
            return Unsure()
        return Posted(str(answer["ts"]))

    async def _conversations(self, owner: Owner) -> Mapping[str, ChannelStatus]:
        found: dict[str, ChannelStatus] = {}
        cursor = ""
        try:
            for _ in range(PAGES):
                slack = await self.client(owner)
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

    async def _read_channel(self, owner: Owner, channel_id: str) -> ChannelStatus:
        try:
            slack = await self.client(owner)
            answer = await slack.conversations_info(channel=channel_id)
            self._save_time(answer)
            channel = answer.get("channel") or {}
        except SLACK_FAILED as error:
            why = reason(error)
            log.info("channel not readable", action="channel.read", error=why)
            return ChannelStatus.GONE if why in GONE else ChannelStatus.UNKNOWN
        if channel.get("is_archived") or not (channel.get("is_im") or channel.get("is_member", True)):
            return ChannelStatus.GONE
        return _status_of(channel)


def _status_of(channel: JSON) -> ChannelStatus:
    shared = shared_outside(channel)
    if shared is None:
        return ChannelStatus.UNKNOWN
    return ChannelStatus.SHARED if shared else ChannelStatus.OPEN


def seconds_to_next_search(error: BaseException) -> float | None:
    """When a search that failed may succeed; None if it never will."""
    if not isinstance(error, SlackApiError):
        return WAIT
    if (seconds := retry_after(error, WAIT)) is not None:
        return seconds
    return WAIT if reason(error) in BROKEN | LOCKED_OUT - {"missing_scope"} else None
