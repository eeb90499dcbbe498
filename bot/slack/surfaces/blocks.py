"""Builds Block Kit: every text escaped or plain, every length within Slack's limits (`slack_limits.py`).

Views are pure functions from values to a `Message` or a view's dict.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from bot import slack_limits as limits
from bot.slack.surfaces.buttons import MENU, Button, OpenPage
from bot.slack.text.mrkdwn import bold, clean, cut, is_web, own, prose, without_keys
from bot.spelling import option_value

JSON = dict[str, Any]
Block = JSON
Element = JSON
"""Plain dictionaries: validation in slack_sdk's models takes a quarter of the time of `/issues`, and this
module already guarantees what they check. https://docs.slack.dev/reference/block-kit
"""
FALLBACK_LENGTH, SHORTEST_SECTION, OPTION_END_LENGTH = 3900, 50, 25
RICH_TEXT_LENGTH, RICH_LABEL_LENGTH = 3000, 300


@dataclass(frozen=True)
class Message:
    """A message: its fallback text (mrkdwn, required) and its blocks."""

    text: str
    blocks: tuple[Block, ...] = field(default=())

    def as_arguments(self) -> JSON:
        """The arguments for `chat.postMessage` and for a post to a response URL.

        The longest texts are cut until the message fits.
        """
        blocks, most = list(self.blocks), limits.SECTION_LENGTH
        while text_length(blocks) > limits.MESSAGE_LENGTH and most > SHORTEST_SECTION:
            most //= 2
            blocks = [_shorter(block, most) for block in blocks]
        return {
            "text": cut(own(self.text), FALLBACK_LENGTH),
            "blocks": blocks,
            "unfurl_links": False,
            "unfurl_media": False,
        }


def text_length(part: object) -> int:
    if isinstance(part, dict):
        own = part.get("text")
        return len(own) if isinstance(own, str) else sum(map(text_length, part.values()))
    return sum(map(text_length, part)) if isinstance(part, list) else 0


def _shorter(block: Block, most: int) -> Block:
    def short(text: JSON) -> JSON:
        return text | {"text": cut(text["text"], most)} if text.get("type") == "mrkdwn" else text

    own = {"text": short(block["text"])} if "text" in block else {}
    lists = {name: [short(one) for one in block[name]] for name in ("fields", "elements") if name in block}
    return block | own | lists


def sentence(text: str) -> Message:
    """A message of one plain sentence; text in backticks stays code."""
    escaped = prose(text)
    return Message(escaped, (section(escaped),))


def plain(text: str, limit: int) -> JSON:
    """Plain text on one line, cut to `limit`; never empty, which Slack refuses."""
    fitting = shortened(clean(text).replace("\n", " "), limit) or "–"
    return {"type": "plain_text", "text": fitting, "emoji": False}


def shortened(text: str, limit: int) -> str:
    """Plain text cut to `limit`, with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def section(mrkdwn: str, accessory: Element | None = None, block_id: str | None = None) -> Block:
    """A paragraph; `mrkdwn` must be escaped."""
    paragraph = {"type": "section", "text": _text(mrkdwn, limits.SECTION_LENGTH)}
    return filled(paragraph, accessory=accessory, block_id=block_id)


def fields(pairs: Iterable[tuple[str, str]]) -> list[Block]:
    """Pairs of a label (plain) and a value (escaped mrkdwn) in two columns, ten to a block."""
    cells = [_text(f"{bold(label)}\n{value}") for label, value in pairs]
    starts = range(0, len(cells), limits.MAX_SECTION_FIELDS)
    return [{"type": "section", "fields": cells[n : n + limits.MAX_SECTION_FIELDS]} for n in starts]


def context(*mrkdwn: str) -> Block:
    """A line of small print; `mrkdwn` must be escaped."""
    return {"type": "context", "elements": [_text(text) for text in mrkdwn[: limits.MAX_CONTEXT_ELEMENTS]]}


def _text(mrkdwn: str, most: int = limits.FIELD_LENGTH) -> JSON:
    return {"type": "mrkdwn", "text": cut(own(mrkdwn), most), "verbatim": True}


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text, limits.HEADER_LENGTH)}


def divider() -> Block:
    return {"type": "divider"}


def actions(elements: Sequence[Element], block_id: str | None = None) -> Block:
    return filled({"type": "actions", "elements": list(elements)}, block_id=block_id)


def button(
    text: str,
    carries: Button,
    *,
    url: str | None = None,
    style: str | None = None,
    confirm: JSON | None = None,
) -> Element:
    """A button; Slack sends back what it carries when a user chooses it."""
    named = {"type": "button", "text": plain(text, limits.BUTTON_LENGTH), "action_id": carries.action}
    return filled(named, value=carries.pack() or None, url=url, style=style, confirm=confirm)


def link_button(text: str, url: str) -> Element:
    return button(text, OpenPage(), url=url)


BUTTONS_IN_ROW = 5  # how many buttons a row has at most


def rows(buttons: Iterable[Element], block_id: str | None = None) -> list[Block]:
    """Return the buttons in rows of at most five; the first has the `block_id`.

    Slack wants different IDs in a row, so a repeated one has a number behind it, which `interaction.read`
    leaves out.
    """
    rows: list[list[Element]] = []
    for one in buttons:
        if not rows or len(rows[-1]) == BUTTONS_IN_ROW:
            rows.append([])
        alike = sum(other["action_id"].partition(":")[0] == one["action_id"] for other in rows[-1])
        rows[-1].append(one | {"action_id": f"{one['action_id']}:{alike}"} if alike else one)
    return [actions(row, None if n else block_id) for n, row in enumerate(rows)]


def button_row(text: str, carries: Button) -> Block:
    return actions([button(text, carries, style="primary")])


def confirm(title: str, text: str, yes: str, *, style: str | None = None) -> JSON:
    """A confirmation dialog for a button; the style `danger` makes its `yes` red."""
    asked = {
        "title": plain(title, limits.CONFIRM_TITLE_LENGTH),
        "text": plain(text, limits.CONFIRM_LENGTH),
        "confirm": plain(yes, limits.CONFIRM_BUTTON_LENGTH),
        "deny": plain("Cancel", limits.CONFIRM_BUTTON_LENGTH),
    }
    return filled(asked, style=style)


def option(text: str, value: str, url: str | None = None, description: str | None = None) -> JSON:
    """A choice in a menu or select, by a key if it is long; in an overflow menu, `url` makes it a link."""
    more = plain(description, limits.OPTION_DESCRIPTION_LENGTH) if description else None
    named = {"text": plain(text, limits.OPTION_LENGTH), "value": option_value(value)}
    return filled(named, url=url, description=more)


def text_option(value: str) -> JSON:
    """A choice of a text; a long one is cut in its middle, because long values often begin alike."""
    cut = f"{value[: limits.OPTION_LENGTH - OPTION_END_LENGTH - 1]}…{value[-OPTION_END_LENGTH:]}"
    return option(cut if len(value) > limits.OPTION_LENGTH else value, value)


def menu(options: Sequence[JSON], *, confirm: JSON | None = None) -> Element:
    """An overflow (`…`) menu with at most five options, made by `menu_option` and `menu_link`."""
    return filled({"type": "overflow", "action_id": MENU, "options": list(options)}, confirm=confirm)


def menu_option(text: str, carries: Button) -> JSON:
    return option(text, carries.as_option())


def menu_link(text: str, url: str) -> JSON:
    return option(text, OpenPage().as_option(), url)


def option_values(message: JSON) -> list[str]:
    """The values of the options in a message's menus."""
    blocks = message.get("blocks") or ()
    parts = ((*(block.get("elements") or ()), block.get("accessory")) for block in blocks)
    elements = filter(None, chain.from_iterable(parts))
    options = chain.from_iterable(element.get("options") or () for element in elements)
    return [str(each.get("value")) for each in options]


def filled(part: JSON, **more: object) -> JSON:
    """The part with the given properties, except those that are None."""
    return part | {name: value for name, value in more.items() if value is not None}


def paragraph(*parts: JSON | str) -> Block:
    """Rich text, which shows other people's text exactly; strings become plain text on one line.

    Slack accepts rich text in messages, forms and the Home tab, but not in `chat.unfurl` and not with an
    accessory. https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
    """
    elements = [words(" ".join(clean(p).split("\n"))) if isinstance(p, str) else p for p in parts]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def bullets(items: Iterable[JSON]) -> Block:
    rows = [{"type": "rich_text_section", "elements": [item]} for item in items]
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_list", "style": "bullet", "elements": rows}],
    }


def words(text: str, **style: bool) -> JSON:
    """Plain text, without invisible characters that may deceive."""
    styled = {"style": style} if style else {}
    return {"type": "text", "text": shortened(clean(text), RICH_TEXT_LENGTH) or "–", **styled}


def rich_link(url: str, label: str, **style: bool) -> JSON:
    """A link; only the label if `url` isn't http or https."""
    content = words(shortened(" ".join(clean(label).split()), RICH_LABEL_LENGTH), **style)
    return {**content, "type": "link", "url": url} if is_web(url) else content


def typed(command: str, lead: str = "You typed: ") -> Block:
    return paragraph(lead, words(without_keys(command), code=True))
