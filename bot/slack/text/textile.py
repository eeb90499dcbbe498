"""Textile as Redmine reads it → mrkdwn, line by line."""

import re
from collections.abc import Iterator

from bot.slack.text import mrkdwn

_PRE = re.compile(r"<pre\b[^>\n]{0,200}>(.*?)(?:</pre>|\Z)", re.DOTALL | re.IGNORECASE)
_CODE_TAG = re.compile(r"\A\s*<code\b[^>\n]{0,200}>|</code>\s*\Z", re.IGNORECASE)
_STYLE = r"(?:\([^)\n]{0,80}\)|\{[^}\n]{0,200}\}|\[[a-z-]{1,10}\]|[<>=()]){0,6}"
_BLOCK = re.compile(rf"(h[1-6]|bq|p){_STYLE}\.(?::\S{{1,500}})?\s+(.*)", re.DOTALL)
_ITEM = re.compile(r"\s*([*#]{1,8})\s+(.*)", re.DOTALL)
_QUOTE = re.compile(r"[ ]?((?:>[ ]?)+)(.*)", re.DOTALL)
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*")
_ROW = re.compile(r"\s*\|.*\|\s*")
_CELL = re.compile(rf"^(?:_|[\\/][0-9]{{1,2}})*{_STYLE}[\^~-]?\.\s")
_MARKS = {"**": "*", "*": "*", "__": "_", "_": "_", "-": "~", "??": "_", "+": "", "%": "", "^": "", "~": ""}

_INLINE = re.compile(
    r"""
    @(?P<at>(?=\S)[^@\n]+(?<=\S))@(?!\w)
  | <code\b[^>\n]{0,200}>(?P<code>[^\n]{0,1000}?)</code>
  | <notextile>(?P<raw>[^\n]{0,1000}?)</notextile>
  | "(?P<label>[^"\n]+)":(?P<url>(?:https?://|/|\#|mailto:|www\.)[^\s<>"]{0,2000}[\w/=#&%-])
  | !(?P<at_side>[<>=]?)(?P<image>[^\s!(]{1,500}\.[^\s!(]{1,100})(?:\((?P<alt>[^)\n]{0,300})\))?!
    (?::(?P<target>https?://[^\s<>"]{0,2000}[\w/]))?
  | (?<![\w*_+?%^~-])(?P<mark>\*\*|\*|__|_|\?\?|-|\+|%|\^|~)
    (?P<inner>(?=\S)(?:(?!(?P=mark))[^\n])+(?<=\S))(?P=mark)(?![\w*_-])
  | (?P<address>https?://[^\s<>"|]{0,2000}[\w/=\#&%-])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DEEPEST = 5


def from_textile(text: str) -> str:
    """Convert a description to mrkdwn. Everything is escaped, HTML included; mentions stay text."""
    text = mrkdwn.clean(text[: mrkdwn.MAX_CONVERTED])
    blocks = []
    at = 0
    for match in _PRE.finditer(text):
        blocks += [*_blocks(text[at : match.start()]), mrkdwn.fence(_CODE_TAG.sub("", match[1]))]
        at = match.end()
    blocks += _blocks(text[at:])
    return "\n\n".join(block for block in blocks if block)


def _blocks(text: str) -> Iterator[str]:
    """The blocks of a text without code blocks, each as mrkdwn."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        lines = [line for line in paragraph.split("\n") if line.strip()]
        if not lines:
            continue
        rest = "\n".join(lines)
        while (block := _BLOCK.fullmatch(rest)) and block[1].startswith("h"):
            title, _, rest = block[2].partition("\n")
            yield mrkdwn.marked("*", _inline(title, within="*"))
        content = "\n".join(_lines((block[2] if block else rest).split("\n")))
        yield mrkdwn.prefixed(content, "> ", "> ") if block and block[1] == "bq" else content


def _lines(lines: list[str]) -> Iterator[str]:
    """The lines of a paragraph, which may mix list items, quotes, table rows and plain text."""
    rows: list[list[str]] = []
    counts: dict[str, int] = {}
    for line in [*lines, ""]:
        if _ROW.fullmatch(line):
            rows.append([_cell(cell) for cell in line.strip().strip("|").split("|")])
            continue
        if rows:
            yield mrkdwn.table(rows)
            rows = []

        item = _ITEM.fullmatch(line)
        if item:
            yield _item(item[1], item[2], counts)
            continue
        counts = {}
        if quote := _QUOTE.fullmatch(line):
            yield f"> {_inline(quote[2])}"
        elif _RULE.fullmatch(line):
            yield mrkdwn.RULE
        elif line:
            yield _inline(line)


def _item(marks: str, text: str, counts: dict[str, int]) -> str:
    """A list item; `counts` holds the current number of each open numbered list."""
    for other in [open_list for open_list in counts if not marks.startswith(open_list)]:
        del counts[other]
    counts[marks] = counts.get(marks, 0) + 1
    marker = f"{counts[marks]}. " if marks.endswith("#") else "• "
    return "    " * (len(marks) - 1) + marker + _inline(text)


def _cell(text: str) -> str:
    """A cell's text without formatting, because it is shown in a code block."""
    return _words(_CELL.sub("", text.strip() + " ", count=1).strip())


def _words(text: str) -> str:
    groups = ("at", "code", "raw", "label", "inner", "alt", "image", 0)
    return _INLINE.sub(lambda m: next(m[group] for group in groups if m[group]), text)


def _inline(text: str, within: str = "", depth: int = 0) -> str:
    pieces: list[tuple[str, bool]] = []
    at = 0
    for match in _INLINE.finditer(text) if depth < _DEEPEST else ():
        pieces += [(mrkdwn.plain(text[at : match.start()]), False), _piece(match, within, depth)]
        at = match.end()
    return mrkdwn.joined([*pieces, (mrkdwn.plain(text[at:]), False)])


def _piece(match: re.Match[str], within: str, depth: int) -> tuple[str, bool]:
    """The converted match, and whether it is surrounded by a mark."""
    kind = match.lastgroup
    if match["at"] or match["code"]:
        return mrkdwn.code(match["at"] or match["code"]), True
    if match["url"]:
        return mrkdwn.link(match["url"], _words(match["label"])), False
    if match["image"]:
        address = match["image"]
        return mrkdwn.link(match["target"] or address, match["alt"] or address.rsplit("/", 1)[-1]), False
    if match["mark"]:
        mark = _MARKS[match["mark"]]
        inner = _inline(match["inner"], within + mark, depth + 1)
        return (inner, False) if not mark or mark in within else (mrkdwn.marked(mark, inner), True)
    return mrkdwn.plain(match["raw"] if kind == "raw" else match[0]), False
