"""Changes issues: reads the issue, sends only the differences, and returns the result."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.catalog import PARTS, Catalog, CustomField, Part
from bot.access.name_matching import NameIndex, UnclearName, pick
from bot.access.people import People
from bot.errors import BotError, Refused, UserError, WrongField
from bot.features.editing.edits import Edit, StatusTransition, in_form
from bot.features.issues.fields import (
    CHANGEABLE,
    FIELDS,
    Field,
    FieldType,
    ResolvedValue,
    StatusRefused,
    custom_inputs,
    fields_of,
    resolved,
    sent,
)
from bot.features.issues.issues import (
    Issues,
    ServiceChange,
    assigned_to,
    explained,
    fingerprints,
    same,
    service_changes,
    texts,
)
from bot.service.conventions import IssueDetailInclude
from bot.service.inputs import CustomFieldInput, IssueChanges
from bot.service.models import CustomFieldValue, Issue, IssueStatus, Ref
from bot.spelling import ENOUGH_LETTERS, series
from bot.store.owner import Owner

STATUSES: tuple[IssueDetailInclude, ...] = ("allowed_statuses",)


@dataclass(frozen=True)
class Editable:
    """An issue with the choices that its user has for it: only the statuses that it can get from them."""

    issue: Issue
    catalog: Catalog
    every_status: tuple[Ref, ...]

    async def target_values(
        self, edit: Edit, session: Session, people: People
    ) -> tuple["TargetValues", list[WrongField]]:
        """The values that `edit` means, and an error for each name that can't be used."""
        catalog = self.catalog
        if "tracker" in edit.values:  # the service tells the statuses of the tracker that the issue has
            catalog = replace(catalog, lists={**catalog.lists, "statuses": self.every_status})

        values_by_key, errors = await resolved(edit, people, session, catalog)
        errors = [self._explained(error) for error in errors]
        wrong_fields = {error.field for error in errors}
        errors += [error for error in self._unsure(edit, values_by_key) if error.field not in wrong_fields]

        values: dict[str, ResolvedValue | None] = {key: None for key in edit.cleared if key in CHANGEABLE}
        values |= {key: value for key, value in values_by_key.items() if key in CHANGEABLE}
        if edit.subject.strip():
            values["subject"] = edit.subject.strip()
        if edit.step and "status" not in values:
            try:
                values["status"] = self._stepped(edit.step)
            except UserError as error:
                errors.append(WrongField("status", error))
        values = {key: values[key] for key in CHANGEABLE if key in values}
        emptied = (name.removeprefix("cf_") for name in edit.cleared if name not in CHANGEABLE)
        custom = tuple(map(self._several, custom_inputs(edit, self.catalog)))
        custom += tuple(CustomFieldInput(id=int(number), value="") for number in emptied)
        return TargetValues(values, custom, edit.unread), errors

    def _unsure(self, edit: Edit, values: Mapping[str, ResolvedValue]) -> Iterator[WrongField]:
        """An error for each guess that is too little of a name to be sure."""
        for key in edit.guessed & values.keys():
            field, typed, ref = FIELDS[key], edit.values[key], values[key]
            if not isinstance(ref, Ref) or not isinstance(typed, str) or typed == "me":
                continue
            name, text = ref.name.casefold(), typed.casefold().removeprefix("@")
            kind = "person" if field.kind is FieldType.PERSON else field.name
            long = len(text) >= ENOUGH_LETTERS
            part = re.search(rf"\b{re.escape(text)}" + ("" if long else r"\b"), name)
            sure = part and (long or kind == "person")  # Bo is a first name
            if text.startswith("#") or not (sure or text == name):
                yield WrongField(field.name, UnclearName(kind, typed, field.known(self.catalog)))

    def _several(self, field: CustomFieldInput) -> CustomFieldInput:
        """The same with its values apart, if the field takes several."""
        several = {own.id for own in self.issue.custom_fields if own.multiple}
        if field.id not in several or not isinstance(field.value, str):
            return field
        parts = (part.strip() for part in field.value.split(","))
        return CustomFieldInput(id=field.id, value=tuple(filter(None, parts)))

    def _explained(self, error: WrongField) -> WrongField:
        """The error about a status that exists, but not for this user and this issue."""
        if error.field != "status" or not isinstance(error.error, UnclearName) or error.error.matches:
            return error
        try:
            status = pick("status", error.error.query, self.every_status)
        except UserError:
            return error
        return self._not_allowed(status)

    def closing(self, edit: Edit) -> bool:
        """Whether the change is to close the issue."""
        name = str(edit.values.get("status") or "").casefold()
        meant = (one for one in self.every_status if name in (one.name.casefold(), f"#{one.id}"))
        closed = any(isinstance(one, IssueStatus) and one.is_closed for one in meant)
        return edit.step is StatusTransition.CLOSE or closed

    def refused(self, target: "TargetValues") -> WrongField | None:
        """The error for a status that the issue can't get from this user, if the service tells."""
        status, ids = target.values.get("status"), {one.id for one in self.issue.allowed_statuses}
        if "tracker" not in target.values and ids and isinstance(status, Ref) and status.id not in ids:
            return self._not_allowed(pick("status", f"#{status.id}", self.every_status))
        return None

    def _not_allowed(self, status: Ref) -> WrongField:
        allowed = self.catalog.lists["statuses"]
        return WrongField("status", StatusRefused(f"set #{self.issue.id} to {status.name}", "", allowed))

    def _stepped(self, step: StatusTransition) -> Ref:
        """The first status in the service's order that closes or reopens the issue, or the one in progress.

        That is the current one if it is closed or open already. Raises UserError.
        """
        if step is StatusTransition.START:
            return self._in_progress(step)
        closes, current = step is StatusTransition.CLOSE, self.issue.status
        allowed = self.catalog.lists["statuses"]
        fitting = [one for one in allowed if isinstance(one, IssueStatus) and one.is_closed is closes]
        if not fitting:
            others = [status for status in allowed if not current or status.id != current.id]
            raise StatusRefused(f"{step} #{self.issue.id}", current.name if current else "here", others)
        return next((one for one in fitting if current and one.id == current.id), fitting[0])

    def _in_progress(self, typed: str) -> Ref:
        """The status that says so, whether the issue can get it or not. Raises UserError."""
        fitting = [one for one in self.every_status if "progress" in one.name.casefold()]
        if len(fitting) != 1:
            raise UnclearName("status", typed, self.catalog.lists["statuses"], fitting)
        return fitting[0]


@dataclass(frozen=True)
class TargetValues:
    """Values for an issue's fields by option key, None to clear one.

    `unread` are durations that couldn't be read, as typed.
    """

    values: Mapping[str, ResolvedValue | None]
    custom: tuple[CustomFieldInput, ...]
    unread: Mapping[str, str] = field(default_factory=dict)

    def new_to(self, issue: Issue) -> "TargetValues":
        """Those that the issue doesn't have."""
        current = {one.id: texts(one) for one in issue.custom_fields}
        return replace(
            self,
            values={k: v for k, v in self.values.items() if not same(v, CHANGEABLE[k].answered(issue))},
            custom=tuple(one for one in self.custom if sorted(texts(one)) != sorted(current.get(one.id, ()))),
        )

    @property
    def by_name(self) -> dict[str, ResolvedValue | None]:
        """Return the values in the format of `current_values`."""
        return {**self.values, **{f"cf_{one.id}": _text(one) for one in self.custom}}

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.by_name)

    def request(self) -> IssueChanges:
        fields = {CHANGEABLE[key].sent: value and sent(value) for key, value in self.values.items()}
        return IssueChanges.model_validate(fields | ({"custom_fields": self.custom} if self.custom else {}))


def current_values(issue: Issue) -> dict[str, ResolvedValue | None]:
    """The issue's values by name: option keys, or `cf_7` for a custom field."""
    values = {key: field.answered(issue) for key, field in CHANGEABLE.items()}
    return values | {f"cf_{field.id}": _text(field) for field in issue.custom_fields}


def _text(custom: CustomFieldInput | CustomFieldValue) -> str | None:
    return ", ".join(texts(custom)) or None


@dataclass(frozen=True)
class FieldChange:
    """A field's value before and after; `name` as in `current_values`."""

    name: str
    label: str
    before: ResolvedValue | None
    after: ResolvedValue | None

    @property
    def field(self) -> Field | None:
        """None for a custom field."""
        return CHANGEABLE.get(self.name)


@dataclass(frozen=True)
class Edited:
    """An issue before and after a change: what changed, and what the service didn't take.

    `already` are the values that the issue had before, if there was nothing to change. `left` is why fields
    weren't changed, or changed back.
    """

    before: Issue
    issue: Issue
    changed: tuple[FieldChange, ...] = ()
    not_taken: tuple[ServiceChange, ...] = ()
    already: tuple[FieldChange, ...] = ()
    left: tuple[BotError, ...] = ()
    mine: bool = False  # whether it is assigned to the user now
    final: bool = False  # whether the workflow has no way back to the status before

    @property
    def assigned(self) -> bool:
        """Whether somebody else is its assignee now."""
        return self.issue.assigned_to is not None and any(change.name == "to" for change in self.changed)


class EditConflict(UserError):
    """Somebody else changed the same fields after the form was opened.

    `editable` is the current issue, and `target` has this user's values; `fields` are the conflicting ones,
    with the values of both users.
    """

    says = "Someone else changed {labels} while you were editing. Check below, then save again."
    labels: str
    editable: Editable
    target: TargetValues
    fields: tuple[FieldChange, ...]


class Editing:
    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def editable(
        self, owner: Owner, number: int, edit: Edit, parts: Collection[Part] = PARTS
    ) -> tuple[Editable, TargetValues, list[UserError]]:
        """An issue with these choices, what `edit` means for it, and what can't be done of that.

        Raises UpdatesUnsupported, IssueNotFound, NotLinked, ServiceError.
        """
        self.issues.check_supported(number)
        async with self.access.accounts.reading(owner) as session:
            editable = await self._editable(session, number, edit, parts)
            target, errors = await editable.target_values(edit, session, self.access.people)
        return editable, target, list(errors)

    async def apply(
        self, owner: Owner, number: int, edit: Edit, opened: Mapping[str, str] | None = None
    ) -> Edited:
        """Change an issue; only what differs from it is sent.

        `opened` are the `fingerprints` of the issue that the form was opened with. Raises EditConflict if
        somebody changed the same fields since, WrongField, IssueNotFound, NotLinked, IssueRefused and the
        errors of `Issues.update`.
        """
        async with self.access.accounts.reading(owner) as session:
            editable = await self._editable(session, number, edit, edit.parts)
            everything, errors = await editable.target_values(edit, session, self.access.people)
            await self._check_holder(session, editable.issue, edit.holder)
        if errors:
            raise await self._cause(session, editable, edit, errors[0])

        before, target = editable.issue, everything.new_to(editable.issue)
        if not target.names:
            values = current_values(before)
            already = _changes(everything.by_name, before, values, values)
            return Edited(before, before, already=already, mine=assigned_to(session, before))

        await self._check_conflicts(owner, edit, before, target, opened or {})
        if refused := editable.refused(target):
            raise await self._cause(session, editable, edit, refused)

        with_statuses = partial(self.issues.detailed, include=STATUSES) if "status" in target.values else None
        try:
            after = await self.issues.update(
                session,
                before,
                target.request(),
                lambda issue: target.new_to(issue).names != target.names,
                read=with_statuses,
            )
        except Refused as error:
            project_id, assignee = editable.catalog.project_id, target.values.get("to")
            raise await explained(self.access, owner, error, project_id, assignee) from None

        return await self._edited(session, before, after, target)

    async def _check_conflicts(
        self, owner: Owner, edit: Edit, before: Issue, target: TargetValues, opened: Mapping[str, str]
    ) -> None:
        """Raise EditConflict if somebody changed the same fields since the form was opened."""
        now = fingerprints(before)
        others = {name for name, mark in opened.items() if now.get(name) != mark}
        conflicting = [name for name in target.by_name if in_form(name) in others]
        if not conflicting:
            return

        async with self.access.accounts.reading(owner) as session:
            editable = replace(await self._editable(session, before.id, edit, PARTS), issue=before)
        changed = _changes(conflicting, before, current_values(before), target.by_name)
        labels = series([change.label for change in changed], "and")
        raise EditConflict(labels, editable, target, changed)

    async def _edited(self, session: Session, before: Issue, after: Issue, target: TargetValues) -> Edited:
        """What became of a change that was sent."""
        not_taken = service_changes(target.values, target.custom, after, before)
        missed = target.new_to(after).names
        taken = [name for name in target.by_name if name not in missed]
        changed = _changes(taken, after, current_values(before), current_values(after))

        because = await self._because(session, after.id, not_taken)
        left, mine = (because,) if because else (), assigned_to(session, after)
        allowed, stepped = {status.id for status in after.allowed_statuses}, "status" in taken
        final = bool(stepped and allowed and before.status and before.status.id not in allowed)
        return Edited(before, after, changed, not_taken, left=left, mine=mine, final=final)

    async def _check_holder(self, session: Session, issue: Issue, holder: Owner | str) -> None:
        """Raise UserError if the issue is assigned to somebody else."""
        assigned = issue.assigned_to
        if not holder or assigned is None:
            return
        try:
            known = NameIndex("person", [assigned])
            named = (await self.access.people.find(session, holder, known)).id
        except UnclearName as error:
            if error.matches:
                raise
            named = None
        if named != assigned.id:
            raise UserError(
                "#{number} is assigned to {name}, so I didn't change it.",
                number=issue.id,
                name=assigned.name,
            )

    async def _cause(self, session: Session, editable: Editable, edit: Edit, error: WrongField) -> WrongField:
        """The error, or what subtasks keep the issue from being closed."""
        closes = ["status"] if error.field == "status" and editable.closing(edit) else []
        kept = await self.issues.kept_by_subtasks(session, editable.issue.id, closes)
        return WrongField("status", kept) if kept else error

    async def _because(
        self, session: Session, number: int, not_taken: Collection[ServiceChange]
    ) -> UserError | None:
        """What of an issue's subtasks kept it from a change that the service didn't take."""
        requested = {one.field.key: one.requested for one in not_taken if one.field}
        if not (isinstance(status := requested.get("status"), IssueStatus) and status.is_closed):
            requested.pop("status", None)
        return await self.issues.kept_by_subtasks(session, number, requested)

    async def undo(self, owner: Owner, number: int, back: Edit, after: Mapping[str, str]) -> Edited:
        """Change fields back to the values that they had, except those that somebody changed since.

        `after` are the `fingerprints` of the values that were changed. Raises what `apply` raises, and
        UserError if no field can be changed back.
        """
        left: list[BotError] = []
        while True:
            try:
                edited = await self.apply(owner, number, back, after)
                break
            except EditConflict as error:
                left.append(
                    UserError(
                        "Someone has changed {labels} since then, so I didn't undo that.", labels=error.labels
                    )
                )
                back = back.without({in_form(one.name) for one in error.fields})
            except (WrongField, Refused) as error:
                left.append(error)
                if (rest := back.without(fields_of(error))) == back:
                    raise
                back = rest
        if left and not (edited.changed or edited.already):
            raise left[0]
        return replace(edited, left=(*edited.left, *left))

    async def _editable(self, session: Session, number: int, edit: Edit, parts: Collection[Part]) -> Editable:
        issue = await self.issues.detailed(session, number, STATUSES)
        project_id = issue.project.id if issue.project else None
        catalog = await self.access.catalogs.of(session, project_id, parts, edit.custom_fields)
        if "custom_fields" in parts:
            field_ids = [field.id for field in issue.custom_fields]
            catalog = await self.access.catalogs.with_values(session, catalog, field_ids)
        statuses = catalog.lists.get("statuses", ())
        lists = {**catalog.lists, "statuses": issue.allowed_statuses or statuses}
        catalog = replace(catalog, lists=lists, custom_fields=_with_held(catalog, issue))
        return Editable(issue, catalog, statuses)


def _with_held(catalog: Catalog, issue: Issue) -> tuple[CustomField, ...]:
    """The custom fields, whose values include those that the issue has."""
    fields = {field.id: field for field in catalog.custom_fields}
    for own in issue.custom_fields:
        field = fields.get(own.id, CustomField(own.id, own.name))
        fields[own.id] = replace(field, values=tuple(dict.fromkeys((*texts(own), *field.values))))
    return tuple(fields.values())


def _changes(
    names: Iterable[str],
    issue: Issue,
    before: Mapping[str, ResolvedValue | None],
    after: Mapping[str, ResolvedValue | None],
) -> tuple[FieldChange, ...]:
    """The fields' values before and after; custom fields are labeled as in `issue`."""
    labels = {f"cf_{field.id}": field.name for field in issue.custom_fields}
    labels |= {key: field.label for key, field in CHANGEABLE.items()}
    return tuple(
        FieldChange(name, labels.get(name, name), before.get(name), after.get(name)) for name in names
    )


def way_back(before: Issue, after: Issue, names: Collection[str]) -> tuple[Edit, dict[str, str]]:
    """The change that restores the fields with these names, and the `fingerprints` of what they hold now."""
    values = {key: field.answered(before) for key, field in CHANGEABLE.items() if key in names}
    custom = {one.id: one.value for one in before.custom_fields if f"cf_{one.id}" in names and texts(one)}
    back = Edit(
        subject=before.subject if "subject" in names else "",
        values={key: f"#{value.id}" if isinstance(value, Ref) else value for key, value in values.items()},
        custom_fields={number: value for number, value in custom.items() if value},
        cleared=tuple(name for name in names if current_values(before).get(name) is None),
    )
    ours = set(map(in_form, names))
    return back, {name: mark for name, mark in fingerprints(after).items() if name in ours}
