"""Requests that a stop or a crash interrupted: each user is told what is true, or nothing."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from bot.sandbox.people import ANA
from bot.sandbox.tracker.server import Tracker
from bot.slack.errors import Interrupted
from bot.slack.waits import Waits
from bot.store.deliveries import UnfinishedRequest
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import DeliveryRow
from bot.store.vault import Vault
from bot.timings import Timings
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import text_of, until
from tests.support.wire import Wire
from tests.support.wording import worded

TIMINGS = Timings(interval=0.2, heartbeat_timeout=3)  # SQLite's clock has whole seconds
LATE = Waits(completed=60, still_working=60)


@pytest.fixture
async def ana(service: Tracker, wire: Wire, tmp_path: Path) -> AsyncIterator[Person]:
    """Ana, with a bot that records completed deliveries only when it stops."""
    office = Office(tmp_path, tracker=service, wire=wire, timings=TIMINGS, waits=LATE)
    async with office.opened("ana"):
        yield Person(office, ANA.slack_id)
        assert office.violations() == []


async def leave_behind(office: Office, typed: str, age: timedelta = timedelta(0)) -> None:
    """Leaves a command in flight in a process that crashed."""
    dead = Store(office.bot.database, Vault([office.encryption_key]), timings=TIMINGS)
    payload = {
        "command": "/issue",
        "text": typed,
        "user_id": ANA.slack_id,
        "team_id": TEAM,
        "channel_id": office.channel_id("general"),
    }
    asked = UnfinishedRequest(Owner(None, TEAM, ANA.slack_id), (None, TEAM), payload)
    assert await dead.deliveries.claim(typed, asked)
    old = update(DeliveryRow).where(DeliveryRow.key == typed).values(claimed_at=datetime.now(UTC) - age)
    await office.bot.database.execute(old)


async def told_of_crashes(ana: Person) -> list[str]:
    """Waits until no crashed process holds a request; returns what Ana was told."""
    store = ana.office.bot.store
    others = select(func.count()).where(
        DeliveryRow.holder.is_not(None), DeliveryRow.holder != store.processes.name
    )

    async def none_held() -> bool:
        return not await ana.office.bot.database.read(lambda connection: connection.scalar(others))

    async def any_told() -> list[str]:
        said = map(text_of, await ana.messages())
        return [text for text in said if worded(Interrupted()) in text]

    await until(none_held)
    await until(any_told)
    await asyncio.sleep(0.5)
    return await any_told()


async def test_what_was_answered_right_before_a_stop_is_not_called_lost(ana: Person) -> None:
    office = ana.office
    answered = await ana.ask("/issues status:any")

    await office.stop_bot()
    await office.start_bot()
    await leave_behind(office, "new Really lost")

    [told] = await told_of_crashes(ana)
    assert "recently updated first" in text_of(answered)
    assert "Really lost" in told


async def test_nobody_is_told_of_a_request_that_is_too_old_to_answer(ana: Person) -> None:
    await leave_behind(ana.office, "new Ages ago", timedelta(minutes=31))
    await leave_behind(ana.office, "new Just now", timedelta(minutes=1))

    [told] = await told_of_crashes(ana)
    assert "Just now" in told


async def test_a_form_is_acknowledged_over_the_socket_while_the_bot_stops(ana: Person, wire: Wire) -> None:
    await ana.command("/issue new project:mobile")
    form = await ana.form("New issue")
    wire.faults = ["slow"]
    await ana.submit(form, {"Subject": "Refused late", "Tracker": "Bug"})
    await until(lambda: asyncio.sleep(0, wire.slowed))

    stopping = asyncio.create_task(ana.office.bot.stop(5))
    wire.released.set()

    assert await ana.form_saying("New issue", "Severity cannot be blank")
    await stopping
