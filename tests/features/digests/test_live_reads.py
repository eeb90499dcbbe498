"""What live feeds read: whatever is deleted or announced, each of their issues once, by few requests."""

import asyncio

import pytest

from bot.errors import UserError
from bot.features.digests.feeds import followed_by
from bot.sandbox.tracker.data import Issue
from bot.service.models import Issue as Service
from tests.features.digests.newsroom import ANA, HOUR, Digests
from tests.features.digests.test_live import SLOW_SLACK, add_feed, feed_of, minute, place, posts
from tests.features.digests.test_subprojects import add_subproject
from tests.support.digesting import wanted

WAITING = "query:2"
"""A saved query that a new issue isn't in, until it waits for feedback."""


async def test_a_feed_posts_nothing_again_when_the_latest_issue_is_deleted(digests: Digests) -> None:
    await add_feed(digests)
    for n in range(11):
        digests.report(f"Alarm {n}")
    await minute(digests)
    for _ in range(2):
        digests.pass_time(2 * HOUR)
        latest = digests.report()
        await minute(digests)
    before = [post.text for post in posts(digests)]
    assert len(before) == 3

    del digests.office.tracker.data.issues[latest.id]
    for _ in range(3):
        await minute(digests)

    assert [post.text for post in posts(digests)] == before


async def announced(digests: Digests, project: str) -> Issue:
    """An issue that Ana created where the feed is, once the feed has been read."""
    await digests.person.ask(f"/issue new Cart loses items project:{project}")
    await digests.office.idle()
    digests.service.heal()
    for _ in range(2):
        await minute(digests)
    return digests.office.newest_issue()


@pytest.mark.parametrize(
    ("filters", "project"), [("subprojects:yes", "infrastructure"), (WAITING, "webshop")]
)
async def test_an_announced_issue_that_a_feed_leaves_out_can_be_followed(
    digests: Digests, filters: str, project: str
) -> None:
    digests.report("Older")
    await add_feed(digests, f"webshop live {filters}")

    issue = await announced(digests, project)

    (post,) = posts(digests)
    assert f"#{issue.id} " in post.text
    stored = digests.office.bot.store.followed
    assert await stored.in_feeds(digests.office.channel_id("general"), [issue.id]) == ()


@pytest.mark.parametrize("digests", [SLOW_SLACK], indirect=True)
async def test_a_list_that_waits_leaves_out_what_is_announced_meanwhile(digests: Digests) -> None:
    await add_feed(digests)
    issues = [digests.report(f"Alarm {n}") for n in range(12)]
    digests.wire.faults = [("chat.postMessage", "429:1")]
    run = asyncio.create_task(minute(digests))
    while not digests.wire.called("chat.postMessage"):
        await asyncio.sleep(0.02)

    store, announced = digests.office.bot.store, followed_by(await feed_of(digests), Service(id=12))
    claim = await store.followed.claim(announced)
    assert claim
    await store.jobs.settled(claim[0], claim[0].later(1))
    await run
    await minute(digests)

    assert digests.listed() == [tuple(issue.id for issue in issues[:-1])]
    assert ["Alarm 11" in post.text for post in posts(digests)].count(True) == 1


@pytest.mark.parametrize("service", ["answers", "fails"])
async def test_an_announced_issue_of_a_subproject_is_the_feeds_post(digests: Digests, service: str) -> None:
    add_subproject(digests, "Payments")
    digests.report("Older")
    await add_feed(digests, "webshop live subprojects:yes")
    if service == "fails":
        digests.service.fail("500 before it", "GET /issues.json", lasting=True)

    issue = await announced(digests, "payments")

    (post,) = posts(digests)
    stored = digests.office.bot.store.followed
    (one,) = await stored.in_feeds(digests.office.channel_id("general"), [issue.id])
    assert one.ts == post.ts


async def test_feeds_with_filters_cost_one_list_a_minute_too(digests: Digests) -> None:
    digests.report("Older")
    for where, filters in (("general", ""), ("webshop", WAITING)):
        await add_feed(digests, f"webshop live {filters}", channel=where)
    await minute(digests)
    digests.service.heal()

    await minute(digests)

    assert digests.service.heal().count("GET /issues.json") == 1


async def test_a_channel_gets_one_feed_of_a_project_however_many_are_added_at_once(digests: Digests) -> None:
    where, plans = await place(digests), [wanted("webshop", "live", empty=empty) for empty in (True, False)]

    added = await asyncio.gather(
        *(digests.office.digests.add(ANA, where, plan) for plan in plans), return_exceptions=True
    )

    assert sum(isinstance(one, UserError) for one in added) == 1
    assert (await feed_of(digests)).plan.live
