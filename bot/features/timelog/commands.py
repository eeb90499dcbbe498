"""Parses `/timelog`."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from bot.errors import UserError
from bot.features.timelog.timelog import TimeDraft, TimeToLog
from bot.slack.grammar import dates, values
from bot.slack.grammar.durations import hours
from bot.slack.grammar.options import Parsed, parse
from bot.slack.grammar.requests import Help
from bot.slack.grammar.tokens import Word


@dataclass(frozen=True)
class EditLastEntry:
    """`/timelog edit`: edit the user's latest entry."""


TimelogRequest = TimeToLog | TimeDraft | EditLastEntry | Help
"""A draft opens the form."""

OPTIONS = ("project", "activity", "on")
MAX_DURATION_WORDS = 4
"""As in `1 h 30 min`."""

_ISSUE = re.compile(r"#?([1-9][0-9]{0,8})")
_DAY = re.compile(r"today|yesterday|[0-9]{4}-[0-9]{2}-[0-9]{2}", re.IGNORECASE)


class EditTakesNothing(UserError):
    """Something follows `/timelog edit`."""


class IssueOrDurationMissing(UserError):
    """The text begins neither with an issue nor with a duration."""


class IssueAndProject(UserError):
    """Both an issue and a project were given."""


def timelog_command(text: str, today: date, locale: str = "") -> TimelogRequest:
    """The request in `/timelog <text>`; `today` and `locale` are the user's. Raises UserError."""
    parsed = parse(text, OPTIONS)
    words = [word.text.lower() for word in parsed.words]
    if words[:1] == ["edit"]:
        if len(words) > 1 or parsed.options:
            raise EditTakesNothing
        return EditLastEntry()
    if words == ["help"] and not parsed.options:
        return Help()
    on = values.name(parsed, "on")
    draft = TimeDraft(
        project=values.name(parsed, "project"),
        activity=values.name(parsed, "activity"),
        spent_on=dates.spent_day(on, today) if on else None,
    )
    if not words:
        return draft
    about = _on_project if draft.project else _on_issue
    return about(parsed, draft, today, locale)


def _on_issue(parsed: Parsed, draft: TimeDraft, today: date, locale: str) -> TimelogRequest:
    if ahead := _duration_ahead(parsed.words, locale):
        spent, issue, count = ahead
        return _complete(parsed.after(count), draft.model_copy(update={"issue": issue}), spent, today)
    number = values.issue_number(parsed.words[0].text)
    if number is None:
        found, count = _duration(parsed.words, locale)
        if found is None:
            raise IssueOrDurationMissing
        return draft.model_copy(update={"hours": found, "comment": _comment(parsed.after(count))})
    draft, rest = draft.model_copy(update={"issue": number}), parsed.after(1)
    return _with_duration(rest, draft, today, locale) if rest.words else draft


def _on_project(parsed: Parsed, draft: TimeDraft, today: date, locale: str) -> TimelogRequest:
    named = values.issue_number(parsed.words[0].text) is not None
    if named and _duration(parsed.words[1:], locale)[0] is not None:
        raise IssueAndProject
    return _with_duration(parsed, draft, today, locale)


def _with_duration(parsed: Parsed, draft: TimeDraft, today: date, locale: str) -> TimeToLog:
    spent, count = _duration(parsed.words, locale)
    if spent is None:
        spent, count = hours(parsed.words[0].text, locale), 1  # which raises: it says what is wrong
    return _complete(parsed.after(count), draft, spent, today)


def _complete(rest: Parsed, draft: TimeDraft, spent: Decimal, today: date) -> TimeToLog:
    """What follows the duration: a day unless `on:` gave one, then the comment."""
    day = draft.spent_on
    if day is None and rest.words and _is_day(rest.words):
        day, rest = dates.spent_day(rest.words[0].text, today), rest.after(1)
    return TimeToLog(
        issue=draft.issue,
        project=draft.project,
        hours=spent,
        activity=draft.activity,
        spent_on=day or today,
        comment=_comment(rest),
    )


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
        with suppress(UserError):
            return hours(" ".join(plain[:count]), locale), count
    return None, 0


def _comment(parsed: Parsed) -> str:
    return " ".join(parsed.text.split())
