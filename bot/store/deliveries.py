"""What Slack delivered, so that nothing is acted on twice: Slack repeats itself, and replicas exist."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, delete

from bot.store.database import Database
from bot.store.tables import DeliveryRow, table_of
from bot.store.unfinished import Asked, Unfinished
from bot.store.upsert import insert

_TABLE = table_of(DeliveryRow)


class Deliveries:
    """The deliveries that are taken, by a key that the caller makes of what is the same in repetitions."""

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

    async def claim(self, key: str, asked: Asked | None = None) -> bool:
        """Takes a delivery; True for the one caller in all processes who may act on it.

        With what somebody asked for it is unfinished from then on.
        """
        row: dict[str, object] = {"key": key, "claimed_at": datetime.now(UTC)}
        if asked:
            row |= self._unfinished.columns(key, asked)
        return await self._database.write(lambda connection: connection.scalar(self._claim, row)) is not None

    async def claim_for(self, key: str, age: timedelta) -> bool:
        """As `claim`, but what was taken longer ago than `age` can be taken again, by one caller."""
        now = datetime.now(UTC)
        row = {"key": key, "claimed_at": now, "old": now - age}
        return (
            await self._database.write(lambda connection: connection.scalar(self._claim_old, row)) is not None
        )

    async def release(self, key: str) -> None:
        """Gives a delivery back, so that its repetition is acted on."""
        statement = delete(DeliveryRow).where(DeliveryRow.key == key)
        await self._database.write(lambda connection: connection.execute(statement))

    async def prune(self, older_than: datetime) -> None:
        """Forgets deliveries from before then; Slack repeats for some minutes, never for hours."""
        await self._database.forget(DeliveryRow, DeliveryRow.claimed_at < older_than)
