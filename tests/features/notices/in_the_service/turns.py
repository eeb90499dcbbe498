"""Turns in which everybody's issues are read."""

from datetime import datetime, timedelta
from typing import Any

from bot.sandbox.tracker.data import Detail, Issue, Note
from tests.support.office import Office

ANA, BEN = 1, 2
TURN = timedelta(minutes=6)


class Turns:
    """Reads everyone's issues, each time some minutes later."""

    def __init__(self, office: Office) -> None:
        self.office = office

    @property
    def now(self) -> datetime:
        return self.office.clock.now()

    def pass_time(self, by: timedelta) -> None:
        self.office.clock.ahead += by

    async def next(self) -> None:
        self.pass_time(TURN)
        await self.office.bot.worker.run_due()
        await self.office.idle()

    def change(
        self,
        issue: Issue,
        by: int,
        text: str = "",
        *,
        before: timedelta = timedelta(minutes=1),
        at: datetime | None = None,
        **values: Any,
    ) -> None:
        """Somebody changes an issue in the service, this long before the next turn, or at that moment."""
        details = tuple(
            Detail("attr", name, _stored(getattr(issue, name)), _stored(value))
            for name, value in values.items()
        )
        for name, value in values.items():
            setattr(issue, name, value)
        issue.updated_on = at or self.now + TURN - before
        issue.notes = [*issue.notes, Note(by, text, issue.updated_on, details)]


def _stored(value: object) -> str | None:
    return None if value is None else str(value)
