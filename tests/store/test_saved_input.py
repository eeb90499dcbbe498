import asyncio
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select, update

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import SavedInputRow

TYPED = {"command": "/issue", "text": "new Ünïcode “subject”", "at": [1, None]}


async def _age(database: Database, hours: int) -> None:
    then = datetime.now(UTC) - timedelta(hours=hours)
    await database.write(lambda connection: connection.execute(update(SavedInputRow).values(created_at=then)))


async def test_only_the_owner_can_read_saved_input(store: Store, ana: Owner, ben: Owner) -> None:
    saved = await store.saved_input.put(ana, TYPED)

    assert await store.saved_input.get(ana, saved) == TYPED
    assert await store.saved_input.get(ben, saved) is None
    assert await store.saved_input.take(ben, saved) is None
    assert await store.saved_input.get(ana, "unknown") is None


async def test_saved_input_is_taken_once(store: Store, ana: Owner) -> None:
    saved = await store.saved_input.put(ana, TYPED)

    taken = await asyncio.gather(*(store.saved_input.take(ana, saved) for _ in range(4)))

    assert [payload for payload in taken if payload is not None] == [TYPED]
    assert await store.saved_input.get(ana, saved) is None


async def test_saved_input_expires_after_a_day(store: Store, database: Database, ana: Owner) -> None:
    saved = await store.saved_input.put(ana, TYPED)
    await _age(database, hours=23)
    assert await store.saved_input.get(ana, saved) == TYPED
    await _age(database, hours=25)
    assert await store.saved_input.take(ana, saved) is None

    await store.saved_input.put(ana, TYPED)
    await _age(database, hours=25)
    await store.saved_input.put(ana, TYPED)
    await store.saved_input.prune()
    count = select(func.count()).select_from(SavedInputRow)
    assert await database.read(lambda connection: connection.scalar(count)) == 1
