"""Retention: rows a minute past their period are deleted, newer ones aren't."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, func, insert, select

from bot.store.database import Database
from bot.store.store import ACTIVITY_RETENTION, Store
from bot.store.tables import (
    CreatedIssueRow,
    DigestRow,
    DigestRunRow,
    JobRow,
    SavedInputRow,
    Table,
    TimeEntryRow,
)
from bot.store.vault import Vault

OPERATIONS = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
ANA = {"enterprise_id": "", "team_id": "T1", "user_id": "U0ANA"}
KEPT: dict[type[Table], timedelta] = {
    JobRow: DAY,
    SavedInputRow: DAY,
    DigestRunRow: 2 * DAY,
    CreatedIssueRow: 400 * DAY,
    TimeEntryRow: 400 * DAY,
}
SPENT = {"project_id": 1, "title": "", "minutes": 5, "activity": "", "spent_on": date.today(), "comments": ""}  # noqa: DTZ011 - any day
RUN = {"digest_id": 1, "state": "sent", "holder": "", "attempts": 0, "missed": 0, "asked": False}
DIGEST: dict[str, object] = {
    **dict.fromkeys(("project", "schedule", "zone", "grouped_by", "owner_name"), ""),
    **{name: {} for name in ("filters", "excluded")},
    **dict.fromkeys(("history", "custom_fields"), ()),
    "stale_days": 14,
    **dict.fromkeys(("empty", "channel_notice"), False),
    **dict.fromkeys(("period_from", "created_at"), datetime(2026, 1, 1, tzinfo=UTC)),
    "kind": "new",
    "channel_id": "C1",
    "project_id": 1,
}


def values(row: type[Table], number: int, at: datetime) -> dict[str, object]:
    """A row as old as that."""
    if row is JobRow:
        return {"key": str(number), "state": "done", "at": at}
    if row is DigestRunRow:
        return {**RUN, "due_at": at + number * timedelta(seconds=1)}
    if row is SavedInputRow:
        return {**ANA, "id": str(number), "encrypted": "", "created_at": at}
    if row is CreatedIssueRow:
        return {**ANA, "issue_id": number, "subject": "", "created_at": at}
    return {**ANA, **SPENT, "entry_id": number, "created_at": at}


async def test_replicas_delete_expired_rows_concurrently(database: Database, url: str) -> None:
    replica = Database(url, batch=2)
    store = Store(replica, Vault([Vault.generate_key()]))
    now = datetime.now(UTC)

    def make(connection: Connection) -> None:
        connection.execute(insert(DigestRow).values(**ANA, **DIGEST))
        for row, kept in KEPT.items():
            expired = [values(row, number, now - kept - MINUTE) for number in range(5)]
            connection.execute(insert(row), [*expired, values(row, 5, now - kept + MINUTE)])
        private = values(CreatedIssueRow, 6, now - 401 * DAY) | {"privacy_refused": True}
        connection.execute(insert(CreatedIssueRow).values(private))
        connection.execute(insert(DigestRunRow).values(**RUN, due_at=now - 9 * DAY, lease_until=now))

    await database.write(make)
    await asyncio.gather(*(store.delete_expired() for _ in range(3)))
    await replica.close()

    left = await database.read(
        lambda connection: {row: connection.scalar(select(func.count()).select_from(row)) for row in KEPT}
    )
    assert left == dict.fromkeys(KEPT, 1) | {DigestRunRow: 2, CreatedIssueRow: 2}  # one run is unfinished


def test_the_operations_page_states_the_retention() -> None:
    assert f"{ACTIVITY_RETENTION.days} days" in OPERATIONS
