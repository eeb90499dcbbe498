"""Each due time is posted once and nothing is lost, whatever fails, dies or stalls, and whenever."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import count

import pytest

from bot.errors import UserError
from bot.store.channels import Channel
from bot.store.digests import Pause
from bot.timings import DEFAULT
from tests.features.digests.newsroom import ANA, BEN, HISTORY, HOUR, POST, Digests, Process
from tests.support.digesting import requested_plan
from tests.support.office import TEAM
from tests.support.reading import text_of, until_so

SOON = timedelta(seconds=DEFAULT.longest_post + 1)
FEWEST_STEPS = 5
"""A digest and a notice take more steps than these."""
STOPPED = "Your digest stopped."
UNREACHABLE = dict.fromkeys(("users.conversations", "conversations.info"), "refuse:internal_error")
"""Faults of a Slack that says of no channel whether a digest may be posted there."""

Trouble = Callable[[Digests, Process, int], Awaitable[bool]]
"""Runs the due jobs, in trouble at a step; returns whether it came to that step."""


async def dies(digests: Digests, process: Process, step: int) -> bool:
    process.dies_at = step
    await digests.tick(by=process)
    await digests.run_for(60)
    return process.dead


async def stalls(digests: Digests, process: Process, step: int) -> bool:
    digests.wire.faults = [(POST, "lose the answer" if step % 2 else "lose the request")]
    digests.pass_time(HOUR)
    await digests.beats(process.bot)
    async with process.stalled(step) as stalled:
        await digests.tick(SOON)
    for _ in range(2):
        await digests.tick(SOON)
    return stalled


async def cannot_write(digests: Digests, process: Process, step: int) -> bool:
    """The database fails twice in a row, while Slack is slow to post."""
    process.fails_at = (step, step + 1)
    digests.wire.released.clear()
    digests.wire.faults = [(POST, "slow:60")]
    before = len(digests.wire.called(POST))
    running = asyncio.create_task(digests.tick(by=process))
    await until_so(lambda: running.done() or len(digests.wire.called(POST)) > before)
    digests.wire.faults = []
    await digests.tick(timedelta(0))
    failed = process.steps >= step
    digests.wire.released.set()
    await running
    process.fails_at = ()
    for _ in range(2):
        await digests.tick(SOON, by=process)
        await digests.tick(SOON)
    return failed


@pytest.mark.parametrize("trouble", [dies, stalls, cannot_write])
async def test_a_process_in_trouble_at_any_step_leaves_one_post(digests: Digests, trouble: Trouble) -> None:
    added = [await digests.add(channel) for channel in ("general", "webshop")]
    for step in count(1):  # dying before a step is dying after the one before
        process, issue = await digests.process(), digests.report()
        came_to_it = await trouble(digests, process, step)
        for digest in added:
            assert digests.listed(digest)[-1] == (issue.id,), step
        assert digests.repeated() == [], step
        await process.close()
        digests.wait_until_half_past()
        if not came_to_it:
            break
    assert step > FEWEST_STEPS


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize("trouble", [dies, stalls])
async def test_a_process_in_trouble_at_any_step_leaves_one_notice(digests: Digests, trouble: Trouble) -> None:
    digest, state = await digests.add(), digests.office.workspace.state
    for step in count(1):
        state.archive(digest.channel_id)
        process = await digests.process()
        came_to_it = await trouble(digests, process, step)
        assert len(await digests.notices(STOPPED)) == step
        state.archive(digest.channel_id, archived=False)
        await digests.office.digests.resume(ANA, await digests.stored(digest))
        await process.close()
        digests.wait_until_half_past()
        if not came_to_it:
            break
    assert step > FEWEST_STEPS


async def test_a_post_is_looked_for_only_when_it_has_arrived(digests: Digests) -> None:
    process = await digests.process()
    await digests.add()
    issue = digests.report()
    digests.service.seconds = 60
    digests.service.fail("slow", "GET /projects")
    digests.wire.faults = [(POST, "slow:60")]

    running = [asyncio.create_task(digests.tick(by=process))]
    await until_so(lambda: digests.service.slowed)
    for _ in range(12):  # it reads for a minute
        digests.pass_time(timedelta(seconds=5))
        await process.bot.store.processes.beat()
        running.append(asyncio.create_task(process.run()))
    digests.service.released.set()
    await until_so(lambda: digests.wire.called(POST))
    process.die()
    await asyncio.gather(*running)

    await digests.run_for(30)
    assert digests.wire.called(HISTORY) == []
    assert len(digests.wire.called(POST)) == 1
    digests.wire.released.set()
    await until_so(digests.posted)
    await digests.run_for(60)

    assert digests.listed() == [(issue.id,)]
    assert len(digests.wire.called(POST)) == 1


async def test_a_post_that_arrived_is_not_looked_for_before_the_next_one(digests: Digests) -> None:
    await digests.add()
    for day in (1, 2):
        digests.report()
        await digests.tick()
        assert len(digests.posted()) == day
        digests.pass_time(timedelta(days=1))

    assert digests.wire.called(HISTORY) == []


async def test_stopping_process_leaves_unsent_digests_to_others_at_once(digests: Digests) -> None:
    other = await digests.process()
    await digests.add()
    digests.report()
    digests.service.seconds = 60
    digests.service.fail("slow", "GET /projects")
    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.service.slowed)

    running.cancel()
    await digests.office.bot.stop(0)
    digests.service.released.set()
    await digests.run_for(5, by=other)

    assert len(digests.posted()) == 1


async def test_unknown_outcomes_are_retried_with_backoff(digests: Digests) -> None:
    await digests.add()
    digests.report()
    digests.wire.lasting = {POST: "lose the request"}
    digests.pass_time(HOUR)
    for _ in range(40):
        await digests.tick(timedelta(seconds=11))
    assert 5 < len(digests.wire.called(POST)) < 12


@pytest.mark.parametrize("action", ["resume", "take over"])
async def test_outdated_notice_is_not_sent(digests: Digests, action: str) -> None:
    digest = await digests.add()
    digests.office.workspace.state.archive(digest.channel_id)
    digests.wire.lasting = {POST: "429:0"}
    await digests.tick()
    digests.office.workspace.state.archive(digest.channel_id, archived=False)
    stopped = await digests.stored(digest)
    assert stopped.paused is Pause.CHANNEL
    if action == "resume":
        await digests.office.digests.resume(ANA, stopped)
    else:
        await digests.office.digests.take_ownership(BEN, stopped)
    digests.wire.lasting = {}
    for _ in range(2):
        await digests.tick(timedelta(minutes=1))
    assert await digests.notices(STOPPED) == []


async def test_owner_is_notified_once_after_a_day_of_failures(digests: Digests) -> None:
    digest = await digests.add()
    digests.wire.lasting = UNREACHABLE
    for _ in range(120):
        await digests.tick(timedelta(minutes=16))
    (told,) = await digests.notices()
    assert "I've been trying to post this for a day" in told
    digests.wire.lasting = {}
    issue = digests.report()
    await digests.tick()
    assert digests.covered(digest) == {issue.id}


async def test_a_schedule_changed_during_a_post_is_not_late(
    digests: Digests,
) -> None:
    digest = await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "slow:60")]
    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.wire.called(POST))
    await digests.office.digests.change(ANA, digest, requested_plan(schedule="daily 8:45"))
    digests.wire.released.set()
    await running

    digests.wire.lasting = UNREACHABLE
    for late in (24 * HOUR, HOUR):
        await digests.tick(late)

    assert await digests.notices() == []


@pytest.mark.usefixtures("url")
async def test_concurrent_identical_adds_create_one_digest(digests: Digests) -> None:
    made = await asyncio.gather(*(digests.add() for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(one, UserError) for one in made) == 3
    office = digests.office
    stored = await office.bot.store.digests.in_channel(Channel(TEAM, office.channel_id("general")))
    assert len(stored) == 1
    assert "*1 · Web Shop*" in text_of(await digests.person.ask("/digest"))


async def test_a_failing_list_delays_no_other(digests: Digests) -> None:
    await digests.add("general", kind="due")
    other = await digests.add("webshop")
    issue = digests.report()
    digests.service.lasting = {"due_date=": "500 before it"}

    for _ in range(3):
        await digests.tick()

    assert digests.listed(other) == [(issue.id,)]


async def test_a_digest_that_slack_finds_slowly_holds_up_no_other(digests: Digests) -> None:
    await digests.add()
    other = await digests.add("webshop")
    await digests.office.digests.pause(other)
    issue = digests.report()
    digests.wire.faults = [(POST, "lose the answer")]
    await digests.tick()
    await digests.office.digests.resume(ANA, await digests.stored(other))
    digests.wire.lasting = {HISTORY: "slow:60"}

    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.covered(other) == {issue.id})

    assert digests.wire.called(HISTORY)
    assert not running.done()
    digests.wire.released.set()
    await running


async def test_a_run_ends_whose_digest_is_deleted_while_it_is_posted(digests: Digests) -> None:
    await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "slow:60")]
    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.wire.called(POST))

    await digests.office.bot.store.installations.remove(None, TEAM)
    digests.wire.released.set()

    await running


async def test_a_former_owners_key_posts_no_digest(
    digests: Digests,
) -> None:
    digest = await digests.add()
    issue = digests.report()
    digests.wire.faults = [(POST, "slow 429:1")]
    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.wire.called(POST))

    await digests.office.digests.take_ownership(BEN, digest)
    digests.wire.released.set()
    await running
    assert digests.posted() == []

    await digests.tick()
    [post] = digests.posted()
    assert post.issues == (issue.id,)
    assert "Shows what Ben" in post.text


async def test_no_delay_is_reported_after_the_post(digests: Digests) -> None:
    digest = await digests.add()
    issue = digests.report()
    unreachable = dict.fromkeys(("users.conversations", "conversations.info", POST), "refuse:internal_error")
    digests.wire.lasting = unreachable
    for _ in range(27):
        await digests.tick()
    digests.wire.lasting = {"conversations.open": "refuse:internal_error"}  # the notice is looked for
    for _ in range(5):
        await digests.run_for(60)
    assert digests.covered(digest) == {issue.id}

    digests.wire.lasting = {}
    for _ in range(8):
        await digests.tick(timedelta(minutes=10))

    assert await digests.notices("I'll keep trying") == []


async def test_an_owner_learns_of_every_problem_of_a_digest(digests: Digests) -> None:
    """Its post isn't confirmed and can't be looked up, the next one is late, and Slack takes no message."""
    await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "lose the answer")]
    digests.wire.lasting = {HISTORY: "refuse:missing_scope"}
    await digests.tick()
    digests.wire.lasting |= {POST: "429:0"}
    for _ in range(26):
        await digests.tick()
    digests.wire.lasting |= UNREACHABLE
    for _ in range(26):
        await digests.tick()

    digests.wire.lasting = UNREACHABLE
    for _ in range(2):
        await digests.tick()

    assert len(await digests.notices("Slack didn't confirm this post")) == 1
    assert len(await digests.notices("I've been trying to post this for a day")) == 1
