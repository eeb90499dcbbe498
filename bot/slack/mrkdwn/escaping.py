"""Text that others wrote, made safe to stand in mrkdwn (slack-rules.md, Text and Sizes)."""

import re
from urllib.parse import quote

# Control characters but \t and \n, embedding and override of the writing direction, halves of characters
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_BREAKS = re.compile(r"\r\n?|\x85|\u2028|\u2029")
_WEB = re.compile(r"https?://\S", re.IGNORECASE)
_NOT_IN_URL = re.compile(r'[\s"<>|`]')
_ENTITY_LENGTH = 5
FENCE = "```"
EDGE = "\u200b"  # has no width, and parts what would be read as one


def unfenced(text: str) -> str:
    """`text` with no three backticks in a row, which would open or close a block of code."""
    return re.sub("``(?=`)", f"``{EDGE}", text)


def clean(text: str) -> str:
    """Without what can't be seen and may deceive; every kind of line break is a line feed."""
    return _UNSEEN.sub("", _BREAKS.sub("\n", text))


def escape(text: str) -> str:
    """`text` as characters only: no mention, link or entity can come of it."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def line(text: str) -> str:
    """As `escape`, on one line."""
    return " ".join(escape(text).split())


def link(url: str, label: str = "") -> str:
    """A link; for anything but http and https only the label, escaped, or the address if there is none."""
    url = clean(url).strip()
    shown = unfenced(" ".join(line(label).replace("|", " ").split()))
    if not _WEB.match(url):
        return shown or line(url)
    target = _NOT_IN_URL.sub(lambda m: quote(m[0]), url).replace("&", "&amp;")
    return f"<{target}|{shown}>" if shown and shown != target else f"<{target}>"


def bold(text: str) -> str:
    """`text` escaped, on one line and bold; plain where it holds what would end or break the bold."""
    shown = line(text)
    return shown if not shown or "*" in shown or "`" in shown else f"*{shown}*"


def cut(text: str, limit: int, suffix: str = "…") -> str:
    """Well-formed mrkdwn within `limit` characters: not cut inside an entity or a `<…>`, code blocks closed.

    `suffix` marks that something is missing; it is left out where there is no room for it.
    """
    if len(text) <= limit:
        return text
    suffix = suffix if len(suffix) <= limit else ""
    kept = _head(text, limit - len(suffix))
    if kept.count(FENCE) % 2:
        closing = f"\n{FENCE}"
        kept = _head(text, limit - len(suffix) - len(closing))
        kept = kept + closing if kept.count(FENCE) % 2 else kept
    return kept + suffix


def _head(text: str, end: int) -> str:
    end = max(end, 0)
    opened = text.rfind("<", 0, end)
    if opened > text.rfind(">", 0, end):
        end = opened
    entity = text.rfind("&", max(end - _ENTITY_LENGTH + 1, 0), end)
    if entity >= 0 and ";" not in text[entity:end]:
        end = entity
    kept = text[:end]
    if text[end : end + 1] == "`":
        kept = kept.rstrip("`")
    return kept.rstrip()
