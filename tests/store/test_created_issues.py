from bot.store.owner import Owner
from bot.store.store import Store


async def test_users_see_their_own_issues_latest_first(store: Store, ana: Owner, ben: Owner) -> None:
    await store.created_issues.put(ana, 1, "The first")
    await store.created_issues.put(ben, 2, "Ben's")
    await store.created_issues.put(ana, 3, "The last")

    assert [i.subject for i in await store.created_issues.latest(ana, 5)] == ["The last", "The first"]
    assert [i.issue_id for i in await store.created_issues.latest(ana, 1)] == [3]
    assert [i.issue_id for i in await store.created_issues.latest(ben, 5)] == [2]


async def test_issues_are_found_by_their_message(store: Store, ana: Owner, ben: Owner) -> None:
    await store.created_issues.put(ana, 1, "From it", "C1", "10.1")
    await store.created_issues.put(ben, 2, "From it too", "C1", "10.1")
    await store.created_issues.put(ana, 3, "From another", "C1", "10.2")

    assert [i.issue_id for i in await store.created_issues.from_message("T1", "C1", "10.1")] == [2, 1]
    assert await store.created_issues.from_message("T2", "C1", "10.1") == ()


async def test_a_reused_issue_number_replaces_the_old_issue(store: Store, ana: Owner, ben: Owner) -> None:
    await store.created_issues.put(ana, 1, "Of another service", "C1", "10.1")
    await store.created_issues.put(ben, 1, "Of this one")

    assert await store.created_issues.latest(ana, 5) == ()
    assert [i.subject for i in await store.created_issues.latest(ben, 5)] == ["Of this one"]
    assert await store.created_issues.from_message("T1", "C1", "10.1") == ()
