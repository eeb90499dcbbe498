"""Notices that a digest stopped: each reader gets one message, whatever Slack answers and who dies."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from bot.slack.outgoing.stored import MESSAGE
from bot.store.channels import Channel as Place
from bot.store.digests import Pause
from bot.store.jobs import UNFINISHED
from bot.store.notices import NOTICE
from bot.store.tables import JobRow
from bot.timings import Delays
from tests.features.digests.newsroom import BEN
from tests.support.digesting import ANA, requested_plan
from tests.support.office import FORGETFUL, TEAM, Office
from tests.support.person import DM, Person
from tests.support.reading import text_of, until, until_so
from tests.support.slackwire import SlackWire
from tests.support.work import at_rest, run_due_after

HOUR = timedelta(hours=1)
FAULTS = ("500 before it", "500 after it", "lose the request", "lose the answer", "429:1")


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """Opens an office that doesn't wait between two attempts; Ana has a digest in #general."""
    timings = replace(FORGETFUL, look_up_after=0.1)
    delays = Delays(background_retry=0.1, channels=0, channel_pace=0, workspace_pace=0)
    office = Office(tmp_path, slack_wire=SlackWire(), timings=timings, delays=delays)
    async with office.opened("ana", "ben"):
        await office.digests.add(ANA, Place(TEAM, office.channel_id("general")), requested_plan("webshop"))
        yield office
    assert office.violations() == []


async def all_sent(office: Office) -> bool:
    waiting = select(func.count()).where(JobRow.kind.in_((NOTICE, MESSAGE)), UNFINISHED)
    return not await office.bot.database.read(lambda connection: connection.scalar(waiting))


async def told(person: Person, text: str, place: str = DM) -> int:
    """Returns how many messages with a text there are once all are sent."""

    async def sent() -> bool:
        return await all_sent(person.office)

    await person.office.idle()
    await until(sent)
    return sum(text in text_of(message) for message in await person.messages(place))


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_notice_of_unknown_outcome_arrives_once(office: Office, ana: Person, fault: str) -> None:
    office.workspace.state.archive(office.channel_id("general"))
    office.faulty_slack.faults = [("chat.postMessage", fault)]

    await run_due_after(office, HOUR)

    assert await told(ana, "Your digest stopped.") == 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_owner_and_channel_learn_once_that_a_key_no_longer_works(
    office: Office, ana: Person, fault: str
) -> None:
    office.tracker.data.users[1].api_key = "renewed"
    office.faulty_slack.faults = [("chat.postMessage", fault)]

    for _ in range(3):
        await run_due_after(office, HOUR)

    assert await told(ana, "Your digest stopped.") == 1
    assert await told(ana, "Take ownership", "general") == 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_an_owner_learns_once_what_somebody_else_did(
    office: Office, ana: Person, ben: Person, fault: str
) -> None:
    asked = await ben.ask("/digest pause 1")
    office.faulty_slack.faults = [("chat.postMessage", fault)]

    await ben.press(asked, "Pause")

    assert await told(ana, f"<@{ben.user_id}> paused your") == 1


async def test_a_notice_of_a_dead_process_covers_later_stops(office: Office, ana: Person) -> None:
    """The first message tells of one digest, and it isn't known to be sent when the second one stops."""
    await office.digests.add(ANA, Place(TEAM, office.channel_id("webshop")), requested_plan("mobile"))
    office.workspace.state.archive(office.channel_id("general"))
    office.faulty_slack.faults = [("chat.postMessage", "lose the answer")]
    office.faulty_slack.lasting = {"conversations.history": "429:1"}
    await run_due_after(office, HOUR)
    office.workspace.state.archive(office.channel_id("webshop"))
    await run_due_after(office, HOUR)

    office.faulty_slack.lasting = {}

    assert await told(ana, "Digest 1:") == 1
    assert await told(ana, "Digest 2:") == 1


async def test_a_notice_in_transit_covers_no_later_stop(office: Office, ana: Person) -> None:
    wire, place = office.faulty_slack, Place(TEAM, office.channel_id("webshop"))
    later = (await office.digests.add(ANA, place, requested_plan("mobile", "every 2 hours"))).digest
    office.workspace.state.archive(office.channel_id("general"))
    wire.faults = [("chat.postMessage", "slow:60")]
    office.clock.ahead += HOUR
    await office.bot.worker.run_due()
    await until_so(lambda: wire.called("chat.postMessage"))

    office.workspace.state.archive(place.channel_id)
    await office.bot.store.digests.stop(ANA, [later.id], Pause.CHANNEL)
    wire.faults = [("chat.postMessage", "lose the request")]
    wire.released.set()
    await at_rest(office.bot)

    assert await told(ana, "Digest 1:") == 1
    assert await told(ana, "Digest 2:") == 1


async def test_digests_that_stop_together_share_a_notice(office: Office, ana: Person) -> None:
    await office.digests.add(ANA, Place(TEAM, office.channel_id("webshop")), requested_plan("mobile"))
    for channel in ("general", "webshop"):
        office.workspace.state.archive(office.channel_id(channel))

    await run_due_after(office, HOUR)

    assert await told(ana, "2 of your digests stopped.") == 1
    assert await told(ana, "Digest 1:") == 1
    notice = await ana.sees(lambda message: "2 of your digests" in text_of(message), DM)
    first, *lines = notice["text"].split("\n")
    assert first == "2 of your digests stopped."
    assert [line[:9] for line in lines if line[:1] == "•"] == ["• Digest ", "• Digest "]
    assert ".;" not in notice["text"]


async def test_only_the_new_owner_learns_of_the_next_stop(office: Office, ana: Person, ben: Person) -> None:
    """It is taken over while Slack delays the notice that it stopped the first time."""
    wire, channel = office.faulty_slack, office.channel_id("general")
    [digest] = await office.bot.store.digests.in_channel(Place(TEAM, channel))
    office.workspace.state.archive(channel)
    wire.faults = [("chat.postMessage", "slow 429:0")]
    office.clock.ahead += HOUR
    await office.bot.worker.run_due()
    await until_so(lambda: wire.called("chat.postMessage"))

    await office.digests.take_ownership(BEN, digest)
    await office.bot.store.digests.stop(BEN, [digest.id], Pause.CHANNEL)
    wire.released.set()
    await at_rest(office.bot)

    assert await told(ana, "Your digest stopped.") == 0
    assert await told(ben, "Your digest stopped.") == 1
