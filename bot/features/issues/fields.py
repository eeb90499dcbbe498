"""The optional fields of an issue, one row each.

The command's options, the form, the request to the service, the check of its answer and the help all read
this table. Project, subject and custom fields aren't in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, field_validator

from bot.features.projects.catalog import Catalog
from bot.service.models import Issue, Ref
from bot.store.owner import Owner

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
    FLAG = "yes or no"
    TEXT = "text"


VALUES: dict[Kind, TypeAdapter[Any]] = {
    Kind.CHOICE: TypeAdapter(str),
    Kind.PERSON: TypeAdapter(Owner | str),
    Kind.PEOPLE: TypeAdapter(tuple[Owner | str, ...]),
    Kind.ISSUE: TypeAdapter(int),
    Kind.DAY: TypeAdapter(date),
    Kind.HOURS: TypeAdapter(Decimal),
    Kind.FLAG: TypeAdapter(bool),
    Kind.TEXT: TypeAdapter(str),
}
"""The type of each kind's `Value`."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One row. `key` is the command's option, `sent` the name in a request (`service.inputs`).

    `answer` reads the field from the service's answer, to see whether the service took the value.
    """

    key: str
    label: str
    kind: Kind
    sent: str
    answer: Callable[[Issue], Meant | None] | None = None
    choices: Callable[[Catalog], tuple[Ref, ...]] | None = None
    in_form: str = ""
    """Its name in the form, unless that is `key`."""
    placeholder: str = ""
    before_project: bool = False
    """Whether the form shows it before a project is chosen."""

    @property
    def name(self) -> str:
        return self.in_form or self.key


_ROWS = (
    Field(
        key="tracker",
        label="Tracker",
        kind=Kind.CHOICE,
        sent="tracker_id",
        answer=lambda issue: issue.tracker,
        choices=lambda catalog: catalog.trackers,
        placeholder="The project's first",
    ),
    Field(
        key="status",
        label="Status",
        kind=Kind.CHOICE,
        sent="status_id",
        answer=lambda issue: issue.status,
        choices=lambda catalog: catalog.statuses,
        placeholder="The tracker's first",
    ),
    Field(
        key="priority",
        label="Priority",
        kind=Kind.CHOICE,
        sent="priority_id",
        answer=lambda issue: issue.priority,
        choices=lambda catalog: catalog.priorities,
        placeholder="The usual one",
    ),
    Field(
        key="to",
        in_form="assignee",
        label="Assignee",
        kind=Kind.PERSON,
        sent="assigned_to_id",
        answer=lambda issue: issue.assigned_to,
        choices=lambda catalog: catalog.people,
        placeholder="Nobody yet",
    ),
    Field(
        key="category",
        label="Category",
        kind=Kind.CHOICE,
        sent="category_id",
        answer=lambda issue: issue.category,
        choices=lambda catalog: catalog.categories,
        placeholder="None",
    ),
    Field(
        key="version",
        label="Target version",
        kind=Kind.CHOICE,
        sent="fixed_version_id",
        answer=lambda issue: issue.fixed_version,
        choices=lambda catalog: catalog.versions,
        placeholder="None",
    ),
    Field(
        key="parent",
        label="Parent issue",
        kind=Kind.ISSUE,
        sent="parent_issue_id",
        answer=lambda issue: issue.parent.id if issue.parent else None,
        placeholder="A number or part of a subject",
    ),
    Field(
        key="start",
        label="Start date",
        kind=Kind.DAY,
        sent="start_date",
        answer=lambda issue: issue.start_date,
    ),
    Field(key="due", label="Due date", kind=Kind.DAY, sent="due_date", answer=lambda issue: issue.due_date),
    Field(
        key="estimate",
        label="Estimated hours",
        kind=Kind.HOURS,
        sent="estimated_hours",
        answer=lambda issue: issue.estimated_hours,
        placeholder="1.5, 90m or 1h30",
    ),
    Field(
        key="private",
        label="Private",
        kind=Kind.FLAG,
        sent="is_private",  # its answer has a warning of its own
        placeholder="Only for those who may see it",
    ),
    Field(
        key="watch",
        in_form="watchers",
        label="Watchers",
        kind=Kind.PEOPLE,
        sent="watcher_user_ids",
        choices=lambda catalog: catalog.people,
        placeholder="People to keep informed",
    ),
    Field(
        key="desc",
        in_form="description",
        label="Description",
        kind=Kind.TEXT,
        sent="description",
        before_project=True,
    ),
)
FIELDS = {field.key: field for field in _ROWS}


class Draft(BaseModel):
    """An issue to create; `values` by option key, without the fields that are empty."""

    model_config = ConfigDict(frozen=True)

    subject: str = ""
    project: str | None = None
    values: dict[str, Any] = {}
    custom_fields: dict[int, str | tuple[str, ...]] = {}

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


def choices_of(catalog: Catalog) -> dict[str, tuple[Ref, ...]]:
    """The choices of each select, by its name in the form."""
    return {field.name: field.choices(catalog) for field in FIELDS.values() if field.choices}
