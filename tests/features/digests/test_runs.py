"""Each due time runs once and each new issue is in exactly one digest, whatever fails."""

from datetime import timedelta
from functools import partial
from itertools import count

import pytest

from bot.sandbox.tracker.data import ARCHIVED_PROJECT, CLOSED_PROJECT
from bot.store.digest_runs import RunState
from bot.store.digests import Pause
from bot.timings import DEFAULT
from tests.features.digests.newsroom import SHOP, START, VAULT, DigestHarness, Process

HOUR = timedelta(hours=1)
SOON = timedelta(seconds=DEFAULT.longest_post + 1)
FEWEST_STEPS = 5
"""A run takes more steps than these, of the database and of Slack."""


async def test_digest_contains_only_issues_opened_since_the_last_one(
    harness: DigestHarness,
) -> None:
    harness.report()
    await harness.add()
    first = harness.report()
    await harness.tick(after=HOUR)
    second, third = harness.report(), harness.report()
    harness.report(private=True)
    harness.report(VAULT)
    await harness.tick(after=HOUR)
    assert harness.poster.listed() == [(first.id,), (second.id, third.id)]
    assert [post.due_at.hour for post in harness.poster.posts] == [9, 10]


async def test_empty_digest_is_posted_only_on_request(harness: DigestHarness) -> None:
    await harness.add("C1")
    wanted = await harness.add("C2", empty=True)
    await harness.tick(after=HOUR)
    assert harness.poster.listed(wanted) == harness.poster.listed() == [()]
    assert sorted(harness.finished) == [RunState.EMPTY, RunState.SENT]


async def test_issue_that_becomes_visible_late_is_in_the_next_digest(harness: DigestHarness) -> None:
    await harness.add()
    late = harness.report(visible=False)
    harness.now += timedelta(minutes=10)
    on_time = harness.report()
    await harness.tick(after=HOUR)
    harness.reveal_hidden()
    await harness.tick(after=HOUR)
    assert harness.poster.listed() == [(on_time.id,), (late.id,)]


@pytest.mark.parametrize("ahead", [timedelta(hours=-2), timedelta(hours=26)])
async def test_service_clock_may_differ(harness: DigestHarness, ahead: timedelta) -> None:
    harness.service_clock_offset = ahead
    harness.report()
    digest = await harness.add()
    reported = set()
    for _ in range(4):
        reported.add(harness.report().id)
        await harness.tick(after=HOUR)
        harness.service_clock_offset /= 2
    assert harness.poster.covered(digest.id) == reported
    assert harness.poster.repeated_issues() == []


async def test_one_digest_covers_a_week_of_downtime(harness: DigestHarness) -> None:
    await harness.add(schedule="daily 09:00")
    reported = []
    for _ in range(7):
        reported.append(harness.report().id)
        harness.now += timedelta(days=1)
    await harness.tick()
    await harness.tick(after=timedelta(minutes=5))
    (post,) = harness.poster.posts
    assert harness.poster.listed() == [tuple(reported)]
    assert post.missed == 6


async def test_a_post_is_looked_for_only_when_it_has_arrived(harness: DigestHarness) -> None:
    slow, living = Process(harness), harness.engine()
    await harness.add()
    issue = harness.report()
    harness.now += HOUR
    slow.dies_at = ("before", "post")  # Slack gets it all the same, as late as it may

    async def read_for_a_minute() -> None:
        for _ in range(12):
            harness.now += timedelta(seconds=5)
            await harness.beat(slow.engine)
            await slow.engine.run_due(harness.now)

    await harness.while_stalled(slow, "covered", read_for_a_minute)
    await harness.run_for(living, 30)
    assert harness.poster.posts == []
    harness.poster.posts += harness.poster.sent
    await harness.run_for(living, 60)

    assert harness.poster.listed() == [(issue.id,)]


@pytest.mark.parametrize("how", ["killed", "stalled"])
async def test_a_process_cut_off_at_any_step_leaves_one_post_within_a_minute(
    harness: DigestHarness, how: str
) -> None:
    for steps in count(1):  # dying before a step is dying after the one before
        cut_off, other = Process(harness), Process(harness)
        harness.now = START + 2 * steps * HOUR  # half past: none comes due a second time
        digest = await harness.add(f"C{steps}")
        issue = harness.report()
        harness.now += HOUR
        if how == "killed":
            cut_off.steps_left = 2 * steps
            await harness.run_until_killed(cut_off)
            await harness.run_for(other.engine, 60)
        else:
            harness.poster.faults = ["lose the answer" if steps % 2 else "lose the request"]
            await harness.while_stalled(cut_off, steps, partial(harness.tick, other.engine, after=SOON))
            await harness.tick(other.engine, after=SOON)
            await harness.tick(other.engine, after=SOON)
        assert harness.poster.listed(digest) == [(issue.id,)], steps
        await harness.digests.remove(digest)
        if not (cut_off.dead or cut_off.stalled.is_set()):  # this was one step too many
            break
    assert steps > FEWEST_STEPS
    assert set(harness.finished) == {RunState.SENT}


async def test_digest_paused_or_removed_while_read_is_not_posted(
    harness: DigestHarness,
) -> None:
    process = Process(harness)
    paused, removed = await harness.add("C1"), await harness.add("C2")
    issue = harness.report()
    harness.now += HOUR

    async def meanwhile() -> None:
        await harness.digests.pause(paused)
        await harness.digests.remove(removed)

    await harness.while_stalled(process, "begin_sending", meanwhile)
    assert harness.poster.posts == []
    await harness.digests.resume(harness.ana, await harness.stored(paused))
    await harness.tick(process.engine, after=HOUR)
    assert harness.poster.listed() == [(issue.id,)]


async def test_stopping_process_releases_unsent_runs_immediately(
    harness: DigestHarness,
) -> None:
    stopping, living = Process(harness), harness.engine()
    await harness.add()
    harness.report()
    harness.now += HOUR
    await harness.while_stalled(stopping, "begin_sending", partial(stopping.engine.stop, 0))
    await harness.tick(living, after=timedelta(seconds=1))
    assert len(harness.poster.posts) == 1


async def test_service_outage_loses_nothing(harness: DigestHarness) -> None:
    await harness.add()
    issue = harness.report()
    address = harness.tracker.url
    await harness.tracker.stop()
    await harness.tick(after=HOUR)
    await harness.tick(after=HOUR)
    assert harness.poster.posts == []
    await harness.tracker.start(port=int(address.rsplit(":", 1)[1]))
    await harness.tick(after=HOUR)
    (post,) = harness.poster.posts
    assert harness.poster.listed() == [(issue.id,)]
    assert post.missed == 2


@pytest.mark.parametrize(
    ("status", "why"), [(CLOSED_PROJECT, Pause.CLOSED), (ARCHIVED_PROJECT, Pause.PROJECT)]
)
async def test_closed_or_lost_project_stops_its_digest(
    harness: DigestHarness, status: int, why: Pause
) -> None:
    digest = await harness.add()
    harness.report()
    harness.tracker.data.projects[SHOP].status = status
    for _ in range(2):
        await harness.tick(after=HOUR)
    assert (await harness.stored(digest)).paused is why
    assert harness.poster.posts == []
    assert [who for who, *_ in harness.poster.notices].count("U0ANA") == 1


async def test_issues_posted_on_demand_are_not_repeated(harness: DigestHarness) -> None:
    engine = harness.engine()
    digest = await harness.add()
    first = harness.report()
    harness.now += timedelta(minutes=10)
    assert await engine.run_now(digest) is RunState.SENT
    harness.now += timedelta(minutes=1)
    assert await engine.run_now(await harness.stored(digest)) is RunState.EMPTY
    second = harness.report()
    await harness.tick(engine, after=HOUR)
    assert harness.poster.listed() == [(first.id,), (second.id,)]
    assert [post.asked for post in harness.poster.posts] == [True, False]


async def test_chart_counts_periods_before_the_digest_was_added(harness: DigestHarness) -> None:
    for reports in (2, 0, 1):
        for _ in range(reports):
            harness.report()
        harness.now += HOUR
    await harness.add()
    harness.report()
    await harness.tick(after=HOUR)
    harness.report()
    harness.report()
    await harness.tick(after=HOUR)
    assert [post.periods[-5:] for post in harness.poster.posts] == [(0, 2, 0, 1, 1), (2, 0, 1, 1, 2)]


async def test_due_digests_of_one_owner_share_requests(harness: DigestHarness) -> None:
    for number in range(12):
        await harness.add(f"C{number}", project=("Shop", "Vault")[number % 2])
        await harness.add(f"D{number}", owner=harness.ben)
    for _ in range(5):
        harness.report()
        harness.report(VAULT)
    harness.requests.clear()
    await harness.tick(after=HOUR)
    assert len(harness.poster.posts) == 24
    assert harness.requests["list_issues"] == 2
    assert harness.requests.total() <= 8


async def test_digest_now_at_the_due_time_repeats_nothing(
    harness: DigestHarness,
) -> None:
    engine = harness.engine()
    digest = await harness.add()
    for _ in range(4):
        harness.report()
        harness.now += HOUR
    seen_before = await harness.stored(digest)
    await harness.tick(engine)
    harness.now += timedelta(seconds=1)
    assert await engine.run_now(seen_before) is RunState.EMPTY
    assert harness.poster.repeated_issues() == []
