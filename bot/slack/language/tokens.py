"""Command text → words: handles Slack's entities, its escaping, and quotes.

Slack escapes only `&`, `<` and `>`, so every raw `<…>` is an entity that Slack made; entities are parsed
before anything is unescaped, and `&lt;!channel&gt;` stays text.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from bot.errors import UserError
from bot.slack.text.mrkdwn import JOINER, decode
from bot.slack.text.to_service import entity_text

_INSIDE = r"(?:[@#!][^<>\n]+|[A-Za-z][A-Za-z0-9+.-]*:[^<>\n]+)"
_ENTITY = re.compile(f"<({_INSIDE})>")
_CURLY = "“”„‟"
_OPENER = re.compile(rf"(?:(?<=[\s:,=])|\A)(?:\"|«|[{_CURLY}])")
_PART = re.compile(rf"(?P<space>\s+)|(?P<entity><{_INSIDE}>)|[^\s<\"«{_CURLY}]+|.")


def _until(closers: str) -> str:
    return rf"((?:<{_INSIDE}>|[^<{closers}]|<(?!{_INSIDE}>))*)[{closers}]"


# Keyboards curl quotes inconsistently, so another kind may close one, too.
_EITHER = _until(f'"{_CURLY}')
_QUOTED = re.compile(
    rf"""\"(?:{_until('"')}|{_EITHER})|«{_until("»")}|[{_CURLY}](?:{_until(_CURLY)}|{_EITHER})"""
)


class UnclosedQuote(UserError):
    says = 'A quotation mark is missing. Close the quote, as in `desc:"two words"`, or remove it.'


@dataclass(frozen=True)
class SlackUser:
    """A mentioned user; `name` is what Slack wrote next to the ID, if anything."""

    id: str
    name: str = ""


@dataclass(frozen=True)
class Atom:
    """Part of a word: plain characters, quoted text, or an entity as the text it stands for."""

    text: str
    quoted: bool = False
    user: SlackUser | None = None


@dataclass(frozen=True)
class Token:
    """A word, or the text after an option's colon."""

    atoms: tuple[Atom, ...]

    @property
    def text(self) -> str:
        """The text without quotes."""
        return "".join(atom.text for atom in self.atoms).strip()

    @property
    def user(self) -> SlackUser | None:
        """The user, if the value is only a mention, before a comma or the like."""
        after = "".join(atom.text for atom in self.atoms[1:])
        return self.atoms[0].user if self.atoms and after in ("", *".,;") else None

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it is quoted or a mention."""
        return not any(atom.quoted or atom.user for atom in self.atoms)

    def parts(self) -> tuple["Token", ...]:
        """The items of a comma-separated list; a comma inside quotes doesn't separate."""
        items: list[list[Atom]] = [[]]
        for atom in self.atoms:
            if atom.quoted or atom.user:
                items[-1].append(atom)
                continue
            first, *others = atom.text.split(",")
            items[-1].append(Atom(first))
            items.extend([Atom(other)] for other in others)
        values = (Token(tuple(atom for atom in item if atom.text)) for item in items)
        return tuple(value for value in values if value.text)


@dataclass(frozen=True)
class Word(Token):
    """A word of the command; `source` includes its quotes."""

    source: str

    @property
    def quoted(self) -> bool:
        return all(atom.quoted for atom in self.atoms)

    @property
    def bare(self) -> "Word":
        """The same without the brackets and the colon of a phrase before a subject."""
        if not self.is_plain:
            return self
        text = self.source.strip("[]():")
        return Word((Atom(text),), text)

    @property
    def without_comma(self) -> "Word":
        """The same without the comma that separates it from phrases."""
        *atoms, last = self.atoms
        if last.quoted or last.user or not last.text.endswith((",", ";")) or last.text in (",", ";"):
            return self
        return Word((*atoms, Atom(last.text[:-1])), self.source[:-1])


def as_typed(text: str) -> str:
    """A command's text as the user typed it, with entities as plain text."""
    return _plain(text, labels=True)


def words(text: str) -> tuple[Word, ...]:
    """Split a command's text; double quotes around a word, or after a colon or comma, keep it together.

    Raises UnclosedQuote.
    """
    return tuple(word for _, word in _numbered(text))


def corrected(text: str, wrong: str, right: str) -> str | None:
    """The typed text with a word or name replaced; None unless it is there once and `right` can be typed."""
    spaced = re.search(r"[\s,]", right)
    typed = re.compile(rf"""(?<!\w)@?["“”„]?{re.escape(wrong)}(?:(?<=:)|["“”]?(?!\w))""", re.IGNORECASE)

    def quoted(match: re.Match[str]) -> str:
        value = text[: match.start()].endswith(":") or match[0][:1] in '"“”„'
        return f'"{right}"' if spaced and value else right

    return typed.sub(quoted, text) if len(typed.findall(text)) == 1 and '"' not in right else None


def split_first_line(text: str) -> tuple[str, str]:
    """A command's first line, with the lines that quotes on it span, and the text below it."""
    lines = text.replace("\r\n", "\n").split("\n")
    end = 0
    if lines[1:]:
        with suppress(UnclosedQuote):
            for line, word in _numbered("\n".join(lines)):
                if line > end:
                    break
                end = line + word.source.count("\n")
    return "\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :])


def _numbered(text: str) -> Iterator[tuple[int, Word]]:
    """The words, each with the number of the line that it starts on."""
    text = text.replace(JOINER, "")  # it occurs in subjects copied from the bot's messages
    atoms: list[Atom] = []
    start = plain = at = 0  # where the word starts, and its plain characters since the last atom

    while at < len(text):
        part = _PART.match(text, at)
        opener = _OPENER.match(text, at)
        end = part.end() if part else at + 1

        if opener or (part and (part["space"] or part["entity"])):
            _add(atoms, text[plain:at])
            plain = end

        if opener:
            inner = _quoted(text, at)
            plain = end = at + len(inner) + 2
            sole = _ENTITY.fullmatch(inner)
            atoms.append(Atom(_plain(inner), quoted=True, user=_entity(sole[1]).user if sole else None))
        elif part and part["entity"]:
            atoms.append(_entity(part["entity"][1:-1]))
        elif part and part["space"]:
            if atoms:
                yield text.count("\n", 0, start), Word(tuple(atoms), _plain(text[start:at]))
            atoms, start = [], end
        at = end

    _add(atoms, text[plain:])
    if atoms:
        yield text.count("\n", 0, start), Word(tuple(atoms), _plain(text[start:]))


def _add(atoms: list[Atom], plain: str) -> None:
    """Add plain characters, to the last atom if it is plain, too."""
    if plain:
        joined = atoms.pop().text if atoms and not atoms[-1].quoted and not atoms[-1].user else ""
        atoms.append(Atom(joined + decode(plain)))


def _quoted(text: str, at: int) -> str:
    """What the quotes that open at `at` hold."""
    match = _QUOTED.match(text, at)
    if match is None:
        raise UnclosedQuote
    return str(match[match.lastindex or 0])


def _plain(text: str, *, labels: bool = False) -> str:
    """Return the text with its entities replaced by the text they stand for."""
    parts = _ENTITY.split(text)
    texts = (_entity(part, labels=labels).text if n % 2 else decode(part) for n, part in enumerate(parts))
    return "".join(texts)


def _entity(inside: str, *, labels: bool = False) -> Atom:
    target, label = (decode(part) for part in inside.partition("|")[::2])
    name = target[1:]
    match target[0]:
        case "@":
            user = SlackUser(name, label.removeprefix("@"))
            return Atom(f"@{user.name or user.id}", user=user)
        case "#" | "!":
            return Atom(entity_text(inside, str))
        case _:
            return Atom((labels and label) or target.removeprefix("mailto:").removeprefix("tel:"))
