"""The two text formats of the service (docs/service.md, Issues)."""

import re
from typing import ClassVar, Literal

from bot.slack.text.outgoing import Format

_HIDDEN = "\u200b"
TextFormat = Literal["markdown", "textile"]
"""The values of `SERVICE_TEXT_FORMAT`."""


class _Markdown:
    """CommonMark, limited to what Redmine's older Markdown parser reads the same way."""

    _MARKS: ClassVar = {"bold": "**", "italic": "*", "strike": "~~"}
    _PUNCTUATION = re.compile(r"\\(?=[!-/:-@\[-`{-~])|`|(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)|~(?=~)")
    _HTML = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)")
    _LINK = re.compile(r"\](?=[(:\[])")
    _START = re.compile(r"(?=#{1,6}(?:\s|$)|(?:-{2,}|={2,})\s*$|>|\+\s)")

    def text(self, plain: str) -> str:
        escaped = self._PUNCTUATION.sub(lambda m: "\\" + m[0], plain)
        escaped = self._LINK.sub(r"\\]", escaped)
        return self._HTML.sub(lambda m: "&lt;" if m[0] == "<" else "&amp;", escaped)

    def start(self, line: str) -> str:
        return "\\" + line if self._START.match(line) else line

    def code(self, code: str) -> str:
        return f"`{code}`"

    def fence(self, code: str) -> str:
        return f"```\n{code}\n```"

    def link(self, url: str, label: str) -> str:
        target = url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
        shown = self.text(label).replace("\\]", "]").replace("[", "\\[").replace("]", "\\]")
        return f"[{shown}]({target})" if label else f"<{url.replace(' ', '%20')}>"

    def marked(self, kind: str, inner: str) -> str:
        mark = self._MARKS[kind]
        return f"{mark}{inner}{mark}"

    def paragraph(self, lines: list[str]) -> str:
        return "  \n".join(lines)  # two spaces make a hard line break

    def quote(self, lines: list[str]) -> str:
        return "  \n".join(f"> {line}" if line else ">" for line in lines)

    def item(self, level: int, number: str, line: str) -> str:
        return f"{'    ' * level}{number + '.' if number else '-'} {line}"


class _Textile:
    """Textile as Redmine reads it."""

    _MARKS: ClassVar = {"bold": "*", "italic": "_", "strike": "-"}
    _HTML = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)")
    _PAIRED = re.compile(
        r"(?<!\w)([*_+\-^~%@])(?=\S)(?=[^\n]{0,300}?\S\1(?!\w))|\"(?=[^\"\n]{1,300}\":)|!(?=\S{1,300}!)|\?\?(?=\S)"
    )
    _START = re.compile(r"(?:h[1-6]|bq|p)[^\s.]{0,40}\.(?=\s)|[#|](?=[\s|#*_])|\|")

    def text(self, plain: str) -> str:
        escaped = self._HTML.sub(lambda m: "&lt;" if m[0] == "<" else "&amp;", plain)
        return self._PAIRED.sub(lambda m: _numbered(m[0]), escaped)

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

    def marked(self, kind: str, inner: str) -> str:
        mark = self._MARKS[kind]
        return f"{mark}{inner}{mark}"

    def paragraph(self, lines: list[str]) -> str:
        return "\n".join(lines)

    def quote(self, lines: list[str]) -> str:
        return "\n".join(f"> {line}".rstrip() for line in lines)

    def item(self, level: int, number: str, line: str) -> str:
        return f"{('#' if number else '*') * (level + 1)} {line}"


def _numbered(chars: str) -> str:
    return "".join(f"&#{ord(char)};" for char in chars)


FORMATS: dict[TextFormat, Format] = {"markdown": _Markdown(), "textile": _Textile()}
