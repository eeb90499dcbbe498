"""Parses `/timelog`, and finds the issue that a message names."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

from bot.errors import UserError
from bot.slack.grammar import dates, values
from bot.slack.grammar.durations import hours
from bot.slack.grammar.options import Parsed, parse
from bot.slack.grammar.requests import Help
from bot.slack.grammar.tokens import Word
from bot.slack.text.escaping import decode


@dataclass(frozen=True, kw_only=True)
class LogTime:
    """`/timelog 42 1h30`: time to log on an issue or a project; None for what wasn't typed."""

    issue: int | None = None
    project: str | None = None
    hours: Decimal | None = None
    activity: str | None = None
    on: date | None = None
    comment: str = ""


@dataclass(frozen=True)
class OpenTimeForm:
    """`/timelog` without an issue or a duration: the form with what was typed."""

    prefilled: LogTime = field(default_factory=LogTime)


@dataclass(frozen=True)
class EditLastEntry:
    """`/timelog edit`: edit the user's latest entry."""


TimelogRequest = LogTime | OpenTimeForm | EditLastEntry | Help

OPTIONS = ("project", "activity", "on")
MAX_DURATION_WORDS = 4
"""As in `1 h 30 min`."""

_ENTITY = re.compile(r"<([^<>\n]*)>")
_ISSUE = re.compile(r"#?([1-9][0-9]{0,8})")
_DAY = re.compile(r"today|yesterday|[0-9]{4}-[0-9]{2}-[0-9]{2}", re.IGNORECASE)
_NUMBERED = re.compile(r"(?<![\w&#/])#([0-9]{1,9})(?!\w)")


def timelog_command(text: str, today: date, locale: str = "") -> TimelogRequest:
    """The request in `/timelog <text>`; `today` and `locale` are the user's. Raises UserError."""
    parsed = parse(text, OPTIONS)
    first = parsed.words[0].text.lower() if parsed.words else ""
    if first == "edit":
        if len(parsed.words) > 1 or parsed.options:
            raise UserError("`/timelog edit` opens your last entry: type it alone.")
        return EditLastEntry()
    if first == "help" and len(parsed.words) == 1 and not parsed.options:
        return Help()
    on = values.name(parsed, "on")
    wanted = LogTime(
        project=values.name(parsed, "project"),
        activity=values.name(parsed, "activity"),
        on=dates.spent_day(on, today) if on else None,
    )
    about = _on_project if wanted.project else _on_issue
    return about(parsed, wanted, today, locale)


def issue_named(text: str, base_url: str) -> int | None:
    """The issue that a message names: by its first link to one in the service, else by its first `#42`."""
    link = re.compile(rf"{re.escape(base_url)}/issues/([0-9]{{1,9}})(?![0-9])", re.IGNORECASE)
    found = (link.match(decode(entity.partition("|")[0])) for entity in _ENTITY.findall(text))
    number = next((match for match in found if match), None) or _NUMBERED.search(
        decode(_ENTITY.sub(" ", text))
    )
    return int(number[1]) or None if number else None


def _on_issue(parsed: Parsed, wanted: LogTime, today: date, locale: str) -> TimelogRequest:
    if not parsed.words:
        return OpenTimeForm(wanted)
    if ahead := _duration_ahead(parsed.words, locale):
        wanted = replace(wanted, hours=ahead[0], issue=ahead[1])
        return _with_rest(parsed.after(ahead[2]), wanted, today)
    number = values.issue_number(parsed.words[0].text)
    if number is None:
        spent, count = _duration(parsed.words, locale)
        if spent is None:
            raise UserError("Say which issue and how long: `/timelog 42 1h30`, or try `/timelog help`.")
        return OpenTimeForm(replace(wanted, hours=spent, comment=_comment(parsed.after(count))))
    wanted, rest = replace(wanted, issue=number), parsed.after(1)
    return _with_duration(rest, wanted, today, locale) if rest.words else OpenTimeForm(wanted)


def _on_project(parsed: Parsed, wanted: LogTime, today: date, locale: str) -> TimelogRequest:
    if not parsed.words:
        return OpenTimeForm(wanted)
    named = values.issue_number(parsed.words[0].text) is not None
    if named and _duration(parsed.words[1:], locale)[0] is not None:
        raise UserError("Time is spent on an issue or on a project: leave out one of them.")
    return _with_duration(parsed, wanted, today, locale)


def _with_duration(parsed: Parsed, wanted: LogTime, today: date, locale: str) -> LogTime:
    spent, count = _duration(parsed.words, locale)
    if spent is None:
        spent, count = hours(parsed.words[0].text, locale), 1
    return _with_rest(parsed.after(count), replace(wanted, hours=spent), today)


def _with_rest(rest: Parsed, wanted: LogTime, today: date) -> LogTime:
    """What follows the duration: a day unless `on:` gave one, then the comment."""
    if rest.words and wanted.on is None and _is_day(rest.words):
        wanted, rest = replace(wanted, on=dates.spent_day(rest.words[0].text, today)), rest.after(1)
    return replace(wanted, comment=_comment(rest))


def _is_day(words: Sequence[Word]) -> bool:
    """Whether the first word is a day. A weekday is one only if it stands alone: `Mon Repos` is a comment."""
    first = words[0]
    return not first.quoted and (
        _DAY.fullmatch(first.text) is not None or (len(words) == 1 and dates.is_weekday(first.text))
    )


def _duration_ahead(words: Sequence[Word], locale: str) -> tuple[Decimal, int, int] | None:
    """The duration and the issue in `1h 42`, and how many words they take; None if the words are ambiguous,
    as in `1h 30 42`.
    """
    for count in range(min(len(words) - 1, MAX_DURATION_WORDS), 0, -1):
        duration = " ".join(word.text for word in words[:count])
        mistakable = values.issue_number(duration) if count == 1 else duration[-1].isdigit()
        issue = _ISSUE.fullmatch(words[count].text)
        if mistakable or issue is None:
            continue
        after = words[count + 1 : count + 2]
        if (
            after
            and after[0].text[0].isdigit()
            and not words[count].text.startswith("#")
            and not _is_day(after)
        ):
            continue
        with suppress(UserError):
            return hours(duration, locale), int(issue[1]), count + 1
    return None


def _duration(words: Sequence[Word], locale: str) -> tuple[Decimal | None, int]:
    """The duration that the words begin with, and how many of them it takes.

    A duration of several words ends with a unit or at the end of the text: `1h 30 tickets` is one hour.
    """
    plain = [word.text for word in words[:MAX_DURATION_WORDS]]
    for count in range(len(plain), 0, -1):
        if count > 1 and count < len(words) and plain[count - 1][-1:].isdigit():
            continue
        try:
            return hours(" ".join(plain[:count]), locale), count
        except UserError:
            continue
    return None, 0


def _comment(parsed: Parsed) -> str:
    return " ".join(parsed.text.split())
