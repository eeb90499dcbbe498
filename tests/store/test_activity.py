"""Issues created and time logged with the bot; whose they are: tests/hostile/test_authorization.py."""

from dataclasses import replace
from datetime import date

from bot.store.activity import Entry
from bot.store.owner import Owner
from bot.store.plans import EntryPost
from bot.store.store import Store

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


async def test_created_issues_are_found_by_user_and_message(store: Store, ana: Owner, ben: Owner) -> None:
    issues = store.created_issues

    async def numbers() -> list[list[int]]:
        message, elsewhere = [await issues.from_message(team, "C1", "10.1") for team in ("T1", "T2")]
        own = await issues.latest(ana, 5), await issues.latest(ana, 1), await issues.latest(ben, 5)
        return [[issue.issue_id for issue in some] for some in (*own, message, elsewhere)]

    await issues.put(ana, 1, "x", "C1", "10.1")
    await issues.put(ben, 2, "x", "C1", "10.1")
    await issues.put(ana, 3, "x")
    assert await numbers() == [[3, 1], [3], [2], [2, 1], []]

    await issues.put(ben, 1, "Of another service, which has the number too")
    assert await numbers() == [[3], [3], [1, 2], [2], []]


async def test_minutes_are_summed_over_a_range_of_days(store: Store, ana: Owner, ben: Owner) -> None:
    for number, day in enumerate((12, 13, 13, 19, 20)):
        await store.time_entries.add(ana, replace(ENTRY, id=number, spent_on=date(2026, 7, day)))
    await store.time_entries.add(ben, replace(ENTRY, id=6))

    assert await store.time_entries.minutes(ana, MONDAY, MONDAY) == 40
    assert await store.time_entries.minutes(ana, MONDAY, date(2026, 7, 19)) == 60
    assert await store.time_entries.minutes(ben, date(2026, 8, 1), date(2026, 8, 7)) == 0
    await store.time_entries.add(ben, replace(ENTRY, id=1))  # of another service, which has its ID too
    assert await store.time_entries.minutes(ana, MONDAY, MONDAY) == 20


async def test_a_changed_entry_keeps_its_post_in_its_own_service(store: Store, ana: Owner) -> None:
    entries, post = store.time_entries, EntryPost("C1", None, "10.1")
    await entries.add(ana, ENTRY)
    await entries.announced(ana, ENTRY.id, post)

    await entries.change(ana, replace(ENTRY, minutes=30))  # as it was read before the post
    assert await entries.get(ana, ENTRY.id) == replace(ENTRY, minutes=30, post=post)

    await entries.add(ana, ENTRY)
    assert await entries.get(ana, ENTRY.id) == ENTRY
