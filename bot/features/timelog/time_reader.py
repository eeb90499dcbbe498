"""Reads the time in a text: what it was spent on, how long, when, and the comment."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import TypeVar

from bot.errors import UserError
from bot.features.timelog.drafts import OtherReading, TimeDraft, TimeToLog
from bot.slack.language import dates, values
from bot.slack.language.doubts import PAST, is_told
from bot.slack.language.durations import DURATION, LONG, WITH_UNIT, hours
from bot.slack.language.marks import MAX_NAME_WORDS, plain
from bot.slack.language.options import Parsed
from bot.slack.language.phrases import AND, NEGATIONS
from bot.slack.language.reading import DASHES
from bot.slack.language.tables import shapes
from bot.slack.language.tokens import Word
from bot.slack.language.values import CommandContext
from bot.spelling import GOVERNING

T = TypeVar("T")
LINK = "for|on|to|in|issue"
ALSO = AND | {"or", "/"}
MEANINGLESS = frozenset({*DASHES, ":", "please", "pls", "plz"})
"""Words that mean nothing before or after a comment."""
DELETING = (["delete"], ["remove"], ["undo"])
SPENDING = frozenset({"i", "i've", "spent", "worked", "logged", "took", "me", "on", "it", "for"})
"""Words that say nothing if they are the whole comment."""
_FEW = r"[^\s#\"“”„‟«»]+(?:\s+[^\s#\"“”„‟«»]+){0,4}?"  # no quotes: what they hold is a comment
_HALF = r"[0-9]{1,5} ?h(?:ours?)? [0-9]{1,2}"  # a duration at the end of a text, or before its issue
_SLOTS = {
    "total": rf"(?:{_HALF}|[0-9]{{1,5}})(?!\S)|{LONG}|{DURATION}",
    "amount": rf"{_HALF}(?=\s*\Z)|{LONG}|{DURATION}|"
    r"[0-9]{1,5}(?:[.,][0-9]{1,4})?(?![^\s,!?]|\s+days?\b|\s+\S+\s+ago\b)",
    # `1h 42 2 files` may not mean issue 42, but `1h 42 2026-07-01` does
    "certain": r"#[0-9]{1,9}[:,]?(?!\S)|[0-9]{1,9}[:,]?(?!\S)(?!\s+(?![0-9]{4}-|[0-9]+\.[0-9]+\.)[0-9])",
    "comment": _FEW,
    "spent": WITH_UNIT,
    "long": LONG,
}
_ON_ISSUE = shapes(
    f"{LINK}? {{issue}} for|about|around {{duration}} {{rest?}}",
    f"{{total}} {LINK} {LINK}? {{issue}} {{rest?}}",
    "{duration} {certain} {rest?}",
    "{long} {certain} {rest?}",
    f"{LINK}? {{duration}} {{rest?}}",
    f"{LINK}? {{issue}} {{amount}} {{rest?}}",
    f"{LINK}? {{issue}} {{comment}} {{spent}} {{rest?}}",
    f"{LINK}? {{issue}} {{rest?}}",
    **_SLOTS,
)
_BESIDE_ISSUE = (*_SLOTS.keys() - {"certain"}, "duration", "rest")
_ON_PROJECT = shapes("{issue} {duration} {rest?}", "{amount} {rest?}", "{comment} {spent} {rest?}", **_SLOTS)
_BESIDE = shapes("{duration} {rest}", "{comment} {spent} {rest?}", **_SLOTS)


@dataclass(frozen=True)
class _Parts:
    """The issue and the duration in a text, as typed, and the words of the comment.

    `before` are the words before the duration, and `others` all but the issue's: the comment if there is no
    duration.
    """

    issue: int | None
    spent: str
    comment: Parsed
    others: Parsed
    before: Sequence[str]


class TimeReader:
    """Reads the time in a text. The first error is in `problem`."""

    def __init__(self, typist: CommandContext) -> None:
        self.problem: UserError | None = None
        self._typist = typist

    def time(self, parsed: Parsed) -> TimeToLog | TimeDraft:
        """The time, complete if it can be. Raises UserError for an option that is typed twice."""
        project, activity = values.name(parsed, "project"), values.name(parsed, "activity")
        day, parsed = self._first_day(parsed)
        parts = _parts(parsed, project)
        if parts.issue and project:
            self._report(UserError("Log time on an issue or a project, not both. Leave one out."))
        amount = self._amount(parts.spent, known=bool(parts.issue or project))

        comment = parts.comment
        if parts.before in DELETING or not NEGATIONS.isdisjoint(parts.before):
            self._report(unclear_numbers())
            amount, comment = None, parts.others
        elif is_told(parts.before):
            self._report(_unclear_duration(parts.spent))
            comment = parts.others
        elif not (amount or re.fullmatch(LONG, parts.spent, re.IGNORECASE)):
            comment = parts.others

        on = None if parts.issue else project
        draft = TimeDraft(issue=parts.issue, project=on, hours=amount, activity=activity, spent_on=day)
        return self._commented(draft, comment)

    def _first_day(self, parsed: Parsed) -> tuple[date | None, Parsed]:
        """The day in `on:` or before everything else, and the remaining text."""
        today = self._typist.today
        if on := values.name(parsed, "on"):
            return self._tried(partial(dates.spent_day, on, today)), parsed
        with suppress(UserError):  # the comment's day is reported
            day = dates.said_day(parsed.words, today) if parsed.words[1:] else None
            if day and day.sure and day.at == 0 and parsed.words[day.count :]:
                return day.day, parsed.after(day.count)
        return None, parsed

    def _amount(self, spent: str, *, known: bool) -> Decimal | None:
        """The hours. An error is reported if it's `known` what they were spent on."""
        try:
            return hours(spent, self._typist.locale) if spent else None
        except UserError as error:
            if known:
                self._report(error)
            return None

    def _commented(self, draft: TimeDraft, typed: Parsed) -> TimeToLog | TimeDraft:
        """The draft with the comment, and with the day before or after that, unless it has one."""
        today, comment = self._typist.today, typed
        day = None if draft.spent_on else self._tried(partial(dates.said_day, typed.words, today))
        known: dict[str, object] = {}
        if day:
            rest, ahead = typed.without(day.at, day.count), self._typist.is_ahead(day.day)
            if day.sure:
                comment = rest
                known["spent_on"] = day.day
                known["other"] = OtherReading(comment=_comment(typed)) if ahead else None
            elif not ahead:
                known["other"] = OtherReading(spent_on=day.day, comment=_comment(rest))

        draft = draft.model_copy(update={**known, "comment": _comment(comment)})
        if not (draft.hours and (draft.issue or draft.project)):
            return draft
        spent_on = draft.spent_on or self._tried(today)
        if spent_on is None:
            return draft
        quoted = len(comment.words) == 1 and comment.words[0].quoted
        return TimeToLog.model_validate({**draft.model_dump(), "spent_on": spent_on, "quoted": quoted})

    def _tried(self, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except UserError as error:
            self._report(error)
            return None

    def _report(self, error: UserError) -> None:
        self.problem = self.problem or error


def _parts(parsed: Parsed, project: str | None) -> _Parts:
    """The parts of a text by its shape. Without a duration, that is the first word of the comment."""
    row = (_ON_PROJECT if project else _ON_ISSUE).take(parsed.source)
    slots = row[1].groupdict() if row else {}
    issue = values.issue_number(slots.get("certain") or slots.get("issue") or "")
    spent = next(filter(None, map(slots.get, ("total", "duration", "amount", "spent", "long"))), "")
    known = issue or project

    comment = _within(parsed, row[1], "comment", "rest") if row else parsed
    others = _within(parsed, row[1], *_BESIDE_ISSUE) if row and known else parsed
    before = [plain(word) or "" for word in _within(parsed, row[1], "comment").words] if row else []
    if known and not spent and comment.words and PAST.isdisjoint(map(plain, comment.words)):
        spent = comment.words[0].text  # `2 hours ago` is no duration
    return _Parts(issue, spent, comment, others, before)


def unclear_numbers() -> UserError:
    return UserError(
        "I can't tell which number is the issue and which is the duration, so I didn't log anything. Type "
        "one of each, such as `{/timelog} 42 1h30`."
    )


def _unclear_duration(spent: str) -> UserError:
    return UserError(
        "I can't tell whether “{spent}” is the time you spent, so I didn't log anything. Check the form.",
        spent=spent,
    )


def _within(parsed: Parsed, match: re.Match[str], *slots: str) -> Parsed:
    """The words that some slots took."""
    spans = [match.span(slot) for slot in slots if slot in match.re.groupindex]
    at, kept = 0, list[Word]()
    for word in parsed.words:
        kept += [word] if any(start <= at < end for start, end in spans) else []
        at += len(word.source) + 1
    return replace(parsed, words=tuple(kept))


def beside_duration(parsed: Parsed) -> Iterator[tuple[Word, ...]]:
    """The words right before or after the duration that may name a project, the longest run first."""
    row = _BESIDE.take(parsed.source)
    words = _within(parsed, row[1], "comment").words if row else ()
    shortest = len(words)
    if row and not words:
        words, shortest = _within(parsed, row[1], "rest").words[:MAX_NAME_WORDS], 1
    for end in range(len(words), max(shortest, 1) - 1, -1):
        run, after = words[:end], [word.text.lower() for word in words[end : end + 1]]
        name = " ".join(word.text for word in run)
        plain = all(word.is_plain for word in run)
        if plain and len(name) > 1 and name.lower() not in GOVERNING and not ALSO.intersection(after):
            yield run


def _comment(parsed: Parsed) -> str:
    if SPENDING.issuperset(plain(word) or "" for word in parsed.words):
        return ""
    return " ".join(trimmed(parsed).text.split())


def trimmed(parsed: Parsed) -> Parsed:
    """The text without words at its ends that mean nothing."""
    kept = [n for n, word in enumerate(parsed.words) if plain(word) not in MEANINGLESS]
    return replace(parsed, words=parsed.words[kept[0] : kept[-1] + 1] if kept else ())
