"""Words → options and text (contract.md, Slash commands)."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from bot.errors import UserError
from bot.slack.grammar.tokens import Atom, Value, Word, words

CUSTOM_FIELD = "cf_"
_OPTION = re.compile(r"([^\W\d_][\w-]{0,31}):(.*)", re.DOTALL)
_CUSTOM_FIELD = re.compile(r"cf_[0-9]{1,9}")
_ALSO_CALLED = {
    "assign": "to",
    "assigned": "to",
    "assigned_to": "to",
    "assignee": "to",
    "assignees": "to",
    "by": "group",
    "date": "on",
    "day": "on",
    "deadline": "due",
    "description": "desc",
    "hours": "estimate",
    "milestone": "version",
    "order": "sort",
    "state": "status",
    "timezone": "tz",
    "type": "tracker",
    "zone": "tz",
}


@dataclass(frozen=True)
class Parsed:
    """A command's options by key, in the order typed, and the words that are none."""

    words: tuple[Word, ...]
    options: Mapping[str, tuple[Value, ...]]

    @property
    def text(self) -> str:
        """The words as the person wrote them, less the quotes that go round all of it or shield an option."""
        if len(self.words) == 1 and self.words[0].quoted:
            return self.words[0].text
        shown = (w.text if w.quoted and _OPTION.match(w.text) else w.source for w in self.words)
        return " ".join(shown).strip()

    @property
    def plain(self) -> str:
        """The words without any quotes."""
        return " ".join(word.text for word in self.words).strip()

    def after(self, count: int) -> "Parsed":
        """The same without the first `count` words."""
        return Parsed(self.words[count:], self.options)


def parse(text: str, known: Collection[str]) -> Parsed:
    """The options of `text`, keys in lower case. `cf_` in `known` stands for `cf_<id>`.

    Raises UserError for an unknown key, a key without a value, and a quote that is never closed.
    """
    plain: list[Word] = []
    options: dict[str, list[Value]] = {}
    for word in words(text):
        option = _option(word, known)
        if option is None:
            plain.append(word)
        else:
            options.setdefault(option[0], []).append(option[1])
    return Parsed(tuple(plain), {key: tuple(values) for key, values in options.items()})


def nearest(name: str, names: Collection[str]) -> str | None:
    """The one of `names` that was most likely meant."""
    name = name.lower()
    if (other := _ALSO_CALLED.get(name)) in names:
        return other
    started = [n for n in names if len(name) > 1 and n.startswith(name)]
    close = started or get_close_matches(name, sorted(names), n=1, cutoff=0.5)
    return close[0] if close else None


def _option(word: Word, known: Collection[str]) -> tuple[str, Value] | None:
    """The option that a word is, or None where its colon is only text: `12:30`, `http://…`, `std::vector`."""
    first = word.atoms[0]
    match = None if first.quoted or first.user else _OPTION.fullmatch(first.text)
    if match is None:
        return None
    key, rest = match[1].lower(), match[2]
    value = Value(((Atom(rest),) if rest else ()) + word.atoms[1:])
    if rest.startswith((":", "//")):
        return None
    if (key in known and key != CUSTOM_FIELD) or (CUSTOM_FIELD in known and _CUSTOM_FIELD.fullmatch(key)):
        if not value.text:
            raise UserError(
                f"`{key}:` needs a value right after its colon; text with a colon goes in quotes."
            )
        return key, value
    if not value.text or len(key) == 1 or rest.startswith(("/", "\\")):
        return None
    raise UserError(_unknown(key, known))


def _unknown(key: str, known: Collection[str]) -> str:
    if CUSTOM_FIELD in known and key.startswith("cf"):
        meant: str | None = "cf_<id>"
    else:
        meant = nearest(key, [k for k in known if k != CUSTOM_FIELD])
    if meant:
        return f"Unknown option `{key}:`; did you mean `{meant}:`? Text with a colon goes in double quotes."
    listed = ", ".join(f"`{'cf_<id>' if k == CUSTOM_FIELD else k}:`" for k in known)
    return f"Unknown option `{key}:`; there are {listed}, and text with a colon goes in double quotes."
