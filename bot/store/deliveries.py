"""Claims on Slack's deliveries, so that repeated ones are handled once across all replicas."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, delete

from bot.store.database import Database
from bot.store.tables import DeliveryRow, table_of
from bot.store.unfinished import Unfinished, UnfinishedRequest
from bot.store.upsert import insert

_TABLE = table_of(DeliveryRow)


class Deliveries:
    """Claimed deliveries. The caller derives the key from what is the same in repeated deliveries."""

    def __init__(self, database: Database, unfinished: Unfinished) -> None:
        self._database = database
        self._unfinished = unfinished
        inserted = insert(database.dialect, DeliveryRow)
        self._claim = inserted.on_conflict_do_nothing().returning(_TABLE.c.key)
        self._claim_old = inserted.on_conflict_do_update(
            index_elements=["key"],
            set_={"claimed_at": inserted.excluded.claimed_at},
            where=_TABLE.c.claimed_at <= bindparam("old"),
        ).returning(_TABLE.c.key)

    async def claim(self, key: str, asked: UnfinishedRequest | None = None) -> bool:
        """Claim a delivery; returns True for exactly one caller across all processes.

        With `asked`, the request is recorded as in flight until it's finished.
        """
        row: dict[str, object] = {"key": key, "claimed_at": datetime.now(UTC)}
        if asked:
            row |= self._unfinished.columns(key, asked)
        return await self._database.changes(self._claim, row)

    async def claim_for(self, key: str, age: timedelta) -> bool:
        """Claim a delivery for the time `age`; after that one caller can claim it again."""
        now = datetime.now(UTC)
        return await self._database.changes(
            self._claim_old, {"key": key, "claimed_at": now, "old": now - age}
        )

    async def release(self, key: str) -> None:
        """Release a claim, so that a repeated delivery is handled."""
        await self._database.execute(delete(DeliveryRow).where(DeliveryRow.key == key))

    async def prune(self, older_than: datetime) -> None:
        """Delete claims made before `older_than`. Slack repeats deliveries for minutes, not hours."""
        await self._database.delete_in_batches(DeliveryRow, DeliveryRow.claimed_at < older_than)
