"""Whose newly assigned issues are read, and what is read of them after a new start."""

from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from bot.store.job import Again
from bot.store.notices import ASSIGNEE
from bot.store.owner import Owner
from bot.store.store import Store

LINKED_AGAIN = datetime(2026, 3, 10, 9, tzinfo=UTC)
ANA = Owner(None, "T1", "U1")


async def test_a_turn_that_ends_after_a_new_start_changes_nothing(store: Store) -> None:
    await store.links.put(ANA, SecretStr("key"), 1, "Someone")
    [turn] = await store.jobs.take(ASSIGNEE, 9)
    await store.links.put(ANA, SecretStr("another"), 2, "Someone else", LINKED_AGAIN)

    now = await store.processes.now()
    await store.jobs.settled(turn, Again(now + timedelta(hours=1), {"since": now.isoformat()}))

    [after] = await store.jobs.take(ASSIGNEE, 9)
    assert after.content == {"since": LINKED_AGAIN.isoformat()}
