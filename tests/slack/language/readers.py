"""Reads texts for the table of examples, and builds what they mean."""

from collections.abc import Callable, Collection
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from bot.features.digests.commands import AddDigest, digest_command, typed_digest
from bot.features.digests.plans import Typed
from bot.features.issue_command.commands import (
    CreateIssue,
    TypedIssue,
    issue_command,
    new_issue,
)
from bot.features.issues.fields import Draft
from bot.features.search.commands import OPTIONS as FILTERS
from bot.features.search.commands import issues_command
from bot.features.timelog.commands import timelog_command, typed_time
from bot.features.timelog.drafts import TimeToLog
from bot.features.tracker.commands import tracker_command
from bot.service.filters import DateRange, TimeRange
from bot.slack.language.dates import day, days
from bot.slack.language.durations import hours
from bot.slack.language.marks import Vocabulary
from bot.slack.language.options import Parsed, checked, understand
from bot.slack.language.values import CommandContext
from bot.store.owner import Owner
from bot.store.plans import Plan
from tests.support.digesting import requested_plan

T = TypeVar("T")
ANA, BO, CY = (Owner("E1", "T1", f"U{number}") for number in (1, 2, 3))
WEDNESDAY = date(2026, 7, 15)
PARIS = ZoneInfo("Europe/Paris")
TYPIST = CommandContext(ANA, PARIS, now=datetime.combine(WEDNESDAY, time(23, 30), PARIS))
KNOWN = ("project", "priority", "to", "watch", "desc", "start", "cf_")
EVERY_FIELD = (
    'new Blank page project:"Web shop" tracker:Bug status:New priority:High category:UI version:1.0 '
    "to:<@U2|bo> watch:me,<@U3|cy> watch:Dee parent:#7 start:today due:fri estimate:1h30 private:yes "
    'done:50% desc:"First line\nsecond" cf_3:"dark blue" cf_4:x'
)
LISTED = "add web daily 9 {} to:me,<@U2> -tracker:support -to:Ben"


def parse(text: str, known: Collection[str]) -> Parsed:
    return checked(understand(text, known).with_fields())


def options(text: str) -> tuple[str, dict[str, list[object]]]:
    """The words, and each option's values: whom they mention, or their text."""
    parsed = parse(text, KNOWN)
    return parsed.text, {key: [v.user or v.text for v in values] for key, values in parsed.options.items()}


def issue(text: str) -> object:
    request = issue_command(text, TYPIST)
    return new_issue(request, TYPIST, Vocabulary()) if isinstance(request, TypedIssue) else request


READERS: dict[str, Callable[[str], object]] = {
    "/issue": issue,
    "/issues": lambda text: issues_command(understand(text, FILTERS), TYPIST, Vocabulary()),
    "/tracker": lambda text: tracker_command(text, ANA),
    "/timelog": lambda text: timelog_command(typed_time(text), TYPIST),
    "/digest": lambda text: digest_command(typed_digest(text), ANA, Vocabulary()),
    "options": options,
    "a duration": lambda text: str(hours(text)),
    "a day": lambda text: day(text, TYPIST.today),
    "past days": lambda text: days(text, TYPIST.today, "past"),
}


def same(meant: T, *texts: str) -> dict[str, T]:
    """Texts that mean the same."""
    return dict.fromkeys(texts, meant)


def kept(*texts: str) -> dict[str, object]:
    """Texts without options, which stay as they are."""
    return {text: (text, {}) for text in texts}


def of(year_month: str, *written: tuple[str, str]) -> dict[str, object]:
    """The days that texts mean, without the part of the date that they share."""
    return {text: date.fromisoformat(year_month + rest) for text, rest in written}


def between(since: str | None, until: str | None) -> DateRange:
    """A range of days in 2026 or 2027."""
    return DateRange(*(date.fromisoformat(end) if end else None for end in (since, until)))


def moments(since: str, until: str | None = None) -> TimeRange:
    return TimeRange(*(datetime.fromisoformat(end) if end else None for end in (since, until)))


def logged(spent: str, comment: str = "", day: int = 15, **about: Any) -> TimeToLog:
    """Time on issue 42, or `about` something else, on a day of July 2026."""
    about = about or {"issue": 42}
    return TimeToLog(hours=Decimal(spent), spent_on=date(2026, 7, day), comment=comment, **about)


def quoted(spent: str, comment: str) -> TimeToLog:
    """Time on issue 42 with a comment in quotes."""
    return logged(spent, comment).model_copy(update={"quoted": True})


def created(subject: str, **more: Any) -> CreateIssue:
    return CreateIssue(Draft(subject=subject, **more))


def added(project: str | None, schedule: str = "") -> AddDigest:
    return AddDigest(requested_plan(project, schedule or Plan.schedule, zone=""), scheduled=bool(schedule))


def listing(kind: str, stale_days: int = Plan.stale_days) -> AddDigest:
    """A digest of one kind, with people and exclusions."""
    about: dict[str, Any] = {"kind": kind, "stale_days": stale_days, "filters": {"to": ("me", BO)}}
    excluded: Typed = {"tracker": ("support",), "to": ("Ben",)}
    plan = requested_plan("web", "daily 09:00", zone="", excluded=excluded, **about)
    return AddDigest(plan, scheduled=True)
