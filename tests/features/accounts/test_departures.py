"""Nothing runs with the key of a user whom Slack has deactivated."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.store.digests import Pause
from bot.store.notices import Topic
from bot.store.owner import Owner
from bot.store.tables import LinkRow
from bot.timings import Delays, KeyTimings, Timings
from tests.features.following.threads import change, create_from_message, in_thread, read_followed
from tests.support.digesting import ANA, WEB, stored
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of, until_so
from tests.support.wire import Wire
from tests.support.work import run_due_after

DEACTIVATED = "Ana Ruiz's Slack account is deactivated. Anyone who can see the project can take ownership."


@pytest.fixture
async def office(tmp_path: Path, wire: Wire) -> AsyncIterator[Office]:
    """Opens an office whose jobs run only when a test runs them."""
    timings = Timings(interval=3600, keys=KeyTimings(watch=0.05))
    tracker, delays = demo_tracker(issue_reads=True), Delays(channels=0)
    office = Office(tmp_path, tracker=tracker, wire=wire, timings=timings, delays=delays)
    async with office.opened("ana"):
        yield office
    assert office.violations() == []


async def notices(person: Person) -> list[JSON]:
    return [message for message in await person.messages() if "is deactivated" in text_of(message)]


async def test_deactivation_stops_a_user(office: Office, ana: Person, linked_ben: Person, wire: Wire) -> None:
    post = await create_from_message(ana, "Cart loses items")
    for project in ("webshop", "mobile"):
        await ana.ask(WEB.replace("webshop", project))

    await office.bot.store.notices.switch(Owner(None, TEAM, linked_ben.user_id), [Topic.ASSIGNED], None)
    office.workspace.deactivate(ana.user_id)
    await office.idle()
    wire.heal()
    change(office.newest_issue(), subject="Renamed")
    await read_followed(office)
    await run_due_after(office, timedelta(days=1))

    assert wire.heal() == []
    assert await office.bot.store.links.get(ANA) is None
    assert [(await stored(office, number)).paused for number in (1, 2)] == [Pause.LEFT] * 2
    linked_ben.channel = "webshop"
    assert "Renamed" not in (await in_thread(linked_ben, post))[0]["text"]
    (message,) = await notices(linked_ben)
    assert str(message["blocks"]).count(DEACTIVATED) == 2
    assert (await linked_ben.after(linked_ben.press(message, "Take ownership")))["ephemeral"]
    assert (await stored(office)).owner.user_id == linked_ben.user_id


async def test_long_work_stops_when_its_user_is_deactivated(office: Office, ana: Person, wire: Wire) -> None:
    await ana.ask(WEB)
    await office.bot.store.notices.switch(ANA, [Topic.ASSIGNED], None)
    wire.seconds = 20
    wire.fail("slow", lasting=True)
    running = asyncio.create_task(run_due_after(office, timedelta(days=1)))
    await until_so(lambda: wire.slowed)
    asked = len(wire.asked)
    office.workspace.deactivate(ana.user_id)
    await running

    assert wire.full_waits == 0
    assert len(wire.heal()) == asked
    assert (await stored(office)).paused is Pause.LEFT


async def test_a_late_event_of_a_user_who_came_back_is_checked_before_the_next_digest(
    office: Office, ana: Person, ben: Person, wire: Wire
) -> None:
    await ana.ask(WEB)
    link = await office.bot.store.links.get(ANA)
    assert link
    back = update(LinkRow).values(linked_at=link.linked_at + timedelta(hours=1))
    await office.bot.database.execute(back)

    office.workspace.deactivate(ana.user_id)
    await office.idle()

    assert await office.bot.store.links.get(ANA)
    assert (await stored(office)).paused is None
    wire.heal()
    for _ in range(2):
        await run_due_after(office, timedelta(days=1))
    assert wire.heal() == []
    assert len(await notices(ben)) == 1
