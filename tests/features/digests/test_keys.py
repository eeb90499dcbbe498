"""Digests whose owner's key the service refuses."""

from datetime import timedelta
from itertools import pairwise

import pytest
from sqlalchemy import delete, select, update

from bot.store.digests import Pause
from bot.store.tables import LinkRow
from bot.timings import KeyTimings, Timings
from tests.features.digests.newsroom import ANA, BEN, DAY, HOUR, Digests
from tests.support.person import DM
from tests.support.reading import text_of

PATIENT = {"timings": Timings(interval=3600, notice_every=10**8, keys=KeyTimings(recheck=0.01))}
ANAS, BENS = 1, 2
TRY = timedelta(minutes=10)
REFUSED = "has refused your API key for an hour"
pytestmark = pytest.mark.parametrize("digests", [PATIENT], indirect=True, ids=["patient"])


def refuse(digests: Digests, *users: int) -> dict[int, str]:
    """Lets the service refuse the keys of these users; returns the keys."""
    rows = digests.office.tracker.data.users
    keys = {number: rows[number].api_key for number in users}
    for number in users:
        rows[number].api_key = "another"
    return keys


async def test_an_outage_for_everyone_notifies_each_owner_once_and_loses_nothing(digests: Digests) -> None:
    hers, his = await digests.add(), await digests.add("webshop", owner=BEN)
    keys = refuse(digests, ANAS, BENS)
    issue = digests.report()
    process = await digests.process()
    for _ in range(12):
        await digests.tick(12 * HOUR, by=process)

    told = [text_of(message) for message in await digests.ben.messages(DM)]
    assert [REFUSED in text for text in told] == [True]
    assert [REFUSED in text for text in await digests.notices()] == [True]

    for number, key in keys.items():
        digests.office.tracker.data.users[number].api_key = key
    for _ in range(2):
        await digests.tick(by=process)

    assert digests.covered(his) == digests.covered(hers) == {issue.id}
    assert [await digests.paused(digest) for digest in (his, hers)] == [None, None]


async def test_a_refused_key_is_tried_more_rarely_as_time_passes(digests: Digests) -> None:
    await digests.add()
    refuse(digests, ANAS)
    await digests.tick(HOUR - TRY)
    digests.service.heal()
    tries = []
    for at in range(20):
        await digests.tick(TRY)
        if digests.service.heal():
            tries.append(at)

    gaps = [after - before for before, after in pairwise(tries)]
    assert tries
    assert gaps == sorted(gaps)
    assert gaps[-1] > gaps[0]


async def test_the_owner_hears_of_refusals_after_an_hour(digests: Digests) -> None:
    await digests.add()
    refuse(digests, ANAS)
    for _ in range(5):
        await digests.tick(HOUR / 6)
    assert await digests.notices() == []

    await digests.tick()
    assert len(await digests.notices(REFUSED)) == 1


async def test_a_key_is_deleted_after_seven_days_of_refusals(digests: Digests) -> None:
    digest = await digests.add()
    refuse(digests, ANAS)
    for _ in range(13):
        await digests.tick(12 * HOUR)
    assert await digests.paused(digest) is None

    for _ in range(2):
        await digests.tick(12 * HOUR)

    assert await digests.paused(digest) is Pause.KEY
    assert await digests.office.bot.store.links.get(ANA) is None
    assert [len(await digests.notices(told)) for told in (REFUSED, "Your digest stopped.")] == [1, 1]


async def test_no_key_is_deleted_before_its_owner_was_notified(digests: Digests) -> None:
    await digests.add()
    refuse(digests, ANAS)
    await digests.tick()
    await digests.tick(10 * DAY)  # the bot was stopped

    assert await digests.office.bot.store.links.get(ANA)
    assert len(await digests.notices(REFUSED)) == 1


async def test_digests_stop_when_they_are_due_without_a_key(digests: Digests) -> None:
    added = [await digests.add(), await digests.add("webshop")]
    await digests.office.bot.database.execute(delete(LinkRow).where(LinkRow.of(ANA)))

    await digests.tick()

    assert [await digests.paused(digest) for digest in added] == [Pause.KEY, Pause.KEY]
    assert len(await digests.notices("2 of your digests stopped.")) == 1


async def test_a_key_that_cannot_be_decrypted_stops_nothing(digests: Digests) -> None:
    digest = await digests.add()
    [link] = await digests.office.bot.database.rows(select(LinkRow).where(LinkRow.of(ANA)))
    hers = update(LinkRow).where(LinkRow.of(ANA))
    await digests.office.bot.database.execute(hers.values(encrypted_key="not a key"))
    issue = digests.report()
    for _ in range(2):
        await digests.tick()
    assert await digests.paused(digest) is None

    await digests.office.bot.database.execute(hers.values(encrypted_key=link.encrypted_key))
    await digests.tick()

    assert digests.covered(digest) == {issue.id}
    assert await digests.notices() == []
