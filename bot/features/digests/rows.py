"""Updates a row of a posted digest when a user takes its issue."""

import asyncio
from dataclasses import dataclass, field

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.digests import message as digest_message
from bot.features.issues.assign import FRESH
from bot.service.models import Issue
from bot.slack.blocks import JSON
from bot.slack.posting import SLACK_FAILED, why
from bot.ttl_cache import TtlCache

log = structlog.get_logger(__name__)


@dataclass
class _Changes:
    """Recent changes to one message: a button press in flight may carry the message from before them."""

    issues: dict[int, Issue] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class DigestRows:
    """Updates single rows of digests; simultaneous updates of one message don't undo each other."""

    def __init__(self) -> None:
        self._recent: TtlCache[tuple[str, str], _Changes] = TtlCache(seconds=FRESH)

    async def show(
        self, slack: AsyncWebClient, channel_id: str, ts: str, issue: Issue, message: JSON | None
    ) -> None:
        """Show an issue's current assignee in its row of a digest.

        `message` is the digest from the button press; None reads it from Slack. A private issue's row isn't
        updated, and neither is one where Slack refuses the update.
        """
        if issue.is_private:
            return
        changes = await self._recent.get((channel_id, ts), _no_changes)
        async with changes.lock:
            changes.issues[issue.id] = issue
            try:
                digest = message or await _read(slack, channel_id, ts)
                posted = digest.get("blocks") or []
                blocks = digest_message.updated(posted, changes.issues)
                if blocks != posted:
                    text = str(digest.get("text") or "")
                    await slack.chat_update(channel=channel_id, ts=ts, text=text, blocks=blocks)
            except SLACK_FAILED as error:
                log.info("digest row not updated", action="digest.row_not_updated", error=why(error))


async def _no_changes() -> _Changes:
    return _Changes()


async def _read(slack: AsyncWebClient, channel_id: str, ts: str) -> JSON:
    page = await slack.conversations_history(
        channel=channel_id, oldest=ts, latest=ts, inclusive=True, limit=1
    )
    found: JSON = next(iter(page.get("messages") or ()), {})
    return found if found.get("ts") == ts else {}
