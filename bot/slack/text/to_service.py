"""Slack's message text → the two text formats of the service (docs/service.md, Issues)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from bot.slack.text.mrkdwn import decode

_FENCE = re.compile(r"```(.*?)```", re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_ENTITY = re.compile(r"<([^<>\n\x00]+)>")
_ITEM = re.compile(r"([ \t]*)(?:[•◦▪▫‣]|(-)|([0-9]{1,4})\.)[ \t]+(.*)")
_QUOTE = re.compile(r"(?:>|&gt;)[ ]?(.*)")
_REST_QUOTED = ("&gt;&gt;&gt;", ">>>")
_MARKED = re.compile(
    r"(?<!\w)(?:\*(?P<bold>(?=\S)[^*\n]+(?<=\S))\*|_(?P<italic>(?=\S)[^_\n]+(?<=\S))_"
    r"|~(?P<strike>(?=\S)[^~\n]+(?<=\S))~)(?!\w)"
)
_LIVE = re.compile(
    r"(?<=[@#])(?=\w)|(?<=[a-z]:)(?=[\w/\"])|(?<=www)(?=\.)|(?<=\[)(?=\[)|(?<=\{)(?=\{)", re.IGNORECASE
)
"""Where services see a mention, a link or a macro."""
TextFormat = Literal["markdown", "textile"]  # the values of `SERVICE_TEXT_FORMAT`
_HIDDEN = "\u200b"
_KEPT = "\x00"  # surrounds the number of a part that is already converted
_KEPT_AT = re.compile(f"{_KEPT}([0-9]+){_KEPT}")
_INDENT = 4
_NESTED = 3  # bold in italic in strike


class _Marked:
    """What both formats do alike: marks on both sides of a text, and text that isn't taken for HTML."""

    _MARKS: ClassVar[dict[str, str]]
    _HTML = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)")

    def marked(self, kind: str, inner: str) -> str:
        """`inner`, already converted, as `bold`, `italic` or `strike`."""
        mark = self._MARKS[kind]
        return f"{mark}{inner}{mark}"

    def _without_html(self, plain: str) -> str:
        return self._HTML.sub(lambda m: "&lt;" if m[0] == "<" else "&amp;", plain)


class _Markdown(_Marked):
    """CommonMark, limited to what Redmine's older Markdown parser reads the same way."""

    _MARKS: ClassVar = {"bold": "**", "italic": "*", "strike": "~~"}
    _PUNCTUATION = re.compile(r"\\(?=[!-/:-@\[-`{-~])|`|(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)|~(?=~)")
    _LINK = re.compile(r"\](?=[(:\[])")
    _START = re.compile(r"(?=#{1,6}(?:\s|$)|(?:-{2,}|={2,})\s*$|>|\+\s)")

    def text(self, plain: str) -> str:
        """Plain text, escaped."""
        escaped = self._PUNCTUATION.sub(lambda m: "\\" + m[0], plain)
        escaped = self._LINK.sub(r"\\]", escaped)
        return self._without_html(escaped)

    def start(self, line: str) -> str:
        """A converted line, escaped at its start so that it isn't a heading or rule."""
        return "\\" + line if self._START.match(line) else line

    def code(self, code: str) -> str:
        return f"`{code}`"

    def fence(self, code: str) -> str:
        return f"```\n{code}\n```"

    def link(self, url: str, label: str) -> str:
        """A link; `label` is plain text, or empty."""
        target = url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
        text = self.text(label).replace("\\]", "]").replace("[", "\\[").replace("]", "\\]")
        return f"[{text}]({target})" if label else f"<{url.replace(' ', '%20')}>"

    def paragraph(self, lines: list[str]) -> str:
        return "  \n".join(lines)  # two spaces make a hard line break

    def quote(self, lines: list[str]) -> str:
        return "  \n".join(f"> {line}" if line else ">" for line in lines)

    def item(self, level: int, number: str, line: str) -> str:
        """A list item; `number` is empty for a bullet."""
        return f"{'    ' * level}{number + '.' if number else '-'} {line}"


class _Textile(_Marked):
    _MARKS: ClassVar = {"bold": "*", "italic": "_", "strike": "-"}
    _PAIRED = re.compile(
        r"(?<!\w)([*_+\-^~%@])(?=\S)(?=[^\n]{0,300}?\S\1(?!\w))|\"(?=[^\"\n]{1,300}\":)|!(?=\S{1,300}!)|\?\?(?=\S)"
    )
    _START = re.compile(r"(?:h[1-6]|bq|p)[^\s.]{0,40}\.(?=\s)|[#|](?=[\s|#*_])|\|")

    def text(self, plain: str) -> str:
        return self._PAIRED.sub(lambda m: _numbered(m[0]), self._without_html(plain))

    def start(self, line: str) -> str:
        match = self._START.match(line)
        if match is None:
            return line
        return line[: match.end() - 1] + _numbered(line[match.end() - 1]) + line[match.end() :]

    def code(self, code: str) -> str:
        if "@" not in code:
            return f"@{code}@"
        return f"<code>{code.replace('</', f'<{_HIDDEN}/')}</code>"

    def fence(self, code: str) -> str:
        return f"<pre>\n{code.replace('</', f'<{_HIDDEN}/') if '</pre' in code.lower() else code}\n</pre>"

    def link(self, url: str, label: str) -> str:
        target = url.replace(" ", "%20").replace('"', "%22")
        return f'"{label.replace(chr(34), chr(39))}":{target}' if label else target

    def paragraph(self, lines: list[str]) -> str:
        return "\n".join(lines)

    def quote(self, lines: list[str]) -> str:
        return "\n".join(f"> {line}".rstrip() for line in lines)

    def item(self, level: int, number: str, line: str) -> str:
        return f"{('#' if number else '*') * (level + 1)} {line}"


def _numbered(chars: str) -> str:
    return "".join(f"&#{ord(char)};" for char in chars)


Format = _Markdown | _Textile
FORMATS: dict[TextFormat, Format] = {"markdown": _Markdown(), "textile": _Textile()}


@dataclass(frozen=True)
class _Block:
    kind: str
    lines: list[str]


def translate(text: str, name_of: Callable[[str], str], to: Format) -> str:
    """Convert a message's text to the format `to`; `name_of` returns the name for a Slack user ID."""
    text = text.replace(_KEPT, "").replace("\r\n", "\n")
    blocks: list[str] = []
    at = 0
    for match in _FENCE.finditer(text):
        blocks += _blocks(text[at : match.start()], name_of, to)
        code = _ENTITY.sub(lambda m: _address(m[1]), match[1])
        if code.strip():
            blocks.append(to.fence(decode(code).strip("\n")))
        at = match.end()
    return "\n\n".join([*blocks, *_blocks(text[at:], name_of, to)])


def to_plain(text: str, name_of: Callable[[str], str]) -> str:
    """A message's text without markup, for instance for a subject."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(entity_text(match[1], name_of))
        return f"{_KEPT}{len(kept) - 1}{_KEPT}"

    plain = _ENTITY.sub(keep, text.replace(_KEPT, "").replace("`", ""))
    for _ in range(_NESTED):
        plain = _MARKED.sub(lambda m: m[m.lastgroup or 0], plain)
    return _KEPT_AT.sub(lambda m: kept[int(m[1])], decode(plain))


def inert(text: str, name_of: Callable[[str], str], to: Format) -> str:
    """A stranger's text as plain text: it mentions nobody, and links and includes nothing."""
    plain = _LIVE.sub(_HIDDEN, to_plain(text, name_of).replace("\r\n", "\n"))
    return to.paragraph([to.start(to.text(line)) for line in plain.split("\n")])


def _blocks(text: str, name_of: Callable[[str], str], to: Format) -> list[str]:
    written = []
    for block in _split(text):
        if block.kind == "list":
            items = filter(None, map(_ITEM.fullmatch, block.lines))
            written.append("\n".join(_item(item, name_of, to) for item in items))
        else:
            lines = [to.start(_inline(line.strip(), name_of, to)) for line in block.lines]
            written.append(to.quote(lines) if block.kind == "quote" else to.paragraph(lines))
    return written


def _split(text: str) -> list[_Block]:
    """Split into paragraphs, quotes and lists: runs of lines of one kind, separated by empty lines."""
    blocks: list[_Block] = []
    last = ""
    rest_quoted = False
    for line in text.split("\n"):
        content = line
        for mark in _REST_QUOTED:
            if not rest_quoted and content.startswith(mark):
                rest_quoted, content = True, content.removeprefix(mark).strip()

        quote = None if rest_quoted else _QUOTE.match(content)
        if rest_quoted or quote:
            kind, content = "quote", quote[1] if quote else content
        elif not content.strip():
            kind = ""
        else:
            kind = "list" if _ITEM.fullmatch(content) else "text"

        if kind and kind == last:
            blocks[-1].lines.append(content)
        elif kind and (kind != "quote" or content.strip()):
            blocks.append(_Block(kind, [content]))
        else:
            kind = ""
        last = kind
    return blocks


def _item(match: re.Match[str], name_of: Callable[[str], str], to: Format) -> str:
    level = len(match[1].expandtabs(_INDENT)) // _INDENT
    return to.item(level, match[3] or "", _inline(match[4].strip(), name_of, to))


def _inline(line: str, name_of: Callable[[str], str], to: Format) -> str:
    kept: list[str] = []

    def keep(translated: str) -> str:
        kept.append(translated)
        return f"{_KEPT}{len(kept) - 1}{_KEPT}"

    def marked(text: str) -> str:
        written = ""
        at = 0
        for match in _MARKED.finditer(text):
            kind = match.lastgroup or ""
            written += plain(text[at : match.start()]) + to.marked(kind, marked(match[kind]))
            at = match.end()
        return written + plain(text[at:])

    def plain(text: str) -> str:
        parts = _KEPT_AT.split(text)
        return "".join(kept[int(part)] if n % 2 else to.text(decode(part)) for n, part in enumerate(parts))

    line = _CODE.sub(lambda m: keep(to.code(decode(_ENTITY.sub(lambda e: _address(e[1]), m[1])))), line)
    line = _ENTITY.sub(lambda m: keep(_entity(m[1], name_of, to)), line)
    return marked(line)


def _entity(inside: str, name_of: Callable[[str], str], to: Format) -> str:
    target, label = (decode(part) for part in inside.partition("|")[::2])
    if not target.startswith(("http://", "https://")):
        return to.text(entity_text(inside, name_of))
    return to.link(target, "" if label in (target, target.partition("://")[2]) else label)


def entity_text(inside: str, name_of: Callable[[str], str]) -> str:
    target, label = (decode(part) for part in inside.partition("|")[::2])
    match target[:1]:
        case "@":
            return "@" + name_of(target[1:]).removeprefix("@")
        case "#":
            return "#" + (label.removeprefix("#") or target[1:])
        case "!":
            kind, *rest = target[1:].split("^")
            name = label or (rest[0] if rest else kind)
            return name if kind == "date" else "@" + name.removeprefix("@")
        case _:
            return label or target.removeprefix("mailto:").removeprefix("tel:")


def _address(inside: str) -> str:
    """Return an entity as in code, still escaped."""
    target, _, label = inside.partition("|")
    if target.startswith(("@", "#", "!")):
        return target[0].replace("!", "@") + (label.lstrip("@#") or target[1:])
    return target.removeprefix("mailto:").removeprefix("tel:")
