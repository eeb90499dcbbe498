"""The service's resources as pydantic models.

They accept what real services send (docs/service.md, Shapes):

- Only a resource's ID is required. An absent or null field has its default value; only an absent one is
  missing in `model_fields_set`.
- A field with an invalid value counts as absent, so that one bad value doesn't invalidate a whole list.
  Nested resources do the same.
- Unknown fields, such as those of plugins, are in `model_extra`.

Datetimes are aware and in UTC, hours are decimals, lists are tuples, and secrets are `SecretStr`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Annotated, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    model_validator,
)

T = TypeVar("T")
CENTS = Decimal("0.01")
ONE_DAY = timedelta(days=1)
MOST_HOURS = 10**9


def _unless_null(value: object, *, default: object) -> object:
    return default if value is None else value


def _fraction(value: object) -> object:
    """Convert a fraction, as Redmine 6.0.0 and 6.0.1 send hours (`"1/3"`), to a decimal."""
    if isinstance(value, str) and "/" in value:
        above, _, below = value.strip("() ").partition("/")
        try:
            return (Decimal(above) / Decimal(below)).quantize(CENTS)
        except ArithmeticError as error:
            raise ValueError("not a fraction") from error
    return value


def _utc(value: datetime) -> datetime:
    """Convert to UTC. A time is invalid if it's out of the calendar there or in any other time zone."""
    try:
        utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        _ = utc - ONE_DAY, utc + ONE_DAY
    except OverflowError as error:
        raise ValueError("out of the calendar") from error
    return utc


def _texts(value: object) -> object:
    """Convert a custom field's value to strings; some services send numbers and booleans."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, list | tuple):
        return tuple(str(_texts(item)) for item in value if item is not None)
    return value if value is None else str(value)


TrueUnlessFalse = Annotated[bool, BeforeValidator(partial(_unless_null, default=True))]
"""A privacy flag: true if it is absent or invalid."""
TupleOf = Annotated[tuple[T, ...], BeforeValidator(partial(_unless_null, default=()))]
Text = Annotated[str, BeforeValidator(partial(_unless_null, default=""))]
Hours = Annotated[Decimal, BeforeValidator(_fraction), Field(ge=-MOST_HOURS, le=MOST_HOURS)]
Timestamp = Annotated[datetime, AfterValidator(_utc)]


class ServiceValue(BaseModel):
    """Base class: frozen, keeps unknown fields, and hides the input in error messages."""

    model_config = ConfigDict(
        frozen=True,
        defer_build=True,
        extra="allow",
        coerce_numbers_to_str=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )


class Resource(ServiceValue):
    """Base class of resources: invalid fields count as absent, unless they are required."""

    @model_validator(mode="wrap")
    @classmethod
    def _drop_unreadable(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            if not isinstance(data, dict):
                raise
            unreadable = {
                problem["loc"][0] for problem in error.errors(include_input=False) if problem["loc"]
            }
            readable = {name: value for name, value in data.items() if name not in unreadable}
            if len(readable) == len(data):
                raise
        return handler(readable)


class Ref(ServiceValue):
    """A reference by ID and name; the name is empty if the service sends none."""

    id: int
    name: Text = ""


class IssueStatus(Ref):
    """A status. `is_closed` is None if the service doesn't send it, as Redmine before 5.0 in issues."""

    is_closed: bool | None = None


class CustomFieldValue(Resource):
    """A custom field with its value; `multiple` is sent only when true."""

    id: int
    name: Text = ""
    multiple: bool = False
    value: Annotated[str | tuple[str, ...] | None, BeforeValidator(_texts)] = None

    @property
    def text(self) -> str:
        return ", ".join(self.value) if isinstance(self.value, tuple) else self.value or ""


class RoleRights(Resource):
    """A role with its permissions; None if the service doesn't send them."""

    id: int
    permissions: tuple[str, ...] | None = None


class Membership(Resource):
    """The roles of a user or a group in a project; either `user` or `group` is set."""

    id: int
    project: Ref | None = None
    user: Ref | None = None
    group: Ref | None = None
    roles: TupleOf[Ref] = ()


class User(Resource):
    """A user. `login`, `mail`, `api_key`, and `status` are absent without permission.

    `status`: see conventions.UserStatus.
    """

    id: int
    login: str | None = None
    admin: bool | None = None
    firstname: Text = ""
    lastname: Text = ""
    mail: str | None = None
    status: int | None = None
    api_key: SecretStr | None = None
    custom_fields: TupleOf[CustomFieldValue] = ()
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None
    groups: TupleOf[Ref] = ()
    memberships: TupleOf[Membership] = ()

    @property
    def name(self) -> str:
        """First and last name, in the format of the service's own references."""
        return f"{self.firstname} {self.lastname}".strip()


class Parent(ServiceValue):
    """A reference to an issue by its number."""

    id: int


class Child(Resource):
    id: int
    tracker: Ref | None = None
    subject: Text = ""
    children: TupleOf["Child"] = ()


class Attachment(Resource):
    id: int
    filename: Text = ""
    filesize: int | None = None
    content_type: str | None = None
    description: str | None = None
    content_url: str | None = None
    author: Ref | None = None
    created_on: Timestamp | None = None


class Relation(Resource):
    """A relation from issue `issue_id` to issue `issue_to_id`; a service may have its own types."""

    id: int
    issue_id: int | None = None
    issue_to_id: int | None = None
    relation_type: Text = ""
    delay: int | None = None


class Change(Resource):
    """A change in an issue's history: `name` is the attribute's if `property` is `attr`."""

    property: Text = ""
    name: Text = ""
    old_value: Text = ""
    new_value: Text = ""


class Journal(Resource):
    """An entry of an issue's history: changes, a note, or both. `notes` is empty without a note."""

    id: int
    user: Ref | None = None
    notes: Text = ""
    private_notes: bool | None = None
    created_on: Timestamp | None = None
    details: TupleOf[Change] = ()


def _oldest_first(journals: tuple[Journal, ...]) -> tuple[Journal, ...]:
    """Older versions of Redmine send the newest first to users who like to read them so."""
    return tuple(sorted(journals, key=lambda journal: journal.id))


class Issue(Resource):
    """An issue. Which of the lists are filled depends on the request's `include`.

    Absent if unset: category, assigned_to, fixed_version, parent. Absent without permission: spent_hours,
    total_spent_hours. Descriptions have CRLF line endings.
    """

    id: int
    project: Ref | None = None
    tracker: Ref | None = None
    status: IssueStatus | None = None
    priority: Ref | None = None
    category: Ref | None = None
    author: Ref | None = None
    assigned_to: Ref | None = None
    subject: Text = ""
    description: str | None = None
    done_ratio: int | None = None
    fixed_version: Ref | None = None
    parent: Parent | None = None
    start_date: date | None = None
    due_date: date | None = None
    estimated_hours: Hours | None = None
    spent_hours: Hours | None = None
    total_spent_hours: Hours | None = None
    is_private: TrueUnlessFalse = True
    custom_fields: TupleOf[CustomFieldValue] = ()
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None
    closed_on: Timestamp | None = None
    children: TupleOf[Child] = ()
    attachments: TupleOf[Attachment] = ()
    relations: TupleOf[Relation] = ()
    allowed_statuses: TupleOf[IssueStatus] = ()
    journals: Annotated[TupleOf[Journal], AfterValidator(_oldest_first)] = ()

    @property
    def is_open(self) -> bool:
        closed = self.status.is_closed if self.status else None
        return not closed if closed is not None else self.closed_on is None

    @property
    def public_history(self) -> tuple[Journal, ...]:
        """The entries that everyone who sees the issue sees, without what may be a private note."""
        return tuple(j for j in self.journals if j.private_notes is False or not (j.notes or j.private_notes))

    @property
    def public_comments(self) -> tuple[Journal, ...] | None:
        """The notes that everyone who sees the issue sees, oldest first; None if its history wasn't sent."""
        if "journals" not in self.model_fields_set:
            return None
        return tuple(entry for entry in self.journals if entry.notes and entry.private_notes is False)


class Project(Resource):
    """A project; `status`: see conventions.ProjectStatus."""

    id: int
    name: Text = ""
    identifier: Text = ""
    description: str | None = None
    parent: Ref | None = None
    status: int | None = None
    is_public: bool | None = None
    custom_fields: TupleOf[CustomFieldValue] = ()
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None
    trackers: TupleOf[Ref] = ()
    issue_categories: TupleOf[Ref] = ()
    enabled_modules: TupleOf[Ref] = ()
    time_entry_activities: TupleOf[Ref] = ()
    issue_custom_fields: TupleOf[Ref] = ()


class TimeEntry(Resource):
    """Time spent on an issue or a project; `issue` is absent for time on the project."""

    id: int
    project: Ref | None = None
    issue: Parent | None = None
    user: Ref | None = None
    author: Ref | None = None
    activity: Ref | None = None
    hours: Hours | None = None
    comments: str | None = None
    spent_on: date | None = None
    custom_fields: TupleOf[CustomFieldValue] = ()
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None


class Upload(ServiceValue):
    """An uploaded file that isn't attached yet. The token attaches it, once, so it is a secret."""

    id: int
    token: SecretStr


class Version(Ref):
    """A version of a project; `status` is open, locked or closed in Redmine."""

    status: str | None = None


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list; `total_count` covers all pages, `offset` and `limit` are those the service used."""

    items: tuple[T, ...]
    total_count: int
    offset: int
    limit: int


def active(refs: Iterable[Ref]) -> tuple[Ref, ...]:
    """Return the active references: Redmine marks the others with `active: false`."""
    return tuple(ref for ref in refs if (ref.model_extra or {}).get("active") is not False)
