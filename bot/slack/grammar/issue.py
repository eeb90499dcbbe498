"""`/issue` (contract.md, Slash commands)."""

from collections.abc import Collection
from datetime import date
from textwrap import shorten

from bot.errors import UserError
from bot.service.models import Ref
from bot.slack.grammar import dates, reading
from bot.slack.grammar.durations import hours
from bot.slack.grammar.options import CUSTOM_FIELD, Parsed, parse
from bot.slack.grammar.requests import AttachFiles, Help, IssueRequest, NewIssue, OpenForm, ShowIssue

OPTIONS = (
    *("project", "tracker", "status", "priority", "to", "category", "version", "parent"),
    *("start", "due", "estimate", "private", "watch", "desc", CUSTOM_FIELD),
)


def issue_command(text: str, today: date, fields: Collection[Ref] = ()) -> IssueRequest:
    """What `/issue <text>` asks for; `today` is the caller's, `fields` are the project's custom fields.

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
    if reading.issue_number(command) and not rest.words:
        return ShowIssue(_only_number(parsed, "/issue"))
    raise UserError(f"To create that issue type `/issue new {_shown(parsed.text)}`; to see one, `/issue 42`.")


def _only_number(parsed: Parsed, command: str) -> int:
    number = reading.issue_number(parsed.text)
    if number is None:
        raise UserError(f"Say which issue by its number: `{command} 42`.")
    if parsed.options:
        raise UserError(f"`{command} {number}` takes no options: leave out `{next(iter(parsed.options))}:`.")
    return number


def _new_issue(parsed: Parsed, today: date) -> NewIssue:
    to = reading.one(parsed, "to")
    parents = reading.numbers(parsed, "parent")
    if len(parents) > 1:
        raise UserError("An issue has one parent: write `parent:42`.")
    start, due = (reading.name(parsed, key) for key in ("start", "due"))
    estimate = reading.name(parsed, "estimate")
    return NewIssue(
        subject=" ".join(parsed.text.split()),
        project=reading.name(parsed, "project"),
        tracker=reading.name(parsed, "tracker"),
        status=reading.name(parsed, "status"),
        priority=reading.name(parsed, "priority"),
        category=reading.name(parsed, "category"),
        version=reading.name(parsed, "version"),
        to=reading.person(to) if to else None,
        watch=reading.people(parsed, "watch"),
        parent=parents[0] if parents else None,
        start=dates.day(start, today) if start else None,
        due=dates.day(due, today) if due else None,
        estimate=hours(estimate) if estimate else None,
        private=reading.yes_or_no(parsed, "private"),
        desc=reading.name(parsed, "desc"),
        custom_fields=reading.custom_fields(parsed),
    )


def _shown(text: str) -> str:
    return shorten(text.replace("`", "'"), 80, placeholder="…") or "…"
