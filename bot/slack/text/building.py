"""Shared by both converters to mrkdwn: marks, code blocks, and tables."""

import re
from collections.abc import Sequence

from bot.slack.text.escaping import EDGE, FENCE, clean, escape, link, literal, unfenced

LONGEST = 5_000
"""How many characters of a text are converted: twice what a card shows."""

RULE = "─" * 10
_BARE_URL = re.compile(r"https?://[^\s<>|\"`]{0,2000}[^\s<>|\"`.,:;!?')\]}*_~]", re.IGNORECASE)
_COLUMN = 40


def plain(text: str) -> str:
    shown = []
    at = 0
    for match in _BARE_URL.finditer(text):
        shown += [literal(text[at : match.start()]), link(match[0])]
        at = match.end()
    return "".join(shown) + literal(text[at:])


def marked(mark: str, inner: str) -> str:
    """`inner` between marks, on one line; unchanged if it already contains the mark: Slack can't nest it."""
    inner = " ".join(inner.split())
    return inner if not inner or mark in _outside_links(inner) else f"{mark}{inner}{mark}"


def joined(pieces: Sequence[tuple[str, bool]]) -> str:
    """Join pieces, with a zero-width space between two backticks, and where a mark touches a letter: Slack
    would not read it as a mark.
    """
    text = ""
    after_mark = False
    for piece, is_marked in pieces:
        if not piece:
            continue
        touching = text[-1:].isalnum() if is_marked else after_mark and piece[0].isalnum()
        touching = touching or text[-1:] == piece[0] == "`"
        text += EDGE + piece if touching else piece
        after_mark = is_marked
    return text


def code(text: str) -> str:
    """Inline code; plain if it contains a backtick, which would end it."""
    text = " ".join(clean(text).split())
    return literal(text) if "`" in text or not text else f"`{escape(text)}`"


def fence(text: str) -> str:
    shown = escape(text).strip("\n")
    return f"{FENCE}\n{unfenced(shown)}\n{FENCE}" if shown.strip() else ""


def prefixed(text: str, first: str, others: str) -> str:
    """`first` before the first line and `others` before the rest, but nothing inside code blocks."""
    lines = []
    inside = False
    for number, said in enumerate(text.split("\n")):
        if said == FENCE:
            inside = not inside
            lines.append(f"{first.rstrip()}\n{said}" if number == 0 and first.strip() else said)
        elif inside:
            lines.append(said)
        else:
            lines.append(((others if number else first) + said).rstrip())
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of plain cells as a code block with aligned columns."""
    cells = [[" ".join(cell.split()) for cell in row] for row in rows if row]
    count = max((len(row) for row in cells), default=0)
    widths = [min(max(len(row[n]) for row in cells if n < len(row)), _COLUMN) for n in range(count)]
    lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in cells
    )
    return fence("\n".join(lines))


def _outside_links(text: str) -> str:
    return re.sub(r"<[^<>]*>|`[^`]*`", "", text)
