"""Changes issues: reads what an issue is now, sends only what differs, and tells what came of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bot.errors import Refused, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.editing.edits import Edit, Editable, Wanted, held, marks
from bot.features.issues.errors import IssueRefused
from bot.features.issues.fields import CHANGEABLE, Field, Meant, fields_named
from bot.features.issues.issues import Issues
from bot.features.issues.service_changes import ServiceChange, service_changes, texts
from bot.features.issues.updates import Updates
from bot.features.projects.catalog import Catalog, Catalogs, CustomField
from bot.features.users.people import People
from bot.service.conventions import IssueDetailInclude
from bot.service.models import Issue
from bot.store.owner import Owner

STATUSES: tuple[IssueDetailInclude, ...] = ("allowed_statuses",)


@dataclass(frozen=True)
class Changed:
    """A field's value before and after; `field` is None for a custom field."""

    label: str
    field: Field | None
    before: Meant | None
    after: Meant | None


@dataclass(frozen=True)
class Edited:
    """An issue after a change: what changed, and what the service didn't take.

    `already` are the values that the issue had before, if there was nothing to change.
    """

    issue: Issue
    changed: tuple[Changed, ...] = ()
    not_taken: tuple[ServiceChange, ...] = ()
    already: tuple[Changed, ...] = ()

    @property
    def assigned(self) -> bool:
        """Whether somebody else is its assignee now."""
        return any(change.field is CHANGEABLE["to"] for change in self.changed) and bool(
            self.issue.assigned_to
        )


class EditConflict(UserError):
    """Somebody else changed the same fields after the form was opened.

    `editable` is the issue as it is now, and `wanted` is what the user wants; `fields` are those that differ,
    with the value of the other user and that of this one.
    """

    editable: Editable
    wanted: Wanted
    fields: tuple[Changed, ...]


@dataclass(frozen=True)
class Editing:
    """Changes issues with the requesting user's key."""

    accounts: Accounts
    issues: Issues
    catalogs: Catalogs
    people: People
    updates: Updates

    async def editable(
        self, owner: Owner, number: int, edit: Edit
    ) -> tuple[Editable, Wanted, list[UserError]]:
        """An issue with its choices, what `edit` means for it, and what can't be done of that.

        Raises UpdatesUnsupported, IssueNotFound, NotLinked, ServiceError.
        """
        self.updates.check_supported(number)
        async with self.accounts.reading(owner) as session:
            editable = await self._editable(session, number)
            wanted, errors = await editable.wanted(edit, session, self.people)
        return editable, wanted, list(errors)

    async def apply(
        self, owner: Owner, number: int, edit: Edit, opened: Mapping[str, str] | None = None
    ) -> Edited:
        """Change an issue; only what differs from it is sent.

        `opened` are the marks of the values that the user saw in the form. Raises EditConflict if somebody
        changed the same fields since, WrongField, IssueNotFound, NotLinked, IssueRefused and the errors of
        `Updates.apply`.
        """
        async with self.accounts.reading(owner) as session:
            editable = await self._editable(session, number)
            everything, errors = await editable.wanted(edit, session, self.people)
        if errors:
            raise errors[0]
        before, wanted = editable.issue, everything.new_to(editable.issue)
        values = held(before)
        if not wanted.names:
            return Edited(before, already=_changes(everything.by_name, before, values, values))
        now = marks(before)
        others = {name for name, mark in (opened or {}).items() if now.get(name) != mark}
        if conflicting := [name for name in wanted.by_name if name in others]:
            raise EditConflict(editable, wanted, _changes(conflicting, before, values, wanted.by_name))
        try:
            after = await self.updates.apply(
                session, before, wanted.request(), lambda issue: wanted.new_to(issue).names != wanted.names
            )
        except Refused as error:
            raise IssueRefused(error, fields_named(error.errors, editable.catalog.custom_fields)) from None
        not_taken = service_changes(wanted.values, wanted.custom, after)
        missed = wanted.new_to(after).names
        taken = [name for name in wanted.by_name if name not in missed]
        changed = _changes(taken, after, values, held(after))
        return Edited(after, changed, not_taken)

    async def _editable(self, session: Session, number: int) -> Editable:
        issue = await self.issues.detailed(session, number, STATUSES)
        catalog = await self.catalogs.of(session, issue.project.id if issue.project else None)
        allowed, custom = issue.allowed_statuses or catalog.statuses, _with_held(catalog, issue)
        return Editable(issue, replace(catalog, statuses=allowed, custom_fields=custom), catalog.statuses)


def _with_held(catalog: Catalog, issue: Issue) -> tuple[CustomField, ...]:
    """The custom fields, whose values include those that the issue has."""
    held = {field.id: texts(field) for field in issue.custom_fields}
    return tuple(
        replace(field, values=tuple(dict.fromkeys((*held.get(field.id, ()), *field.values))))
        for field in catalog.custom_fields
    )


def _changes(
    names: Iterable[str], issue: Issue, before: Mapping[str, Meant | None], after: Mapping[str, Meant | None]
) -> tuple[Changed, ...]:
    """The fields' values before and after; custom fields are labeled as in `issue`."""
    labels = {f"cf_{field.id}": field.name for field in issue.custom_fields}
    labels |= {key: field.label for key, field in CHANGEABLE.items()}
    return tuple(
        Changed(labels.get(name, name), CHANGEABLE.get(name), before.get(name), after.get(name))
        for name in names
    )
