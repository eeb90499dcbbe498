"""What Slack delivered, so that nothing is acted on twice: Slack repeats itself, and replicas exist."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import delete

from bot.store.engine import Database
from bot.store.tables import DeliveryRow
from bot.store.upsert import insert


class Deliveries:
    """The deliveries that are taken, by a key that the caller makes of what is the same in repetitions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, key: str) -> bool:
        """Takes a delivery; True for the one caller in all processes who may act on it."""
        statement = (
            insert(self._database.dialect, DeliveryRow)
            .values(key=key, claimed_at=datetime.now(UTC))
            .on_conflict_do_nothing()
            .returning(DeliveryRow.key)
        )
        async with self._database.session() as session:
            return await session.scalar(statement) is not None

    async def claim_for(self, key: str, age: timedelta) -> bool:
        """As `claim`, but what was taken longer ago than `age` can be taken again, by one caller."""
        now = datetime.now(UTC)
        statement = (
            insert(self._database.dialect, DeliveryRow)
            .values(key=key, claimed_at=now)
            .on_conflict_do_update(
                index_elements=["key"], set_={"claimed_at": now}, where=DeliveryRow.claimed_at <= now - age
            )
            .returning(DeliveryRow.key)
        )
        async with self._database.session() as session:
            return await session.scalar(statement) is not None

    async def release(self, key: str) -> None:
        """Gives a delivery back, so that its repetition is acted on."""
        async with self._database.session() as session:
            await session.execute(delete(DeliveryRow).where(DeliveryRow.key == key))

    async def prune(self, older_than: datetime) -> None:
        """Forgets deliveries from before then; Slack repeats for some minutes, never for hours."""
        await self._database.forget(DeliveryRow, DeliveryRow.claimed_at < older_than)
