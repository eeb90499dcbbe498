"""Troubles that come together: what fails beside a post, clocks that were wrong, people who act meanwhile."""

from datetime import timedelta
from functools import partial

import pytest

from bot.store.digests import Pause
from bot.usecases import digests as usecase
from bot.usecases.digest_posts import Standing
from bot.usecases.digests import Wanted
from bot.usecases.projects import Channel
from bot.usecases.schedules import parse
from tests.usecases.newsroom import TEAM, Newsroom, Process

HOUR, MONTH = timedelta(hours=1), timedelta(days=30)


async def test_a_run_that_fails_lets_go_of_no_other_one_whose_post_is_under_way(newsroom: Newsroom) -> None:
    one, other = Process(newsroom), Process(newsroom)
    failing, _ = await newsroom.add("C1"), await newsroom.add("C2")
    newsroom.report()
    newsroom.now += HOUR
    one.fails = [("begin_sending", failing.id), ("later", failing.id)]
    await newsroom.stalls(one, "post", partial(newsroom.tick, other.engine, after=timedelta(seconds=20)))
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


@pytest.mark.parametrize("deed", ["resume", "take over"])
async def test_what_is_told_later_is_still_so(newsroom: Newsroom, deed: str) -> None:
    process = Process(newsroom)
    digest = await newsroom.add()
    newsroom.board.standing["C1"] = Standing.GONE
    newsroom.board.speechless = 2
    newsroom.now += HOUR

    async def meanwhile() -> None:
        newsroom.board.standing.clear()
        if deed == "resume":
            await newsroom.digests.resume(newsroom.ana, None, digest.id)
        else:
            await newsroom.digests.take_over(newsroom.ben, Channel(TEAM, "C1"), digest.id)

    await newsroom.stalls(process, "tell_owner_later", meanwhile)
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
