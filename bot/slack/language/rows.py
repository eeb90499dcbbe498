"""A command's table: rows of what is typed, each with what it means. The first row that fits counts."""

import re
from collections.abc import Mapping
from typing import Generic, TypeVar

T = TypeVar("T")
_BEFORE = r"(?:\A\s*|(?<=[^\s:])[,.!?:]*\s+)"
_SLOTS = {
    "issue": r"#?[0-9]{1,12}[:,?!]*(?!\S)|<?https?://[^\s>]{1,2000}(?:>|(?!\S))",
    "rest": r"\S.*",
    "talk": r"(?:(?:my|account|me|am|i|up|please|in|out|the|to)(?:\s+|(?![^\s.!?])))+",
}


class Table(Generic[T]):
    """Rows of words with alternatives (`a|b`), optional words (`a?`), and slots, such as `{issue}`.

    `{rest}`, at the end of a row, takes everything that is left; punctuation after a word means nothing.
    """

    def __init__(self, *rows: tuple[str, T]) -> None:
        self._rows = [(_compiled(said), means) for said, means in rows]
        self.verbs = {one for said, _ in rows for one in said.split(" ")[0].split("|") if one[2:]}

    def take(self, text: str) -> tuple[T, Mapping[str, str]] | None:
        """What the text means, with the texts of its slots; None if no row fits."""
        for pattern, means in self._rows:
            if match := pattern.match(text):
                return means, match.groupdict(default="")
        return None


def _compiled(said: str) -> re.Pattern[str]:
    parts = []
    for word in said.split():
        slot = word.strip("{}?")
        options = "|".join(map(re.escape, word.removesuffix("?").split("|")))
        one = f"(?P<{slot}>{_SLOTS[slot]})" if word[0] == "{" else f"(?:{options})(?![^\\s,.!?:])"
        parts.append(f"(?:{_BEFORE}{one}){'?' if word.rstrip('}')[-1] == '?' or word[-1] == '?' else ''}")
    return re.compile("".join(parts).replace("'", "['’]") + r"[\s,.!?]*\Z", re.IGNORECASE | re.DOTALL)
