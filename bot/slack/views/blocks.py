"""Block Kit in the bot's few shapes: every text escaped or plain, every length within Slack's limits.

The views are pure: values in, `Message` or a view's dict out. Limits: slack-rules, Sizes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    ConfirmObject,
    ContextBlock,
    DividerBlock,
    HeaderBlock,
    MarkdownTextObject,
    Option,
    OverflowMenuElement,
    PlainTextObject,
    SectionBlock,
)
from slack_sdk.models.blocks.block_elements import InteractiveElement

from bot.slack.mrkdwn import clean, cut, prose

JSON = dict[str, Any]
SECTION, FIELD, TEXT, VALUE = 3000, 2000, 3900, 2000
ALL, SHORTEST = 13_000, 50
"""What all texts of a message may have: Slack refuses it (`msg_blocks_too_long`) from about 13,200 on, which
it doesn't publish (slackapi/bolt-js issues 2509 and 2867).
"""


@dataclass(frozen=True)
class Message:
    """A message: its fallback text (mrkdwn, always there) and its blocks."""

    text: str
    blocks: tuple[Block, ...] = field(default=())

    def as_arguments(self) -> JSON:
        """Arguments of `chat.postMessage` and of a post to a response URL."""
        return {
            "text": cut(self.text, TEXT),
            "blocks": _fitted([block.to_dict() for block in self.blocks]),
            "unfurl_links": False,
            "unfurl_media": False,
        }


def letters(part: object) -> int:
    """How long all texts in a block are together."""
    if isinstance(part, dict):
        own = part.get("text")
        return len(own) if isinstance(own, str) else sum(map(letters, part.values()))
    return sum(map(letters, part)) if isinstance(part, list) else 0


def _fitted(blocks: list[JSON]) -> list[JSON]:
    """The blocks of a message with their longest texts cut until all together are what Slack takes."""
    most = SECTION
    while letters(blocks) > ALL and most > SHORTEST:
        most //= 2
        blocks = [_shorter(block, most) for block in blocks]
    return blocks


def _shorter(block: JSON, most: int) -> JSON:
    texts = [block.get("text"), *block.get("fields", ()), *block.get("elements", ())]
    for text in texts:
        if isinstance(text, dict) and text.get("type") == "mrkdwn":
            text["text"] = cut(text["text"], most)
    return block


def sentence(text: str) -> Message:
    """A message of one plain sentence; `code` in backticks stays code."""
    shown = prose(text)
    return Message(shown, (section(shown),))


def plain(text: str, limit: int) -> PlainTextObject:
    """Plain text that fits, on one line; Slack refuses empty ones."""
    return PlainTextObject(text=shortened(clean(text).replace("\n", " "), limit) or "–", emoji=False)


def shortened(text: str, limit: int) -> str:
    """Plain text cut at the limit."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def section(
    mrkdwn: str, accessory: InteractiveElement | None = None, block_id: str | None = None
) -> SectionBlock:
    """A paragraph of mrkdwn, already escaped."""
    text = MarkdownTextObject(text=cut(mrkdwn, SECTION), verbatim=True)
    return SectionBlock(text=text, accessory=accessory, block_id=block_id)


def fields(pairs: Iterable[tuple[str, str]]) -> list[SectionBlock]:
    """`label: value` pairs in two columns, ten to a block; values are mrkdwn, already escaped."""
    cells = [_text(f"*{label}*\n{value}") for label, value in pairs]
    return [SectionBlock(fields=cells[i : i + 10]) for i in range(0, len(cells), 10)]


def context(*mrkdwn: str) -> ContextBlock:
    """A line of small print, already escaped."""
    return ContextBlock(elements=[_text(text) for text in mrkdwn[:10]])


def _text(mrkdwn: str) -> MarkdownTextObject:
    return MarkdownTextObject(text=cut(mrkdwn, FIELD), verbatim=True)


def header(text: str) -> HeaderBlock:
    """A headline in plain text."""
    return HeaderBlock(text=plain(text, 150))


def divider() -> DividerBlock:
    """A line."""
    return DividerBlock()


def actions(elements: Sequence[InteractiveElement], block_id: str | None = None) -> ActionsBlock:
    """A row of buttons."""
    return ActionsBlock(elements=list(elements), block_id=block_id)


def button(
    text: str,
    action_id: str,
    value: str = "",
    *,
    url: str | None = None,
    style: str | None = None,
    confirm: ConfirmObject | None = None,
) -> ButtonElement:
    """A button; `value` comes back with the press."""
    return ButtonElement(
        text=plain(text, 75), action_id=action_id, value=value or None, url=url, style=style, confirm=confirm
    )


def confirm(title: str, text: str, yes: str, no: str = "Cancel") -> ConfirmObject:
    """A question before a button acts."""
    return ConfirmObject(
        title=plain(title, 100), text=plain(text, 300), confirm=plain(yes, 30), deny=plain(no, 30)
    )


def option(text: str, value: str) -> Option:
    """A choice in a menu."""
    return Option(text=plain(text, 75), value=value)


def overflow(action_id: str, options: Sequence[Option]) -> OverflowMenuElement:
    """The `…` menu of a line; at most five choices."""
    return OverflowMenuElement(action_id=action_id, options=list(options))
