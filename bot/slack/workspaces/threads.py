"""Reads threads a page at a time, as far as Slack's limits allow (docs/slack.md, Rates)."""

import asyncio
import time

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.outgoing.posting import SLACK_FAILED, retry_after
from bot.slack.surfaces.blocks import JSON
from bot.slack.text.message_text import text_of

PAGE, MAX_MESSAGES = 200, 500
MINUTE = 60.0
KEPT = ("ts", "user", "username", "bot_profile", "app_id", "files")
DELETED = "tombstone"


class Thread:
    """The messages of a thread that were read so far, in order and without deleted ones.

    `total` is how many messages Slack counts in it, deleted ones and unread ones included.
    """

    def __init__(self, slack: AsyncWebClient, channel_id: str, ts: str) -> None:
        self.slack, self.channel_id, self.ts = slack, channel_id, ts
        self.messages: dict[str, JSON] = {}
        self.total, self.complete = 0, False
        self._cursor: str | None = None

    async def read(self, seconds: float) -> None:
        """Read the pages that Slack sends within `seconds`. Raises SLACK_FAILED if it sends none."""
        give_up = time.monotonic() + seconds
        while not self.complete and len(self.messages) < MAX_MESSAGES:
            try:
                await self._read_page()
            except SLACK_FAILED as error:
                wait = retry_after(error, MINUTE) if isinstance(error, SlackApiError) else None
                if wait is not None and time.monotonic() + wait < give_up:
                    await asyncio.sleep(wait)
                elif self.messages:
                    return
                else:
                    raise

    async def _read_page(self) -> None:
        """Read the next page. Raises SLACK_FAILED."""
        page = await self.slack.conversations_replies(
            channel=self.channel_id, ts=self.ts, limit=PAGE, cursor=self._cursor
        )
        for message in page.get("messages") or ():
            if "reply_count" in message:
                self.total = 1 + int(message["reply_count"])
            if message.get("subtype") != DELETED:
                kept = {key: message[key] for key in KEPT if key in message}
                self.messages[str(message["ts"])] = kept | {"text": text_of(message)}
        self._cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        self.complete = self._cursor is None
