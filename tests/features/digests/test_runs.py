"""What each digest covers: every new issue is in exactly one, even if runs are late."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.features.digests.reading import MAX_COUNTED
from bot.sandbox.tracker.data import ARCHIVED_PROJECT, CLOSED_PROJECT
from bot.store.digests import Pause
from tests.features.digests.newsroom import ANA, BEN, DAY, HOUR, POST, QUIET, SECURITY, WEBSHOP, Digests
from tests.support.digesting import requested_plan
from tests.support.reading import text_of, until_so

PATIENT = {"timings": replace(QUIET, fresh=60)}
"""Nothing that a busy machine reads is too old to decide about a post."""


async def test_digest_contains_only_issues_opened_since_the_last_one(digests: Digests) -> None:
    digests.report()
    usual, empty_too = await digests.add(), await digests.add(empty=True)
    first = digests.report()
    await digests.tick()
    second, third = digests.report(), digests.report()
    digests.report(is_private=True)
    digests.report(project=SECURITY)
    await digests.tick()
    await digests.tick()

    posts = digests.posted(usual)
    assert [post.issues for post in posts] == [(first.id,), (second.id, third.id)]
    assert [post.due_at.hour for post in posts] == [9, 10]
    assert digests.listed(empty_too) == [*digests.listed(usual), ()]


async def test_issue_that_becomes_visible_late_is_in_the_next_digest(digests: Digests) -> None:
    await digests.add()
    late = digests.report(hidden=True)
    digests.pass_time(timedelta(minutes=10))
    on_time = digests.report()
    await digests.tick()
    digests.reveal()
    await digests.tick()
    assert digests.listed() == [(on_time.id,), (late.id,)]


@pytest.mark.parametrize("ahead", [timedelta(hours=-2), timedelta(hours=26)])
async def test_service_clock_may_differ(digests: Digests, ahead: timedelta) -> None:
    digests.service_ahead = ahead
    digests.report()
    digest = await digests.add()
    reported = set()
    for _ in range(4):
        reported.add(digests.report().id)
        await digests.tick()
        digests.service_ahead /= 2
    assert digests.covered(digest) == reported
    assert digests.repeated() == []


async def test_one_digest_covers_a_week_of_downtime(digests: Digests) -> None:
    await digests.add(schedule="daily 09:00")
    reported = []
    for _ in range(7):
        reported.append(digests.report().id)
        digests.pass_time(DAY)
    await digests.tick(timedelta(0))
    await digests.tick(timedelta(minutes=5))
    (post,) = digests.posted()
    assert post.issues == tuple(reported)
    assert "It includes 6 missed digests." in post.text


async def test_service_outage_loses_nothing(digests: Digests) -> None:
    await digests.add()
    issue = digests.report()
    digests.service.fail("503 before it", lasting=True)
    for _ in range(2):
        await digests.tick()
    assert digests.posted() == []
    digests.service.heal()
    await digests.tick()
    (post,) = digests.posted()
    assert post.issues == (issue.id,)
    assert "It includes 2 missed digests." in post.text


@pytest.mark.parametrize(
    ("status", "why"), [(CLOSED_PROJECT, Pause.CLOSED), (ARCHIVED_PROJECT, Pause.PROJECT)]
)
async def test_closed_or_lost_project_stops_its_digest(digests: Digests, status: int, why: Pause) -> None:
    digest = await digests.add()
    digests.report()
    digests.office.tracker.data.projects[WEBSHOP].status = status
    for _ in range(2):
        await digests.tick()
    assert await digests.paused(digest) is why
    assert digests.posted() == []
    assert len(await digests.notices()) == 1


async def test_issues_posted_on_demand_are_not_repeated(digests: Digests) -> None:
    digest = await digests.add()
    digests.report()
    await digests.send_now(digest)
    assert "Nothing new" in await digests.send_now(digest)
    digests.report()
    await digests.tick()
    first, second = digests.posted()
    assert (first.issues, second.issues) == ((1,), (2,))
    assert "per hour" not in first.text  # not a whole period
    assert "per hour" in second.text

    for _ in range(4):
        digests.report()
        digests.pass_time(HOUR)
    await asyncio.gather(digests.tick(), digests.send_now(digest))
    assert digests.covered(digest) == set(range(1, 7))
    assert digests.repeated() == []


async def test_chart_counts_periods_before_the_digest_was_added(digests: Digests) -> None:
    for reports in (2, 0, 1):
        for _ in range(reports):
            digests.report()
        digests.report(is_private=True)
        digests.pass_time(HOUR)
    await digests.add()
    digests.report()
    await digests.tick()
    digests.report()
    digests.report()
    await digests.tick()
    charts = [post.text.partition("new per hour: ")[2].split()[0][-5:] for post in digests.posted()]
    assert charts == ["▁█▁▅▅", "█▁▅▅█"]


async def test_chart_of_too_many_issues_starts_empty(digests: Digests) -> None:
    for _ in range(MAX_COUNTED + 1):
        digests.report()
    digests.pass_time(4 * HOUR)
    digests.report()
    await digests.add()
    digests.report()
    await digests.tick()
    (post,) = digests.posted()
    assert "new per hour" not in post.text


@pytest.mark.parametrize("digests", [PATIENT], indirect=True)
async def test_due_digests_of_one_owner_share_requests(digests: Digests) -> None:
    for number in range(12):
        channel = digests.add_channel(f"share{number:02}")
        await digests.add(channel, ("webshop", "infrastructure")[number % 2])
        await digests.add(channel, "webshop", group="priority", owner=BEN)
    for _ in range(2):  # reads what is assigned to each owner, too
        await digests.tick()
    for project in (WEBSHOP, 3):
        for _ in range(5):
            digests.report(project=project)
    digests.service.heal()
    await digests.tick()
    assert len(digests.posted()) == 24
    asked = digests.service.heal()
    assert sum(one == "GET /issues.json" for one in asked) == 2
    assert len(asked) <= 8


async def test_digest_paused_or_removed_while_read_is_not_posted(digests: Digests) -> None:
    paused, removed = await digests.add(), await digests.add("webshop")
    issue = digests.report()
    digests.service.seconds = 60
    digests.service.fail("slow", "GET /projects")

    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.service.slowed)
    await digests.person.ask(f"/digest pause {paused.id}")
    await digests.person.ask(f"/digest remove {removed.id}")
    digests.service.released.set()
    await running

    assert not digests.wire.called(POST)
    await digests.person.ask(f"/digest resume {paused.id}")
    await digests.tick()
    assert digests.listed() == [(issue.id,)]


async def test_restored_digest_is_posted_when_it_is_due(digests: Digests) -> None:
    await digests.add()
    issue = digests.report()
    removed = await digests.person.ask("/digest remove 1")
    await digests.tick()
    assert digests.listed() == []

    await digests.person.after(digests.person.press(removed, "Undo"))
    await digests.tick()

    assert digests.listed() == [(issue.id,)]


async def test_digest_stopped_while_read_is_not_posted(digests: Digests) -> None:
    digest = await digests.add()
    digests.report()
    digests.service.seconds = 60
    digests.service.fail("slow", "GET /issues")

    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.service.slowed)
    await digests.office.bot.store.digests.stop(ANA, [digest.id], Pause.LEFT, tell_owner=False)
    digests.service.released.set()
    await running

    assert await digests.posts() == []


async def test_a_schedule_changed_during_a_post_keeps_its_periods(digests: Digests) -> None:
    digest = await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "slow:60")]
    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.wire.called(POST))
    await digests.office.digests.change(ANA, digest, requested_plan(schedule="daily 12:00"))
    digests.wire.released.set()
    await running

    digests.report()
    await digests.tick(4 * HOUR)

    _, post = digests.posted()
    assert "new per day: " in post.text
    assert post.text.partition("new per day: ")[2].split()[0].endswith("▁█")


@pytest.mark.parametrize(("before", "after", "hours"), [("12:00", "15:00", 7), ("15:00", "12:00", 4)])
async def test_a_schedule_changed_during_a_post_counts_from_then_on(
    digests: Digests, before: str, after: str, hours: int
) -> None:
    digest = await digests.add(empty=True, schedule=f"daily {before}")
    issue = digests.report()
    digests.wire.faults = [(POST, "slow:60")]
    running = asyncio.create_task(digests.person.ask("/digest now"))
    await until_so(lambda: digests.wire.called(POST))
    changed = requested_plan(schedule=f"daily {after}", empty=True)
    await digests.office.digests.change(ANA, digest, changed)
    digests.wire.released.set()
    await running

    later = digests.report()
    await digests.tick(hours * HOUR)

    assert digests.listed() == [(issue.id,), (later.id,)]
    assert digests.repeated() == []


async def test_renamed_project_is_shown_with_its_new_name(digests: Digests) -> None:
    await digests.add()
    digests.report()
    digests.office.tracker.data.projects[WEBSHOP].name = "Market"
    await digests.tick()
    assert "Market: 1 new issue" in digests.posted()[0].text
    assert "Market" in text_of(await digests.person.ask("/digest"))
