"""What somebody asks to change of an issue."""

from collections.abc import Collection
from enum import StrEnum

from bot.access.catalog import Part
from bot.features.issues.fields import CHANGEABLE, FIELDS, Draft
from bot.store.owner import Owner


class StatusTransition(StrEnum):
    """A change of status by what it does."""

    CLOSE = "close"
    REOPEN = "reopen"
    START = "start"


class Edit(Draft):
    """Changes to an issue; fields that aren't in it keep their values.

    `cleared` has the names of fields to empty, as in `current_values`, `guessed` the fields that were typed
    without their option. `holder` is who has to be the assignee now, if anybody.
    """

    cleared: tuple[str, ...] = ()
    guessed: frozenset[str] = frozenset()
    step: StatusTransition | None = None
    holder: Owner | str = ""

    @property
    def parts(self) -> frozenset[Part]:
        return super().parts | (frozenset[Part]({"statuses"}) if self.step else frozenset())

    def without(self, names: Collection[str]) -> "Edit":
        """The same without these fields, by their names in the form."""
        return self.model_copy(
            update={
                "subject": "" if "subject" in names else self.subject,
                "values": {k: value for k, value in self.values.items() if FIELDS[k].name not in names},
                "custom_fields": {n: v for n, v in self.custom_fields.items() if f"cf_{n}" not in names},
                "cleared": tuple(name for name in self.cleared if in_form(name) not in names),
            }
        )


def in_form(name: str) -> str:
    return CHANGEABLE[name].name if name in CHANGEABLE else name
