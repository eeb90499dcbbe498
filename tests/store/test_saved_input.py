import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import update

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import SavedInputRow

TYPED = {"command": "/issue", "text": "new Ünïcode “subject”", "at": [1, None]}


async def test_saved_input_is_its_owners_and_used_once(store: Store, ana: Owner, ben: Owner) -> None:
    saved = await store.saved_input.put(ana, TYPED)

    assert await store.saved_input.get(ana, saved) == TYPED
    assert await store.saved_input.get(ben, saved) is None
    assert await store.saved_input.take(ben, saved) is None
    taken = await asyncio.gather(*(store.saved_input.take(ana, saved) for _ in range(4)))
    assert [payload for payload in taken if payload is not None] == [TYPED]
    assert await store.saved_input.get(ana, saved) is None


async def test_saved_input_expires_after_a_day(store: Store, database: Database, ana: Owner) -> None:
    saved = await store.saved_input.put(ana, TYPED)

    for hours, content in ((23, TYPED), (25, None)):
        then = datetime.now(UTC) - timedelta(hours=hours)
        await database.execute(update(SavedInputRow).values(created_at=then))
        assert await store.saved_input.get(ana, saved) == content


async def test_each_user_has_one_input_under_a_name(store: Store, ana: Owner, ben: Owner) -> None:
    now = datetime.now(UTC)
    for seconds, text in ((0, "first"), (2, "last"), (1, "typed before the last")):
        at = now + timedelta(seconds=seconds)
        await store.saved_input.keep(ana, "draft", at, partial(_instead, text))

    assert await store.saved_input.kept(ana, "draft") == {"text": "last"}
    assert await store.saved_input.kept(ana, "other") is None
    assert await store.saved_input.kept(ben, "draft") is None


def _instead(text: str, _before: object) -> dict[str, str]:
    return {"text": text}
