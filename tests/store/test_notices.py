"""The topics that users choose, reads after a new start, and muted issues."""

from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from bot.store.jobs import Again, Done
from bot.store.notices import ASSIGNEE, EVER, Topic
from bot.store.owner import Owner
from bot.store.store import Store

LINKED_AGAIN = datetime(2026, 3, 10, 9, tzinfo=UTC)
LATER = datetime(2026, 3, 11, 9, tzinfo=UTC)
ANA, BEN = Owner(None, "T1", "U1"), Owner(None, "T1", "U2")


async def test_a_turn_that_ends_after_a_new_start_changes_nothing(store: Store) -> None:
    await store.links.put(ANA, SecretStr("key"), 1, "Someone")
    [turn] = await store.jobs.take(ASSIGNEE, 9)
    await store.links.put(ANA, SecretStr("another"), 2, "Someone else", LINKED_AGAIN)

    now = await store.processes.now()
    await store.jobs.settle(turn, Again(now + timedelta(hours=1), {"since": now.isoformat()}))

    [after] = await store.jobs.take(ASSIGNEE, 9)
    assert after.content == {"since": LINKED_AGAIN.isoformat()}


async def test_topics_are_turned_on_and_off_each_with_its_time(store: Store) -> None:
    assert await store.notices.topics(ANA) == {Topic.ASSIGNED: EVER}

    await store.notices.switch(ANA, [Topic.COMMENTS, Topic.CHANGES], LINKED_AGAIN)
    await store.notices.switch(ANA, [Topic.ASSIGNED, Topic.CHANGES], None)
    assert await store.notices.topics(ANA) == {Topic.COMMENTS: LINKED_AGAIN}

    await store.notices.switch(ANA, [Topic.ASSIGNED], LATER)
    assert await store.notices.topics(ANA) == {Topic.ASSIGNED: LATER, Topic.COMMENTS: LINKED_AGAIN}
    assert await store.notices.topics(BEN) == {Topic.ASSIGNED: EVER}


async def test_turning_a_topic_on_keeps_a_reading_that_goes_on(store: Store) -> None:
    await store.notices.switch(ANA, [Topic.COMMENTS], LINKED_AGAIN)
    assert await store.notices.progress(ANA) == {"since": LINKED_AGAIN.isoformat()}

    await store.notices.switch(ANA, [Topic.CHANGES], LATER)
    assert await store.notices.progress(ANA) == {"since": LINKED_AGAIN.isoformat()}

    [turn] = await store.jobs.take(ASSIGNEE, 9)
    await store.jobs.settle(turn, Done())
    assert await store.notices.progress(ANA) is None
    await store.notices.switch(ANA, [Topic.ASSIGNED], LATER)
    assert await store.notices.progress(ANA) == {"since": LATER.isoformat()}


async def test_issues_are_muted_for_one_user(store: Store) -> None:
    for issue in (42, 7, 42):
        await store.notices.mute(ANA, issue, on=True)
    assert (await store.notices.muted(ANA), await store.notices.muted(BEN)) == ((7, 42), ())

    await store.notices.mute(ANA, 42, on=False)
    assert await store.notices.muted(ANA) == (7,)
