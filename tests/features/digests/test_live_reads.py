"""Live feeds post each of their issues once, also what is deleted or announced, by few requests."""

import asyncio

import pytest
from sqlalchemy import text

from bot.errors import UserError
from bot.features.digests.feeds import followed_by
from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.defaults import FEEDBACK, IN_PROGRESS, MANAGER, URGENT
from bot.service.models import Issue as Service
from bot.store.owner import Owner
from tests.features.digests.newsroom import ANA, BEN, HOUR, Digests
from tests.features.digests.test_live import (
    BENS,
    SLOW_SLACK,
    add_feed,
    change,
    channel,
    feed_of,
    lines,
    minute,
    place,
    posts,
)
from tests.features.digests.test_subprojects import add_subproject
from tests.support.digesting import requested_plan
from tests.support.reading import text_of, until_so

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


async def test_an_issue_that_the_bot_announced_here_is_not_posted_again(digests: Digests) -> None:
    digests.report("Older")
    await add_feed(digests)

    await digests.person.ask("/issue new Cart loses items project:webshop to:me")
    await digests.office.idle()
    (post,) = posts(digests)
    assert "Ana Ruiz created" in post.text
    for _ in range(3):
        await minute(digests)

    issue = digests.office.newest_issue()
    change(digests, issue, by=BENS, status_id=IN_PROGRESS)
    await minute(digests)
    (shown,) = posts(digests)
    assert shown.ts == post.ts
    assert "Ana Ruiz created" in shown.text
    assert "In progress · Normal · assigned to Ana Ruiz" in shown.text
    assert lines(digests, post) == ["Ben Okafor set the status to In progress"]


@pytest.mark.parametrize("fault", ["lose the request", "lose the answer", "429:0"])
async def test_an_announcement_that_fails_is_posted_by_the_feed(digests: Digests, fault: str) -> None:
    await add_feed(digests)
    digests.wire.faults = [("chat.postMessage", fault)]

    await digests.person.ask("/issue new Cart loses items project:webshop")
    await digests.office.idle()
    for _ in range(3):
        await minute(digests)

    (post,) = posts(digests)
    assert "Ana Ruiz created" in post.text


async def test_an_issue_whose_announcement_the_database_refuses_is_posted_by_the_feed(
    digests: Digests,
) -> None:
    await add_feed(digests)
    digests.office.may_crash = True
    database = digests.office.bot.store.jobs.database
    refusing = "CREATE TRIGGER full BEFORE INSERT ON followed_issues BEGIN SELECT RAISE(ABORT, 'full'); END"
    await database.execute(text(refusing))
    await digests.person.ask("/issue new Cart loses items project:webshop")
    await digests.office.idle()
    await database.execute(text("DROP TRIGGER full"))

    for _ in range(2):
        await minute(digests)

    (post,) = posts(digests)
    assert "Cart loses items" in post.text


async def test_an_announcement_that_slack_refuses_after_the_feed_was_read_is_posted_by_it(
    digests: Digests,
) -> None:
    await add_feed(digests)
    ana = digests.person
    asked = await ana.say("Please fix: the cart")
    await ana.shortcut("issue_from_message", asked)
    form = await ana.form("New issue")
    digests.wire.faults = [("chat.postMessage", "slow refuse:cannot_reply_to_message")]
    await ana.submit(form, {"Subject": "Cart loses items", "Project": "Web Shop"})
    await until_so(lambda: digests.wire.called("chat.postMessage"))
    for _ in range(2):
        await minute(digests)
    digests.wire.released.set()
    await digests.office.idle()
    for _ in range(2):
        await minute(digests)

    (post,) = posts(digests)
    assert "Ana Ruiz created" in post.text


async def test_an_announcement_of_a_process_that_stops_is_posted_once(digests: Digests) -> None:
    other = await digests.process()
    await add_feed(digests)
    digests.wire.faults = [("chat.postMessage", "slow:60")]
    await digests.person.command("/issue new Cart loses items project:webshop")
    await until_so(lambda: digests.wire.called("chat.postMessage"))

    await digests.office.bot.stop(0)
    digests.wire.released.set()
    await digests.run_for(120, by=other)

    (post,) = posts(digests)
    assert "Ana Ruiz created" in post.text


async def test_an_announcement_in_a_thread_is_the_post_of_its_issue(digests: Digests) -> None:
    await add_feed(digests)
    ana = digests.person
    asked = await ana.say("Please fix: the cart")
    await ana.shortcut("issue_from_message", asked)
    form = await ana.form("New issue")
    await ana.after(ana.submit(form, {"Subject": "Cart loses items", "Project": "Web Shop"}))
    await digests.office.idle()
    for _ in range(2):
        await minute(digests)

    assert posts(digests) == []
    change(digests, digests.office.newest_issue(), by=BENS, status_id=IN_PROGRESS)
    await minute(digests)
    announced, line = [m for m in channel(digests) if m.thread_ts == asked["ts"]]
    assert "Ana Ruiz created" in announced.text
    assert line.text == "Ben Okafor set the status to In progress"


@pytest.mark.parametrize("digests", [SLOW_SLACK], indirect=True)
async def test_a_list_that_waits_has_what_would_be_announced_meanwhile(digests: Digests) -> None:
    await add_feed(digests)
    issues = [digests.report(f"Alarm {n}") for n in range(12)]
    digests.wire.faults = [("chat.postMessage", "429:1")]
    run = asyncio.create_task(minute(digests))
    while not digests.wire.called("chat.postMessage"):
        await asyncio.sleep(0.02)

    store, announced = digests.office.bot.store, followed_by(await feed_of(digests), Service(id=12))
    assert await store.followed.claim(announced) is None
    await run
    await minute(digests)

    assert digests.listed() == [tuple(issue.id for issue in issues)]
    assert len(posts(digests)) == 1


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


@pytest.mark.parametrize("filters", [WAITING, "cf_2:K-9"])
async def test_a_new_issue_that_a_filter_leaves_out_is_checked_until_it_changes(
    digests: Digests, filters: str
) -> None:
    digests.report("Older")
    await add_feed(digests, f"webshop live {filters}")
    issue = digests.report("It rings twice", custom={2: "K-8"})
    await minute(digests)
    digests.service.heal()
    await minute(digests)
    assert digests.service.heal().count("GET /issues.json") == 1
    assert posts(digests) == []

    issue.custom = {2: "K-9"}
    digests.update(issue, FEEDBACK)
    await minute(digests)
    (post,) = posts(digests)
    assert "It rings twice" in post.text


@pytest.mark.parametrize("owner", [ANA, BEN])
@pytest.mark.parametrize("number", [1, 11])
async def test_overlapping_feeds_of_a_channel_post_a_new_issue_once(
    digests: Digests, number: int, owner: Owner
) -> None:
    payments = add_subproject(digests, "Payments")
    data = digests.office.tracker.data
    data.join(data.projects[payments], data.users[2], MANAGER)
    digests.report("Older")
    await add_feed(digests, "webshop live subprojects:yes")
    await digests.add("general", "payments", owner=owner, schedule="live")
    for n in range(number):
        digests.report(f"Alarm {n}", payments)
    for _ in range(3):
        await minute(digests)

    (post,) = posts(digests)
    assert f"Alarm {number - 1}" in text_of({"blocks": post.blocks})


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize(("batches", "deleted"), [((1,), 0), ((6, 5), 0), ((11,), 0), ((11,), 1)])
async def test_what_a_paused_feed_had_found_is_posted_by_an_overlapping_one(
    digests: Digests, batches: tuple[int, ...], deleted: int
) -> None:
    payments = add_subproject(digests, "Payments")
    digests.report("Older", payments, priority_id=URGENT)
    await add_feed(digests, "webshop live subprojects:yes")
    await digests.add("general", "payments", schedule="live", filters={"priority": ("urgent",)})
    issues: list[Issue] = []
    digests.wire.faults = [("chat.postMessage", "lose the request")] * 100
    for number in batches:
        issues += [digests.report(f"Alarm {n}", payments) for n in range(number)]
        await minute(digests)
    for _ in range(deleted):
        del digests.office.tracker.data.issues[issues.pop().id]
        await minute(digests)
    await digests.person.ask("/digest pause 1")
    await digests.run_for(120)
    assert posts(digests) == []

    digests.wire.faults = []
    for issue in issues:
        change(digests, issue, priority_id=URGENT)
    for _ in range(3):
        await minute(digests)

    texts = [text_of({"blocks": post.blocks}) for post in posts(digests)]
    for issue in issues:
        assert [issue.subject in text for text in texts].count(True) == 1


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize("number", [1, 11])
@pytest.mark.parametrize("fault", [None, "lose the answer"])
async def test_what_a_paused_feed_may_have_posted_is_not_posted_by_an_overlapping_one(
    digests: Digests, number: int, fault: str | None
) -> None:
    payments = add_subproject(digests, "Payments")
    digests.report("Older", payments, priority_id=URGENT)
    await add_feed(digests, "webshop live subprojects:yes")
    await digests.add("general", "payments", schedule="live", filters={"priority": ("urgent",)})
    digests.wire.faults = [("chat.postMessage", fault)] if fault else []
    digests.wire.lasting = {"conversations.history": "500 before it"}
    issues = [digests.report(f"Alarm {n}", payments) for n in range(number)]
    await minute(digests)
    await digests.person.ask("/digest pause 1")
    assert len(posts(digests)) == 1

    for issue in issues:
        change(digests, issue, priority_id=URGENT)
    await minute(digests)
    digests.wire.lasting = {}
    for _ in range(2):
        await minute(digests)

    assert len(posts(digests)) == 1


async def test_an_issue_that_was_to_be_listed_with_others_gets_a_post_that_is_kept_up_to_date(
    digests: Digests,
) -> None:
    await add_feed(digests)
    *_, issue, deleted = [digests.report(f"Alarm {n}") for n in range(11)]
    digests.wire.faults = [("chat.postMessage", "lose the request")]
    await minute(digests)
    assert posts(digests) == []

    del digests.office.tracker.data.issues[deleted.id]
    for _ in range(2):
        await minute(digests)
    assert len(posts(digests)) == 10
    change(digests, issue, status_id=IN_PROGRESS)
    await minute(digests)

    [post] = [post for post in posts(digests) if issue.subject in post.text]
    assert lines(digests, post) == ["Ana Ruiz set the status to In progress"]


async def test_a_channel_gets_one_feed_of_a_project_however_many_are_added_at_once(digests: Digests) -> None:
    where, office = await place(digests), digests.office.digests
    plans = [requested_plan("webshop", "live", group=group) for group in ("tracker", "priority")]
    daily, weekly = [await digests.add(schedule=when) for when in ("daily 9:00", "weekly mon 9:00")]

    added = await asyncio.gather(
        *(office.add(ANA, where, plan) for plan in plans),
        office.change(ANA, daily, requested_plan(schedule="live")),
        return_exceptions=True,
    )

    assert sum(isinstance(one, UserError) for one in added) == 2
    with pytest.raises(UserError, match="already has"):
        await office.change(ANA, weekly, requested_plan(schedule="live"))
    stored = await digests.office.bot.store.digests.in_channel(where)
    assert [one.plan.live for one in stored].count(True) == 1
