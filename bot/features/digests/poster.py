"""Posts digests to Slack, each one once, and looks up earlier posts."""

import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime

import structlog
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.features.background.outcomes import Absent, Delayed, Found, Hidden, Outcome, Posted, Unfinished
from bot.features.background.slack import (
    MARGIN,
    MESSAGES,
    PAGES,
    WAIT,
    BackgroundSlack,
    seconds_to_next_search,
)
from bot.features.digests import message as digest_message
from bot.features.digests import notices as digest_notices
from bot.features.digests.posts import Edition
from bot.slack.blocks import JSON, Message
from bot.slack.posting import SLACK_FAILED, why
from bot.slack.rate_limiter import RateLimiter
from bot.slack.waits import Waits
from bot.slack.wording import Wording
from bot.store.digests import Digest, Notice
from bot.store.owner import Owner

EVENT_TYPE = "issuebot_digest"

log = structlog.get_logger(__name__)


class SlackPoster:
    """Implements `posts.Poster` with Slack."""

    def __init__(self, slack: BackgroundSlack, wording: Wording, waits: Waits) -> None:
        self._slack = slack
        self.channel_status = slack.channel_status
        self.slack_time = slack.slack_time
        self._wording = wording
        self._pacers: dict[str, RateLimiter] = defaultdict(
            lambda: RateLimiter(waits.channel_pace, waits.workspace_pace)
        )

    def __len__(self) -> int:
        return sum(map(len, self._pacers.values()))

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

    async def find(
        self, digest: Digest, due_at: datetime, within: tuple[datetime, datetime], searched_to: str | None
    ) -> Found:
        """Search from the newest message to the oldest."""
        first, last = within
        oldest = str((first - MARGIN).timestamp())
        latest = searched_to or str((last + MARGIN).timestamp())
        try:
            for _ in range(PAGES):
                slack = await self._slack.client(digest.owner)
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
        except SLACK_FAILED as error:
            log.warning("digest post not looked up", action="digest.look_up", error=why(error))
            seconds = seconds_to_next_search(error)
            return Hidden() if seconds is None else Unfinished(seconds, searched_to)
        return Unfinished(WAIT, searched_to)

    async def notify_owner(self, digests: Sequence[Digest], notice: Notice) -> bool:
        """Send one direct message."""
        message = digest_notices.to_owner(digests, notice, self._wording)
        return await self._send(digests[0].owner, digests[0].owner.user_id, message)

    async def notify_channel(self, digests: Sequence[Digest]) -> bool:
        """Post one message in the channel."""
        message = digest_notices.to_channel(digests, self._wording)
        return await self._send(digests[0].owner, digests[0].channel_id, message)

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
        def write(slack: AsyncWebClient) -> Awaitable[AsyncSlackResponse]:
            return slack.chat_postMessage(channel=channel_id, metadata=metadata, **message.as_arguments())

        return await self._slack.sent(owner, write, action="digest.post", latest=latest)


def _block_id(digest: Digest, due_at: datetime) -> str:
    """The block id of a digest's headline: Slack returns it without an extra scope."""
    return f"{EVENT_TYPE}:{digest.id}:{due_at.isoformat()}"


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
