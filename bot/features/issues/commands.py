"""Parses `/issue`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from textwrap import shorten

from bot.errors import UserError
from bot.service.models import Ref
from bot.slack.grammar import dates, values
from bot.slack.grammar.durations import hours
from bot.slack.grammar.options import CUSTOM_FIELD, Parsed, parse
from bot.slack.grammar.requests import Help, Person


@dataclass(frozen=True, kw_only=True)
class NewIssue:
    """`/issue new`: an issue to create; without a subject it prefills the form."""

    subject: str = ""
    project: str | None = None
    tracker: str | None = None
    status: str | None = None
    priority: str | None = None
    category: str | None = None
    version: str | None = None
    to: Person | None = None
    watch: tuple[Person, ...] = ()
    parent: int | None = None
    start: date | None = None
    due: date | None = None
    estimate: Decimal | None = None
    private: bool = False
    desc: str | None = None
    custom_fields: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenForm:
    """`/issue`, or `/issue new` without a subject: the create form with what was typed."""

    prefilled: NewIssue = field(default_factory=NewIssue)


@dataclass(frozen=True)
class ShowIssue:
    """`/issue 42`."""

    number: int


@dataclass(frozen=True)
class AttachFiles:
    """`/issue attach 42`."""

    number: int


IssueRequest = OpenForm | ShowIssue | AttachFiles | NewIssue | Help


OPTIONS = (
    *("project", "tracker", "status", "priority", "to", "category", "version", "parent"),
    *("start", "due", "estimate", "private", "watch", "desc", CUSTOM_FIELD),
)


def issue_command(text: str, today: date, fields: Collection[Ref] = ()) -> IssueRequest:
    """The request in `/issue <text>`; `today` is the user's, `fields` are the project's custom fields.

    Raises UserError, and UnknownOption for a key that may be a custom field's name.
    """
    parsed = parse(text, OPTIONS, fields)
    if not parsed.words:
        return OpenForm(_new_issue(parsed, today))
    command = parsed.words[0].text.lower()
    rest = parsed.after(1)
    if command == "new":
        wanted = _new_issue(rest, today)
        return wanted if wanted.subject else OpenForm(wanted)
    if command == "help" and not rest.words:
        return Help()
    if command == "attach":
        return AttachFiles(_only_number(rest, "/issue attach"))
    if values.issue_number(command) and not rest.words:
        return ShowIssue(_only_number(parsed, "/issue"))
    raise UserError(f"To create that issue type `/issue new {_shown(parsed.text)}`; to see one, `/issue 42`.")


def _only_number(parsed: Parsed, command: str) -> int:
    number = values.issue_number(parsed.text)
    if number is None:
        raise UserError(f"Say which issue by its number: `{command} 42`.")
    if parsed.options:
        raise UserError(f"`{command} {number}` takes no options: leave out `{next(iter(parsed.options))}:`.")
    return number


def _new_issue(parsed: Parsed, today: date) -> NewIssue:
    to = values.one(parsed, "to")
    parents = values.numbers(parsed, "parent")
    if len(parents) > 1:
        raise UserError("An issue has one parent: write `parent:42`.")
    start, due = (values.name(parsed, key) for key in ("start", "due"))
    estimate = values.name(parsed, "estimate")
    return NewIssue(
        subject=" ".join(parsed.text.split()),
        project=values.name(parsed, "project"),
        tracker=values.name(parsed, "tracker"),
        status=values.name(parsed, "status"),
        priority=values.name(parsed, "priority"),
        category=values.name(parsed, "category"),
        version=values.name(parsed, "version"),
        to=values.person(to) if to else None,
        watch=values.people(parsed, "watch"),
        parent=parents[0] if parents else None,
        start=dates.day(start, today) if start else None,
        due=dates.day(due, today) if due else None,
        estimate=hours(estimate) if estimate else None,
        private=values.yes_or_no(parsed, "private"),
        desc=values.name(parsed, "desc"),
        custom_fields=values.custom_fields(parsed),
    )


def _shown(text: str) -> str:
    return shorten(text.replace("`", "'"), 80, placeholder="…") or "…"
