"""Parses `/issue`."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from textwrap import shorten
from typing import TypeVar

from bot.errors import UserError, WrongField
from bot.features.issues.errors import NotUnderstood, UnknownSubcommand
from bot.features.issues.fields import FIELDS, Draft, Kind
from bot.features.issues.options import OptionReader
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.models import Ref
from bot.slack.blocks import shortened
from bot.slack.grammar import values
from bot.slack.grammar.errors import UnknownField
from bot.slack.grammar.options import CUSTOM_FIELD, Parsed, understand
from bot.slack.grammar.requests import Help
from bot.slack.grammar.tokens import as_typed, split_first_line
from bot.store.owner import Owner

OPTIONS = ("project", "template", *FIELDS, CUSTOM_FIELD)
NEW = ("new", "create", "add")
TEMPLATES = ("template", "templates")
SHOW = ("show", "view", "open")
COMMENT = ("comment", "note")
_COMMENT = re.compile(
    r"\s*(?:(?:comment|note)\s+(?:on\s+)?(?P<after>\S+)|(?P<before>\S+)\s+(?:comment|note))(?!\S)(?P<text>.*)",
    re.DOTALL | re.IGNORECASE,
)
T = TypeVar("T")


class SubjectTooLong(UserError):
    length: int
    longest: int


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
class ChangeIssue:
    """`/issue 42 close` or `/issue close 42`: the text after the command, which `features/editing` reads."""

    number: int
    text: str


@dataclass(frozen=True)
class AttachFiles:
    """`/issue attach 42`; without a number the form asks for the issue."""

    number: int | None


@dataclass(frozen=True)
class AddComment:
    """`/issue 42 comment` with a text; without a number or a text the form asks for it."""

    number: int | None
    text: str


@dataclass(frozen=True)
class ListTemplates:
    """`/issue template`, of the named project or of the channel's."""

    project: str | None


@dataclass(frozen=True)
class NewTemplate:
    """`/issue template new`."""

    project: str | None


IssueRequest = (
    CreateIssue
    | OpenForm
    | ShowIssue
    | ChangeIssue
    | AttachFiles
    | AddComment
    | ListTemplates
    | NewTemplate
    | Help
)


def issue_command(
    text: str, today: date, user: Owner, fields: Collection[Ref] = (), *, base_url: str | None = None
) -> IssueRequest:
    """The request in `/issue <text>`; `today` is the user's, `fields` are the project's custom fields.

    Links to issues have to start with `base_url`. Raises UserError, and NotUnderstood for a new issue.
    """
    if comment := _comment(text, base_url):
        return comment
    first_line, below = split_first_line(text)
    parsed = understand(first_line, OPTIONS, fields)
    subcommand = parsed.words[0].text.lower() if parsed.words else ""
    rest = parsed.after(1)
    if subcommand in ("", *NEW):
        draft = _draft(rest if subcommand else parsed, below, OptionReader(today, user, base_url))
        return CreateIssue(draft) if draft.subject else OpenForm(draft)
    if base_url:
        values.own_text(first_line, base_url)
    if subcommand == "help" and not rest.words:
        return Help()
    if subcommand == "attach":
        return AttachFiles(values.issue_number(rest.text))
    if subcommand in TEMPLATES:
        return _of_templates(_draft(rest, below, OptionReader(today, user, base_url)))
    typed = rest if subcommand in SHOW and rest.words else parsed
    if number := values.issue_number(typed.words[0].text):
        if len(typed.words) == 1 and not (parsed.options or parsed.problems or below):
            return ShowIssue(number)
        return ChangeIssue(number, text)
    if rest.words and (number := values.issue_number(rest.words[0].text)):
        return ChangeIssue(number, text)
    said = shorten(parsed.text.replace("`", "'"), 80, placeholder="…")
    try:
        draft = _draft(parsed, below, OptionReader(today, user, base_url))
    except NotUnderstood as error:
        draft = error.draft
    raise UnknownSubcommand(said, draft)


def _comment(text: str, base_url: str | None) -> AddComment | None:
    """The comment in `42 comment …` or `comment 42 …`, as it was typed; None for anything else."""
    if text.strip().lower() in COMMENT:
        return AddComment(None, "")
    if (typed := _COMMENT.match(text)) is None:
        return None
    about = as_typed(typed["after"] or typed["before"])
    number = values.issue_number(values.own_text(about, base_url) if base_url else about)
    return AddComment(number, as_typed(typed["text"]).strip()) if number else None


def _of_templates(draft: Draft) -> IssueRequest:
    """The request in `/issue template …`; any text but `new` is the name of a template to use."""
    if not draft.subject:
        return ListTemplates(draft.project)
    if draft.subject.lower() in NEW:
        return NewTemplate(draft.project)
    return OpenForm(draft.model_copy(update={"subject": "", "template": draft.subject}))


def unknown_field(error: NotUnderstood) -> UnknownField | None:
    """The first option that may be the name of a custom field, if any."""
    return next((e for e in (error.problem, *error.others) if isinstance(e, UnknownField)), None)


def _draft(parsed: Parsed, below: str, reader: OptionReader) -> Draft:
    """The draft of an issue; the lines below the first are its description. Raises NotUnderstood."""
    problems = list(parsed.problems)

    def read(name: str, value: Callable[[], T]) -> T | None:
        try:
            return value()
        except UserError as error:
            problems.append(WrongField(name, error))
            return None

    found = {key: read(row.name, partial(reader.value, parsed, row)) for key, row in FIELDS.items()}
    project, template = (read(key, partial(values.name, parsed, key)) for key in ("project", "template"))
    custom = read("", partial(values.custom_fields, parsed)) or {}
    subject = " ".join(parsed.text.split())
    description = [found["desc"], as_typed(below).strip(), " ".join(parsed.left)]
    if len(subject) > SUBJECT_LENGTH:
        problems.append(WrongField("subject", SubjectTooLong(len(subject), SUBJECT_LENGTH)))
        description = [subject, *description]
    draft = Draft(
        subject=shortened(subject, SUBJECT_LENGTH),
        project=project,
        template=template,
        values=found | {"desc": "\n\n".join(str(part) for part in description if part)},
        custom_fields=custom,
        unread={
            key: parsed.options[key][0].text
            for key, row in FIELDS.items()
            if row.kind is Kind.HOURS and key in parsed.options and found[key] is None
        },
    )
    if problems:
        raise NotUnderstood(draft, problems[0], tuple(problems[1:]))
    return draft
