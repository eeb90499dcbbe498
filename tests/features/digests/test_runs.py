"""What digests promise: each due time once, each newly opened issue in exactly one, whatever fails."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Literal

import pytest

from bot.features.digests.posts import Standing
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import ARCHIVED_PROJECT, CLOSED_PROJECT
from bot.store.digest_runs import RunState
from bot.store.digests import Pause
from bot.timings import DEFAULT
from tests.features.digests.newsroom import SHOP, VAULT, Fault, Newsroom, Process

HOUR = timedelta(hours=1)
SOON = timedelta(seconds=DEFAULT.longest_post + 1)
LATER = timedelta(seconds=DEFAULT.look_up_after * 2)


async def test_a_digest_has_what_was_opened_since_the_last_one_and_nothing_from_before_it(
    newsroom: Newsroom,
) -> None:
    newsroom.report()
    engine = newsroom.engine()
    await newsroom.add()
    first = newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    second, third = newsroom.report(), newsroom.report()
    newsroom.report(private=True)
    newsroom.report(VAULT)
    await newsroom.tick(engine, after=HOUR)
    assert [post.issues for post in newsroom.board.posts] == [(first.id,), (second.id, third.id)]
    assert [post.due_at.hour for post in newsroom.board.posts] == [9, 10]


async def test_nothing_new_posts_nothing_unless_that_is_wanted(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    await newsroom.add("C1")
    wanted = await newsroom.add("C2", empty=True)
    await newsroom.tick(engine, after=HOUR)
    assert [(post.digest, post.issues) for post in newsroom.board.posts] == [(wanted.id, ())]
    assert sorted(newsroom.finished) == [RunState.EMPTY, RunState.SENT]


async def test_filters_narrow_what_is_new(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    await newsroom.add(tracker=("task",))
    newsroom.report()
    task = newsroom.report(tracker=defaults.TASK)
    await newsroom.tick(engine, after=HOUR)
    assert [post.issues for post in newsroom.board.posts] == [(task.id,)]


async def test_an_issue_that_becomes_visible_late_is_in_the_next_digest(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    await newsroom.add()
    late = newsroom.report(visible=False)
    newsroom.now += timedelta(minutes=10)
    on_time = newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    newsroom.appear()
    await newsroom.tick(engine, after=HOUR)
    assert [post.issues for post in newsroom.board.posts] == [(on_time.id,), (late.id,)]


@pytest.mark.parametrize("ahead", [timedelta(hours=-2), timedelta(hours=26)])
async def test_the_service_s_clock_may_be_another(newsroom: Newsroom, ahead: timedelta) -> None:
    newsroom.service_is_ahead = ahead
    newsroom.report()
    engine = newsroom.engine()
    digest = await newsroom.add()
    reported = set()
    for _ in range(4):
        reported.add(newsroom.report().id)
        await newsroom.tick(engine, after=HOUR)
        newsroom.service_is_ahead /= 2
    assert newsroom.board.covered(digest.id) == reported
    assert newsroom.board.twice() == []


async def test_down_for_a_week_there_is_one_digest_for_what_was_missed(newsroom: Newsroom) -> None:
    await newsroom.add(schedule="daily 09:00")
    reported = []
    for _ in range(7):
        reported.append(newsroom.report().id)
        newsroom.now += timedelta(days=1)
    engine = newsroom.engine()
    await newsroom.tick(engine)
    await newsroom.tick(engine, after=timedelta(minutes=5))
    (post,) = newsroom.board.posts
    assert post.issues == tuple(reported)
    assert post.missed == 6


async def test_of_many_engines_one_posts(newsroom: Newsroom) -> None:
    engines = [newsroom.engine() for _ in range(5)]
    for number in range(6):
        await newsroom.add(f"C{number}")
    newsroom.report()
    newsroom.now += HOUR
    await asyncio.gather(*(engine.run_due(newsroom.now) for engine in engines))
    await asyncio.gather(*(engine.idle() for engine in engines))
    assert sorted(post.digest for post in newsroom.board.posts) == [1, 2, 3, 4, 5, 6]


async def test_a_message_that_was_posted_unnoticed_is_found_and_not_posted_again(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    await newsroom.add()
    newsroom.report()
    newsroom.board.faults = ["lose the answer"]
    await newsroom.tick(engine, after=HOUR)
    await newsroom.tick(engine, after=LATER)
    assert len(newsroom.board.posts) == 1
    assert newsroom.finished == [RunState.SENT]


async def test_a_message_that_got_lost_is_posted_once_it_is_known_not_to_stand_there(
    newsroom: Newsroom,
) -> None:
    engine = newsroom.engine()
    await newsroom.add()
    issue = newsroom.report()
    newsroom.board.faults = ["lose the request", "lose the request"]
    await newsroom.tick(engine, after=HOUR)
    for _ in range(3):
        await newsroom.tick(engine, after=LATER)
    assert [post.issues for post in newsroom.board.posts] == [(issue.id,)]


async def test_a_message_that_cant_be_looked_up_is_not_repeated_and_its_owner_is_told_once(
    newsroom: Newsroom,
) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    newsroom.report()
    newsroom.board.faults, newsroom.board.hidden = ["lose the request"], True
    await newsroom.tick(engine, after=HOUR)
    for _ in range(4):
        await newsroom.tick(engine, after=LATER)
    assert newsroom.board.posts == []
    assert newsroom.board.told == [("U0ANA", (digest.id,), "unsure")]
    following = newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    assert [post.issues for post in newsroom.board.posts] == [(following.id,)]


async def test_what_a_dead_process_claimed_is_taken_over(newsroom: Newsroom) -> None:
    dying, living = newsroom.engine(), newsroom.engine()
    await newsroom.add()
    newsroom.report()
    newsroom.now += HOUR
    await dying.run_due(newsroom.now)
    for task in dying._tasks:
        task.cancel()
    await dying.idle()
    await newsroom.tick(living)
    assert newsroom.board.posts == []
    await newsroom.tick(living, after=SOON)
    assert len(newsroom.board.posts) == 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_digest_of_a_killed_process_is_posted_once_within_a_minute(
    newsroom: Newsroom, when: Literal["before", "after"]
) -> None:
    killed, living = Process(newsroom), newsroom.engine()
    await newsroom.add()
    issue = newsroom.report()
    newsroom.now += HOUR
    killed.dies = (when, "post")
    await newsroom.works(killed)
    await newsroom.goes_on(living, 60)
    assert [post.issues for post in newsroom.board.posts] == [(issue.id,)]
    assert newsroom.finished == [RunState.SENT]


@pytest.mark.parametrize("fault", ["lose the answer", "lose the request"])
async def test_a_process_that_wakes_up_after_another_one_took_over_posts_nothing(
    newsroom: Newsroom, fault: Fault
) -> None:
    for steps in range(1, 12):
        sleeping, other = Process(newsroom), Process(newsroom)
        digest = await newsroom.add(f"C{steps}")
        issue = newsroom.report()
        newsroom.now += HOUR
        newsroom.board.faults = [fault]
        await newsroom.stalls(sleeping, steps, partial(newsroom.tick, other.engine, after=SOON))
        await newsroom.tick(other.engine, after=SOON)
        await newsroom.tick(other.engine, after=SOON)
        assert [post.issues for post in newsroom.board.posts if post.digest == digest.id] == [(issue.id,)]
        await newsroom.digests.remove(newsroom.ana, None, digest.id)


async def test_a_digest_that_is_paused_or_removed_while_it_is_read_is_not_posted(newsroom: Newsroom) -> None:
    process = Process(newsroom)
    paused, removed = await newsroom.add("C1"), await newsroom.add("C2")
    issue = newsroom.report()
    newsroom.now += HOUR

    async def meanwhile() -> None:
        await newsroom.digests.pause(newsroom.ana, None, paused.id)
        await newsroom.digests.remove(newsroom.ana, None, removed.id)

    await newsroom.stalls(process, "begin_sending", meanwhile)
    assert newsroom.board.posts == []
    await newsroom.digests.resume(newsroom.ana, None, paused.id)
    await newsroom.tick(process.engine, after=HOUR)
    assert [post.issues for post in newsroom.board.posts] == [(issue.id,)]


async def test_what_a_process_that_stops_did_not_begin_to_send_goes_to_another_one_at_once(
    newsroom: Newsroom,
) -> None:
    stopping, living = newsroom.engine(), newsroom.engine()
    await newsroom.add()
    newsroom.report()
    newsroom.now += HOUR
    await stopping.run_due(newsroom.now)
    await stopping.stop(0)
    await newsroom.tick(living, after=timedelta(seconds=1))
    assert len(newsroom.board.posts) == 1


async def test_while_the_service_is_away_nothing_is_lost(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    await newsroom.add()
    issue = newsroom.report()
    address = newsroom.tracker.url
    await newsroom.tracker.stop()
    await newsroom.tick(engine, after=HOUR)
    await newsroom.tick(engine, after=HOUR)
    assert newsroom.board.posts == []
    await newsroom.tracker.start(port=int(address.rsplit(":", 1)[1]))
    await newsroom.tick(engine, after=HOUR)
    (post,) = newsroom.board.posts
    assert post.issues == (issue.id,)
    assert post.missed == 2


async def test_an_owner_whose_key_died_is_told_once_of_all_their_digests(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    ids = [(await newsroom.add(f"C{n}", schedule)).id for n, schedule in enumerate(("hourly", "daily 15:00"))]
    bens = await newsroom.add("C1", "hourly", owner=newsroom.ben)
    newsroom.report()
    newsroom.tracker.data.users[1].api_key = "another"
    for _ in range(3):
        await newsroom.tick(engine, after=HOUR)
    assert sorted(newsroom.board.told) == [
        ("C0", (ids[0],), "stopped"),
        ("C1", (ids[1],), "stopped"),
        ("U0ANA", tuple(ids), "stopped"),
    ]
    assert {post.digest for post in newsroom.board.posts} == {bens.id}


@pytest.mark.parametrize(
    ("status", "why"), [(CLOSED_PROJECT, Pause.CLOSED), (ARCHIVED_PROJECT, Pause.PROJECT)]
)
async def test_a_project_that_is_closed_or_lost_stops_its_digest(
    newsroom: Newsroom, status: int, why: Pause
) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    newsroom.report()
    newsroom.tracker.data.projects[SHOP].status = status
    for _ in range(2):
        await newsroom.tick(engine, after=HOUR)
    assert (await newsroom.stored(digest)).paused is why
    assert newsroom.board.posts == []
    assert [who for who, *_ in newsroom.board.told].count("U0ANA") == 1


@pytest.mark.parametrize(
    ("standing", "why"), [(Standing.GONE, Pause.CHANNEL), (Standing.SHARED, Pause.OUTSIDERS)]
)
async def test_a_channel_that_takes_no_digest_stops_it_until_it_is_resumed(
    newsroom: Newsroom, standing: Standing, why: Pause
) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    issue = newsroom.report()
    newsroom.board.standing["C1"] = standing
    await newsroom.tick(engine, after=HOUR)
    assert (await newsroom.stored(digest)).paused is why
    await newsroom.tick(engine)  # people are told at this tick, if they weren't at that one
    newsroom.board.standing.clear()
    await newsroom.digests.resume(newsroom.ana, None, digest.id)
    await newsroom.tick(engine, after=HOUR)
    assert [post.issues for post in newsroom.board.posts] == [(issue.id,)]
    assert newsroom.board.told == [("U0ANA", (digest.id,), "stopped")]


async def test_a_digest_that_slack_refuses_stops_and_covers_nothing(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    issue = newsroom.report()
    newsroom.board.faults = ["delay", "refuse"]
    await newsroom.tick(engine, after=HOUR)
    assert (await newsroom.stored(digest)).paused is Pause.CHANNEL
    await newsroom.digests.resume(newsroom.ana, None, digest.id)
    await newsroom.tick(engine, after=HOUR)
    assert newsroom.board.covered(digest.id) == {issue.id}


async def test_one_that_was_asked_for_between_times_takes_from_the_next_one(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    first = newsroom.report()
    newsroom.now += timedelta(minutes=10)
    assert await engine.run_now(digest) is RunState.SENT
    newsroom.now += timedelta(minutes=1)
    assert await engine.run_now(await newsroom.stored(digest)) is RunState.EMPTY
    second = newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    assert [post.issues for post in newsroom.board.posts] == [(first.id,), (second.id,)]
    assert [edition.asked for edition in newsroom.board.editions] == [True, False]


async def test_the_chart_counts_each_period_from_before_the_digest_on(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    for reports in (2, 0, 1):
        for _ in range(reports):
            newsroom.report()
        newsroom.now += HOUR
    await newsroom.add()
    newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    newsroom.report()
    newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    assert [edition.periods[-5:] for edition in newsroom.board.editions] == [(0, 2, 0, 1, 1), (2, 0, 1, 1, 2)]


async def test_due_digests_of_one_owner_are_read_together(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    for number in range(12):
        await newsroom.add(f"C{number}", project=("Shop", "Vault")[number % 2])
        await newsroom.add(f"D{number}", owner=newsroom.ben)
    for _ in range(5):
        newsroom.report()
        newsroom.report(VAULT)
    newsroom.requests.clear()
    await newsroom.tick(engine, after=HOUR)
    assert len(newsroom.board.posts) == 24
    assert newsroom.requests["list_issues"] == 2
    assert newsroom.requests.total() <= 8


async def test_both_nights_when_the_clock_changes_have_one_digest(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    newsroom.now = datetime(2026, 3, 28, 12, tzinfo=UTC)
    await newsroom.add(schedule="daily 02:30", empty=True)
    for _ in range(24 * 2):
        await newsroom.tick(engine, after=HOUR)
    newsroom.now = datetime(2026, 10, 24, 12, tzinfo=UTC)
    for _ in range(24 * 2):
        await newsroom.tick(engine, after=HOUR)
    due = [post.due_at.isoformat() for post in newsroom.board.posts]
    assert due[:2] == ["2026-03-29T01:00:00+00:00", "2026-03-30T00:30:00+00:00"]
    assert due[-2:] == ["2026-10-25T00:30:00+00:00", "2026-10-26T01:30:00+00:00"]


async def test_what_is_asked_for_just_when_it_is_due_has_nothing_of_what_was_posted(
    newsroom: Newsroom,
) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    for _ in range(4):
        newsroom.report()
        newsroom.now += HOUR
    seen_before = await newsroom.stored(digest)
    await newsroom.tick(engine)
    newsroom.now += timedelta(seconds=1)
    assert await engine.run_now(seen_before) is RunState.EMPTY
    assert newsroom.board.twice() == []
