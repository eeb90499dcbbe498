"""Updates a row of a posted digest when a user takes its issue."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.digests import message as digest_message
from bot.features.digests.poster import digest_of
from bot.features.issues.assign import FRESH
from bot.features.issues.publicity import Exposure, Publicity
from bot.service.models import Issue
from bot.slack.blocks import JSON, Block
from bot.slack.posting import SLACK_FAILED, why
from bot.slack.replies import Reply
from bot.store.digests import StoredDigests
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

log = structlog.get_logger(__name__)


@dataclass
class _Changes:
    """Recent changes to one message: a button press in flight may carry the message from before them."""

    issues: dict[int, Issue] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class DigestRows:
    """Updates single rows of digests; simultaneous updates of one message don't undo each other."""

    def __init__(self, digests: StoredDigests, publicity: Publicity) -> None:
        self._digests = digests
        self._publicity = publicity
        self._recent: TtlCache[tuple[str, str], _Changes] = TtlCache(seconds=FRESH)

    async def show(self, reply: Reply, ts: str, seen: Exposure, message: JSON | None) -> None:
        """Show an issue's current assignee in its row of a digest.

        `message` is the digest from the button press; None reads it from Slack. The row stays as it is if the
        channel may not be shown the issue anymore, or Slack refuses the update.
        """
        slack, channel_id = reply.slack, reply.place.channel_id or ""
        changes = await self._recent.get((channel_id, ts), _no_changes)
        async with changes.lock:
            try:
                digest = message or await _read(slack, channel_id, ts)
                posted = digest.get("blocks") or []
                if seen.issue is None or not await self._may_show(reply.owner, seen, posted):
                    return
                changes.issues[seen.issue.id] = seen.issue
                blocks = digest_message.updated(posted, changes.issues)
                if blocks != posted:
                    text = str(digest.get("text") or "")
                    await slack.chat_update(channel=channel_id, ts=ts, text=text, blocks=blocks)
            except SLACK_FAILED as error:
                log.info("digest row not updated", action="digest.row_not_updated", error=why(error))

    async def _may_show(self, user: Owner, seen: Exposure, posted: Sequence[Block]) -> bool:
        digest_id = digest_of(posted)
        digest = await self._digests.get(user.team_id, digest_id) if digest_id else None
        agreed = digest.agreed_project if digest else None
        return await self._publicity.may_post(user, seen, agreed)


async def _no_changes() -> _Changes:
    return _Changes()


async def _read(slack: AsyncWebClient, channel_id: str, ts: str) -> JSON:
    page = await slack.conversations_history(
        channel=channel_id, oldest=ts, latest=ts, inclusive=True, limit=1
    )
    found: JSON = next(iter(page.get("messages") or ()), {})
    return found if found.get("ts") == ts else {}
