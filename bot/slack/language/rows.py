"""A command's table: rows of typed patterns and their meanings. The first row that fits counts."""

import re
from collections.abc import Callable
from typing import Generic, TypeVar

from bot.slack.language.durations import DURATION
from bot.slack.language.phrases import TALK
from bot.slack.language.values import issue_number

T = TypeVar("T")
EVERYTHING = r"\S.*"
BEFORE, AFTER = r"(?:\A|(?<=\S)[,.:!?]{0,9}\s+)", r"(?![^\s,.!?])"
_POLITE = rf"(?:[\s,.!?]+(?:{'|'.join(sorted(TALK, key=len, reverse=True))}){AFTER}){{0,3}}"
_GREETING = re.compile(
    r"\A\s*(?:(?:please|pls|plz|hey|hi|okay|(?-i:ok)|ok(?=[,.!?]))[\s,.!?]+(?=\S))+", re.IGNORECASE
)
_SLOTS = {
    "issue": r"#?[0-9]{1,12}[:,!?\uff1f]*(?!\S)|<?https?://[^\s>]{1,2000}>?[:,]?(?!\S)",
    "duration": DURATION,
    "talk": r"(?:(?:my|account|me|am|i|up|please|in|out|the|to)(?:\s+|(?![^\s.!?])))+",
}


class CommandTable(Generic[T]):
    """Rows of words with alternatives (`a|b`), optional ones (`a?`), named ones (`act=a|b`), and slots.

    A slot without a pattern, such as `{rest}`, takes everything that is left. Punctuation after a word means
    nothing; after the last one, it is the slot `end`, and polite words mean nothing there.
    """

    def __init__(self, *rows: tuple[str, T], **slots: str) -> None:
        known = _SLOTS | slots
        self._rows = [(_compiled(row, known), means) for row, means in rows]
        first = [row.split(" ")[0].removesuffix("?").rpartition("=")[2] for row, _ in rows if row[:1] != "{"]
        self.verbs = {verb for verb in "|".join(first).split("|") if verb[2:]}

    def take(self, text: str, **checks: Callable[[str], object]) -> tuple[T, re.Match[str]] | None:
        """What the text means, with its slots; None if no row fits. A slot's check tells whether it fits."""
        checks = {"issue": issue_number} | checks
        for pattern, means in self._rows:
            match = pattern.match(text)
            slots = match.groupdict().items() if match else ()
            if match and all(
                checks[slot](typed) for slot, typed in slots if typed is not None and slot in checks
            ):
                return means, match
        return None


def shapes(*rows: str, **slots: str) -> CommandTable[None]:
    """A table of which only the slots matter."""
    return CommandTable(*((row, None) for row in rows), **slots)


def without_greeting(text: str) -> str:
    """The text without polite words before a request."""
    return _GREETING.sub("", text)


def _compiled(pattern: str, slots: dict[str, str]) -> re.Pattern[str]:
    row = ""
    for word in pattern.split():
        optional = word.removesuffix("}").endswith("?")
        if word[0] == "{":
            slot = word.strip("{}?")
            one = f"(?P<{slot}>{slots.get(slot, EVERYTHING)})"
        else:
            name, _, choices = word.removesuffix("?").rpartition("=")
            options = "|".join(map(re.escape, choices.split("|"))).replace("'", "['’]")
            one = f"(?{f'P<{name}>' if name else ':'}{options}){AFTER}"
        row += f"(?:{BEFORE}{one}){'?' if optional else ''}"
    return re.compile(rf"{row}{_POLITE}(?P<end>[\s,.!?]*)\Z", re.IGNORECASE | re.DOTALL)
