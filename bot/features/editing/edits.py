"""Changes to an issue as typed or chosen, and what they mean for the issue as it is now."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum

from bot.errors import UserError, WrongField
from bot.features.accounts.accounts import Session
from bot.features.issues.fields import CHANGEABLE, Draft, Meant, typed_hours
from bot.features.issues.resolution import custom_inputs, resolved, sent
from bot.features.issues.service_changes import same, texts
from bot.features.name_matching import UnknownName, pick
from bot.features.projects.catalog import Catalog
from bot.features.users.people import People
from bot.option_keys import carried
from bot.service.inputs import CustomFieldInput, IssueChanges
from bot.service.models import CustomFieldValue, Issue, IssueStatus, Ref

MARK = 8
"""Characters of a mark: enough to notice that a value is another one."""


class Step(StrEnum):
    """A change of status by what it does."""

    CLOSE = "close"
    REOPEN = "reopen"


class StatusNotAllowed(UserError):
    """The issue can't get that status from this user; `allowed` are those that it can get."""

    number: int
    status: str
    allowed: Sequence[Ref]


class StepNotAllowed(UserError):
    """No status that the user may choose closes the issue, or reopens it."""

    number: int
    step: Step
    allowed: Sequence[Ref]


class Edit(Draft):
    """Changes to an issue; fields that aren't in it keep their values.

    `cleared` are the names of fields to empty, as in `held`.
    """

    cleared: tuple[str, ...] = ()
    step: Step | None = None


@dataclass(frozen=True)
class Editable:
    """An issue with the choices that its user has for it: only the statuses that it can get from them."""

    issue: Issue
    catalog: Catalog
    every_status: tuple[Ref, ...]

    async def wanted(self, edit: Edit, session: Session, people: People) -> tuple["Wanted", list[WrongField]]:
        """The values that `edit` means, and an error for each name that can't be used."""
        found, errors = await resolved(edit, people, session, self.catalog)
        errors = [self._explained(error) for error in errors]
        values: dict[str, Meant | None] = {key: None for key in edit.cleared if key in CHANGEABLE}
        values |= {key: value for key, value in found.items() if key in CHANGEABLE}
        if edit.subject.strip():
            values["subject"] = edit.subject.strip()
        if edit.step and "status" not in values:
            try:
                values["status"] = self._stepped(edit.step)
            except StepNotAllowed as error:
                errors.append(WrongField("status", error))
        values = {key: values[key] for key in CHANGEABLE if key in values}
        emptied = (name.removeprefix("cf_") for name in edit.cleared if name not in CHANGEABLE)
        custom = tuple(map(self._several, custom_inputs(edit, self.catalog)))
        custom += tuple(CustomFieldInput(id=int(number), value="") for number in emptied)
        return Wanted(values, custom, edit.unread), errors

    def _several(self, field: CustomFieldInput) -> CustomFieldInput:
        """The same with its values apart, if the field takes several."""
        several = {held.id for held in self.issue.custom_fields if held.multiple}
        if field.id not in several or not isinstance(field.value, str):
            return field
        parts = (part.strip() for part in field.value.split(","))
        return CustomFieldInput(id=field.id, value=tuple(filter(None, parts)))

    def _explained(self, error: WrongField) -> WrongField:
        """The error about a status that exists, but not for this user and this issue."""
        if not (error.field == "status" and isinstance(error.error, UnknownName)):
            return error
        try:
            status = pick("status", error.error.wanted, self.every_status)
        except UserError:
            return error
        return WrongField(
            "status", StatusNotAllowed(self.issue.id, status.name, self.catalog.lists["statuses"])
        )

    def _stepped(self, step: Step) -> Ref:
        """The first status in the service's order that closes or reopens the issue.

        That is the current one if it is closed or open already. Raises StepNotAllowed.
        """
        closes, current = step is Step.CLOSE, self.issue.status
        fitting = [
            status
            for status in self.catalog.lists["statuses"]
            if isinstance(status, IssueStatus) and status.is_closed is closes
        ]
        for status in fitting:
            if current and status.id == current.id:
                return status
        if not fitting:
            raise StepNotAllowed(self.issue.id, step, self.catalog.lists["statuses"])
        return fitting[0]


@dataclass(frozen=True)
class Wanted:
    """Values for an issue's fields by option key, None to clear one.

    `unread` are durations that couldn't be read, as typed.
    """

    values: Mapping[str, Meant | None]
    custom: tuple[CustomFieldInput, ...]
    unread: Mapping[str, str] = field(default_factory=dict)

    def new_to(self, issue: Issue) -> "Wanted":
        """Those that the issue doesn't have."""
        held = {one.id: texts(one) for one in issue.custom_fields}
        return replace(
            self,
            values={k: v for k, v in self.values.items() if not same(v, CHANGEABLE[k].answered(issue))},
            custom=tuple(one for one in self.custom if sorted(texts(one)) != sorted(held.get(one.id, ()))),
        )

    @property
    def by_name(self) -> dict[str, Meant | None]:
        """The values as `held` has those of an issue."""
        return {**self.values, **{f"cf_{one.id}": _text(one) for one in self.custom}}

    @property
    def names(self) -> frozenset[str]:
        """The names of the fields."""
        return frozenset(self.by_name)

    def request(self) -> IssueChanges:
        """The request that changes them."""
        fields = {CHANGEABLE[key].sent: value and sent(value) for key, value in self.values.items()}
        return IssueChanges.model_validate(fields | ({"custom_fields": self.custom} if self.custom else {}))


def held(issue: Issue) -> dict[str, Meant | None]:
    """The issue's values by name: option keys, or `cf_7` for a custom field."""
    found = {key: field.answered(issue) for key, field in CHANGEABLE.items()}
    return found | {f"cf_{field.id}": _text(field) for field in issue.custom_fields}


def _text(custom: CustomFieldInput | CustomFieldValue) -> str | None:
    return ", ".join(texts(custom)) or None


def marks(issue: Issue) -> dict[str, str]:
    """A short mark of each value as the form shows it, by name, to notice later that somebody changed it."""
    custom = {f"cf_{field.id}": custom_mark(texts(field)) for field in issue.custom_fields}
    return {name: mark(value) for name, value in held(issue).items()} | custom


def mark(value: object) -> str:
    """A short mark of a value as the form shows it, or of what the form holds: equal unless that changed."""
    match value:
        case Ref():
            text = f"#{value.id}"
        case Decimal():
            text = typed_hours(value) if value else ""
        case _:
            text = "" if value is None else str(value)
    return hashlib.sha256(_normal(text).encode()).hexdigest()[:MARK]


def custom_mark(values: Sequence[str]) -> str:
    """As `mark`, of a custom field's values or of their options."""
    return mark(", ".join(carried(_normal(value)) for value in values))


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
