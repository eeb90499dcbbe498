"""Issues created and time logged with the bot, and the projects of channels."""

from dataclasses import replace
from datetime import date

from bot.store.channels import ChannelDefault
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.time_entries import Entry

MONDAY = date(2026, 7, 13)
ENTRY = Entry(
    id=7,
    project_id=1,
    issue_id=42,
    title="The login page is blank",
    minutes=20,
    activity_id=9,
    activity="Design",
    spent_on=MONDAY,
    comments="Pairing",
)


async def test_a_reused_issue_number_replaces_the_old_issue(store: Store, ana: Owner, ben: Owner) -> None:
    await store.created_issues.put(ana, 1, "Of another service", "C1", "10.1")
    await store.created_issues.put(ben, 1, "Of this one")

    assert await store.created_issues.latest(ana, 5) == ()
    assert [i.subject for i in await store.created_issues.latest(ben, 5)] == ["Of this one"]
    assert await store.created_issues.from_message("T1", "C1", "10.1") == ()


async def test_entries_are_accessible_to_their_owner_only(store: Store, ana: Owner, ben: Owner) -> None:
    await store.time_entries.add(ana, ENTRY)

    await store.time_entries.change(ben, replace(ENTRY, minutes=1))
    await store.time_entries.forget(ben, 7)

    assert await store.time_entries.get(ana, 7) == ENTRY
    assert await store.time_entries.get(ben, 7) is None
    assert await store.time_entries.latest(ben, 5) == ()


async def test_a_reused_entry_id_replaces_the_old_entry(store: Store, ana: Owner, ben: Owner) -> None:
    await store.time_entries.add(ana, ENTRY)
    await store.time_entries.add(ben, replace(ENTRY, minutes=5))

    assert await store.time_entries.get(ana, 7) is None
    assert await store.time_entries.latest(ben, 2) == (replace(ENTRY, minutes=5),)


async def test_minutes_are_summed_over_a_range_of_days(store: Store, ana: Owner, ben: Owner) -> None:
    for number, day in enumerate((12, 13, 13, 19, 20)):
        await store.time_entries.add(ana, replace(ENTRY, id=number, spent_on=date(2026, 7, day)))
    await store.time_entries.add(ben, replace(ENTRY, id=6))

    assert await store.time_entries.minutes(ana, MONDAY, MONDAY) == 40
    assert await store.time_entries.minutes(ana, MONDAY, date(2026, 7, 19)) == 60
    assert await store.time_entries.minutes(ben, date(2026, 8, 1), date(2026, 8, 7)) == 0


async def test_issues_of_a_message_are_its_workspaces_latest_first(
    store: Store, ana: Owner, ben: Owner
) -> None:
    await store.created_issues.put(ana, 1, "From it", "C1", "10.1")
    await store.created_issues.put(ben, 2, "From it too", "C1", "10.1")

    assert [i.issue_id for i in await store.created_issues.from_message("T1", "C1", "10.1")] == [2, 1]
    assert await store.created_issues.from_message("T2", "C1", "10.1") == ()


async def test_users_see_their_own_issues_latest_first(store: Store, ana: Owner, ben: Owner) -> None:
    for number, owner in ((1, ana), (2, ben), (3, ana)):
        await store.created_issues.put(owner, number, "x")

    assert [i.issue_id for i in await store.created_issues.latest(ana, 5)] == [3, 1]
    assert [i.issue_id for i in await store.created_issues.latest(ana, 1)] == [3]


async def test_the_latest_entry_comes_first_even_after_a_change(store: Store, ana: Owner) -> None:
    later = replace(ENTRY, id=8)
    await store.time_entries.add(ana, ENTRY)
    await store.time_entries.add(ana, later)

    await store.time_entries.change(ana, replace(ENTRY, minutes=30))

    assert await store.time_entries.latest(ana, 5) == (later, replace(ENTRY, minutes=30))
    assert await store.time_entries.latest(ana, 1) == (later,)


async def test_a_default_project_is_the_latest_of_one_channel(store: Store, ana: Owner, ben: Owner) -> None:
    await store.channels.set_default("T1", "C1", 1, "Web shop", ana)
    await store.channels.set_default("T1", "C1", 2, "Mobile app", ben)

    assert await store.channels.default_project("T1", "C1") == ChannelDefault(2, "Mobile app")
    assert await store.channels.default_project("T1", "C2") is None
    assert await store.channels.default_project("T2", "C1") is None
