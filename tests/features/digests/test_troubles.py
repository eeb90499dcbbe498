"""Combined failures: errors during a post, wrong clocks, and users who act at the same time."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from pydantic import SecretStr

from bot.access.accounts import Accounts
from bot.errors import UserError
from bot.features.digests.reading import MAX_COUNTED
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import User, put
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.store.channels import Channel
from bot.store.digests import Pause
from bot.store.owner import Owner
from bot.timings import KeyTimings
from tests.features.digests.newsroom import SHOP, TEAM, DigestHarness, Process
from tests.support.digesting import wanted

HOUR, MONTH = timedelta(hours=1), timedelta(days=30)


async def test_failing_run_does_not_release_another_runs_post(
    harness: DigestHarness,
) -> None:
    one, other = Process(harness), Process(harness)
    failing, _ = await harness.add("C1"), await harness.add("C2")
    harness.report()
    harness.now += HOUR
    one.failing_steps = [("begin_sending", failing.id), ("retry_later", failing.id)]
    await harness.while_stalled(one, "post", partial(harness.tick, other.engine))
    assert one.failing_steps == []
    await harness.tick(other.engine, after=HOUR)
    assert harness.poster.repeated_issues() == []
    assert {post.digest.channel_id for post in harness.poster.posts} == {"C1", "C2"}


async def test_lease_set_by_a_fast_clock_is_realigned(harness: DigestHarness) -> None:
    await harness.add(empty=True)
    harness.poster.closed["C1"] = ChannelStatus.UNKNOWN
    await harness.tick(after=MONTH)
    harness.poster.closed.clear()
    await harness.tick(after=-MONTH)
    for _ in range(4):
        await harness.tick(after=HOUR)
    assert len(harness.poster.posts) >= 3


async def test_digest_now_does_not_hide_a_clock_reset(harness: DigestHarness) -> None:
    engine = harness.engine()
    digest = await harness.add(empty=True)
    await harness.tick(engine, after=MONTH)
    harness.poster.posts.clear()
    harness.now -= MONTH
    await engine.run_now(await harness.stored(digest))
    for _ in range(4):
        await harness.tick(engine, after=HOUR)
    assert len(harness.poster.posts) >= 3


async def test_notice_survives_the_crash_of_its_sender(harness: DigestHarness) -> None:
    killed, living = Process(harness), harness.engine()
    digest = await harness.add()
    harness.poster.closed["C1"] = ChannelStatus.GONE
    harness.now += HOUR
    killed.dies_at = ("before", "send")
    await harness.run_until_killed(killed)
    await harness.run_for(living, 60)
    assert harness.poster.notices == [("U0ANA", (digest.id,), "stopped")]


@pytest.mark.usefixtures("url")
async def test_notice_is_sent_by_one_of_two_processes(harness: DigestHarness) -> None:
    slow, other = Process(harness), Process(harness)
    digest = await harness.add()
    harness.poster.closed["C1"] = ChannelStatus.GONE
    harness.now += HOUR
    await harness.while_stalled(slow, "send", partial(harness.run_for, other.engine, 15))
    assert harness.poster.notices == [("U0ANA", (digest.id,), "stopped")]


@pytest.mark.parametrize("action", ["resume", "take over"])
async def test_outdated_notice_is_not_sent(harness: DigestHarness, action: str) -> None:
    process = Process(harness)
    digest = await harness.add()
    harness.poster.closed["C1"] = ChannelStatus.GONE
    harness.poster.failing_notices = 2
    await harness.tick(process.engine, after=HOUR)
    harness.poster.closed.clear()
    harness.poster.failing_notices = 0
    if action == "resume":
        await harness.digests.resume(harness.ana, await harness.stored(digest))
    else:
        await harness.digests.take_ownership(harness.ben, await harness.stored(digest))
    await harness.tick(process.engine, after=timedelta(minutes=1))
    assert harness.poster.notices == []


async def test_unknown_outcomes_are_retried_with_backoff(harness: DigestHarness) -> None:
    await harness.add()
    harness.report()
    harness.poster.faults = ["lose the request"] * 1000
    harness.now += HOUR
    for _ in range(40):
        await harness.tick(after=timedelta(seconds=11))
    assert 5 < 1000 - len(harness.poster.faults) < 12


async def test_chart_of_too_many_issues_starts_empty(harness: DigestHarness) -> None:
    for _ in range(MAX_COUNTED + 1):
        harness.report()
    harness.now += 4 * HOUR
    harness.report()
    await harness.add()
    harness.report()
    await harness.tick(after=HOUR)
    assert harness.poster.posts[0].periods == ()


async def test_periods_follow_a_schedule_changed_during_the_run(harness: DigestHarness) -> None:
    process, changed = (
        Process(harness),
        wanted(schedule="daily 12:00"),
    )
    digest = await harness.add()
    harness.report()
    harness.now += HOUR
    change = partial(harness.digests.change, harness.ana, digest, changed)
    await harness.while_stalled(process, "finish", change)
    assert {end.hour for end, _ in (await harness.stored(digest)).history} == {12}


async def test_run_with_an_unknown_time_zone_stops_its_digest(harness: DigestHarness) -> None:
    digest = await harness.add()
    harness.report()
    harness.poster.closed["C1"] = ChannelStatus.UNKNOWN
    await harness.tick(after=HOUR)
    harness.poster.closed.clear()
    await harness.invalidate_zone(digest)
    await harness.tick(after=HOUR)
    assert (await harness.stored(digest)).paused is Pause.SCHEDULE


async def test_digest_with_unknown_zone_stops_without_delaying_others(
    harness: DigestHarness,
) -> None:
    digest = await harness.add("C1")
    await harness.invalidate_zone(digest)
    await harness.add("C2", owner=harness.ben)
    harness.report()
    await harness.tick(after=HOUR)
    await harness.tick()
    assert [post.digest.channel_id for post in harness.poster.posts] == ["C2"]
    assert (await harness.stored(digest)).paused is Pause.SCHEDULE
    assert harness.poster.notices == [("U0ANA", (digest.id,), "stopped")]


async def test_private_issues_are_not_counted(harness: DigestHarness) -> None:
    for _ in range(3):
        harness.report(private=True)
    harness.now += HOUR
    await harness.add()
    harness.report()
    await harness.tick(after=HOUR)
    (post,) = harness.poster.posts
    assert set(post.periods[:-1]) == {0}


async def test_renamed_project_is_shown_with_its_new_name(harness: DigestHarness) -> None:
    digest = await harness.add()
    harness.report()
    harness.tracker.data.projects[SHOP].name = "Market"
    await harness.tick(after=HOUR)
    assert harness.poster.posts[0].digest.plan.project == "Market"
    assert (await harness.stored(digest)).plan.project == "Market"


async def test_keys_refused_together_are_kept_and_resume(harness: DigestHarness) -> None:
    users = harness.tracker.data.users
    hers, his = await harness.add(), await harness.add("C2", owner=harness.ben)
    accounts = Accounts(harness.client, harness.store, KeyTimings(recheck=0))
    harness.access = replace(harness.access, accounts=accounts)
    engine, keys = harness.engine(), {number: users[number].api_key for number in (1, 2)}
    for number in keys:
        users[number].api_key = "another"
    issue = harness.report()
    for _ in range(20):
        await harness.tick(engine, after=12 * HOUR)
    assert harness.poster.notices == []

    users[2].api_key = keys[2]
    for _ in range(6):
        await harness.tick(engine, after=HOUR)

    assert harness.poster.covered(his.id) == {issue.id}
    assert ((await harness.stored(his)).paused, (await harness.stored(hers)).paused) == (None, Pause.KEY)
    assert set(harness.poster.notices) == {("U0ANA", (hers.id,), "stopped"), ("C1", (hers.id,), "stopped")}
    assert len(harness.poster.notices) == len({"owner", "channel"})


@pytest.mark.parametrize(("refusals", "apart"), [(24, HOUR / 12), (3, 12 * HOUR)])
async def test_a_key_is_kept_until_often_refused_over_hours(
    harness: DigestHarness, refusals: int, apart: timedelta
) -> None:
    digest, ana = await harness.add(), harness.tracker.data.users[1]
    accounts = Accounts(harness.client, harness.store, KeyTimings(recheck=0))
    harness.access = replace(harness.access, accounts=accounts)
    engine, key = harness.engine(), ana.api_key
    ana.api_key = "another"
    issue = harness.report()
    for _ in range(refusals):
        await harness.tick(engine, after=apart)

    ana.api_key = key
    for _ in range(2):
        await harness.tick(engine, after=HOUR)

    assert harness.poster.notices == []
    assert harness.poster.covered(digest.id) == {issue.id}


async def test_two_dead_keys_are_forgotten_while_others_work(harness: DigestHarness) -> None:
    engine, users = harness.engine(), harness.tracker.data.users
    carl = put(users, User(3, "carl", "Carl", "Test", "carl@x.example", "key-of-carl"))
    harness.tracker.data.join(harness.tracker.data.projects[SHOP], carl, defaults.DEVELOPER)
    owner = Owner(None, TEAM, "U0CARL")
    await harness.store.links.put(owner, SecretStr(carl.api_key), carl.id, "Carl")
    digests = [
        await harness.add(f"C{n}", owner=who) for n, who in enumerate((harness.ana, harness.ben, owner))
    ]
    for number in (1, 2):
        users[number].api_key = "another"

    for _ in range(20):
        await harness.tick(engine, after=12 * HOUR)

    paused = [(await harness.stored(digest)).paused for digest in digests]
    assert paused == [Pause.KEY, Pause.KEY, None]


async def test_former_owners_key_does_not_stop_a_digest_with_a_new_owner(
    harness: DigestHarness,
) -> None:
    keys = KeyTimings(recheck=0, forget_after=0, refusals=1)
    harness.access = replace(harness.access, accounts=Accounts(harness.client, harness.store, keys))
    digest, process = await harness.add(), Process(harness)
    issue = harness.report()
    harness.tracker.data.users[1].api_key = "another"
    harness.now += HOUR

    async def taken() -> None:
        assert process.stalled.is_set()
        await harness.digests.take_ownership(harness.ben, await harness.stored(digest))

    await harness.while_stalled(process, "stop", taken)
    await harness.tick(process.engine, after=HOUR)
    assert harness.poster.covered(digest.id) == {issue.id}
    assert harness.poster.notices == []


async def test_failed_notice_is_retried(harness: DigestHarness) -> None:
    digest = await harness.add()
    harness.poster.closed["C1"] = ChannelStatus.GONE
    harness.poster.failing_notices = 2
    for _ in range(3):
        await harness.tick(after=HOUR)
    assert harness.poster.notices == [("U0ANA", (digest.id,), "stopped")]


async def test_owner_is_notified_once_after_a_day_of_failures(harness: DigestHarness) -> None:
    digest = await harness.add()
    harness.poster.closed["C1"] = ChannelStatus.UNKNOWN
    for _ in range(120):
        await harness.tick(after=timedelta(minutes=16))
    assert harness.poster.notices == [("U0ANA", (digest.id,), "delayed")]
    harness.poster.closed.clear()
    issue = harness.report()
    await harness.tick(after=HOUR)
    assert harness.poster.covered(digest.id) == {issue.id}


@pytest.mark.usefixtures("url")
async def test_concurrent_identical_adds_create_one_digest(harness: DigestHarness) -> None:
    made = await asyncio.gather(*(harness.add() for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(one, UserError) for one in made) == 3
    assert len(await harness.digests.listed(Channel(TEAM, "C1"))) == 1
