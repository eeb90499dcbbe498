"""What is sent to create or change something (service-interface.md, section 4).

Only the fields that were given are sent: one that was given as None is sent as null, which clears it; one
that wasn't given is left alone. `body()` is the whole JSON body. Fields beyond the required ones are not
shown by the interface; they are Redmine's (service-facts.md).
"""

from datetime import date
from decimal import Decimal
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, PlainSerializer, SecretStr

# Sent as JSON numbers: Redmine stores minutes, so a float is exact enough.
Hours = Annotated[Decimal, PlainSerializer(float, return_type=float)]
# Opened only where the body is built; a repr shows stars.
Secret = Annotated[SecretStr, PlainSerializer(lambda secret: secret.get_secret_value(), return_type=str)]


class Write(BaseModel):
    """Base of everything that is sent; `wrapper` is the key that it is sent under."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
    wrapper: ClassVar[str]
    beside: ClassVar[frozenset[str]] = frozenset()  # fields that stand beside the wrapper, not in it

    def body(self) -> dict[str, object]:
        """The JSON body: the fields that were given, under the wrapper's key."""
        inside = self.model_dump(mode="json", exclude_unset=True, exclude=set(self.beside))
        outside = self.model_dump(mode="json", exclude_unset=True, include=set(self.beside))
        return {self.wrapper: inside, **outside}


class CustomFieldInput(BaseModel):
    """A custom field's new value; several for a field that takes several."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: int
    value: str | tuple[str, ...]


class UploadInput(BaseModel):
    """A file to attach, by the token that its upload gave."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
    token: Secret
    filename: str | None = None
    content_type: str | None = None
    description: str | None = None


class _UserOptions(Write):
    wrapper: ClassVar[str] = "user"
    beside: ClassVar[frozenset[str]] = frozenset({"send_information"})

    password: Secret | None = None
    generate_password: bool | None = None
    must_change_passwd: bool | None = None
    admin: bool | None = None
    status: int | None = None
    language: str | None = None
    mail_notification: str | None = None
    custom_fields: tuple[CustomFieldInput, ...] = ()
    send_information: bool | None = None


class NewUser(_UserOptions):
    """A user to create, by an administrator; `send_information` mails the new user their account."""

    login: str
    firstname: str
    lastname: str
    mail: str


class UserChanges(_UserOptions):
    """Changes to a user, by an administrator."""

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
    """An issue to create; the project by number or identifier (the interface's own form is the number)."""

    project_id: int | str
    subject: str
    watcher_user_ids: tuple[int, ...] = ()


class IssueChanges(_IssueOptions):
    """Changes to an issue and a note on it (beyond the interface: see beyond.Beyond.update_issue)."""

    project_id: int | str | None = None
    subject: str | None = None
    notes: str | None = None
    private_notes: bool | None = None


class NewProject(Write):
    """A project to create; the identifier can't be changed afterwards."""

    wrapper: ClassVar[str] = "project"

    name: str
    identifier: str
    description: str | None = None
    homepage: str | None = None
    is_public: bool | None = None
    inherit_members: bool | None = None
    parent_id: int | None = None
    tracker_ids: tuple[int, ...] = ()
    enabled_module_names: tuple[str, ...] = ()
    issue_custom_field_ids: tuple[int, ...] = ()
    custom_fields: tuple[CustomFieldInput, ...] = ()


class AttachmentChanges(Write):
    """Changes to an attachment."""

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
    """Time to log, on an issue or on a project; send the activity, a default may not exist."""

    hours: Hours


class TimeEntryChanges(_TimeEntryOptions):
    """Changes to a time entry."""

    hours: Hours | None = None
