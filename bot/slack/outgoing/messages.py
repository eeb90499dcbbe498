"""Messages and threads for the service: their words, and the names of whom they mention."""

import asyncio
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.outgoing.conversations import conversation
from bot.slack.outgoing.posting import permalink
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import rich_input
from bot.slack.surfaces.blocks import JSON, shortened
from bot.slack.text import message_text
from bot.slack.text.to_service import FORMATS, to_plain, translate
from bot.slack.workspaces.slack_errors import SLACK_FAILED, retry_after
from bot.slack_limits import INPUT_LENGTH

MAX_MENTIONS = 10
THREAD_ON_PAGE, MAX_MESSAGES = 200, 500  # of a thread
MINUTE = 60.0
KEPT = ("ts", "user", "username", "bot_profile", "app_id", "files")
DELETED = "tombstone"
SHORTENED = " (shortened here)"


@dataclass(frozen=True)
class QuotedMessage:
    """A message for the service: its text and its author with a link to it, in the service's format, and its
    first line in plain text.
    """

    text: str
    source: str
    first_line: str


async def names_of(reply: Reply, mentioned: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the names of up to `MAX_MENTIONS` mentions by ID; each is a `user` or `channel` and its ID."""

    async def name(kind: str, mentioned_id: str) -> str:
        if kind == "user":
            return (await reply.profile(mentioned_id)).name
        try:
            return (await conversation(reply.slack, mentioned_id)).name or mentioned_id
        except SLACK_FAILED:
            return mentioned_id

    known = list(islice(mentioned, MAX_MENTIONS))
    names = await asyncio.gather(*(name(kind, mentioned_id) for kind, mentioned_id in known))
    return {mentioned_id: full_name for (_, mentioned_id), full_name in zip(known, names, strict=True)}


async def writer(reply: Reply, rich: JSON) -> Callable[[JSON], str]:
    """What converts rich text to the service's format, with the names of whom `rich` mentions."""
    names = await names_of(reply, rich_input.ids_in(rich))
    return partial(
        rich_input.written,
        text_format=reply.wording.text_format,
        name_of=lambda mentioned: names.get(mentioned, mentioned),
    )


async def quoted_message(reply: Reply, message: JSON) -> QuotedMessage:
    """A message, shortened if it doesn't fit into a form."""
    text = message_text.text_of(message)
    author, name = await author_of(reply, message), await names_in(reply, text)
    link = await permalink(reply.slack, reply.place, message)
    to = FORMATS[reply.wording.text_format]
    source = re.sub(r"[^\w .-]", "", author) + " in Slack"
    if link:
        source = to.link(link, source)

    whole = await asyncio.to_thread(translate, text, name, to)
    body = shortened(whole, INPUT_LENGTH - len(source) - len(SHORTENED) - 4)
    if body != whole:
        source = f"{source}{SHORTENED}"
    plain = await asyncio.to_thread(to_plain, text, name)
    first = next((line.strip() for line in plain.splitlines() if line.strip()), "")
    return QuotedMessage(body, source, first)


async def author_of(reply: Reply, message: JSON) -> str:
    if name := message_text.author_of(message):
        return name
    return (await reply.profile(message["user"])).name if message.get("user") else "someone"


async def names_in(reply: Reply, text: str) -> Callable[[str], str]:
    """Looks up the users that a message's text mentions; the result returns a user's name by ID."""
    mentioned = dict.fromkeys(re.findall(r"<@([UW][A-Z0-9]+)", text))
    names = await names_of(reply, (("user", user) for user in mentioned))
    return lambda user: names.get(user, user)


class Thread:
    """The messages of a thread that were read so far, in order and without deleted ones.

    Reads a page at a time, as far as Slack's limits allow (docs/slack.md, Rates). `total` is how many
    messages Slack counts in it, deleted ones and unread ones included.
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
                wait = retry_after(error, MINUTE)
                if wait is not None and time.monotonic() + wait < give_up:
                    await asyncio.sleep(wait)
                elif self.messages:
                    return
                else:
                    raise

    async def _read_page(self) -> None:
        """Read the next page. Raises SLACK_FAILED."""
        page = await self.slack.conversations_replies(
            channel=self.channel_id, ts=self.ts, limit=THREAD_ON_PAGE, cursor=self._cursor
        )
        for message in page.get("messages") or ():
            if "reply_count" in message:
                self.total = 1 + int(message["reply_count"])
            if message.get("subtype") != DELETED:
                kept = {key: message[key] for key in KEPT if key in message}
                self.messages[str(message["ts"])] = kept | {"text": message_text.text_of(message)}
        self._cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        self.complete = self._cursor is None
