"""Parses `/issue`."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from textwrap import shorten

from bot.errors import UserError
from bot.features.issues.fields import FIELDS, Draft, Field, Kind, Value
from bot.service.models import Ref
from bot.slack.grammar import dates, values
from bot.slack.grammar.durations import hours
from bot.slack.grammar.options import CUSTOM_FIELD, Parsed, parse
from bot.slack.grammar.requests import Help, who
from bot.store.owner import Owner

OPTIONS = ("project", *FIELDS, CUSTOM_FIELD)


class UnknownSubcommand(UserError):
    """The text isn't a subcommand, and may be the subject of a new issue."""

    text: str


class NumberMissing(UserError):
    """A subcommand needs an issue's number."""

    subcommand: str


class OptionNotTaken(UserError):
    """A subcommand takes no options."""

    subcommand: str
    number: int
    option: str


class SeveralIssues(UserError):
    """An option that takes one issue was given several."""

    option: str


@dataclass(frozen=True)
class CreateIssue:
    """`/issue new` with a subject."""

    draft: Draft


@dataclass(frozen=True)
class OpenForm:
    """`/issue`, or `/issue new` without a subject: the create form with what was typed."""

    draft: Draft = field(default_factory=Draft)


@dataclass(frozen=True)
class ShowIssue:
    """`/issue 42`."""

    number: int


@dataclass(frozen=True)
class AttachFiles:
    """`/issue attach 42`."""

    number: int


IssueRequest = CreateIssue | OpenForm | ShowIssue | AttachFiles | Help


def issue_command(text: str, today: date, user: Owner, fields: Collection[Ref] = ()) -> IssueRequest:
    """The request in `/issue <text>`; `today` is the user's, `fields` are the project's custom fields.

    Raises UserError, and UnknownField for a key that may be a custom field's name.
    """
    parsed = parse(text, OPTIONS, fields)
    if not parsed.words:
        return OpenForm(_draft(parsed, today, user))
    subcommand = parsed.words[0].text.lower()
    rest = parsed.after(1)
    if subcommand == "new":
        draft = _draft(rest, today, user)
        return CreateIssue(draft) if draft.subject else OpenForm(draft)
    if subcommand == "help" and not rest.words:
        return Help()
    if subcommand == "attach":
        return AttachFiles(_only_number(rest, "attach "))
    if values.issue_number(subcommand) and not rest.words:
        return ShowIssue(_only_number(parsed))
    raise UnknownSubcommand(shorten(parsed.text.replace("`", "'"), 80, placeholder="…"))


def _only_number(parsed: Parsed, subcommand: str = "") -> int:
    number = values.issue_number(parsed.text)
    if number is None:
        raise NumberMissing(subcommand)
    if parsed.options:
        raise OptionNotTaken(subcommand, number, next(iter(parsed.options)))
    return number


def _draft(parsed: Parsed, today: date, user: Owner) -> Draft:
    return Draft(
        subject=" ".join(parsed.text.split()),
        project=values.name(parsed, "project"),
        values={key: _value(parsed, field, today, user) for key, field in FIELDS.items()},
        custom_fields=dict(values.custom_fields(parsed)),
    )


def _value(parsed: Parsed, field: Field, today: date, user: Owner) -> Value | None:
    """The value of an option; None if it is missing."""
    key = field.key
    match field.kind:
        case Kind.PERSON:
            typed = values.one(parsed, key)
            return who(values.person(typed), user) if typed else None
        case Kind.PEOPLE:
            return tuple(who(person, user) for person in values.people(parsed, key))
        case Kind.ISSUE:
            numbers = values.numbers(parsed, key)
            if len(numbers) > 1:
                raise SeveralIssues(key)
            return numbers[0] if numbers else None
        case Kind.FLAG:
            return values.yes_or_no(parsed, key)
    text = values.name(parsed, key)
    if text and field.kind is Kind.DAY:
        return dates.day(text, today)
    return hours(text) if text and field.kind is Kind.HOURS else text
