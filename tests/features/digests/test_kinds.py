"""Digests of due, stale and closed issues, and personal digests."""

import tracemalloc
from datetime import timedelta

import pytest

from bot.errors import UserError
from bot.features.digests.message import message
from bot.features.digests.reading import MAX_ROWS
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue
from bot.store.channels import Channel
from bot.store.digest_runs import RunState
from bot.store.digests import Digest, Pause
from bot.store.plans import Kind, Plan
from tests.features.digests.newsroom import SHOP, TEAM, VAULT, DigestHarness
from tests.support.digesting import wanted
from tests.support.wording import WORDING

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ANA, BEN = 1, 2
MANY = 1500


def update(harness: DigestHarness, issue: Issue, status: int = defaults.NEW) -> None:
    issue.status_id = status
    issue.updated_on = harness.now.replace(microsecond=0)
    if status == defaults.CLOSED:
        issue.closed_on = issue.updated_on


def assigned(
    harness: DigestHarness, user: int = ANA, *, due: int | None = None, project: int = SHOP
) -> Issue:
    """Opens an issue that is assigned to a user and due in some days."""
    issue = harness.report(project)
    issue.assigned_to_id = user
    issue.due_date = None if due is None else harness.now.date() + timedelta(days=due)
    return issue


async def personal(harness: DigestHarness) -> Digest:
    where = Channel(TEAM, "D1")
    planned = await harness.digests.set_up_personal(
        harness.ana, where, Plan(schedule="hourly", zone="Europe/Madrid")
    )
    return planned.digest


async def test_each_kind_lists_its_issues_when_it_is_due(harness: DigestHarness) -> None:
    overdue, today, soon, _later = (assigned(harness, due=days) for days in (-30, 0, 7, 8))
    assigned(harness, due=0).is_private = True
    old = harness.report()
    old.updated_on -= 14 * DAY
    update(harness, harness.report(), defaults.CLOSED)
    kinds = {kind: await harness.add(f"C{kind}", kind=kind) for kind in ("due", "stale", "closed")}

    await harness.tick(after=HOUR)
    update(harness, overdue, defaults.CLOSED)
    await harness.tick(after=HOUR)
    update(harness, overdue)  # reopened, and closed again
    harness.now += timedelta(minutes=5)
    update(harness, overdue, defaults.CLOSED)
    await harness.tick(after=HOUR)

    due = [(overdue.id, today.id, soon.id), (today.id, soon.id), (today.id, soon.id)]
    assert harness.poster.listed(kinds["due"]) == due
    assert harness.poster.listed(kinds["stale"]) == [(old.id,)] * 3
    assert harness.poster.listed(kinds["closed"]) == [(overdue.id,)] * 2


async def test_new_issues_are_listed_beside_other_kinds_of_the_same_owner(harness: DigestHarness) -> None:
    kinds: tuple[Kind, ...] = ("due", "closed")
    for kind in kinds:
        await harness.add(f"C{kind}", kind=kind)
    news = await harness.add("Cnew")
    await harness.tick(after=HOUR)

    opened = [harness.report() for _ in range(3)]
    await harness.tick(after=HOUR)
    await harness.tick(after=HOUR)

    assert harness.poster.listed(news) == [tuple(issue.id for issue in opened)]


async def test_digests_of_thousands_of_issues_read_and_hold_a_few_hundred(harness: DigestHarness) -> None:
    kinds: tuple[Kind, ...] = ("due", "stale", "closed")
    digests = [await harness.add(f"C{kind}", kind=kind) for kind in kinds]
    digests.append(await personal(harness))
    for number in range(MANY):
        late, done = assigned(harness, due=-1), harness.report()
        late.is_private = number % 10 == 0
        update(harness, done, defaults.CLOSED)
        late.updated_on = harness.now.replace(microsecond=0) - 20 * DAY + timedelta(seconds=number)
        late.description = done.description = f"{number} " + "Long ago, " * 500
    harness.requests.clear()
    tracemalloc.start()

    await harness.tick(after=HOUR)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert harness.requests["list_issues"] < 40  # what was read long ago is read again
    assert peak < 30e6
    for digest in digests:
        (post,) = (post for post in harness.poster.posts if post.digest.id == digest.id)
        assert MAX_ROWS <= len(post.issues) <= 2 * MAX_ROWS
        assert not any(issue.description for issue in post.issues)
        assert digest.personal or not any(issue.is_private for issue in post.issues)
        assert f"at least {len(post.issues)}" in message(post, WORDING).text

    await harness.tick(after=HOUR)
    assert len(harness.poster.listed(digests[2])) == 1


async def test_filters_by_person_and_exclusions_limit_the_issues(harness: DigestHarness) -> None:
    assigned(harness, BEN)
    bens = await harness.add("C1", filters={"to": ("ben",)})
    others = await harness.add("C2", excluded={"to": ("me",), "tracker": ("task",)})
    first, _ = assigned(harness, BEN), assigned(harness, ANA)
    second = harness.report()
    harness.report(tracker=defaults.TASK)

    await harness.tick(after=HOUR)

    assert harness.poster.listed(bens) == [(first.id,)]
    assert harness.poster.listed(others) == [(first.id, second.id)]


async def test_another_kind_starts_anew(harness: DigestHarness) -> None:
    digest = await harness.add()
    closed = harness.report()
    update(harness, closed, defaults.CLOSED)
    await harness.digests.change(harness.ana, digest, wanted(kind="closed"))
    late = harness.report()
    harness.now += timedelta(minutes=5)
    update(harness, late, defaults.CLOSED)

    await harness.tick(after=HOUR)

    assert harness.poster.listed(digest) == [(late.id,)]


async def test_personal_digest_has_each_issue_in_one_section(harness: DigestHarness) -> None:
    known = assigned(harness, project=VAULT)
    assigned(harness, BEN, due=-1)
    digest = await personal(harness)
    await harness.tick(after=HOUR)
    assert harness.finished == [RunState.EMPTY]

    overdue, today, new = (assigned(harness, due=days) for days in (-1, 0, 3))
    new.is_private = True
    update(harness, known)
    await harness.tick(after=HOUR)
    await harness.tick(after=HOUR)
    given_away = [known, overdue, today]
    for issue in given_away:
        issue.assigned_to_id = BEN
    await harness.tick(after=HOUR)
    known.assigned_to_id = ANA
    await harness.tick(after=HOUR)

    assert harness.poster.listed(digest) == [
        (overdue.id, today.id, new.id, known.id),
        (overdue.id, today.id),
        (known.id,),
    ]


async def test_nobody_else_can_act_on_a_personal_digest(harness: DigestHarness) -> None:
    digest = await personal(harness)

    with pytest.raises(UserError, match="no digest"):
        await harness.digests.one(harness.ben, Channel(TEAM, "D1"), digest.id)


async def test_dead_key_stops_a_personal_digest_and_tells_only_its_owner(harness: DigestHarness) -> None:
    digest = await personal(harness)
    harness.tracker.data.users[ANA].api_key = "another"

    for _ in range(6):
        await harness.tick(after=HOUR)

    assert (await harness.stored(digest)).paused is Pause.KEY
    assert harness.poster.notices == [("U0ANA", (digest.id,), "stopped")]
