"""Retention: rows a minute past their period are deleted, newer ones aren't."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, func, insert, select

from bot.store.database import Database
from bot.store.store import ACTIVITY_RETENTION, Store
from bot.store.tables import ClaimRow, CreatedIssueRow, JobRow, SavedInputRow, Table, TimeEntryRow
from bot.store.vault import Vault

OPERATIONS = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
ANA = {"enterprise_id": "", "team_id": "T1", "user_id": "U0ANA"}
KEPT: dict[type[Table], timedelta] = {
    ClaimRow: DAY,
    JobRow: DAY,
    SavedInputRow: DAY,
    CreatedIssueRow: 400 * DAY,
    TimeEntryRow: 400 * DAY,
}
SPENT = {"project_id": 1, "title": "", "minutes": 5, "activity": "", "spent_on": date.today(), "comments": ""}  # noqa: DTZ011 - any day


def values(row: type[Table], number: int, at: datetime) -> dict[str, object]:
    """A row as old as that."""
    if row is ClaimRow:
        return {"key": str(number), "state": "done", "at": at}
    if row is JobRow:
        return {"key": str(number), "kind": "digest", "due_since": at}
    if row is SavedInputRow:
        return {**ANA, "id": str(number), "encrypted": "", "created_at": at}
    if row is CreatedIssueRow:
        return {**ANA, "issue_id": number, "subject": "", "created_at": at}
    return {**ANA, **SPENT, "id": number, "created_at": at}


async def test_replicas_delete_expired_rows_concurrently(database: Database, url: str) -> None:
    replica = Database(url, batch=2)
    store = Store(replica, Vault([Vault.generate_key()]))
    now = datetime.now(UTC)

    def make(connection: Connection) -> None:
        for row, kept in KEPT.items():
            expired = [values(row, number, now - kept - MINUTE) for number in range(5)]
            connection.execute(insert(row), [*expired, values(row, 5, now - kept + MINUTE)])
        private = values(CreatedIssueRow, 6, now - 401 * DAY) | {"privacy_refused": True}
        connection.execute(insert(CreatedIssueRow).values(private))
        undone = values(JobRow, 6, now - 9 * DAY) | {"holder": "another"}
        connection.execute(insert(JobRow).values(undone))

    await database.write(make)
    await asyncio.gather(*(store.delete_expired() for _ in range(3)))
    await replica.close()

    left = await database.read(
        lambda connection: {row: connection.scalar(select(func.count()).select_from(row)) for row in KEPT}
    )
    assert left == dict.fromkeys(KEPT, 1) | {JobRow: 2, CreatedIssueRow: 2}  # one job isn't done


def test_the_operations_page_states_the_retention() -> None:
    assert f"{ACTIVITY_RETENTION.days} days" in OPERATIONS
