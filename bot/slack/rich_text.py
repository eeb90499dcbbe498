"""Rich text: other people's text shown exactly, as Slack reads no formatting in it.

Slack takes these blocks in messages, forms and the Home tab, but not in `chat.unfurl`, and puts no menu or
button beside one. https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from collections.abc import Iterable

from bot.slack.blocks import JSON, Block, shortened
from bot.slack.text import clean, is_web

MOST, LABEL = 3000, 300


def paragraph(*parts: JSON | str) -> Block:
    """A paragraph; strings are plain text on one line."""
    elements = [words(" ".join(clean(p).split("\n"))) if isinstance(p, str) else p for p in parts]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def bullets(items: Iterable[JSON]) -> Block:
    """A bulleted list."""
    rows = [{"type": "rich_text_section", "elements": [item]} for item in items]
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_list", "style": "bullet", "elements": rows}],
    }


def words(text: str, **style: bool) -> JSON:
    """Text as it is, without what can't be seen and may deceive."""
    styled = {"style": style} if style else {}
    return {"type": "text", "text": shortened(clean(text), MOST) or "–", **styled}


def link(url: str, label: str, **style: bool) -> JSON:
    """A link; only its label where `url` isn't on the web."""
    shown = words(shortened(" ".join(clean(label).split()), LABEL), **style)
    return {**shown, "type": "link", "url": url} if is_web(url) else shown


def person(user_id: str) -> JSON:
    """A mention."""
    return {"type": "user", "user_id": user_id}
