"""Slack's mrkdwn: escapes other people's text, and writes marks, code, tables, links and dates."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from urllib.parse import quote

from bot.service.conventions import KEY

# Control characters except \t and \n, bidirectional overrides, surrogates, and the byte order mark
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_BREAKS = re.compile(r"\r\n?|\x85|\u2028|\u2029")
_WEB = re.compile(r"https?://\S", re.IGNORECASE)
_ADDRESS = re.compile(r"https?:|www\.", re.IGNORECASE)
_NOT_IN_URL = re.compile(r'[\s"<>|`]')
_ENTITY_LENGTH = 5
_CODE = re.compile(r"“[^“”\n]*”|`([^`\n]+)`")
"""Code in the bot's own sentences; skips quoted text, which belongs to someone else, backticks included."""
_MARKS = re.compile(r"[*_~`]+")
_EMOJI_NAME = re.compile(r":[a-z0-9_+'-]{1,100}:")
_EMOJI = re.compile(r":(?![0-9]{1,2}:)(?=[\w+'-]{1,100}:)")
_QUOTED = re.compile("^&gt;", re.MULTILINE)
_LINE = 255
_LABEL = 300
FENCE = "```"
EDGE = "\u200b"  # zero-width space: separates
JOINER = "\u2060"  # word joiner: zero width, part of the word on either side
_OWN_TOKEN = re.compile(r"<(?!https?://|@[UW]|#[CDG]|!date\^)([^<>]*)(>?)")
_STRIPPED = re.compile(
    rf"{JOINER}(?P<kept>[*_~`]){JOINER}|```\n?(?P<fence>.*?)\n?```|`(?P<code>[^`\n]*)`"
    r"|<(?P<url>[^<>|]*)(?:\|(?P<label>[^<>]*))?>|(?<=\w)[*_~]+(?=\w)|(?<=\s)[*_~]+(?=\s)|(?P<mark>[*_~])",
    re.DOTALL,
)


def unfenced(text: str) -> str:
    """`text` without three backticks in a row, which would open or close a code block."""
    return re.sub("``(?=`)", f"``{EDGE}", text)


def clean(text: str) -> str:
    """Remove invisible characters that may deceive, and normalize line breaks."""
    if text.isprintable():
        return text
    return _UNSEEN.sub("", _BREAKS.sub("\n", text))


def escape(text: str) -> str:
    """`text` as literal characters: it can't form a mention, link or entity."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def without_emoji(text: str) -> str:
    return _EMOJI_NAME.sub("", text)


def decode(text: str) -> str:
    """Undo Slack's escaping, once (Slack's docs: Formatting message text, Escaping text)."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def literal(text: str) -> str:
    """Escape a text and disable formatting, quotes and emoji, so that it can't pass for the bot's own words.

    Slack has no escape for marks. It reads them only at the edge of a word, so a word joiner on both sides
    disables them. Between two letters or two spaces they mean nothing and need no joiners.
    """
    escaped = _MARKS.sub(_unmarked, _EMOJI.sub(f":{JOINER}", escape(text)))
    return _QUOTED.sub(f"{JOINER}&gt;", escaped)


def _unmarked(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    harmless = (before.isalnum() and after.isalnum()) or (before.isspace() and after.isspace())
    if harmless and "`" not in match[0] and len(set(match[0])) == 1:
        return match[0]
    return "".join(f"{JOINER}{mark}{JOINER}" for mark in match[0])


def line(text: str, most: int = _LINE) -> str:
    """Return a text like `literal`, on one line of at most `most` characters."""
    short = " ".join(clean(text[: most * 2]).split())
    return literal(short if len(short) <= most else f"{short[: most - 1].rstrip()}…")


def prose(text: str) -> str:
    """Return a sentence with other people's words like `literal`, but text in backticks stays code."""
    escaped = ""
    at = 0
    for match in _CODE.finditer(text):
        if match[1]:
            escaped += literal(text[at : match.start()]) + escape(match[0])
            at = match.end()
    return escaped + literal(text[at:])


def spoken(text: str) -> str:
    """A sentence of the bot as plain text, without the backticks around code."""
    return _CODE.sub(lambda m: m[1] or m[0], clean(text))


def own(mrkdwn: str) -> str:
    """The bot's own mrkdwn with `<name>` placeholders escaped: only links, mentions and dates are tokens."""
    return _OWN_TOKEN.sub(lambda m: f"&lt;{m[1]}{'&gt;' if m[2] else ''}", mrkdwn)


def stripped(mrkdwn: str) -> str:
    """Escaped or converted mrkdwn as plain text: no marks or tokens, and `label (url)` for a link."""

    def replacement(match: re.Match[str]) -> str:
        if match["label"]:
            return match["label"] if match["url"][:1] in "!@#" else f"{match['label']} ({match['url']})"
        if match["mark"]:
            return ""
        kept = (match[name] for name in ("kept", "fence", "code", "url"))
        return next((text for text in kept if text is not None), match[0])

    return decode(_STRIPPED.sub(replacement, mrkdwn).replace(EDGE, "").replace(JOINER, ""))


def is_web(url: str) -> bool:
    return _WEB.match(clean(url).strip()) is not None


def link(url: str, label: str = "") -> str:
    """A link; for other schemes only the escaped label, or the URL if there is none.

    Drops a label that looks like a URL, so that no link can pass for another.
    """
    url = clean(url).strip()
    shortened = line(label, _LABEL)
    if not _WEB.match(url):
        return shortened or line(url)
    target = _NOT_IN_URL.sub(lambda m: quote(m[0]), url).replace("&", "&amp;")
    return f"<{target}|{shortened}>" if shortened and not _ADDRESS.match(shortened) else f"<{target}>"


def bold(text: str) -> str:
    """`text` escaped, on one line and bold; plain if it contains an asterisk."""
    escaped = line(text)
    return escaped if not escaped or "*" in escaped else f"*{escaped}*"


def cut(text: str, limit: int) -> str:
    """Cut mrkdwn to `limit` characters: never inside an entity or a `<…>`, and with code blocks closed.

    An ellipsis marks the cut.
    """
    if len(text) <= limit:
        return text
    if not limit:
        return ""
    kept = _head(text, limit - 1)
    if kept.count(FENCE) % 2:
        closing = f"\n{FENCE}"
        kept = _head(text, limit - 1 - len(closing))
        kept = kept + closing if kept.count(FENCE) % 2 else kept
    return f"{kept}…"


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


def without_keys(text: str) -> str:
    """The text with "…" for everything that looks like a key."""
    return KEY.sub("…", text)


MAX_CONVERTED = 5_000  # how many characters of a text are converted: twice what a card shows

RULE = "─" * 10
_BARE_URL = re.compile(r"https?://[^\s<>|\"`]{0,2000}[^\s<>|\"`.,:;!?')\]}*_~]", re.IGNORECASE)
_COLUMN = 40


def plain(text: str) -> str:
    parts = []
    at = 0
    for match in _BARE_URL.finditer(text):
        parts += [literal(text[at : match.start()]), link(match[0])]
        at = match.end()
    return "".join(parts) + literal(text[at:])


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
    escaped = escape(text).strip("\n")
    return f"{FENCE}\n{unfenced(escaped)}\n{FENCE}" if escaped.strip() else ""


def prefixed(text: str, first: str, others: str) -> str:
    """`first` before the first line and `others` before the rest, but nothing inside code blocks."""
    lines = []
    inside = False
    for number, line in enumerate(text.split("\n")):
        if line == FENCE:
            inside = not inside
            lines.append(f"{first.rstrip()}\n{line}" if number == 0 and first.strip() else line)
        elif inside:
            lines.append(line)
        else:
            lines.append(((others if number else first) + line).rstrip())
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


_HOUR = time(10, 30, tzinfo=UTC)  # the hour at which it is the same day from Honolulu to Auckland


def day(value: date) -> str:
    """A day as Slack's date token: `Jul 1`, or `today`, `yesterday` or `tomorrow`."""
    at = int(datetime.combine(value, _HOUR).timestamp())
    return f"<!date^{at}^{{date_short_pretty}}|{value:%b} {value.day}, {value.year}>"


def moment(at: datetime) -> str:
    """A time as Slack's date token: each reader sees it in their own time zone."""
    utc = at.astimezone(UTC)
    fallback = f"{utc:%b} {utc.day}, {utc.year} at {utc:%H:%M} UTC"
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} at {{time}}|{fallback}>"
