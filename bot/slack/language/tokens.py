"""Command text → words: handles Slack's entities, its escaping, and quotes.

Slack escapes only `&`, `<` and `>`, so every raw `<…>` is an entity that Slack made; entities are parsed
before anything is unescaped, and `&lt;!channel&gt;` stays text.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bot.errors import UserError
from bot.slack.text.mrkdwn import JOINER, decode
from bot.slack.text.to_service import entity_text

_ENTITY = re.compile(r"<([@#!][^<>\n]+|[A-Za-z][A-Za-z0-9+.-]*:[^<>\n]+)>")
_CURLY = "“”„‟"
_CLOSERS = {'"': '"', "«": "»"} | dict.fromkeys(_CURLY, _CURLY)
_BEFORE_QUOTE = (":", ",", "=")


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
class Value:
    """A word, or the text after an option's colon."""

    atoms: tuple[Atom, ...]

    @property
    def text(self) -> str:
        """The text without quotes."""
        return "".join(atom.text for atom in self.atoms).strip()

    @property
    def user(self) -> SlackUser | None:
        """The user, if the value is only a mention."""
        return self.atoms[0].user if len(self.atoms) == 1 else None

    def parts(self) -> tuple["Value", ...]:
        """The items of a comma-separated list; a comma inside quotes doesn't separate."""
        items: list[list[Atom]] = [[]]
        for atom in self.atoms:
            if atom.quoted or atom.user:
                items[-1].append(atom)
                continue
            first, *others = atom.text.split(",")
            items[-1].append(Atom(first))
            items.extend([Atom(other)] for other in others)
        values = (Value(tuple(atom for atom in item if atom.text)) for item in items)
        return tuple(value for value in values if value.text)


@dataclass(frozen=True)
class Word(Value):
    """A word of the command; `source` includes its quotes."""

    source: str

    @property
    def quoted(self) -> bool:
        return all(atom.quoted for atom in self.atoms)


def as_typed(text: str) -> str:
    """A command's text as the user typed it, with entities as plain text."""
    said = ""
    at = 0
    for match in _ENTITY.finditer(text):
        target, _, label = match[1].partition("|")
        entity = decode(label or target) if target[0].isalpha() else _entity(match[1]).text
        said += decode(text[at : match.start()]) + entity
        at = match.end()
    return said + decode(text[at:])


def words(text: str) -> tuple[Word, ...]:
    """Split a command's text; double quotes around a word, or after a colon or comma, keep it together.

    Raises UnclosedQuote.
    """
    return tuple(word for _, word in _numbered(text))


def corrected(text: str, wrong: str, right: str) -> str | None:
    """The typed text with a word or name replaced; None unless it is there once and `right` can be typed."""
    spaced = re.search(r"[\s,]", right)
    typed = re.compile(rf"""(?<!\w)@?["“”„]?{re.escape(wrong)}(?:(?<=:)|["“”]?(?!\w))""", re.IGNORECASE)

    def quoted(found: re.Match[str]) -> str:
        value = text[: found.start()].endswith(":") or found[0][:1] in '"“”„'
        return f'"{right}"' if spaced and value else right

    return typed.sub(quoted, text) if len(typed.findall(text)) == 1 and '"' not in right else None


def split_first_line(text: str) -> tuple[str, str]:
    """A command's first line, with the lines that quotes on it span, and the text below it."""
    lines = text.replace("\r\n", "\n").split("\n")
    end = 0
    with suppress(UnclosedQuote):
        for line, word in _numbered("\n".join(lines)):
            if line > end:
                break
            end = line + word.source.count("\n")
    return "\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :])


def _numbered(text: str) -> Iterator[tuple[int, Word]]:
    """The words, each with the number of the line that it starts on."""
    units = tuple(_units(text.replace(JOINER, "")))  # it occurs in subjects copied from the bot's messages
    at = line = 0
    while at < len(units):
        if _is_space(units[at]):
            line += units[at] == "\n"
            at += 1
        else:
            word, at = _word(units, at)
            yield line, word
            line += word.source.count("\n")


def _units(text: str) -> Iterator[str | Atom]:
    """Single unescaped characters, and whole entities."""
    at = 0
    for match in _ENTITY.finditer(text):
        yield from decode(text[at : match.start()])
        yield _entity(match[1])
        at = match.end()
    yield from decode(text[at:])


def _entity(inside: str) -> Atom:
    target, label = (decode(part) for part in inside.partition("|")[::2])
    name = target[1:]
    match target[0]:
        case "@":
            user = SlackUser(name, label.removeprefix("@"))
            return Atom(f"@{user.name or user.id}", user=user)
        case "#" | "!":
            return Atom(entity_text(inside, str))
        case _:
            return Atom(target.removeprefix("mailto:").removeprefix("tel:"))


def _is_space(unit: str | Atom) -> bool:
    return isinstance(unit, str) and unit.isspace()


def _word(units: Sequence[str | Atom], at: int) -> tuple[Word, int]:
    """The word that starts at `at`, and where it ends."""
    atoms: list[Atom] = []
    start, plain = at, at  # where the word starts, and its plain characters since the last atom
    while at < len(units) and not _is_space(unit := units[at]):
        quotes = (
            isinstance(unit, str) and unit in _CLOSERS and (at == start or units[at - 1] in _BEFORE_QUOTE)
        )
        if isinstance(unit, str) and not quotes:
            at += 1
            continue
        _join(atoms, _text(units[plain:at]))
        if isinstance(unit, str):
            end = _closing(units, at, unit)
            inner = units[at + 1 : end]
            sole = inner[0] if len(inner) == 1 else ""
            atoms.append(Atom(_text(inner), quoted=True, user=sole.user if isinstance(sole, Atom) else None))
            at = end
        else:
            atoms.append(unit)
        at = plain = at + 1
    _join(atoms, _text(units[plain:at]))
    return Word(tuple(atoms), _text(units[start:at])), at


def _join(atoms: list[Atom], plain: str) -> None:
    """Add plain characters, to the last atom if it is plain, too."""
    if plain:
        joined = atoms.pop().text if atoms and not atoms[-1].quoted and not atoms[-1].user else ""
        atoms.append(Atom(joined + plain))


def _closing(units: Sequence[str | Atom], at: int, opener: str) -> int:
    """The end of the quote opened at `at`: the same kind or, since keyboards curl quotes inconsistently,
    another kind of double quote.
    """
    own = _CLOSERS[opener]
    for closers in (own, own if opener == "«" else f'"{_CURLY}'):
        for end in range(at + 1, len(units)):
            unit = units[end]
            if isinstance(unit, str) and unit in closers:
                return end
    raise UnclosedQuote


def _text(units: Sequence[str | Atom]) -> str:
    return "".join(unit if isinstance(unit, str) else unit.text for unit in units)
