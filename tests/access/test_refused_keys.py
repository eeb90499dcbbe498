"""What a refused key delays, and what it stops once it is deleted."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from bot.store.digests import Pause
from bot.timings import KeyTimings, Timings
from tests.features.following.threads import change, create_from_message, in_thread, read_followed
from tests.support.digesting import ANA, WEB, stored
from tests.support.office import FORGETFUL, Office
from tests.support.people import IDS
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until_so
from tests.support.slackwire import SlackWire
from tests.support.wire import Fault, Wire
from tests.support.work import run_due, run_due_after

DAY = timedelta(days=1)


@pytest.fixture
async def office(tmp_path: Path, wire: Wire) -> AsyncIterator[Office]:
    """Opens an office whose jobs run only when a test runs them."""
    tracker, timings = demo_tracker(issue_reads=True), Timings(interval=3600)
    async with Office(tmp_path, tracker=tracker, wire=wire, timings=timings).opened("ana") as office:
        yield office


async def test_a_key_that_is_refused_for_days_loses_nothing(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    await ana.ask(WEB)
    user = office.tracker.data.users[1]
    key, user.api_key = user.api_key, "renewed"

    change(office.newest_issue(), subject="Renamed")
    await read_followed(office)
    for _ in range(12):
        await run_due_after(office, DAY / 2)
    notices = [text_of(message) for message in await ana.messages(DM)]
    assert ["has refused your API key for an hour" in text for text in notices] == [True]
    assert (await stored(office)).paused is None
    await ana.command("/tracker whoami")
    form = await ana.form("Link account")
    assert "refused your API key" in text_of(form)
    await ana.after(ana.close(form))

    user.api_key = key
    assert "Ana Ruiz" in text_of(await ana.ask("/tracker whoami"))
    await run_due_after(office, timedelta(hours=1))
    assert "Renamed" in (await in_thread(ana, post))[0]["text"]
    await ana.ask("/issue new Till rings twice project:webshop")
    await run_due_after(office, 2 * DAY)
    posted = [m for m in await ana.messages() if not m["ephemeral"] and "Till rings" in text_of(m)]
    assert len(posted) == len(["announcement", "digest"])


@pytest.mark.parametrize("fault", ["forbid", "404"])
async def test_a_single_refusal_stops_nothing(office: Office, ana: Person, wire: Wire, fault: Fault) -> None:
    await create_from_message(ana, "Cart loses items")
    await ana.ask(WEB)
    for at in count():
        change(office.newest_issue(), subject=f"Renamed {at}")
        wire.fail(fault, at)
        await read_followed(office)
        await run_due_after(office, (at + 1) * DAY)
        if len(wire.heal()) <= at:
            break

    assert at
    assert (await stored(office)).paused is None
    assert await office.bot.store.followed.count(ANA) == 1


async def test_a_late_refusal_of_the_old_key_keeps_the_new_one(tmp_path: Path) -> None:
    wire, renewed = Wire(), "5" * 40
    timings = replace(FORGETFUL, interval=3600, notice_every=10**8)
    async with Office(tmp_path, tracker=demo_tracker(), wire=wire, timings=timings).opened("ana") as office:
        ana = Person(office, IDS["ana"])
        await run_due(office.bot)  # nothing else uses the key
        office.tracker.data.users[1].api_key = renewed
        await ana.command("/tracker whoami")
        await ana.after(ana.close(await ana.form("Link account")))
        wire.fail("slow", at=1)
        wire.seconds = 20
        await ana.command("/tracker whoami")
        await until_so(lambda: wire.slowed)
        await office.link(ana.user_id, renewed)
        wire.released.set()
        await office.idle()

        assert "Ana Ruiz" in text_of(await ana.ask("/tracker whoami"))


async def test_a_deleted_key_stops_what_ran_with_it(tmp_path: Path) -> None:
    timings = replace(FORGETFUL, interval=3600)
    async with Office(tmp_path, tracker=demo_tracker(issue_reads=True), timings=timings).opened(
        "ana"
    ) as office:
        ana = Person(office, IDS["ana"])
        await create_from_message(ana, "Cart loses items")
        await ana.ask(WEB)
        office.tracker.data.users[1].api_key = "renewed"
        for _ in range(2):
            await ana.command("/tracker whoami")
            await ana.close(await ana.form("Link account"))

        assert await office.bot.store.links.get(ANA) is None
        assert (await stored(office)).paused is Pause.KEY
        assert await office.bot.store.followed.count(ANA) == 0


async def test_a_key_that_works_before_the_message_arrives_is_not_mentioned(tmp_path: Path) -> None:
    slack_wire, timings = SlackWire(), Timings(keys=KeyTimings(recheck=0.01, notify_after=0))
    async with Office(tmp_path, slack_wire=slack_wire, timings=timings).opened("ana") as office:
        ana, user = Person(office, IDS["ana"]), office.tracker.data.users[1]
        key, user.api_key = user.api_key, "renewed"
        slack_wire.lasting = {"chat.postMessage": "429:1"}
        await ana.command("/tracker whoami")
        await until_so(lambda: slack_wire.called("chat.postMessage"))

        user.api_key = key
        await ana.ask("/tracker whoami")
        slack_wire.lasting = {}
        await run_due_after(office, timedelta(hours=1))

        assert not any("refused" in text_of(message) for message in await ana.messages(DM))
