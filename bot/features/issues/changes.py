"""The changes in an issue's history to report, and the names of their values."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.catalog import Part
from bot.errors import ServiceError
from bot.features.issues.fields import FIELDS, Field
from bot.service.models import Change, Issue

ASSIGNEE = FIELDS["to"]
TOLD: Mapping[str, Field] = {FIELDS[key].sent: FIELDS[key] for key in ("status", "to", "priority", "due")}
"""The fields whose changes are reported, by their names in the history."""
LISTED: Mapping[str, Part] = {
    FIELDS["status"].sent: "statuses",
    FIELDS["priority"].sent: "priorities",
    FIELDS["to"].sent: "assignees",
}
Names = Mapping[str, Mapping[str, str]]
"""The names of values by ID, by the field's name in the history."""


async def names_of(access: Access, session: Session, issue: Issue, changes: Iterable[Change]) -> Names:
    """The names of the values that the changes name, as far as the service lists them; people also from the
    history.
    """
    people = [issue.author, issue.assigned_to, *(entry.user for entry in issue.journals)]
    known: dict[str, dict[str, str]] = {
        FIELDS["to"].sent: {str(one.id): one.name for one in people if one},
        FIELDS["status"].sent: {str(issue.status.id): issue.status.name} if issue.status else {},
        FIELDS["priority"].sent: {str(issue.priority.id): issue.priority.name} if issue.priority else {},
    }
    named = {(one.name, value) for one in changes for value in (one.old_value, one.new_value) if value}
    for name, part in LISTED.items():
        if {value for of, value in named if of == name} - known[name].keys():
            with suppress(ServiceError):
                project_id = issue.project.id if issue.project else None
                refs = await access.catalogs.listed(session, project_id, part)
                known[name] |= {str(ref.id): ref.name for ref in refs}
    return known
