"""What time is to be logged, as a user typed or entered it."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Self

from pydantic import BaseModel

from bot.access.name_matching import name_at_edge
from bot.service.models import Ref


class OtherReading(BaseModel, frozen=True):
    """The other way to read a comment with a day: without it, as `spent_on`; or None, with it as text."""

    spent_on: date | None = None
    comment: str


class TimeDraft(BaseModel, frozen=True):
    """A draft of time to log on an issue, or else on a project; names or IDs as typed."""

    issue: int | None = None
    project: str | None = None
    hours: Decimal | None = None
    activity: str | None = None
    spent_on: date | None = None
    comment: str = ""
    other: OtherReading | None = None

    def with_dated_activity(self, known: Sequence[Ref]) -> Self:
        """The same with the day and the activity that stand side by side in its comment, if they do."""
        other = self.other
        if not (other and other.spent_on) or self.activity:
            return self
        at_edge = str.startswith if self.comment.endswith(other.comment) else str.endswith
        beside = [one.name for one in known if at_edge(other.comment.casefold(), one.name.casefold())]
        named = name_at_edge(other.comment, beside)
        changes = {"spent_on": other.spent_on, "activity": named[0], "comment": named[1]} if named else {}
        return self.model_copy(update=changes)


class TimeToLog(TimeDraft):
    """The time to log. A comment that is `quoted` names no activity. `confirmed_minutes` is how many minutes
    on that day the user has confirmed, 0 if not asked, `ahead` whether they have confirmed a day in the
    future, and `spent` the hours on the issue when the user was asked, if known.
    """

    hours: Decimal
    spent_on: date
    confirmed_minutes: int = 0
    ahead: bool = False
    quoted: bool = False
    spent: Decimal | None = None

    def with_activity(self, known: Sequence[Ref]) -> Self:
        """The same with the activity that its comment names, first or last, unless it has one."""
        names = [] if self.activity or self.quoted else [one.name for one in known]
        called = {f"activity {name}": name for name in names} | {name: name for name in names}
        named = name_at_edge(self.comment, list(called))
        return self.model_copy(update={"activity": called[named[0]], "comment": named[1]}) if named else self
