"""Block Kit in the bot's few shapes: every text escaped or plain, every length within Slack's limits.

The views are pure: values in, `Message` or a view's dict out. Limits: slack-rules, Sizes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.slack.text import bold, clean, cut, own, prose

JSON = dict[str, Any]
Block = JSON
Element = JSON
"""Block Kit's parts are plain dictionaries: slack_sdk's models take a quarter of the time of `/issues` for
their checks, and what they check is seen to here. https://docs.slack.dev/reference/block-kit
"""
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
            "text": cut(own(self.text), TEXT),
            "blocks": _fitted(list(self.blocks)),
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


def _shorter(block: Block, most: int) -> Block:
    def short(text: JSON) -> JSON:
        return text | {"text": cut(text["text"], most)} if text.get("type") == "mrkdwn" else text

    own = {"text": short(block["text"])} if "text" in block else {}
    lists = {name: [short(one) for one in block[name]] for name in ("fields", "elements") if name in block}
    return block | own | lists


def sentence(text: str) -> Message:
    """A message of one plain sentence; `code` in backticks stays code."""
    shown = prose(text)
    return Message(shown, (section(shown),))


def plain(text: str, limit: int) -> JSON:
    """Plain text that fits, on one line; Slack refuses empty ones."""
    fitting = shortened(clean(text).replace("\n", " "), limit) or "–"
    return {"type": "plain_text", "text": fitting, "emoji": False}


def shortened(text: str, limit: int) -> str:
    """Plain text cut at the limit."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def section(mrkdwn: str, accessory: Element | None = None, block_id: str | None = None) -> Block:
    """A paragraph of mrkdwn, already escaped."""
    return filled({"type": "section", "text": _text(mrkdwn, SECTION)}, accessory=accessory, block_id=block_id)


def fields(pairs: Iterable[tuple[str, str]]) -> list[Block]:
    """Pairs of a label (plain) and a value (mrkdwn, already escaped) in two columns, ten to a block."""
    cells = [_text(f"{bold(label)}\n{value}") for label, value in pairs]
    return [{"type": "section", "fields": cells[i : i + 10]} for i in range(0, len(cells), 10)]


def context(*mrkdwn: str) -> Block:
    """A line of small print, already escaped."""
    return {"type": "context", "elements": [_text(text) for text in mrkdwn[:10]]}


def small_print(text: str) -> Block:
    """A line of small print in plain text, shown exactly."""
    return {"type": "context", "elements": [plain(text, FIELD)]}


def _text(mrkdwn: str, most: int = FIELD) -> JSON:
    return {"type": "mrkdwn", "text": cut(own(mrkdwn), most), "verbatim": True}


def header(text: str) -> Block:
    """A headline in plain text."""
    return {"type": "header", "text": plain(text, 150)}


def divider() -> Block:
    """A line."""
    return {"type": "divider"}


def actions(elements: Sequence[Element], block_id: str | None = None) -> Block:
    """A row of buttons."""
    return filled({"type": "actions", "elements": list(elements)}, block_id=block_id)


def button(
    text: str,
    action_id: str,
    value: str = "",
    *,
    url: str | None = None,
    style: str | None = None,
    confirm: JSON | None = None,
) -> Element:
    """A button; `value` comes back with the press."""
    named = {"type": "button", "text": plain(text, 75), "action_id": action_id}
    return filled(named, value=value or None, url=url, style=style, confirm=confirm)


def button_row(text: str, action_id: str, value: str) -> Block:
    """A row of one button, the way on from a message."""
    return actions([button(text, action_id, value, style="primary")])


def confirm(title: str, text: str, yes: str, no: str = "Cancel", *, style: str | None = None) -> JSON:
    """A question before a button acts; with the style `danger` its `yes` is red."""
    asked = {
        "title": plain(title, 100),
        "text": plain(text, 300),
        "confirm": plain(yes, 30),
        "deny": plain(no, 30),
    }
    return filled(asked, style=style)


def option(text: str, value: str, url: str | None = None) -> JSON:
    """A choice in a menu; with an address, in a `…` menu, it leads there."""
    return filled({"text": plain(text, 75), "value": value}, url=url)


def overflow(action_id: str, options: Sequence[JSON]) -> Element:
    """The `…` menu of a line; at most five choices."""
    return {"type": "overflow", "action_id": action_id, "options": list(options)}


def filled(part: JSON, **more: object) -> JSON:
    """A part with those of its properties that there are."""
    return part | {name: value for name, value in more.items() if value is not None}
