from dataclasses import replace
from datetime import date

from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.time_entries import Entry

MONDAY = date(2026, 7, 13)
ENTRY = Entry(
    id=7,
    project_id=1,
    issue_id=42,
    title="The login page is blank",
    minutes=90,
    activity_id=9,
    activity="Design",
    spent_on=MONDAY,
    comments="Pairing",
)


async def test_entries_are_accessible_to_their_owner_only(store: Store, ana: Owner, ben: Owner) -> None:
    await store.time_entries.add(ana, ENTRY)

    assert await store.time_entries.get(ana, 7) == ENTRY
    assert await store.time_entries.get(ben, 7) is None
    await store.time_entries.change(ben, replace(ENTRY, minutes=1))
    await store.time_entries.forget(ben, 7)
    assert await store.time_entries.get(ana, 7) == ENTRY
    assert await store.time_entries.latest(ben, 5) == ()


async def test_changed_entries_keep_their_place_in_the_list(store: Store, ana: Owner) -> None:
    later = replace(ENTRY, id=3, issue_id=None, title="Web shop", activity_id=None, activity="")
    await store.time_entries.add(ana, ENTRY)
    await store.time_entries.add(ana, later)
    changed = replace(ENTRY, minutes=30, comments="")
    await store.time_entries.change(ana, changed)

    assert await store.time_entries.latest(ana, 5) == (later, changed)
    assert await store.time_entries.latest(ana, 1) == (later,)
    await store.time_entries.forget(ana, 3)
    assert await store.time_entries.latest(ana, 5) == (changed,)


async def test_minutes_are_summed_over_a_range_of_days(store: Store, ana: Owner, ben: Owner) -> None:
    for number, day in ((1, 12), (2, 13), (3, 13), (4, 19), (5, 20)):
        await store.time_entries.add(ana, replace(ENTRY, id=number, spent_on=date(2026, 7, day), minutes=20))
    await store.time_entries.add(ben, replace(ENTRY, id=6))

    assert await store.time_entries.minutes(ana, MONDAY, MONDAY) == 40
    assert await store.time_entries.minutes(ana, MONDAY, date(2026, 7, 19)) == 60
    assert await store.time_entries.minutes(ben, date(2026, 8, 1), date(2026, 8, 7)) == 0


async def test_a_reused_entry_id_replaces_the_old_entry(store: Store, ana: Owner, ben: Owner) -> None:
    await store.time_entries.add(ana, ENTRY)
    await store.time_entries.add(ben, replace(ENTRY, minutes=5))

    assert await store.time_entries.get(ana, 7) is None
    assert await store.time_entries.latest(ben, 2) == (replace(ENTRY, minutes=5),)
