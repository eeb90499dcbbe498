"""Digests of due, stale and closed issues, and personal digests."""

import re
import tracemalloc
from datetime import timedelta

from bot.features.digests.reading import MAX_ROWS
from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.defaults import CLOSED, TASK
from bot.store.digests import Pause
from bot.store.plans import DigestKind
from tests.features.digests.newsroom import ANA, DAY, SECURITY, WEBSHOP, Digests
from tests.support.digesting import requested_plan
from tests.support.reading import text_of

ANAS, BENS = 1, 2
KINDS: tuple[DigestKind, ...] = ("due", "stale", "closed")
MANY = 1500


def assigned(digests: Digests, user: int = ANAS, *, due: int | None = None, project: int = WEBSHOP) -> Issue:
    """Opens an issue that is assigned to a user and due in some days."""
    due_date = None if due is None else digests.now.date() + timedelta(days=due)
    return digests.report(project=project, assigned_to_id=user, due_date=due_date)


def closed(digests: Digests) -> Issue:
    issue = digests.report()
    digests.update(issue, CLOSED)
    return issue


async def test_each_kind_lists_its_issues_when_it_is_due(digests: Digests) -> None:
    overdue, today, soon, _later = (assigned(digests, due=days) for days in (-30, 0, 7, 8))
    assigned(digests, due=0).is_private = True
    old = digests.report()
    old.updated_on -= 14 * DAY
    closed(digests)
    kinds = {kind: await digests.add(kind=kind) for kind in KINDS}

    await digests.tick()
    digests.update(overdue, CLOSED)
    await digests.tick()
    digests.update(overdue)  # reopened, and closed again
    digests.pass_time(timedelta(minutes=5))
    digests.update(overdue, CLOSED)
    await digests.tick()

    due = [(overdue.id, today.id, soon.id), (today.id, soon.id), (today.id, soon.id)]
    assert digests.listed(kinds["due"]) == due
    assert digests.listed(kinds["stale"]) == [(old.id,)] * 3
    assert digests.listed(kinds["closed"]) == [(overdue.id,)] * 2


async def test_new_issues_are_listed_beside_other_kinds_of_the_same_owner(digests: Digests) -> None:
    for kind in ("due", "closed"):
        await digests.add(kind=kind)
    news = await digests.add()
    await digests.tick()

    opened = [digests.report() for _ in range(3)]
    for _ in range(2):
        await digests.tick()

    assert digests.listed(news) == [tuple(issue.id for issue in opened)]


async def test_digests_of_thousands_of_issues_read_and_hold_a_few_hundred(digests: Digests) -> None:
    added = [await digests.add(kind=kind) for kind in KINDS]
    mine = await digests.add_personal()
    for number in range(MANY):
        late, done = assigned(digests, due=-1), closed(digests)
        late.is_private = number % 10 == 0
        late.updated_on += timedelta(seconds=number) - 20 * DAY
        late.description = done.description = f"{number} " + "Long ago, " * 1500
    digests.service.heal()
    tracemalloc.start()

    await digests.tick()

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert digests.service.heal().count("GET /issues.json") < 40  # what was read long ago is read again

    assert peak < 38e6
    issues = digests.office.tracker.data.issues
    for digest in (*added, mine):
        (post,) = digests.posted(digest)
        least = re.search("at least ([0-9]+)", post.text)
        assert least
        assert MAX_ROWS <= int(least[1]) <= 2 * MAX_ROWS
        assert digest is mine or not any(issues[issue].is_private for issue in post.issues)

    await digests.tick()
    assert len(digests.posted(added[2])) == 1


async def test_filters_by_person_and_exclusions_limit_the_issues(digests: Digests) -> None:
    assigned(digests, BENS)
    bens = await digests.add(filters={"to": ("ben",)})
    others = await digests.add(excluded={"to": ("me",), "tracker": ("task",)})
    first, _ = assigned(digests, BENS), assigned(digests, ANAS)
    second = digests.report()
    digests.report(tracker_id=TASK)

    await digests.tick()

    assert digests.listed(bens) == [(first.id,)]
    assert digests.listed(others) == [(first.id, second.id)]


async def test_another_kind_starts_from_the_beginning(digests: Digests) -> None:
    digest = await digests.add()
    closed(digests)
    await digests.office.digests.change(ANA, digest, requested_plan(kind="closed"))
    late = digests.report()
    digests.pass_time(timedelta(minutes=5))
    digests.update(late, CLOSED)

    await digests.tick()

    assert digests.listed(digest) == [(late.id,)]


async def test_personal_digest_has_each_issue_in_one_section(digests: Digests) -> None:
    known = assigned(digests, project=SECURITY)
    assigned(digests, BENS, due=-1)
    digest = await digests.add_personal()
    await digests.tick()
    assert digests.posted() == []

    overdue, today, new = (assigned(digests, due=days) for days in (-1, 0, 3))
    new.is_private = True
    digests.update(known)
    for _ in range(2):
        await digests.tick()
    for issue in (known, overdue, today):
        issue.assigned_to_id = BENS
    await digests.tick()
    known.assigned_to_id = ANAS
    await digests.tick()

    assert digests.listed(digest) == [
        (overdue.id, today.id, new.id, known.id),
        (overdue.id, today.id),
        (known.id,),
    ]
    first = digests.posted(digest)[0].text
    assert "1 overdue, 1 due today, 1 newly assigned, 1 changed" in first
    assert "*Changed*" in first


async def test_nobody_else_can_act_on_a_personal_digest(digests: Digests) -> None:
    digest = await digests.add_personal()

    assert "There's no digest 1 here." in text_of(await digests.ben.ask(f"/digest pause {digest.id}"))


async def test_dead_key_stops_a_personal_digest_and_tells_only_its_owner(digests: Digests) -> None:
    digest = await digests.add_personal()
    digests.office.tracker.data.users[ANAS].api_key = "another"

    for _ in range(6):
        await digests.tick()

    assert await digests.paused(digest) is Pause.KEY
    stopped = [told for told in await digests.notices() if "Your digest stopped." in told]
    assert len(stopped) == 1
    assert not any("Stopped" in text_of(message) for message in await digests.ben.messages())
