"""Posting digests: once each, within Slack's rate limits, whatever Slack answers."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
import time_machine

from bot.sandbox.workspace.model import Channel, Message
from bot.sandbox.workspace.state import Clock
from bot.store.digests import Pause
from bot.timings import DEFAULT, Delays
from tests.features.digests.newsroom import ANA, HISTORY, POST, Digests
from tests.support.person import DM
from tests.support.reading import text_of, until_so
from tests.support.work import at_rest

LATER = timedelta(seconds=DEFAULT.look_up_after * 2)


def paced(**delays: Any) -> pytest.MarkDecorator:
    """Runs a test in an office where Slack limits rates, and the bot keeps to the limits."""
    settings = {"delays": Delays(channels=0, **delays), "rate_limits": True}
    return pytest.mark.parametrize("digests", [settings], indirect=True, ids=["paced"])


class Ahead(Clock):
    """The time that Slack gives to messages, ahead of the time that it tells."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> float:
        return super().now() + self._seconds


async def test_only_the_owner_can_delete_a_posted_digest(digests: Digests) -> None:
    await digests.add()
    digests.report()
    await digests.tick()
    message = (await digests.person.messages())[-1]
    chris = await digests.chris()
    refused = await chris.after(chris.choose_from_menu(message, "Since ", "Delete post (Ana only)"))
    assert "Only Ana can delete this post." in text_of(refused)
    assert len(await digests.posts()) == 1

    await digests.person.choose_from_menu(message, "Since ", "Delete post (Ana only)")
    await digests.person.sees_no_more(message)


async def test_nobody_waits_for_a_notice_to_an_owner(digests: Digests) -> None:
    await digests.add()
    chris = await digests.chris()
    digests.wire.lasting = {POST: "429:60"}
    for act, does in (("pause", "Pause"), ("change", "Save"), ("remove", "Remove"), ("", "Undo")):
        async with asyncio.timeout(30):
            if act == "change":
                form = await chris.form_after(chris.command("/digest change 1"), "Edit digest")
                answer = await chris.after(chris.submit(form, {"Group by": "Priority"}))
            else:
                shown = await chris.ask(f"/digest {act} 1") if act else answer
                answer = await chris.after(chris.press(shown, does))
        assert answer["ephemeral"]
    assert digests.wire.called(POST)
    assert await digests.notices() == []


async def test_unknown_post_is_looked_up_before_a_retry(digests: Digests) -> None:
    await digests.add()
    for fault, tries in (
        ("lose the answer", 1),
        ("500 after it", 1),
        ("refuse after it:fatal_error", 1),
        ("refuse:fatal_error", 2),
        ("refuse:internal_error", 2),
        ("lose the request", 2),
        ("500 before it", 2),
    ):
        digests.report()
        digests.wire.calls.clear()
        digests.wire.faults = [(POST, fault), (HISTORY, "429:600")]
        before = len(await digests.posts())
        await digests.tick()
        for _ in range(3):
            await digests.tick(timedelta(minutes=11))
        assert len(await digests.posts()) == before + 1, fault
        assert len(digests.wire.called(HISTORY)) == 2, fault
        assert len(digests.wire.called(POST)) == tries, fault


@pytest.mark.parametrize("seconds", [-7, DEFAULT.longest_post + 7])
async def test_a_post_is_found_although_slacks_clock_is_inaccurate(digests: Digests, seconds: float) -> None:
    await digests.add()
    digests.report()
    digests.office.workspace.state.clock = Ahead(seconds)
    digests.wire.faults = [(POST, "lose the answer")]

    for _ in range(3):
        await digests.tick()

    assert digests.wire.called(HISTORY)
    assert len(await digests.posts()) == 1


async def test_a_post_is_found_although_the_bots_clock_was_set(digests: Digests) -> None:
    await digests.add()
    digests.report()
    await digests.tick()
    digests.report()
    digests.wire.faults = [(POST, "lose the answer")]

    digests.wire.behind = 300
    digests.office.workspace.state.clock = Ahead(-300)
    with time_machine.travel(timedelta(seconds=300)):
        for _ in range(3):
            await digests.tick()

    assert digests.wire.called(HISTORY)
    assert len(await digests.posts()) == 2


async def test_a_personal_digest_that_is_found_is_not_repeated(digests: Digests) -> None:
    await digests.person.ask("/digest me hourly")
    digests.report("Assigned to Ana").assigned_to_id = 1
    digests.wire.faults = [(POST, "lose the answer")]

    for _ in range(3):
        await digests.tick()

    assert len([text for text in await digests.notices() if "Assigned to Ana" in text]) == 1


async def test_post_lookup_resumes_after_a_rate_limit(digests: Digests) -> None:
    state = digests.office.workspace.state
    state.history_page = 15
    await digests.add()
    digests.report()
    for minutes in range(3, 63):
        chat(digests, f"{datetime.now(UTC).timestamp() - 60 * minutes:.6f}")
    digests.wire.faults = [(POST, "lose the answer"), (HISTORY, "slow:0"), (HISTORY, "429:60")]
    await digests.tick()
    for _ in range(20):
        chat(digests, state.new_ts())
    for _ in range(4):
        await digests.tick(timedelta(minutes=2))
    asked = [call.arguments for call in digests.wire.called(HISTORY)]
    assert len(await digests.posts()) == 1
    assert len(asked) == 3
    assert asked[1]["latest"] == asked[2]["latest"] < asked[0]["latest"]
    assert float(asked[0]["latest"]) - float(asked[0]["oldest"]) < 60


def chat(digests: Digests, ts: str) -> None:
    """Post another message in the digest's channel."""
    channel = digests.office.channel_id("general")
    messages = digests.office.workspace.state.messages[channel]
    messages.append(Message(ts, channel, "U0BEN0001", "Lunch?"))
    messages.sort(key=lambda message: float(message.ts))


@paced(digest_now=0.1)
async def test_rate_limited_digest_now_answers_immediately_and_posts_once(digests: Digests) -> None:
    await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "429:4")]  # longer than the Web API client waits itself

    answers = [text_of(await digests.person.ask("/digest now")) for _ in range(2)]

    assert "is on its way" in answers[0]
    assert "was just sent" in answers[1]
    await at_rest(digests.office.bot)
    assert len(await digests.posts()) == 1
    assert len(digests.wire.called(POST)) == 2


async def test_a_second_now_waits_for_a_postponed_one(digests: Digests) -> None:
    await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "lose the request")]

    answers = [text_of(await digests.person.ask("/digest now"))]
    digests.pass_time(timedelta(seconds=11))  # no double click any more
    answers.append(text_of(await digests.person.ask("/digest now")))

    assert ["is on its way" in answer for answer in answers] == [True, True]
    assert len(digests.wire.called(POST)) == 1
    await digests.tick(LATER)
    assert len(await digests.posts()) == 1


async def test_a_post_that_stays_unverifiable_for_a_day_is_given_up(digests: Digests) -> None:
    await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "lose the request")]
    digests.wire.lasting = {HISTORY: "refuse:missing_scope"}
    await digests.tick()
    issue = digests.report("The next one")
    for _ in range(22):
        await digests.tick()
    assert len(digests.wire.called(POST)) == 1
    assert await digests.notices() == []

    for _ in range(4):
        await digests.tick()

    (told,) = await digests.notices()
    assert "I can't check whether it's in the channel" in told
    (post,) = await digests.posts()
    assert "1 new issue" in text_of(post)
    assert f"#{issue.id} The next one" in text_of(post)


async def test_a_post_sent_by_command_is_looked_for_for_a_day(
    digests: Digests,
) -> None:
    await digests.add(schedule="cron 0 9 29 2 *")
    digests.report()
    digests.wire.faults = [(POST, "lose the request")]
    digests.wire.lasting = {HISTORY: "refuse:missing_scope"}
    assert "is on its way" in text_of(await digests.person.ask("/digest now"))
    for _ in range(5):
        await digests.tick(timedelta(hours=6))

    (told,) = await digests.notices()
    assert "I can't check whether it's in the channel" in told


async def test_retry_after_is_honored_and_nothing_is_lost(digests: Digests) -> None:
    await digests.add()
    await digests.add("webshop")
    digests.report()
    digests.wire.faults = [(POST, "429:4"), (POST, "429:1")]
    await digests.tick()
    calls = digests.wire.called(POST)
    assert len(await digests.posts()) == len(await digests.posts("webshop")) == 1
    assert calls[-1].at - calls[0].at > 4


@paced(channel_burst=1)
async def test_posts_to_one_channel_are_spaced_one_second_apart(digests: Digests) -> None:
    for project in ("webshop", "mobile", "infrastructure"):
        await digests.add("general", project, empty=True)
    await digests.add("webshop", empty=True)
    digests.wire.faults = [(POST, "slow:0.5")]
    await digests.tick()
    calls = digests.wire.called(POST)
    assert [digests.office.workspace.state.channels[c.arguments["channel"]].name for c in calls[:2]] == [
        "general",
        "webshop",
    ]
    channel = digests.office.channel_id("general")
    times = [call.at for call in calls if call.arguments["channel"] == channel]
    assert min(later - earlier for earlier, later in pairwise(times)) > Delays().channel_pace - 0.1


async def test_closed_channels_stop_digests_and_notify_owner_once(digests: Digests) -> None:
    state = digests.office.workspace.state
    bot = state.app.bot_user_id
    added = {}
    for how in ("archived", "deleted", "removed", "shared", "refused"):
        state.add_channel(Channel(f"C0{how.upper()}", how, "channel", {bot, ANA.user_id}))
        added[how] = await digests.add(how)
    digests.report()
    state.archive("C0ARCHIVED")
    state.delete("C0DELETED")
    state.kick("C0REMOVED", bot)
    state.channels["C0SHARED"].is_ext_shared = True
    for _ in range(2):
        await digests.tick()
    digests.report()
    digests.wire.faults = [(POST, "refuse:is_archived")]
    await digests.tick()
    paused = {how: (await digests.stored(digest)).paused for how, digest in added.items()}
    assert paused == dict.fromkeys(added, Pause.CHANNEL) | {"shared": Pause.OUTSIDERS}
    told = " ".join(await digests.notices())
    assert [told.count(f"• Digest {digest.id}:") for digest in added.values()] == [1] * len(added)

    state.archive("C0ARCHIVED", archived=False)
    for how in ("archived", "refused"):
        await digests.person.ask(f"/digest resume {added[how].id}")
    await digests.tick()
    assert [len(await digests.posts(how)) for how in ("archived", "refused")] == [1, 2]


async def test_invalid_key_notifies_owner_and_channel_once(digests: Digests) -> None:
    digest = await digests.add()
    await digests.add("webshop")
    issue = digests.report()
    data = digests.office.tracker.data
    next(user for user in data.users.values() if user.login == "ana").api_key = "renewed"
    for _ in range(2):
        await digests.tick()
    assert len(await digests.notices("2 of your digests stopped")) == 1
    chris = await digests.chris()
    said = [m for m in await chris.messages() if "Stopped" in text_of(m)]
    assert len(said) == 1
    answer = await chris.after(chris.press(said[0], "Take ownership"))
    assert answer["ephemeral"]
    assert (await digests.stored(digest)).owner.user_id == chris.user_id
    assert any("Stopped" in text_of(m) for m in await digests.person.messages())
    await digests.tick()
    (post,) = await digests.posts()
    assert f"#{issue.id}" in text_of(post)
    assert "Shows what Chris Lindqvist can see" in text_of(post)


async def test_digests_wait_while_slack_is_unreachable(digests: Digests) -> None:
    await digests.add()
    digests.report()
    digests.wire.faults = [("users.conversations", "500 before it"), ("conversations.info", "500 before it")]
    await digests.tick()
    assert await digests.posts() == []
    await digests.tick()
    assert len(await digests.posts()) == 1


async def test_a_listed_channel_without_slacks_flag_is_read_alone(digests: Digests) -> None:
    digests.wire.lasting = {"users.conversations": "leave out:is_ext_shared"}
    for channel in ("general", "webshop"):
        await digests.add(channel)
    digests.report()
    digests.office.workspace.state.channels[digests.office.channel_id("webshop")].is_ext_shared = True

    await digests.tick()

    assert [len(await digests.posts(channel)) for channel in ("general", "webshop")] == [1, 0]


async def test_a_digest_that_is_paused_while_slack_delays_it_is_not_posted(digests: Digests) -> None:
    digest = await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "slow 429:1")]
    running = asyncio.create_task(digests.tick())
    await until_so(lambda: digests.wire.called(POST))
    await digests.person.ask(f"/digest pause {digest.id}")
    digests.wire.released.set()
    await running

    assert await digests.posts() == []


async def test_the_notice_of_a_stopped_digest_resumes_it(digests: Digests) -> None:
    await digests.add("mobile")
    digests.report()
    digests.wire.faults = [(POST, "refuse:is_archived")]
    for _ in range(2):
        await digests.tick()

    message = (await digests.person.messages(DM))[-1]
    await digests.person.after(digests.person.press(message, "Resume"), DM)
    await digests.tick()

    assert len(await digests.posts("mobile")) == 1


async def test_a_late_post_whose_answer_was_lost_is_looked_for_as_long_as_any_other(digests: Digests) -> None:
    digest = await digests.add()
    issue = digests.report()
    digests.pass_time(timedelta(days=2))  # the bot was down
    digests.wire.faults = [(POST, "lose the answer"), *[(HISTORY, "500 before it")] * 2]
    await digests.tick(timedelta(seconds=1))
    for _ in range(4):
        await digests.run_for(60)

    assert digests.listed(digest) == [(issue.id,)]
    assert await digests.notices() == []
