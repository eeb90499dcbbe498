"""Marks what the words of a text may mean: names, dates, numbers and periods. Each is looked up once."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.errors import UserError
from bot.service.models import Ref
from bot.slack.language import dates
from bot.slack.language.dates import Today
from bot.slack.language.durations import NUMBERS, hours
from bot.slack.language.phrases import FILLERS, NOBODY, SELF
from bot.slack.language.tokens import Word
from bot.spelling import ENOUGH_LETTERS, GOVERNING

MAX_NAME_WORDS = 6  # how many words a name or a date may take
MAX_WORDS = 60  # how many words are read for phrases; what follows is text
END = ".,;!?"
CRITICAL = ("immediate", "urgent", "critical", "blocker", "highest", "high")
"""Priorities that stand for *critical*, the nearest first."""
URGENT = frozenset({"urgent", "immediate", "critical", "blocker"})
SORTED = {
    **dict.fromkeys(("due", "due date", "deadline"), "due"),
    **dict.fromkeys(("priority", "prio", "urgency", "importance"), "priority"),
    **dict.fromkeys(("updated", "update", "last update", "last updated", "activity"), "updated:desc"),
    **dict.fromkeys(("created", "creation", "creation date", "date", "age"), "created:desc"),
    **dict.fromkeys(("assignee", "person", "people"), "to"),
    **{key: key for key in ("status", "project", "author", "category", "version", "subject")},
    "number": "id",
    "type": "tracker",
}
_COMPARED = {"before": "<", "after": ">", "since": ">=", "from": ">="} | dict.fromkeys(
    ("until", "till", "by"), "<="
)
_WITHIN = re.compile(r"(?:in |within |during |over )?(?:the )?((?:last|past|next|this) .+)")
_BETWEEN = re.compile(r"between (.+) and (.+)")
_SPELLED_OUT = {"w/o": "without", "w/": "with", "im": "i'm", "ive": "i've"}
_PERCENT = re.compile(r"[0-9]{1,3} ?%")
_POSSESSIVE = re.compile(r"(.+?)['’]s?")
_NUMBER = re.compile(r"#?[1-9][0-9]{0,8}")
_SPAN = re.compile(rf"(?:[0-9]{{1,4}}|an?|{'|'.join(NUMBERS)}) (?:day|week|month|year)s?")
_EFFORT = re.compile(r"[0-9].*[a-z]|.*\bhours?\b")  # a number alone may be anything
_MONTHS = frozenset(dates.MONTH_FORMS)
CALENDAR = _MONTHS.union(dates.WEEKDAY_FORMS)


@dataclass(frozen=True)
class Vocabulary:
    """The `names` that this person may use, by kind, and custom `fields`; `problem` is why there are none."""

    names: Mapping[str, Collection[str]] = field(default_factory=dict)
    fields: Collection[Ref] = ()
    problem: UserError | None = None


class Marks:
    """The spans of a text. `in_full`: names count only if they are typed in full words. `nobody` is the value
    for nobody in place of a person, if there is one.
    """

    def __init__(
        self,
        words: Sequence[Word],
        vocabulary: Vocabulary,
        today: Today,
        *,
        in_full: bool = False,
        nobody: str | None = None,
    ) -> None:
        self.words, self.today, self.in_full, self.nobody = words, today, in_full, nobody
        self.plain = [plain(word) for word in words]
        self._names = vocabulary.names
        self._folded: dict[str, dict[str, str]] = {}
        self._texts: dict[str, str] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._found: dict[tuple[str, int, bool], tuple[str, int] | None] = {}

    def span(self, kind: str, at: int, *, leads: bool) -> tuple[str, int] | None:
        """The longest span of this kind that begins at a word: its value, and how many words it has.

        After a word that `leads` to it, a name may be shortened.
        """
        key = (kind, at, leads)
        if key not in self._found:
            named = kind in NAMED
            self._found[key] = self._named(kind, at, leads=leads) if named else self._other(kind, at)
        return self._found[key]

    def _runs(self, at: int) -> Iterator[tuple[str, int]]:
        """What may be a name or a date, from its first word on; a comma ends a name."""
        run = ""
        for count, (word, known) in enumerate(zip(self.words[at:], self.plain[at:], strict=True), 1):
            if known is None or count > MAX_NAME_WORDS:
                return
            run = f"{run} {word.text}" if run else word.text
            yield dates.bare(run), count

    def _named(self, kind: str, at: int, *, leads: bool) -> tuple[str, int] | None:
        best, names = None, NAMED[kind]
        if not leads and kind == names and self._unknown(kind, self.plain[at] or ""):
            return None
        for typed, count in self._runs(at):
            folded = typed.casefold()
            if kind == "owner" and (match := _POSSESSIVE.fullmatch(folded)):
                if value := self._person(match[1], leads=True):
                    best = (value, count)
                break
            value = self._name(kind, typed, folded, leads=leads)
            best = (value, count) if value else best
            if not value and f" {folded.removeprefix('@')}" not in self._text(names):
                break
        return best

    def _name(self, kind: str, typed: str, folded: str, *, leads: bool) -> str | None:
        if kind in ("owner", "person"):
            return self._person(folded, leads=leads) if kind == "person" else None
        if kind == "urgent":
            return self._urgent(folded)
        if kind == "least":  # `high+`
            return self._names_of("priority").get(folded.removesuffix("+")) if folded.endswith("+") else None
        called = self._names_of(kind).get(folded)
        return called or (typed if leads and self._begins(kind, folded) else None)

    def _person(self, folded: str, *, leads: bool) -> str | None:
        if leads and folded in SELF:
            return "me"
        if leads and folded in NOBODY:
            return self.nobody
        name = folded.removeprefix("@")
        if leads:
            return name if self._begins("person", name) else None
        common = name in GOVERNING or name in CALENDAR or len(name) < ENOUGH_LETTERS
        return name if not common and f" {name} " in self._text("person") else None

    def _urgent(self, folded: str) -> str | None:
        names = self._names_of("priority")
        if folded not in URGENT:
            return None
        return names.get(folded) or next((names[one] for one in CRITICAL if one in names), None)

    def _names_of(self, kind: str) -> dict[str, str]:
        if kind not in self._folded:
            names = self._names.get(kind, ())
            folded = {name.casefold(): name for name in names}
            if kind == "tracker":
                folded = {plural(name): called for name, called in folded.items()} | folded
            self._folded[kind] = folded
        return self._folded[kind]

    def _unknown(self, kind: str, word: str) -> bool:
        """Whether no name of this kind has that word."""
        if kind not in self._words:
            self._words[kind] = frozenset(word.rstrip(END) or word for word in self._text(kind).split())
        return word.removeprefix("@") not in self._words[kind]

    def _text(self, kind: str) -> str:
        """The names in one text, with a space before and after each of their words."""
        if kind not in self._texts:
            self._texts[kind] = "".join(f"\n {' '.join(name.split())} " for name in self._names_of(kind))
        return self._texts[kind]

    def _begins(self, kind: str, typed: str) -> bool:
        """Whether a name, or one of its words, begins with the typed text."""
        end = " " if self.in_full or len(typed) < ENOUGH_LETTERS else ""
        # `in the office`, `not in Slack`, but `for will` may name somebody
        governing = GOVERNING if self.in_full else FILLERS
        governs = typed in governing and (self.in_full or kind != "person")
        return len(typed) > 1 and not governs and f" {typed}{end}" in self._text(kind)

    def _other(self, kind: str, at: int) -> tuple[str, int] | None:
        best = None
        for typed, count in self._runs(at):
            value = _READ[kind](typed.casefold(), self.today)
            best = (value, count) if value else best
        return best


def plain(word: Word) -> str | None:
    """Return the word in the tables' spelling; None if it is quoted or mentions somebody."""
    if not word.is_plain:
        return None
    typed = word.text.casefold().replace("’", "'").rstrip(END) or word.text
    return _SPELLED_OUT.get(typed, typed)


def plural(name: str) -> str:
    """`bug` → `bugs`, `story` → `stories`."""
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _times(typed: str, today: Today) -> str | None:
    return _range(typed, lambda text: dates.days(text, today, "past"))


def _range(typed: str, read: Callable[[str], object]) -> str | None:
    """The value of an option for these dates: `before friday` is `<friday`."""
    typed = typed.removesuffix("'s").removesuffix("’s")  # `last week's bugs`
    first, _, rest = typed.partition(" ")
    if first in _COMPARED and rest:
        typed = _COMPARED[first] + rest.removeprefix("the ")
    elif match := _BETWEEN.fullmatch(typed):
        typed = "..".join(_both_in_full(match[1], match[2]))
    elif match := _WITHIN.fullmatch(typed):
        typed = match[1]
    elif rest and (first == "on" or (first == "in" and _MONTHS.intersection(rest.split()))):
        typed = rest
    return _date(typed, read)


def _both_in_full(start: str, end: str) -> tuple[str, str]:
    """Two days, of which one may be only a number in the other's month: `1 and 15 november`."""
    month = " ".join(_MONTHS.intersection(f"{start} {end}".split()))
    return (f"{start} {month}" if start.isdigit() else start, f"{month} {end}" if end.isdigit() else end)


def _date(typed: str, read: Callable[[str], object]) -> str | None:
    try:
        read(typed)
    except dates.NotADate:
        return None
    except UserError:  # the option's reader reports an ambiguous date
        pass
    return typed


def _hours(typed: str) -> str | None:
    try:
        return typed if hours(typed) else None
    except UserError:
        return None


def _fits(pattern: re.Pattern[str]) -> Callable[[str, Today], str | None]:
    return lambda typed, _: typed if pattern.fullmatch(typed) else None


NAMED = {kind: kind for kind in ("person", "project", "tracker", "status", "priority", "category", "version")}
NAMED |= {"owner": "person", "urgent": "priority", "least": "priority"}
"""The slots that hold names, and the kind of these."""
_READ: Mapping[str, Callable[[str, Today], str | None]] = {
    "day": lambda typed, today: _date(typed.removeprefix("on "), lambda text: dates.day(text, today)),
    "dates": lambda typed, today: _range(typed, lambda text: dates.days(text, today, "future")),
    "times": _times,
    # April is a name, and `by friday` may be when something is due
    "period": lambda typed, today: (
        None
        if typed in CALENDAR or typed.startswith("by ") or typed.count("/") == 1
        else _times(typed, today)
    ),
    "percent": _fits(_PERCENT),
    "hours": lambda typed, _: _hours(typed),
    "effort": lambda typed, _: _hours(typed) if _EFFORT.match(typed) else None,
    "number": _fits(_NUMBER),
    "month": lambda typed, _: typed if _MONTHS.intersection(typed.split()[-1:]) else None,
    "span": lambda typed, _: f"{typed} ago" if _SPAN.fullmatch(typed) else None,
    "sorted": lambda typed, _: SORTED.get(typed),
    "word": lambda typed, _: None if " " in typed or typed in GOVERNING else typed,
}
