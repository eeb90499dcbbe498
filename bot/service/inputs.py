"""Request bodies of the operations that create or change something.

Only fields that were set are sent. None is sent as null and clears the field; a field that wasn't set keeps
its value. The optional fields are Redmine's (docs/service.md, Operations).
"""

from datetime import date
from decimal import Decimal
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, PlainSerializer, SecretStr

# Sent as JSON numbers: Redmine stores minutes, so a float is exact enough.
Hours = Annotated[Decimal, PlainSerializer(float, return_type=float)]
# Revealed only in the body; hidden in a repr.
Secret = Annotated[SecretStr, PlainSerializer(lambda secret: secret.get_secret_value(), return_type=str)]


# Redmine ignores a null assignee in an update, and an empty one clears it.
Clearable = Annotated[int | None, PlainSerializer(lambda value: "" if value is None else value)]


class Write(BaseModel):
    """Base class of request bodies; `wrapper` is the JSON key around the fields."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", hide_input_in_errors=True)
    wrapper: ClassVar[str]
    top_level: ClassVar[frozenset[str]] = frozenset()  # fields next to the wrapper, not inside it


class CustomFieldInput(BaseModel):
    """A custom field's new value; a tuple for a field with multiple values."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")
    id: int
    value: str | tuple[str, ...]


class UploadInput(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", hide_input_in_errors=True)
    token: Secret
    filename: str | None = None
    content_type: str | None = None
    description: str | None = None


class _UserOptions(Write):
    wrapper: ClassVar[str] = "user"
    top_level: ClassVar[frozenset[str]] = frozenset({"send_information"})

    password: Secret | None = None
    generate_password: bool | None = None
    must_change_passwd: bool | None = None
    admin: bool | None = None
    status: int | None = None
    language: str | None = None
    custom_fields: tuple[CustomFieldInput, ...] = ()
    send_information: bool | None = None


class NewUser(_UserOptions):
    """A user to create. `send_information` emails the new user their account details."""

    login: str
    firstname: str
    lastname: str
    mail: str


class UserChanges(_UserOptions):
    login: str | None = None
    firstname: str | None = None
    lastname: str | None = None
    mail: str | None = None


class _IssueOptions(Write):
    wrapper: ClassVar[str] = "issue"

    tracker_id: int | None = None
    status_id: int | None = None
    priority_id: int | None = None
    category_id: int | None = None
    assigned_to_id: int | None = None
    fixed_version_id: int | None = None
    parent_issue_id: int | None = None
    description: str | None = None
    start_date: date | None = None
    due_date: date | None = None
    done_ratio: int | None = None
    estimated_hours: Hours | None = None
    is_private: bool | None = None
    custom_fields: tuple[CustomFieldInput, ...] = ()
    uploads: tuple[UploadInput, ...] = ()


class NewIssue(_IssueOptions):
    """An issue to create; `project_id` is an ID or an identifier."""

    project_id: int | str
    subject: str
    watcher_user_ids: tuple[int, ...] = ()


class IssueChanges(_IssueOptions):
    """Changes to an issue, and a note; for `OptionalOperations.update_issue`."""

    assigned_to_id: Clearable = None
    project_id: int | str | None = None
    subject: str | None = None
    notes: str | None = None
    private_notes: bool | None = None


class NewProject(Write):
    """A project to create. The identifier can't be changed later."""

    wrapper: ClassVar[str] = "project"

    name: str
    identifier: str
    description: str | None = None
    is_public: bool | None = None
    inherit_members: bool | None = None
    parent_id: int | None = None
    tracker_ids: tuple[int, ...] = ()
    custom_fields: tuple[CustomFieldInput, ...] = ()


class AttachmentChanges(Write):
    wrapper: ClassVar[str] = "attachment"

    filename: str | None = None
    description: str | None = None


class _TimeEntryOptions(Write):
    wrapper: ClassVar[str] = "time_entry"

    issue_id: int | None = None
    project_id: int | str | None = None
    activity_id: int | None = None
    spent_on: date | None = None
    comments: str | None = None
    user_id: int | None = None
    custom_fields: tuple[CustomFieldInput, ...] = ()


class NewTimeEntry(_TimeEntryOptions):
    """Time to log on an issue or a project. Set the activity: there may be no default."""

    hours: Hours


class TimeEntryChanges(_TimeEntryOptions):
    hours: Hours | None = None
