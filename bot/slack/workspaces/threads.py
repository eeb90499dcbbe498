"""Reads threads a page at a time, since Slack may allow one page a minute (docs/slack.md, Rates)."""

import asyncio
import time
from dataclasses import dataclass, field

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.outgoing.posting import SLACK_FAILED, retry_after, why
from bot.slack.surfaces.blocks import JSON
from bot.slack.text.message_text import text_of
from bot.ttl_cache import TtlCache

log = structlog.get_logger(__name__)

PAGE, MAX = 200, 500
MINUTE, FIRST_PAGES = 60.0, 8
KEPT = ("ts", "user", "username", "bot_profile", "app_id", "files")
DELETED = "tombstone"


@dataclass(eq=False)
class Thread:
    """The messages of a thread that were read so far, in order and without deleted ones.

    `total` is how many messages Slack counts in it, deleted ones and unread ones included.
    """

    team_id: str
    channel_id: str
    ts: str
    messages: dict[str, JSON] = field(default_factory=dict)
    total: int = 0
    cursor: str | None = None
    complete: bool = False

    def take(self, page: JSON) -> None:
        for message in page.get("messages") or ():
            if "reply_count" in message:
                self.total = 1 + int(message["reply_count"])
            if message.get("subtype") != DELETED:
                kept = {key: message[key] for key in KEPT if key in message}
                self.messages[str(message["ts"])] = kept | {"text": text_of(message)}
        self.cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        self.complete = self.cursor is None


class Threads:
    """Reads threads, and keeps their first pages for as long as Slack may refuse to send them again."""

    def __init__(self) -> None:
        self._first: TtlCache[tuple[str, str, str], JSON] = TtlCache(seconds=MINUTE, size=FIRST_PAGES)

    async def look(self, slack: AsyncWebClient, thread: Thread) -> None:
        page = await _next_page(slack, thread)
        self._first.put(_key(thread), page)
        thread.take(page)

    async def read(self, slack: AsyncWebClient, thread: Thread, seconds: float) -> None:
        """Read a thread to its end as fast as Slack allows, but for no longer than `seconds`.

        Raises SLACK_FAILED if nothing of it could be read.
        """
        give_up = time.monotonic() + seconds
        while not thread.complete and len(thread.messages) < MAX:
            try:
                thread.take(await _next_page(slack, thread))
            except SLACK_FAILED as error:
                wait = retry_after(error, MINUTE) if isinstance(error, SlackApiError) else None
                first = None if wait is None or thread.messages else self._first.peek(_key(thread))
                if first is not None:
                    thread.take(first)
                elif wait is not None and time.monotonic() + wait < give_up:
                    await asyncio.sleep(wait)
                elif thread.messages:
                    log.info("thread not read to its end", action="thread.cut", error=why(error))
                    return
                else:
                    raise


def _key(thread: Thread) -> tuple[str, str, str]:
    return thread.team_id, thread.channel_id, thread.ts


async def _next_page(slack: AsyncWebClient, thread: Thread) -> JSON:
    answer = await slack.conversations_replies(
        channel=thread.channel_id, ts=thread.ts, limit=PAGE, cursor=thread.cursor
    )
    return dict(answer.data) if isinstance(answer.data, dict) else {}
