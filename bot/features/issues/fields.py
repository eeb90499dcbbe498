"""The optional fields of an issue, one row each.

The command's options, the form, the request to the service, the check of its answer and the help all read
this table. Project, subject and custom fields aren't in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, field_validator

from bot.features.projects.catalog import Catalog, CustomField, Part
from bot.service.models import Issue, Parent, Ref
from bot.store.owner import Owner

MINUTES, CENTS = 60, 100
Value = str | Owner | tuple[Owner | str, ...] | int | date | Decimal
"""A field's value as typed or chosen: choices and people by name, or by ID as `#5`."""
Meant = Ref | tuple[Ref, ...] | str | int | date | Decimal
"""A field's value with names looked up."""


class Kind(Enum):
    """What a field holds."""

    CHOICE = "one of a project's choices"
    PERSON = "a person"
    PEOPLE = "people"
    ISSUE = "an issue's number"
    DAY = "a day"
    HOURS = "hours"
    PERCENT = "percent"
    FLAG = "yes or no"
    TEXT = "text"


VALUES: dict[Kind, TypeAdapter[Any]] = {
    Kind.CHOICE: TypeAdapter(str),
    Kind.PERSON: TypeAdapter(Owner | str),
    Kind.PEOPLE: TypeAdapter(tuple[Owner | str, ...]),
    Kind.ISSUE: TypeAdapter(int),
    Kind.DAY: TypeAdapter(date),
    Kind.HOURS: TypeAdapter(Decimal),
    Kind.PERCENT: TypeAdapter(int),
    Kind.FLAG: TypeAdapter(bool),
    Kind.TEXT: TypeAdapter(str),
}
"""The type of each kind's `Value`."""


@dataclass(frozen=True)
class Field:
    """One row."""

    key: str
    """The command's option."""
    label: str
    kind: Kind
    sent: str
    """Its name in a request, as in `service.inputs.NewIssue`."""
    answer: str | None = None
    """Its name in `service.models.Issue`, if it can be changed later and the service's answer is checked.

    Privacy isn't here: `issues.Created.exposed` compares it.
    """
    placeholder: str = ""
    choices: Part | None = None
    """Its choices' name in `Catalog`."""
    in_form: str = ""
    """Its name in the form, unless that is `key`."""
    first: bool = False
    """Whether the form shows it without *More fields*."""
    always: bool = False
    """Whether every issue has a value, so that it can't be cleared."""

    @property
    def name(self) -> str:
        return self.in_form or self.key

    def known(self, catalog: Catalog) -> tuple[Ref, ...]:
        """The choices in a project."""
        return catalog.lists[self.choices] if self.choices else ()

    def answered(self, issue: Issue) -> Meant | None:
        """The value in the service's answer."""
        value: Meant | Parent | None = getattr(issue, self.answer) if self.answer else None
        return value.id if isinstance(value, Parent) else value


_ROWS = (
    Field(
        "tracker",
        "Tracker",
        Kind.CHOICE,
        "tracker_id",
        "tracker",
        "Default",
        "trackers",
        first=True,
        always=True,
    ),
    Field("status", "Status", Kind.CHOICE, "status_id", "status", "Default", "statuses", always=True),
    Field(
        "priority", "Priority", Kind.CHOICE, "priority_id", "priority", "Default", "priorities", always=True
    ),
    Field(
        "to",
        "Assignee",
        Kind.PERSON,
        "assigned_to_id",
        "assigned_to",
        "Unassigned",
        "assignees",
        "assignee",
        first=True,
    ),
    Field("category", "Category", Kind.CHOICE, "category_id", "category", "None", "categories"),
    Field("version", "Target version", Kind.CHOICE, "fixed_version_id", "fixed_version", "None", "versions"),
    Field("parent", "Parent issue", Kind.ISSUE, "parent_issue_id", "parent", "Search by number or subject"),
    Field("start", "Start date", Kind.DAY, "start_date", "start_date"),
    Field("due", "Due date", Kind.DAY, "due_date", "due_date"),
    Field(
        "estimate", "Estimated hours", Kind.HOURS, "estimated_hours", "estimated_hours", "e.g. 1.5 or 1h 30m"
    ),
    Field("done", "% done", Kind.PERCENT, "done_ratio", "done_ratio", "0%", always=True),
    Field("private", "Private", Kind.FLAG, "is_private", None, "Hide from people without permission"),
    Field("watch", "Watchers", Kind.PEOPLE, "watcher_user_ids", None, "Add people", "people", "watchers"),
    Field("desc", "Description", Kind.TEXT, "description", in_form="description", first=True),
)
FIELDS = {field.key: field for field in _ROWS}
DESCRIPTION = FIELDS["desc"]
SUBJECT = Field("subject", "Subject", Kind.TEXT, "subject", "subject", always=True)
CHANGEABLE = {field.key: field for field in (SUBJECT, *_ROWS) if field.answer}
"""The fields of an existing issue that can be changed."""


class Draft(BaseModel):
    """An issue to create; `values` by option key, without the fields that are empty."""

    model_config = ConfigDict(frozen=True)

    subject: str = ""
    project: str | None = None
    values: dict[str, Any] = {}
    custom_fields: dict[int, str | tuple[str, ...]] = {}
    template: str | None = None
    """The template to fill it in from, by name, or the one that it was filled in from, by ID as `#5`."""
    unread: dict[str, str] = {}
    """Durations that couldn't be read, as typed, by option key."""

    @field_validator("values", mode="before")
    @classmethod
    def _typed(cls, values: dict[str, object]) -> dict[str, Value]:
        return {
            key: VALUES[FIELDS[key].kind].validate_python(value)
            for key, value in values.items()
            if key in FIELDS and not (value is None or value is False or value in ("", ()))
        }

    @property
    def private(self) -> bool:
        return bool(self.values.get("private"))

    @property
    def description(self) -> str:
        return str(self.values.get("desc") or "")

    @property
    def parts(self) -> frozenset[Part]:
        """The parts of a catalog that its names are looked up in."""
        return frozenset(
            field.choices
            for field, value in ((FIELDS[key], value) for key, value in self.values.items())
            if field.choices and (field.kind is Kind.CHOICE or _names_someone(value))
        )

    def described(self, text: str) -> Self:
        """The same with another description."""
        others = {key: value for key, value in self.values.items() if key != "desc"}
        return self.model_copy(update={"values": others | ({"desc": text} if text else {})})


def typed_hours(amount: Decimal) -> str:
    """Hours as people type them: `1.5`, or `0:20` if two decimals can't express them."""
    minutes = round(amount * MINUTES)
    if minutes * CENTS % MINUTES == 0:
        return f"{(Decimal(minutes) / MINUTES).normalize():f}"
    return f"{minutes // MINUTES}:{minutes % MINUTES:02}"


def _names_someone(value: Value) -> bool:
    """Whether a name has to be looked up: the user, and people in Slack, have a link."""
    people = value if isinstance(value, tuple) else (value,)
    return any(isinstance(one, str) and one != "me" for one in people)


def fields_named(sentences: Sequence[str], custom_fields: Sequence[CustomField]) -> tuple[str, ...]:
    """The names in the form of the fields whose labels the service's sentences start with."""
    labels = {"subject": "subject", "project": "project"}
    labels |= {field.label.casefold(): field.name for field in FIELDS.values()}
    labels |= {field.name.casefold(): f"cf_{field.id}" for field in custom_fields}
    longest_first = sorted(labels, key=len, reverse=True)
    found = (
        next((labels[label] for label in longest_first if said.casefold().startswith(label)), None)
        for said in sentences
    )
    return tuple(dict.fromkeys(name for name in found if name))
