"""A key that is refused for a moment loses nothing."""

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from bot.timings import KeyTimings, Timings
from tests.features.following.threads import change, create_from_message, in_thread, read_followed
from tests.support.digesting import ANA, WEB, stored
from tests.support.office import FORGETFUL, Office
from tests.support.people import IDS
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until_so
from tests.support.wire import Fault, Wire
from tests.support.work import run_due_after

DAY = timedelta(days=1)


@pytest.fixture
async def office(tmp_path: Path, wire: Wire) -> AsyncIterator[Office]:
    """Opens an office whose jobs run only when a test runs them."""
    tracker, timings = demo_tracker(issue_reads=True), Timings(interval=3600)
    async with Office(tmp_path, tracker=tracker, wire=wire, timings=timings).opened("ana") as office:
        yield office


async def test_a_key_that_is_refused_for_a_moment_loses_nothing(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    await ana.ask(WEB)
    user = office.tracker.data.users[1]
    key, user.api_key = user.api_key, "renewed"

    change(office.newest_issue(), subject="Renamed")
    for _ in range(2):
        await read_followed(office)
        await run_due_after(office, DAY)
    assert await ana.messages(DM) == []
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


async def test_refusals_within_one_wait_count_once(tmp_path: Path) -> None:
    timings = Timings(keys=KeyTimings(recheck=0.01, first_retry=3600, forget_after=0, refusals=2))
    async with Office(tmp_path, tracker=demo_tracker(), timings=timings).opened("ana") as office:
        ana, user = Person(office, IDS["ana"]), office.tracker.data.users[1]
        key, user.api_key = user.api_key, "renewed"
        for _ in range(3):
            await ana.command("/tracker whoami")
            form = await ana.form("Link account")
            assert "refused your API key" in text_of(form)
            await ana.after(ana.close(form))

        user.api_key = key
        assert "Ana Ruiz" in text_of(await ana.ask("/tracker whoami"))


@pytest.mark.parametrize("fault", ["forbid", "404"])
async def test_a_single_refusal_stops_no_digest_and_no_follow(
    office: Office, ana: Person, wire: Wire, fault: Fault
) -> None:
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
    async with Office(tmp_path, tracker=demo_tracker(), wire=wire, timings=FORGETFUL).opened("ana") as office:
        ana = Person(office, IDS["ana"])
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


async def test_what_runs_with_a_new_key_goes_on_after_the_old_one_was_deleted(tmp_path: Path) -> None:
    timings = Timings(interval=3600, keys=FORGETFUL.keys)
    async with Office(tmp_path, tracker=demo_tracker(issue_reads=True), timings=timings).opened(
        "ana"
    ) as office:
        ana, user = Person(office, IDS["ana"]), office.tracker.data.users[1]
        await create_from_message(ana, "Cart loses items")
        await ana.ask(WEB)
        key, user.api_key = user.api_key, "renewed"
        for _ in range(2):
            await ana.command("/tracker whoami")
            await ana.close(await ana.form("Link account"))
        assert await office.bot.store.links.get(ANA) is None

        user.api_key = key
        await office.link(ana.user_id, key)
        await read_followed(office)

        assert (await stored(office)).paused is None
        assert await office.bot.store.followed.count(ANA) == 1
        assert await ana.messages(DM) == []
