"""Digests in Slack: where they may go, posting each once, finding out whether one was posted."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.audiences import shared_outside
from bot.slack.pacing import Pacer
from bot.slack.posting import SLACK_FAILED, reason
from bot.slack.views import digest_message, digest_notices
from bot.slack.views.blocks import JSON, Message
from bot.slack.views.issues import Style
from bot.slack.workspaces import Workspaces
from bot.store.digests import Digest, Notice, Pause
from bot.store.owner import Owner
from bot.usecases.digest_posts import (
    Absent,
    Delayed,
    Edition,
    Found,
    Hidden,
    Outcome,
    Posted,
    Refused,
    Standing,
    Unsure,
)
from bot.usecases.recent import Recent

EVENT_TYPE = "issuebot_digest"
TYPES = "public_channel,private_channel,mpim,im"
PAGE, PAGES = 200, 20
SKEW = timedelta(hours=1)
"""How far Slack's clock may be from the database's."""
WAIT = 30.0
"""Seconds until Slack is asked again that could not be reached, or doesn't know its own app."""
LISTED_FOR = 5
"""Seconds for which a list of conversations holds: so late it is noticed that outsiders came in."""
GONE = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "channel_is_limited_access", "user_not_found"}
)
"""Slack's words for a conversation that takes nothing from the bot any more."""
BROKEN = frozenset({None, "internal_error", "fatal_error", "service_unavailable", "request_timeout"})
"""What may have been carried out all the same (docs.slack.dev, chat.postMessage, Errors)."""
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
"""What is wrong with the app or the workspace and not with the conversation: it passes, or is mended."""

log = structlog.get_logger(__name__)


class SlackPoster:
    """Posts digests to Slack; see `usecases.digest_posts.Poster`."""

    def __init__(self, workspaces: Workspaces, style: Style, command: Callable[[str], str]) -> None:
        self._workspaces = workspaces
        self._style = style
        self._command = command
        self._pacers: dict[str, Pacer] = defaultdict(Pacer)
        self._listed: Recent[str, Mapping[str, Standing]] = Recent(seconds=LISTED_FOR)
        self._listing: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def __len__(self) -> int:
        return sum(map(len, self._pacers.values()))

    async def standings(self, owner: Owner, channels: Collection[str]) -> Mapping[str, Standing]:
        """From one list of all that the bot is in; what isn't there is asked for by itself."""
        async with self._listing[owner.team_id]:  # who comes while it is read waits for it
            listed = await self._listed.get(owner.team_id, partial(self._conversations, owner))
        return {one: listed.get(one) or await self._standing(owner, one) for one in channels}

    def turn(self, digest: Digest, due_at: datetime) -> AbstractAsyncContextManager[None]:
        """Waits until a message may go to the digest's channel."""
        return self._pacers[digest.owner.team_id].turn(digest.channel_id, due_at)

    def prepared(self, edition: Edition) -> Callable[[], Awaitable[Outcome]]:
        """The message, made; calling it posts it once."""
        digest = edition.digest
        message = digest_message.message(edition, self._style, self._command)

        async def post() -> Outcome:
            outcome = await self._post(
                digest.owner, digest.channel_id, message, _metadata(digest, edition.due_at)
            )
            if isinstance(outcome, Delayed):
                self._pacers[digest.owner.team_id].hold(outcome.seconds)
            return outcome

        return post

    async def find(self, digest: Digest, due_at: datetime, since: datetime) -> Found:
        """Reads the channel around that time for the message that has the due time in its metadata."""
        wanted = _metadata(digest, due_at)
        cursor = ""
        try:
            for _ in range(PAGES):
                slack = await self._slack(digest.owner)
                page = await slack.conversations_history(
                    channel=digest.channel_id,
                    oldest=str((since - SKEW).timestamp()),
                    latest=str((since + SKEW).timestamp()),
                    limit=PAGE,
                    cursor=cursor or None,
                    include_all_metadata=True,
                )
                for message in page.get("messages") or ():
                    about = message.get("metadata") or {}
                    if {key: about.get(key) for key in wanted} == wanted:
                        return Posted(str(message["ts"]))
                cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
                if not cursor:
                    return Hidden() if page.get("has_more") else Absent()
        except SlackApiError as error:
            log.warning("not looked up", action="digest.look_up", error=reason(error))
            if (seconds := _asked_to_wait(error)) is not None:
                return Delayed(seconds)
            passes = reason(error) in BROKEN | LOCKED_OUT - {"missing_scope"}
            return Delayed(WAIT) if passes else Hidden()
        except SLACK_FAILED as error:
            log.warning("not looked up", action="digest.look_up", error=type(error).__name__)
            return Delayed(WAIT)
        return Hidden()

    async def tell_owner(self, digests: Sequence[Digest], notice: Notice) -> bool:
        """One direct message."""
        message = digest_notices.to_owner(digests, notice, self._style.service, self._command)
        return await self._told(digests[0].owner, digests[0].owner.user_id, message)

    async def tell_channel(self, digests: Sequence[Digest]) -> bool:
        """One message in the channel."""
        message = digest_notices.to_channel(digests, self._style.service)
        return await self._told(digests[0].owner, digests[0].channel_id, message)

    async def _slack(self, owner: Owner) -> AsyncWebClient:
        return await self._workspaces.client(owner.enterprise_id, owner.team_id)

    async def _told(self, owner: Owner, channel_id: str, message: Message) -> bool:
        outcome = await self._post(owner, channel_id, message, None)
        if not isinstance(outcome, Posted):
            log.warning("not told", action="digest.tell", outcome=str(outcome))
        return not isinstance(outcome, Delayed)

    async def _post(self, owner: Owner, channel_id: str, message: Message, metadata: JSON | None) -> Outcome:
        try:
            slack = await self._slack(owner)
            answer = await slack.chat_postMessage(
                channel=channel_id, metadata=metadata, **message.as_arguments()
            )
        except SlackApiError as error:
            return _refused(error)
        except aiohttp.ClientConnectorError:
            return Delayed(WAIT)
        except SLACK_FAILED as error:
            log.warning("post broken off", action="digest.post", error=type(error).__name__)
            return Unsure()
        return Posted(str(answer["ts"]))

    async def _conversations(self, owner: Owner) -> Mapping[str, Standing]:
        found: dict[str, Standing] = {}
        cursor = ""
        try:
            for _ in range(PAGES):
                slack = await self._slack(owner)
                page = await slack.users_conversations(
                    types=TYPES, exclude_archived=True, limit=999, cursor=cursor or None
                )
                found |= {
                    one["id"]: _standing_of(one)
                    for one in page.get("channels") or ()
                    if shared_outside(one) is not None
                }
                cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
                if not cursor:
                    break
        except SLACK_FAILED as error:  # what isn't known then is asked for by itself
            log.info("conversations not listed", action="digest.channels", error=reason(error))
        return found

    async def _standing(self, owner: Owner, channel_id: str) -> Standing:
        try:
            slack = await self._slack(owner)
            channel = (await slack.conversations_info(channel=channel_id)).get("channel") or {}
        except SLACK_FAILED as error:
            why = reason(error)
            log.info("channel not seen", action="digest.channel", error=why)
            return Standing.GONE if why in GONE else Standing.UNKNOWN
        if channel.get("is_archived") or not (channel.get("is_im") or channel.get("is_member", True)):
            return Standing.GONE
        return _standing_of(channel)


def _standing_of(channel: JSON) -> Standing:
    shared = shared_outside(channel)
    if shared is None:
        return Standing.UNKNOWN
    return Standing.SHARED if shared else Standing.OPEN


def _metadata(digest: Digest, due_at: datetime) -> JSON:
    """What tells one digest's message from all others (docs.slack.dev, Message metadata)."""
    payload = {"digest": digest.id, "due_at": due_at.isoformat(), "channel": digest.channel_id}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def _asked_to_wait(error: SlackApiError) -> float | None:
    answer: Any = error.response
    if getattr(answer, "status_code", None) != HTTPStatus.TOO_MANY_REQUESTS:
        return None
    headers = {name.lower(): value for name, value in answer.headers.items()}
    wait = str(headers.get("retry-after", ""))
    return float(wait) if wait.isdecimal() else WAIT


def _refused(error: SlackApiError) -> Outcome:
    if (seconds := _asked_to_wait(error)) is not None:
        return Delayed(seconds)
    why = reason(error)
    log.warning("post refused", action="digest.post", error=why)
    if why in BROKEN:
        return Unsure()
    if why in LOCKED_OUT:
        return Delayed(WAIT)
    return Refused(Pause.CHANNEL if why in GONE else Pause.REFUSED)
