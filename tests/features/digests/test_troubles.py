"""Troubles that come together: what fails beside a post, clocks that were wrong, people who act meanwhile."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest

from bot.errors import UserError
from bot.features.digests import digests as usecase
from bot.features.digests.digests import Wanted
from bot.features.digests.posts import Standing
from bot.features.digests.schedules import parse
from bot.store.channels import Channel
from bot.store.digests import Pause
from tests.features.digests.newsroom import SHOP, TEAM, Newsroom, Process

HOUR, MONTH = timedelta(hours=1), timedelta(days=30)


async def test_a_run_that_fails_lets_go_of_no_other_one_whose_post_is_under_way(newsroom: Newsroom) -> None:
    one, other = Process(newsroom), Process(newsroom)
    failing, _ = await newsroom.add("C1"), await newsroom.add("C2")
    newsroom.report()
    newsroom.now += HOUR
    one.fails = [("begin_sending", failing.id), ("later", failing.id)]
    await newsroom.stalls(one, "post", partial(newsroom.tick, other.engine))
    assert one.fails == []
    await newsroom.tick(other.engine, after=HOUR)
    assert newsroom.board.twice() == []
    assert {post.channel for post in newsroom.board.posts} == {"C1", "C2"}


async def test_a_lease_of_a_clock_that_was_ahead_ends_with_it(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    await newsroom.add(empty=True)
    newsroom.board.standing["C1"] = Standing.UNKNOWN
    await newsroom.tick(engine, after=MONTH)
    newsroom.board.standing.clear()
    await newsroom.tick(engine, after=-MONTH)
    for _ in range(4):
        await newsroom.tick(engine, after=HOUR)
    assert len(newsroom.board.posts) >= 3


async def test_who_asks_while_the_clock_is_set_back_hides_that_from_nobody(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add(empty=True)
    await newsroom.tick(engine, after=MONTH)
    newsroom.board.posts.clear()
    newsroom.now -= MONTH
    await engine.run_now(await newsroom.stored(digest))
    for _ in range(4):
        await newsroom.tick(engine, after=HOUR)
    assert len(newsroom.board.posts) >= 3


async def test_notice_outlives_the_process_that_was_sending_it(newsroom: Newsroom) -> None:
    killed, living = Process(newsroom), newsroom.engine()
    digest = await newsroom.add()
    newsroom.board.standing["C1"] = Standing.GONE
    newsroom.now += HOUR
    killed.dies = ("before", "tell_owner")
    await newsroom.works(killed)
    await newsroom.goes_on(living, 60)
    assert newsroom.board.told == [("U0ANA", (digest.id,), "stopped")]


async def test_notice_is_sent_by_one_of_two_processes(newsroom: Newsroom) -> None:
    slow, other = Process(newsroom), Process(newsroom)
    digest = await newsroom.add()
    newsroom.board.standing["C1"] = Standing.GONE
    newsroom.now += HOUR
    await newsroom.stalls(slow, "tell_owner", partial(newsroom.goes_on, other.engine, 15))
    assert newsroom.board.told == [("U0ANA", (digest.id,), "stopped")]


@pytest.mark.parametrize("deed", ["resume", "take over"])
async def test_what_is_told_later_is_still_so(newsroom: Newsroom, deed: str) -> None:
    process = Process(newsroom)
    digest = await newsroom.add()
    newsroom.board.standing["C1"] = Standing.GONE
    newsroom.board.speechless = 2
    await newsroom.tick(process.engine, after=HOUR)
    newsroom.board.standing.clear()
    if deed == "resume":
        await newsroom.digests.resume(newsroom.ana, None, digest.id)
    else:
        await newsroom.digests.take_over(newsroom.ben, Channel(TEAM, "C1"), digest.id)
    await newsroom.tick(process.engine, after=timedelta(minutes=1))
    assert newsroom.board.told == []


async def test_outcomes_that_stay_unknown_are_tried_ever_more_rarely(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    await newsroom.add()
    newsroom.report()
    newsroom.board.faults = ["lose the request"] * 1000
    newsroom.now += HOUR
    for _ in range(150):
        await newsroom.tick(engine, after=timedelta(seconds=11))
    assert len(newsroom.board.faults) > 980


async def test_a_chart_without_a_past_has_no_invented_one(
    newsroom: Newsroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usecase, "MOST_COUNTED", 1)
    engine = newsroom.engine()
    newsroom.report()
    newsroom.report()
    await newsroom.add()
    newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    assert newsroom.board.editions[0].periods == ()


async def test_periods_are_those_of_the_schedule_that_was_set_meanwhile(newsroom: Newsroom) -> None:
    process, changed = Process(newsroom), Wanted(project=None, schedule=parse("daily 12:00"), zone="UTC")
    digest = await newsroom.add()
    newsroom.report()
    newsroom.now += HOUR
    change = partial(newsroom.digests.change, newsroom.ana, Channel(TEAM, "C1"), digest.id, changed)
    await newsroom.stalls(process, "finish", change)
    assert {end.hour for end, _ in (await newsroom.stored(digest)).history} == {12}


async def test_a_run_whose_time_zone_is_no_more_stops_its_digest(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    newsroom.report()
    newsroom.board.standing["C1"] = Standing.UNKNOWN
    await newsroom.tick(engine, after=HOUR)
    newsroom.board.standing.clear()
    await newsroom.forget_zone(digest)
    await newsroom.tick(engine, after=HOUR)
    assert (await newsroom.stored(digest)).paused is Pause.SCHEDULE


async def test_one_digest_whose_zone_is_no_more_stops_and_holds_up_no_other_one(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add("C1")
    await newsroom.forget_zone(digest)
    await newsroom.add("C2", owner=newsroom.ben)
    newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    await newsroom.tick(engine)
    assert [post.channel for post in newsroom.board.posts] == ["C2"]
    assert (await newsroom.stored(digest)).paused is Pause.SCHEDULE
    assert newsroom.board.told == [("U0ANA", (digest.id,), "stopped")]


async def test_a_clock_that_was_a_month_ahead_for_a_moment_silences_nothing(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    await newsroom.add(empty=True)
    await newsroom.tick(engine, after=timedelta(days=30))
    newsroom.board.posts.clear()
    await newsroom.tick(engine, after=-timedelta(days=30))
    for _ in range(3):
        await newsroom.tick(engine, after=HOUR)
    assert len(newsroom.board.posts) == 3


async def test_private_issues_are_not_even_counted(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    for _ in range(3):
        newsroom.report(private=True)
    newsroom.now += HOUR
    await newsroom.add()
    newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    (edition,) = newsroom.board.editions
    assert set(edition.periods[:-1]) == {0}


async def test_a_renamed_project_is_called_by_its_new_name(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    newsroom.report()
    newsroom.tracker.data.projects[SHOP].name = "Market"
    await newsroom.tick(engine, after=HOUR)
    assert newsroom.board.editions[0].digest.plan.project == "Market"
    assert (await newsroom.stored(digest)).plan.project == "Market"


async def test_a_digest_that_was_taken_over_is_not_stopped_for_its_former_owner(newsroom: Newsroom) -> None:
    digest, process = await newsroom.add(), Process(newsroom)
    issue = newsroom.report()
    newsroom.tracker.data.users[1].api_key = "another"
    newsroom.now += HOUR

    async def taken() -> None:
        await newsroom.digests.take_over(newsroom.ben, Channel(TEAM, "C1"), digest.id)

    await newsroom.stalls(process, "stop", taken)
    await newsroom.tick(process.engine, after=HOUR)
    assert newsroom.board.covered(digest.id) == {issue.id}
    assert newsroom.board.told == []


async def test_what_could_not_be_told_is_told_later(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    newsroom.board.standing["C1"] = Standing.GONE
    newsroom.board.speechless = 2
    for _ in range(3):
        await newsroom.tick(engine, after=HOUR)
    assert newsroom.board.told == [("U0ANA", (digest.id,), "stopped")]


async def test_whoever_owns_one_that_fails_for_a_day_is_told_once(newsroom: Newsroom) -> None:
    engine = newsroom.engine()
    digest = await newsroom.add()
    newsroom.board.standing["C1"] = Standing.UNKNOWN
    for _ in range(120):
        await newsroom.tick(engine, after=timedelta(minutes=16))
    assert newsroom.board.told == [("U0ANA", (digest.id,), "delayed")]
    newsroom.board.standing.clear()
    issue = newsroom.report()
    await newsroom.tick(engine, after=HOUR)
    assert newsroom.board.covered(digest.id) == {issue.id}


async def test_the_same_digest_asked_for_twice_at_once_is_one(newsroom: Newsroom) -> None:
    made = await asyncio.gather(*(newsroom.add() for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(one, UserError) for one in made) == 3
    assert len(await newsroom.digests.listed(Channel(TEAM, "C1"))) == 1
