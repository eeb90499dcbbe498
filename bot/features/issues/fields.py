"""The optional fields of an issue, one row each, and a draft of their values with what it means.

The command's options, the form, the request to the service, the check of its response and the help all read
this table. Project, subject and custom fields aren't in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import date
from decimal import Decimal
from enum import Enum
from itertools import chain
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, field_validator

from bot.access.accounts import Session
from bot.access.catalog import Catalog, Part, with_me
from bot.access.name_matching import MAX_WRONG_NAMES, NameIndex, listed, probable
from bot.access.people import People
from bot.access.projects import KnownProject
from bot.errors import BotError, Refused, UserError, WrongField
from bot.service.inputs import CustomFieldInput, NewIssue
from bot.service.models import Issue, Parent, Ref
from bot.spelling import is_hashed_value
from bot.store.owner import Owner

MINUTES_IN_HOUR, CENTS = 60, 100
Value = str | Owner | tuple[Owner | str, ...] | int | date | Decimal
"""A field's value as typed or chosen: choices and people by name, or by ID as `#5`."""
ResolvedValue = Ref | tuple[Ref, ...] | str | int | date | Decimal  # a field's value with names looked up


class FieldType(Enum):
    CHOICE = "one of a project's choices"
    PERSON = "a person"
    PEOPLE = "people"
    ISSUE = "an issue's number"
    DAY = "a day"
    HOURS = "hours"
    PERCENT = "percent"
    FLAG = "yes or no"
    TEXT = "text"


VALUES: dict[FieldType, TypeAdapter[Any]] = {
    FieldType.CHOICE: TypeAdapter(str),
    FieldType.PERSON: TypeAdapter(Owner | str),
    FieldType.PEOPLE: TypeAdapter(tuple[Owner | str, ...]),
    FieldType.ISSUE: TypeAdapter(int),
    FieldType.DAY: TypeAdapter(date),
    FieldType.HOURS: TypeAdapter(Decimal),
    FieldType.PERCENT: TypeAdapter(int),
    FieldType.FLAG: TypeAdapter(bool),
    FieldType.TEXT: TypeAdapter(str),
}
"""The type of each kind's `Value`."""


@dataclass(frozen=True)
class Field:
    key: str  # the command's option
    label: str
    kind: FieldType
    sent: str  # its name in a request, as in `service.inputs.NewIssue`
    answer: str | None = None
    """Its name in `service.models.Issue`, if it can be changed later and the service's response is checked.

    Privacy isn't here: `issues.Created.privacy_refused` compares it.
    """
    choices: Part | None = None  # its choices' name in `Catalog`
    _: KW_ONLY
    placeholder: str = ""  # what its input shows without a value; for a choice it may be left to the form
    name: str = ""  # its name in forms: `key`, unless a row has another
    first: bool = False  # whether the form shows it without *More fields*
    always: bool = False  # whether every issue has a value, so that it can't be cleared

    def known(self, catalog: Catalog) -> tuple[Ref, ...]:
        return catalog.lists[self.choices] if self.choices else ()

    def offered(self, catalog: Catalog) -> tuple[Ref, ...]:
        """Return `known` for a select."""
        known, people = self.known(catalog), self.kind in (FieldType.PERSON, FieldType.PEOPLE)
        return with_me(known, catalog.me) if people else known

    def answered(self, issue: Issue) -> ResolvedValue | None:
        """The value in the service's response; None if it has none."""
        value: ResolvedValue | Parent | None = getattr(issue, self.answer) if self.answer else None
        if isinstance(value, Parent):
            return value.id
        return None if value == "" else value


# The option, the label, what it holds, its name in a request and in an answer, and its choices
_ROWS = (
    Field(
        "tracker",
        "Issue type",
        FieldType.CHOICE,
        "tracker_id",
        "tracker",
        "trackers",
        first=True,
        always=True,
    ),
    Field("status", "Status", FieldType.CHOICE, "status_id", "status", "statuses", always=True),
    Field("priority", "Priority", FieldType.CHOICE, "priority_id", "priority", "priorities", always=True),
    Field(
        "to",
        "Assignee",
        FieldType.PERSON,
        "assigned_to_id",
        "assigned_to",
        "assignees",
        name="assignee",
        placeholder="Unassigned",
        first=True,
    ),
    Field("category", "Category", FieldType.CHOICE, "category_id", "category", "categories"),
    Field("version", "Target version", FieldType.CHOICE, "fixed_version_id", "fixed_version", "versions"),
    Field(
        "parent",
        "Parent issue",
        FieldType.ISSUE,
        "parent_issue_id",
        "parent",
        placeholder="Search by number or subject",
    ),
    Field("start", "Start date", FieldType.DAY, "start_date", "start_date"),
    Field("due", "Due date", FieldType.DAY, "due_date", "due_date"),
    Field(
        "estimate",
        "Estimated hours",
        FieldType.HOURS,
        "estimated_hours",
        "estimated_hours",
        placeholder="e.g. 1.5 or 1h 30m",
    ),
    Field("done", "% done", FieldType.PERCENT, "done_ratio", "done_ratio", placeholder="0%", always=True),
    Field(
        "private", "Private", FieldType.FLAG, "is_private", placeholder="Hide from people without permission"
    ),
    Field(
        "watch",
        "Watchers",
        FieldType.PEOPLE,
        "watcher_user_ids",
        choices="people",
        name="watchers",
        placeholder="Add people",
    ),
    Field(
        "desc", "Description", FieldType.TEXT, "description", "description", name="description", first=True
    ),
)
FIELDS = {field.key: replace(field, name=field.name or field.key) for field in _ROWS}
DESCRIPTION = FIELDS["desc"]
SUBJECT = Field("subject", "Subject", FieldType.TEXT, "subject", "subject", name="subject", always=True)
CHANGEABLE = {field.key: field for field in (SUBJECT, *FIELDS.values()) if field.answer}
"""The fields of an existing issue that can be changed."""
SHOWN_IN_POSTS: Mapping[str, Field] = {
    field.sent: field for key, field in CHANGEABLE.items() if key not in ("parent", "estimate")
}
REPORTED_TO_PEOPLE: Mapping[str, Field] = {
    FIELDS[key].sent: FIELDS[key] for key in ("status", "to", "priority", "due")
}
REPORTED_IN_CHANNELS: Mapping[str, Field] = {FIELDS[key].sent: FIELDS[key] for key in ("status", "to")}
"""The fields by their names in the history: whose changes a followed post shows (not everyone who sees the
issue can see the others), of which people are notified, and which threads and digests of changes tell.
"""


class Filter(NamedTuple):
    """A filter by names: the part of the catalog that has them, its name in `IssueFilters`, the
    issue's field, and the label.
    """

    part: Part
    name: str
    field: str
    label: str

    @classmethod
    def by(cls, key: str, part: Part, name: str) -> Self:
        return cls(part, name, FIELDS[key].answer or "", FIELDS[key].label)


FILTERS_BY_NAME: Mapping[str, Filter] = {
    "tracker": Filter.by("tracker", "trackers", "tracker_ids"),
    "status": Filter.by("status", "statuses", "status"),
    "priority": Filter.by("priority", "priorities", "priority_ids"),
    "category": Filter.by("category", "categories", "category_ids"),
    "version": Filter.by("version", "every_version", "fixed_version_ids"),
    "to": Filter.by("to", "people", "assigned_to"),
    "author": Filter("people", "author", "author", "Author"),
}


class Draft(BaseModel):
    """An issue to create; `values` by option key, without the fields that are empty."""

    model_config = ConfigDict(frozen=True)

    subject: str = ""
    project: str | None = None
    values: dict[str, Any] = {}
    custom_fields: dict[int, str | tuple[str, ...]] = {}
    template: str | None = None
    """The template to fill it in from, by name, or the one that it was filled in from, by ID as `#5`."""
    unread: dict[str, str] = {}  # durations that couldn't be read, as typed, by option key
    phrases: tuple[str, ...] = ()  # words after the subject that were read as fields

    @field_validator("values", mode="before")
    @classmethod
    def _typed(cls, values: dict[str, object]) -> dict[str, Value]:
        return {
            key: VALUES[FIELDS[key].kind].validate_python(value)
            for key, value in values.items()
            if key in FIELDS and not (value is None or value is False or value in ("", ()))
        }

    @property
    def description(self) -> str:
        return str(self.values.get("desc") or "")

    @property
    def parts(self) -> frozenset[Part]:
        """The parts of a catalog that its names are looked up in."""
        parts = set()
        for key, value in self.values.items():
            field, people = FIELDS[key], value if isinstance(value, tuple) else (value,)
            # The user, and people in Slack, have a link.
            named = any(isinstance(one, str) and one != "me" for one in people)
            if field.choices and (field.kind is FieldType.CHOICE or named):
                parts.add(field.choices)
        return frozenset(parts)

    def described(self, text: str) -> Self:
        """The same with another description."""
        others = {key: value for key, value in self.values.items() if key != "desc"}
        return self.model_copy(update={"values": others | ({"desc": text} if text else {})})


def typed_hours(amount: Decimal) -> str:
    """Hours as people type them: `1.5`, or `0:20` if two decimals can't express them."""
    minutes = round(amount * MINUTES_IN_HOUR)
    if minutes * CENTS % MINUTES_IN_HOUR == 0:
        return f"{(Decimal(minutes) / MINUTES_IN_HOUR).normalize():f}"
    return f"{minutes // MINUTES_IN_HOUR}:{minutes % MINUTES_IN_HOUR:02}"


class NotUnderstood(UserError):
    """A new issue, or a change to one, is understood only in part: `draft`."""

    says = "{errors}"
    first: UserError
    others: tuple[UserError, ...]
    draft: Draft

    def __post_init__(self) -> None:
        self.offers = self.first.offers

    @property
    def errors(self) -> tuple[UserError, ...]:
        return (self.first, *self.others)

    @property
    def correction(self) -> tuple[str, str] | None:
        return None if self.others else self.first.correction


class StatusRefused(UserError):
    """A status that the workflow doesn't allow; `allowed` are those that it does allow after `current`."""

    says = "{service} doesn't let you {change}. {choices}."
    change: str
    current: str
    allowed: Sequence[Ref]

    @property
    def choices(self) -> str:
        if self.allowed:
            return f"Choose {listed(self.allowed)}"
        return f"Its status can't be changed from {self.current}"


class IssueRefused(Refused):
    """The service refused the issue; `fields` are the form's names of the fields in its messages."""

    def __init__(self, refused: Refused, fields: tuple[str, ...]) -> None:
        super().__init__(refused.method, refused.path, refused.status or 0, refused.errors)
        self.fields = fields


def fields_of(error: BotError) -> tuple[str, ...]:
    """The names, in the form, of the fields that an error is about."""
    match error:
        case NotUnderstood():
            return tuple(chain.from_iterable(map(fields_of, error.errors)))
        case WrongField(field=field):
            return (field,)
        case IssueRefused(fields=fields):
            return fields
    return ()


async def resolved(
    draft: Draft, people: People, session: Session, catalog: Catalog
) -> tuple[dict[str, ResolvedValue], list[WrongField]]:
    """The draft's values by option key, and an error for each unknown or ambiguous name.

    A misspelled name has the value that it probably means; other such names have none. Of a list, the first
    `MAX_WRONG_NAMES` such names are told.
    """
    values: dict[str, ResolvedValue] = {}
    errors: list[WrongField] = []
    parts = draft.parts
    for key, value in draft.values.items():
        field = FIELDS[key]
        if field.choices is None:
            values[key] = value
            continue

        refs, wrong = [], 0
        looked_up = catalog.lists[field.choices] if field.choices in parts else ()
        known = NameIndex("person" if field.kind is not FieldType.CHOICE else field.name, looked_up)

        for name in value if field.kind is FieldType.PEOPLE else (value,):
            try:
                if field.kind is FieldType.CHOICE:
                    refs.append(known.pick(name))
                elif field.kind is FieldType.PERSON:
                    refs.append(await people.assignee(session, name, known, catalog.project_id))
                else:
                    refs.append(await people.find(session, name, known))
            except UserError as error:
                wrong += 1
                if wrong <= MAX_WRONG_NAMES:
                    errors.append(WrongField(field.name, error))
                    refs += filter(None, [probable(error)])

        if refs:
            values[key] = tuple(refs) if field.kind is FieldType.PEOPLE else refs[0]
    return values, errors


def request(
    draft: Draft, meant: Mapping[str, ResolvedValue], project: KnownProject, catalog: Catalog
) -> NewIssue:
    fields: dict[str, object] = {FIELDS[key].sent: sent(value) for key, value in meant.items()}
    if draft.custom_fields:
        fields["custom_fields"] = custom_inputs(draft, catalog)
    return NewIssue.model_validate({"project_id": project.id, "subject": draft.subject.strip(), **fields})


def sent(value: ResolvedValue) -> object:
    if isinstance(value, tuple):
        return tuple(ref.id for ref in value)
    return value.id if isinstance(value, Ref) else value


def custom_inputs(draft: Draft, catalog: Catalog) -> tuple[CustomFieldInput, ...]:
    """Custom field values spelled as in the service, which refuses list values in another case.

    Raises WrongField for an option of a list that doesn't have it anymore.
    """
    inputs = []
    for number, value in draft.custom_fields.items():
        known = catalog.custom_field(number).known
        meant = known(value) if isinstance(value, str) else tuple(map(known, value))
        if any(map(is_hashed_value, (meant,) if isinstance(meant, str) else meant)):
            gone = UserError("This value isn't in the list anymore. Choose another one.")
            raise WrongField(f"cf_{number}", gone)
        inputs.append(CustomFieldInput(id=number, value=meant))
    return tuple(inputs)
