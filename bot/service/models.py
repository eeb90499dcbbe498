"""The service's resources (service-interface.md, section 2), as values.

Lenient in what they take, as real services answer (service-facts.md, "Shapes"):

- Only a resource's id is required. A key that is absent or null has its default; `model_fields_set` tells
  the two apart (absent: not in the set).
- A field whose value can't be read is left out as if it were absent, so that one odd value doesn't cost a
  whole list (`Resource`). Nested resources do the same for themselves.
- Keys that are unknown (plugins add some) are kept in `model_extra`.

Datetimes are aware and in UTC, hours are decimals, lists are tuples. Secrets are `SecretStr`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    model_validator,
)

T = TypeVar("T")
CENTS = Decimal("0.01")


def _none_is_empty(value: object) -> object:
    return () if value is None else value


def _none_is_blank(value: object) -> object:
    return "" if value is None else value


def _unless_false(value: object) -> object:
    return True if value is None else value


def _fraction(value: object) -> object:
    """Redmine 6.0.0 and 6.0.1 send hours as a fraction in a string, `"1/3"`; others send two places."""
    if isinstance(value, str) and "/" in value:
        above, _, below = value.strip("() ").partition("/")
        try:
            return (Decimal(above) / Decimal(below)).quantize(CENTS)
        except ArithmeticError as error:
            raise ValueError("not a fraction") from error
    return value


def _utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _texts(value: object) -> object:
    """A custom field's value: text, null or a list of texts; some services send numbers and booleans."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, list | tuple):
        return tuple(str(_texts(item)) for item in value if item is not None)
    return value if value is None else str(value)


Hidden = Annotated[bool, BeforeValidator(_unless_false)]
"""Whether something is private: also when the service doesn't say, or says it unreadably."""
Many = Annotated[tuple[T, ...], BeforeValidator(_none_is_empty)]
Text = Annotated[str, BeforeValidator(_none_is_blank)]
Hours = Annotated[Decimal, BeforeValidator(_fraction)]
Timestamp = Annotated[datetime, AfterValidator(_utc)]


class Value(BaseModel):
    """Anything that the service sends: frozen, unknown keys kept, and no input in an error's text."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        coerce_numbers_to_str=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )


class Resource(Value):
    """A value that survives unreadable fields: they count as absent, unless they are required."""

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


class Ref(Value):
    """Something by id and name; the name is empty where the service sends none."""

    id: int
    name: Text = ""


class IssueStatus(Ref):
    """A status; `is_closed` is None where a service (Redmine before 5.0, in issues) doesn't say."""

    is_closed: bool | None = None


class AllowedStatus(IssueStatus):
    """A status that the person may set on an issue."""

    description: str | None = None


class Role(Ref):
    """A role in a project; `inherited` is sent only when true."""

    inherited: bool = False


class CustomFieldValue(Resource):
    """A custom field with its value; `multiple` is sent only when true."""

    id: int
    name: Text = ""
    multiple: bool = False
    value: Annotated[str | tuple[str, ...] | None, BeforeValidator(_texts)] = None


class RoleRights(Resource):
    """A role with what its holders may do; None where the service doesn't say."""

    id: int
    permissions: tuple[str, ...] | None = None


class Membership(Resource):
    """What a person or group is in a project: `user` or `group` is set, not both."""

    id: int
    project: Ref | None = None
    user: Ref | None = None
    group: Ref | None = None
    roles: Many[Role] = ()


class User(Resource):
    """A user. Without the right, `login`, `mail`, `api_key` and `status` are absent.

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
    avatar_url: str | None = None
    twofa_scheme: str | None = None
    custom_fields: Many[CustomFieldValue] = ()
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None
    last_login_on: Timestamp | None = None
    passwd_changed_on: Timestamp | None = None
    groups: Many[Ref] = ()
    memberships: Many[Membership] = ()

    @property
    def name(self) -> str:
        """First and last name, as the service's own refs to the user have it."""
        return f"{self.firstname} {self.lastname}".strip()


class Parent(Value):
    """An issue by its number alone."""

    id: int


class Child(Resource):
    """An issue below another one, with those below it."""

    id: int
    tracker: Ref | None = None
    subject: Text = ""
    children: Many["Child"] = ()


class Attachment(Resource):
    """A file attached to something."""

    id: int
    filename: Text = ""
    filesize: int | None = None
    content_type: str | None = None
    description: str | None = None
    content_url: str | None = None
    thumbnail_url: str | None = None
    author: Ref | None = None
    created_on: Timestamp | None = None


class Relation(Resource):
    """A relation from issue `issue_id` to issue `issue_to_id`; the types are open (service-interface.md)."""

    id: int
    issue_id: int | None = None
    issue_to_id: int | None = None
    relation_type: Text = ""
    delay: int | None = None


class Changeset(Resource):
    """A commit that names the issue."""

    revision: Text = ""
    user: Ref | None = None
    comments: str | None = None
    committed_on: Timestamp | None = None


class JournalDetail(Resource):
    """One change of one property; the properties are open (service-interface.md)."""

    property: Text = ""
    name: Text = ""
    old_value: str | None = None
    new_value: str | None = None


class Journal(Resource):
    """A note on an issue, a change of it, or both."""

    id: int
    user: Ref | None = None
    notes: str | None = None
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None
    updated_by: Ref | None = None
    private_notes: Hidden = True
    details: Many[JournalDetail] = ()


class Issue(Resource):
    """An issue. Which of the lists are filled depends on the includes that were asked for.

    Absent when there is none: category, assigned_to, fixed_version, parent. Absent without the right:
    spent_hours, total_spent_hours, watchers. Descriptions come with CRLF line ends.
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
    total_estimated_hours: Hours | None = None
    total_spent_hours: Hours | None = None
    is_private: Hidden = True
    custom_fields: Many[CustomFieldValue] = ()
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None
    closed_on: Timestamp | None = None
    children: Many[Child] = ()
    attachments: Many[Attachment] = ()
    relations: Many[Relation] = ()
    changesets: Many[Changeset] = ()
    journals: Many[Journal] = ()
    watchers: Many[Ref] = ()
    allowed_statuses: Many[AllowedStatus] = ()


class EnabledModule(Ref):
    """A module of a project; its name is its key (`issue_tracking`, `time_tracking`, …)."""


class Project(Resource):
    """A project; `status`: see conventions.ProjectStatus."""

    id: int
    name: Text = ""
    identifier: Text = ""
    description: str | None = None
    homepage: str | None = None
    parent: Ref | None = None
    status: int | None = None
    is_public: bool | None = None
    inherit_members: bool | None = None
    default_version: Ref | None = None
    default_assignee: Ref | None = None
    custom_fields: Many[CustomFieldValue] = ()
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None
    trackers: Many[Ref] = ()
    issue_categories: Many[Ref] = ()
    enabled_modules: Many[EnabledModule] = ()
    time_entry_activities: Many[Ref] = ()
    issue_custom_fields: Many[Ref] = ()


class TimeEntry(Resource):
    """Time that someone spent on an issue or a project; `issue` is absent when it is on the project."""

    id: int
    project: Ref | None = None
    issue: Parent | None = None
    user: Ref | None = None
    author: Ref | None = None
    activity: Ref | None = None
    hours: Hours | None = None
    comments: str | None = None
    spent_on: date | None = None
    custom_fields: Many[CustomFieldValue] = ()
    created_on: Timestamp | None = None
    updated_on: Timestamp | None = None


class Upload(Value):
    """A file that was sent but is attached to nothing yet; its token attaches it, once, so it is a secret."""

    id: int
    token: SecretStr


class Version(Ref):
    """A version of a project; `status` is open, locked or closed in Redmine."""

    status: str | None = None


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list: its rows, how many there are in all, and the offset and limit that were applied."""

    items: tuple[T, ...]
    total_count: int
    offset: int
    limit: int


def active(refs: Iterable[Ref]) -> list[Ref]:
    """Those that can still be chosen: Redmine lists enumerations with `active: false` when they can't."""
    return [ref for ref in refs if (ref.model_extra or {}).get("active") is not False]
