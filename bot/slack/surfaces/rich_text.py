"""Rich text, which shows other people's text exactly: Slack parses no formatting in it.

Slack accepts these blocks in messages, forms and the Home tab, but not in `chat.unfurl` and not with an
accessory. https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from collections.abc import Iterable

from bot.slack.surfaces.blocks import JSON, Block, shortened
from bot.slack.text.mrkdwn import clean, is_web, without_keys

MAX, LABEL = 3000, 300


def paragraph(*parts: JSON | str) -> Block:
    """A paragraph; strings become plain text on one line."""
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
    return {"type": "text", "text": shortened(clean(text), MAX) or "–", **styled}


def link(url: str, label: str, **style: bool) -> JSON:
    """A link; only the label if `url` isn't http or https."""
    shown = words(shortened(" ".join(clean(label).split()), LABEL), **style)
    return {**shown, "type": "link", "url": url} if is_web(url) else shown


def person(user_id: str) -> JSON:
    return {"type": "user", "user_id": user_id}


def typed(command: str, said: str = "You typed: ") -> Block:
    return paragraph(said, words(without_keys(command), code=True))
