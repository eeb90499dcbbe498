"""Live feeds: each new issue gets one post, which is kept up to date."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from bot.features.digests.feeds import followed_by
from bot.sandbox.tracker.data import Detail, Issue, Note
from bot.sandbox.tracker.defaults import CLOSED, IN_PROGRESS
from bot.sandbox.workspace.model import Message
from bot.service.models import Issue as Service
from bot.store.channels import Channel as Place
from bot.store.digests import Digest, Pause
from bot.store.followed import Stage
from bot.timings import Delays, Timings
from tests.features.digests.newsroom import ANA, MOBILE, Digests
from tests.features.digests.test_troubles import FEWEST_STEPS, Trouble, dies, stalls
from tests.support.digesting import requested_plan
from tests.support.office import TEAM
from tests.support.person import DM
from tests.support.reading import text_of

ANAS, BENS = 1, 2
MINUTE = timedelta(minutes=1)
SLOW_SLACK = {"delays": Delays(channels=0), "timings": Timings(interval=3600, fresh=0.25)}
"""What decides about a post may be a quarter of a second old, and Slack makes posts wait for longer."""


async def add_feed(digests: Digests, text: str = "webshop live", channel: str = "general") -> str:
    digests.person.channel = channel
    return text_of(await digests.person.ask(f"/digest add {text}"))


async def minute(digests: Digests) -> None:
    await digests.tick(MINUTE)


def channel(digests: Digests, name: str = "general") -> list[Message]:
    """What the bot has posted there, in threads too."""
    state = digests.office.workspace.state
    return [m for m in state.messages[digests.office.channel_id(name)] if m.by_app and not m.to]


def posts(digests: Digests, name: str = "general") -> list[Message]:
    return [message for message in channel(digests, name) if not message.thread_ts]


def lines(digests: Digests, post: Message) -> list[str]:
    return [m.text for m in channel(digests) if m.thread_ts == post.ts and m.ts != post.ts]


def change(digests: Digests, issue: Issue, *, by: int = ANAS, text: str = "", **values: int) -> None:
    """Changes an issue in the tracker, as its pages do."""
    details = []
    for name, value in values.items():
        details.append(Detail("attr", name, str(getattr(issue, name) or ""), str(value)))
        setattr(issue, name, value)
    digests.update(issue, issue.status_id)
    issue.notes = [*issue.notes, Note(by, text, issue.updated_on, tuple(details))]


async def test_each_new_issue_gets_one_post_that_is_kept_up_to_date(digests: Digests) -> None:
    digests.report("Older")
    said = await add_feed(digests)
    assert "as they happen" in said
    issue = digests.report("It rings twice")
    digests.report("Not here", MOBILE)

    await minute(digests)
    await minute(digests)

    (post,) = posts(digests)
    assert f"Ben Okafor created <{digests.office.link_to(issue)}|#{issue.id} It rings twice>" in post.text
    assert "New · High · Unassigned" in post.text
    assert lines(digests, post) == []

    digests.pass_time(timedelta(hours=30))
    change(digests, issue, by=BENS, assigned_to_id=ANAS, status_id=IN_PROGRESS)
    change(digests, issue, status_id=CLOSED)
    await minute(digests)
    await minute(digests)

    (post,) = posts(digests)
    assert ":white_check_mark: Closed · High · assigned to Ana Ruiz" in post.text
    (line,) = lines(digests, post)
    assert line == (
        ":white_check_mark: Ben Okafor set the assignee to Ana Ruiz and Ana Ruiz set the status to Closed"
    )
    change(digests, issue, text="Thanks")
    await minute(digests)
    assert len(lines(digests, posts(digests)[0])) == 1


async def test_more_than_ten_new_issues_are_one_post(digests: Digests) -> None:
    await add_feed(digests)
    issues = [digests.report(f"Alarm {n}") for n in range(11)]

    await minute(digests)
    await minute(digests)

    (post,) = posts(digests)
    assert "Web Shop: 11 new issues" in post.text
    assert digests.listed() == [tuple(issue.id for issue in issues)]
    digests.report("One more")
    await minute(digests)
    assert len(posts(digests)) == 2


async def test_what_happened_while_the_bot_was_down_is_posted_when_it_is_back(digests: Digests) -> None:
    await add_feed(digests)
    before = digests.report("Before")
    await minute(digests)
    digests.pass_time(timedelta(hours=9))
    change(digests, before, assigned_to_id=BENS)
    digests.pass_time(timedelta(hours=9))
    digests.report("Meanwhile")

    await minute(digests)

    first, second = posts(digests)
    assert "assigned to Ben Okafor" in first.text
    assert "Meanwhile" in second.text


async def test_what_happened_while_the_tracker_failed_is_one_post_soon_after(digests: Digests) -> None:
    await add_feed(digests)
    issues = []
    digests.service.fail("500 before it", lasting=True)
    for _ in range(12):
        issues.append(digests.report("Alarm").id)
        await digests.tick(timedelta(minutes=5))
    assert posts(digests) == []

    digests.service.heal()
    await minute(digests)

    assert digests.listed() == [tuple(issues)]


async def test_a_feed_in_a_direct_message_posts_there(digests: Digests) -> None:
    ana, slack = digests.person, digests.office.workspace.state
    direct = next(one for one in slack.channels.values() if one.kind == "im" and ANA.user_id in one.members)
    await digests.office.digests.add(ANA, Place(TEAM, direct.id), requested_plan("webshop", "live"))
    digests.report("It rings twice")
    await minute(digests)

    assert "It rings twice" in text_of((await ana.messages(DM))[-1])


def make_private(digests: Digests, issue: Issue) -> None:
    issue.is_private = True
    digests.update(issue)


def hide_project(digests: Digests, issue: Issue) -> None:
    digests.office.tracker.data.projects[issue.project_id].is_public = False


def share_channel(digests: Digests, _: Issue) -> None:
    digests.office.workspace.state.channels[digests.office.channel_id("general")].is_ext_shared = True


@pytest.mark.parametrize(
    ("happens", "stops"),
    [
        (make_private, None),
        (hide_project, Pause.NOT_PUBLIC),
        (share_channel, Pause.OUTSIDERS),
    ],
)
async def test_nothing_appears_that_the_channel_may_not_see(
    digests: Digests, happens: Callable[[Digests, Issue], None], stops: Pause | None
) -> None:
    await add_feed(digests)
    digests.report("Secret from the start", is_private=True)
    shown = digests.report("Seen by all")
    await minute(digests)
    (post,) = posts(digests)
    before, later = post.text, digests.report("Not for you")
    happens(digests, later)
    happens(digests, shown)
    change(digests, shown, assigned_to_id=BENS)

    for _ in range(2):
        await minute(digests)

    (post,) = posts(digests)
    assert post.text == before
    assert lines(digests, post) == []
    (feed,) = await digests.office.bot.store.digests.in_channel(await place(digests))
    assert feed.paused is stops


async def place(digests: Digests) -> Place:
    return Place(TEAM, digests.office.channel_id("general"))


async def feed_of(digests: Digests) -> Digest:
    (feed,) = await digests.office.bot.store.digests.in_channel(await place(digests))
    return feed


@pytest.mark.parametrize("digests", [SLOW_SLACK], indirect=True)
async def test_an_issue_that_becomes_private_while_its_post_waits_does_not_appear(digests: Digests) -> None:
    await add_feed(digests)
    issue = digests.report("Not for you")
    digests.wire.faults = [("chat.postMessage", "429:1")]

    run = asyncio.create_task(minute(digests))
    while not digests.wire.called("chat.postMessage"):
        await asyncio.sleep(0.02)
    make_private(digests, issue)
    await run
    await minute(digests)

    assert posts(digests) == []


async def test_a_paused_feed_goes_on_from_when_it_is_resumed(digests: Digests) -> None:
    ana = digests.person
    await add_feed(digests)
    old = digests.report("Before")
    await minute(digests)
    await ana.ask("/digest pause 1")
    digests.pass_time(timedelta(hours=5))
    digests.report("Meanwhile")
    change(digests, old, status_id=CLOSED)
    await minute(digests)

    assert "It posts issues created from now on" in text_of(await ana.ask("/digest resume 1"))
    digests.report("After")
    for _ in range(2):
        await minute(digests)

    first, second = posts(digests)
    assert ":white_check_mark: Closed" in first.text
    assert "After" in second.text


async def test_a_paused_feed_posts_nothing_that_it_had_found(digests: Digests) -> None:
    await add_feed(digests)
    digests.report("Found before")
    digests.wire.faults = [("chat.postMessage", "lose the request")]
    await minute(digests)
    await digests.person.ask("/digest pause 1")
    await digests.run_for(120)
    assert posts(digests) == []

    await digests.person.ask("/digest resume 1")
    digests.report("After")
    await digests.run_for(120)

    (post,) = posts(digests)
    assert "After" in post.text


@pytest.mark.parametrize("why", ["closed for a week", "older than 200 open ones"])
async def test_an_old_post_is_not_kept_up_to_date(digests: Digests, why: str) -> None:
    await add_feed(digests)
    issue, store = digests.report(), digests.office.bot.store
    await minute(digests)
    if why == "closed for a week":
        change(digests, issue, status_id=CLOSED)
        await minute(digests)
        digests.pass_time(timedelta(days=8))
    else:
        feed = await feed_of(digests)
        numbers = range(1000, 1199)
        first = replace(followed_by(feed, Service(id=0)), stage=Stage.POSTED)
        others = [replace(first, issue_id=n, ts=str(n), thread_ts=str(n)) for n in numbers]
        added = store.followed.posting(others)[: -len(others)]  # without their jobs
        await digests.office.bot.database.write(lambda it: [it.execute(each) for each in added] and None)
        digests.report("The newest")
        await minute(digests)
    before = posts(digests)[0].text

    change(digests, issue, status_id=IN_PROGRESS)
    await minute(digests)

    assert posts(digests)[0].text == before


async def test_a_feed_that_is_taken_over_goes_on_with_its_posts(digests: Digests) -> None:
    await add_feed(digests)
    issue = digests.report("Before")
    await minute(digests)

    ben = digests.ben
    await ben.after(ben.press(await ben.ask("/digest take over 1"), "Take ownership"))
    await digests.office.bot.store.links.delete(ANA)
    digests.report("After")
    change(digests, issue, by=BENS, status_id=IN_PROGRESS)
    await minute(digests)

    first, second = posts(digests)
    assert lines(digests, first) == ["Ben Okafor set the status to In progress"]
    assert "After" in second.text


async def test_a_feed_stops_when_its_owners_key_is_gone(digests: Digests) -> None:
    await add_feed(digests)
    await digests.office.bot.store.links.delete(ANA)
    digests.report("After")

    await minute(digests)

    assert not any("After" in post.text for post in posts(digests))
    assert (await feed_of(digests)).paused is Pause.KEY


async def test_feeds_of_one_project_cost_their_owners_key_one_list_a_minute(digests: Digests) -> None:
    for where in ("general", "webshop"):
        await add_feed(digests, channel=where)
    await minute(digests)
    digests.report("It rings twice")
    digests.service.heal()

    await minute(digests)

    assert digests.service.heal().count("GET /issues.json") == 1
    assert [len(posts(digests, where)) for where in ("general", "webshop")] == [1, 1]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("webshop live kind:due", "A live feed posts new issues. Leave out `kind:`"),
        ("webshop live empty:yes", "For other issues, or empty digests, choose another schedule"),
        ("webshop live daily 9", "Leave out `live` or the schedule."),
        ("webshop daily 9 live", "Leave out `live` or the schedule."),
        ("webshop live", "This channel already has a live feed of Web Shop."),
        ("webshop live tracker:bug", "This channel already has a live feed of Web Shop."),
    ],
)
async def test_what_a_feed_cannot_be_is_said_in_one_sentence(digests: Digests, typed: str, said: str) -> None:
    digests.report("Older")
    await add_feed(digests, "webshop as they happen priority:high")

    assert said in await add_feed(digests, typed)

    feed = await feed_of(digests)
    assert feed.plan.live
    assert [one.name for one in feed.plan.filters["priority"]] == ["High"]


async def test_the_form_makes_a_feed_and_a_digest_of_it(digests: Digests) -> None:
    ana = digests.person
    await ana.command("/digest add webshop")
    form = await ana.form("New digest")
    await ana.choose(form, "Schedule", "Live")
    form = await ana.form("New digest", lambda view: "Time Time zone" not in text_of(view))
    await ana.submit(form, {"Issues": "Closed issues"})
    assert "A live feed posts new issues" in (await ana.errors())["schedule"]
    await ana.after(ana.submit(form, {}))
    assert (await feed_of(digests)).plan.live
    digests.report("It rings twice")
    await minute(digests)
    assert len(posts(digests)) == 1

    await ana.command("/digest change to daily 9")
    await ana.after(ana.submit(await ana.form("Edit digest"), {}))

    digests.report("Again")
    await minute(digests)
    assert len(posts(digests)) == 1
    assert "live" not in (await feed_of(digests)).plan.schedule


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize(("trouble", "new"), [(dies, 1), (stalls, 1), (dies, 11)])
async def test_a_process_in_trouble_at_any_step_leaves_one_post_and_one_line(
    digests: Digests, trouble: Trouble, new: int
) -> None:
    await add_feed(digests)
    first = digests.report()
    await minute(digests)
    (post,) = posts(digests)
    for step in count(1):
        process = await digests.process()
        change(digests, first, assigned_to_id=step % 2 + 1)
        issues = [digests.report() for _ in range(new)]
        came_to_it = await trouble(digests, process, step)
        await minute(digests)
        shown = [[p for p in posts(digests) if f"#{one.id} " in str(p.blocks)] for one in issues]
        assert [len(found) for found in shown] == [1] * new, step
        assert len(lines(digests, post)) == step, step
        await process.close()
        if not came_to_it:
            break
    assert step > 2 * FEWEST_STEPS
