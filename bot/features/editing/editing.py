"""Changes issues: reads what an issue is now, sends only what differs, and tells what came of it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from bot.errors import Refused, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.editing.edits import Edit, Editable, Wanted, held, marks
from bot.features.issues.fields import CHANGEABLE, Field, Meant
from bot.features.issues.issues import Issues
from bot.features.issues.refusals import Refusals
from bot.features.issues.service_changes import ServiceChange, service_changes, texts
from bot.features.issues.updates import Updates
from bot.features.projects.catalog import PARTS, Catalog, Catalogs, CustomField, Part
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
        self, owner: Owner, number: int, edit: Edit, parts: Collection[Part] = PARTS
    ) -> tuple[Editable, Wanted, list[UserError]]:
        """An issue with these choices, what `edit` means for it, and what can't be done of that.

        Raises UpdatesUnsupported, IssueNotFound, NotLinked, ServiceError.
        """
        self.updates.check_supported(number)
        async with self.accounts.reading(owner) as session:
            editable = await self._editable(session, number, edit, parts)
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
            parts: Collection[Part] = [*edit.parts, "statuses"] if edit.step else edit.parts
            editable = await self._editable(session, number, edit, parts)
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
            async with self.accounts.reading(owner) as session:
                editable = replace(await self._editable(session, number, edit, PARTS), issue=before)
            raise EditConflict(editable, wanted, _changes(conflicting, before, values, wanted.by_name))
        try:
            after = await self.updates.apply(
                session, before, wanted.request(), lambda issue: wanted.new_to(issue).names != wanted.names
            )
        except Refused as error:
            refusals, project_id = Refusals(self.accounts, self.catalogs), editable.catalog.project_id
            assignee = wanted.values.get("to")
            raise await refusals.explained(owner, error, project_id, assignee) from None
        not_taken = service_changes(wanted.values, wanted.custom, after)
        missed = wanted.new_to(after).names
        taken = [name for name in wanted.by_name if name not in missed]
        changed = _changes(taken, after, values, held(after))
        return Edited(after, changed, not_taken)

    async def _editable(self, session: Session, number: int, edit: Edit, parts: Collection[Part]) -> Editable:
        issue = await self.issues.detailed(session, number, STATUSES)
        project_id = issue.project.id if issue.project else None
        catalog = await self.catalogs.of(session, project_id, parts, edit.custom_fields)
        if "custom_fields" in parts:
            held = [field.id for field in issue.custom_fields]
            catalog = await self.catalogs.with_values(session, catalog, held)
        statuses = catalog.lists.get("statuses", ())
        lists = {**catalog.lists, "statuses": issue.allowed_statuses or statuses}
        return Editable(
            issue, replace(catalog, lists=lists, custom_fields=_with_held(catalog, issue)), statuses
        )


def _with_held(catalog: Catalog, issue: Issue) -> tuple[CustomField, ...]:
    """The custom fields, whose values include those that the issue has."""
    found = {field.id: field for field in catalog.custom_fields}
    for own in issue.custom_fields:
        field = found.get(own.id, CustomField(own.id, own.name))
        found[own.id] = replace(field, values=tuple(dict.fromkeys((*texts(own), *field.values))))
    return tuple(found.values())


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
