"""Whose newly assigned issues are read when, on both databases."""

from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from bot.store.owner import Owner
from bot.store.store import Store

LINKED_AGAIN = datetime(2026, 3, 10, 9, tzinfo=UTC)
EVERY, TICK = timedelta(minutes=5), timedelta(seconds=5)


def person(number: int) -> Owner:
    return Owner(None, "T1", f"U{number}")


async def claimed(store: Store, now: datetime) -> list[Owner]:
    return [one.owner for one in await store.assignees.claim(now, 200, every=EVERY, tick=TICK)]


async def test_many_people_get_their_turns_one_after_the_other_after_a_pause(store: Store) -> None:
    for number in range(150):
        await store.links.put(person(number), SecretStr("key"), number, "Someone")
    now = datetime.now(UTC) + timedelta(hours=1)

    turns = [await claimed(store, now + TICK * number) for number in range(60)]

    owners = [owner for turn in turns for owner in turn]
    assert len(owners) == len(set(owners)) == 150
    assert max(map(len, turns)) <= 3  # 150 people in 300 seconds, and a fifth more to catch up
    assert await claimed(store, now + TICK * 60) != []


async def test_who_turned_it_off_or_unlinked_has_no_turn(store: Store) -> None:
    for number in range(3):
        await store.links.put(person(number), SecretStr("key"), number, "Someone")
    await store.assignees.turn(person(0), on=False)
    await store.links.delete(person(1))
    now = datetime.now(UTC) + timedelta(hours=1)

    assert await claimed(store, now) == [person(2)]
    assert await claimed(store, now + TICK) == []


async def test_a_turn_that_ends_after_a_new_start_changes_nothing(store: Store) -> None:
    await store.links.put(person(0), SecretStr("key"), 1, "Someone")
    now = datetime.now(UTC) + timedelta(hours=1)
    [before] = await store.assignees.claim(now, 1, every=EVERY, tick=TICK)
    await store.links.put(person(0), SecretStr("another"), 2, "Someone else", LINKED_AGAIN)

    await store.assignees.release(before, now, {7: now})

    [after] = await store.assignees.claim(now + EVERY * 2, 1, every=EVERY, tick=TICK)
    assert (after.since, after.seen) == (LINKED_AGAIN, {})
