"""Nothing of the bot goes on once it has stopped."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

import bot
from bot.sandbox.people import ANA, BEN
from bot.timings import Delays, Timings
from tests.support.digesting import WEB
from tests.support.due_digests import digest_of
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until_so
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire
from tests.support.work import run_due_after

OURS = str(Path(bot.__file__).parent)
STAND_INS = f"{OURS}/sandbox/"


@pytest.fixture
async def ana(tmp_path: Path, wire: Wire) -> AsyncIterator[Person]:
    office = Office(
        tmp_path,
        tracker=demo_tracker(listing=True),
        wire=wire,
        slack_wire=SlackWire(),
        timings=Timings(interval=0.2, heartbeat_timeout=3),
        delays=Delays(still_working=60, background_retry=0.3),
    )
    async with office.opened("ana", "ben"):
        yield Person(office, ANA.slack_id)


def still_running() -> list[str]:
    """Returns the functions of the bot in which tasks wait."""
    frames = [frame for task in asyncio.all_tasks() for frame in task.get_stack()]
    ours = [frame.f_code for frame in frames if frame.f_code.co_filename.startswith(OURS)]
    return [code.co_qualname for code in ours if not code.co_filename.startswith(STAND_INS)]


async def is_settled(office: Office) -> bool:
    """Returns whether a digest is posted, and not looked for even a minute later."""
    await run_due_after(office, timedelta(minutes=1))
    messages = office.workspace.state.messages.values()
    posted = [message for channel in messages for message in channel if digest_of(message)]
    return len(posted) == 1 and not office.faulty_slack.called("conversations.history")


@pytest.mark.parametrize("stops", ["once it waits", "before that"])
async def test_a_waiting_message_survives_a_stop(ana: Person, wire: Wire, stops: str) -> None:
    office, ben = ana.office, Person(ana.office, BEN.slack_id)
    slack, number = office.faulty_slack, office.public_issue().id
    slack.lasting = {"response_url": "slow:1"}
    await ana.command(f"/issue {number} to:@ben")
    await until_so(lambda: slack.called("response_url"))
    wire.fail("503 before it", lasting=True)
    if stops == "once it waits":
        await until_so(lambda: wire.asked and not office.busy)

    await office.bot.stop(5)
    assert still_running() == []

    wire.heal()
    await office.start_bot()
    await ben.sees(lambda m: f"assigned #{number} to you." in text_of(m), DM)


async def test_a_digest_asked_for_before_a_stop_is_settled(ana: Person, wire: Wire) -> None:
    office, slack = ana.office, ana.office.faulty_slack
    await ana.ask(WEB)
    await ana.ask("/issue new Something to post project:webshop")
    wire.seconds = 60
    wire.fail("slow", "GET /")
    slack.lasting = {"chat.postMessage": f"late answer:{office.bot.parts.delays.digest_now + 1}"}
    await ana.command("/digest now")
    await until_so(lambda: wire.slowed)

    stopping = asyncio.create_task(office.bot.stop(20))
    await asyncio.sleep(0.1)
    wire.released.set()
    await stopping

    assert still_running() == []
    slack.lasting = {}
    await office.start_bot()
    assert await is_settled(office)


async def test_a_digest_asked_for_during_a_stop_is_settled(
    ana: Person,
) -> None:
    office, ben, slack = ana.office, Person(ana.office, BEN.slack_id), ana.office.faulty_slack
    await ana.ask(WEB)
    await ana.ask("/issue new Something to post project:webshop")
    asked = await ben.ask("/digest now 1")
    late = office.bot.parts.delays.digest_now + 1
    slack.calls.clear()
    slack.faults = [("conversations.members", "slow:1"), ("chat.postMessage", f"late answer:{late}")]
    await ben.press(asked, "Send now")
    await until_so(lambda: slack.called("conversations.members"))

    await office.bot.stop(20)

    assert still_running() == []
    await office.start_bot()
    assert await is_settled(office)
