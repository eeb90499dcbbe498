"""Digests whose owner's key the service refuses: for a while, with others, or for good."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from bot.store.digests import Pause
from bot.store.owner import Owner
from bot.store.tables import LinkRow
from bot.timings import KeyTimings, Timings
from tests.features.digests.newsroom import ANA, BEN, HOUR, Digests
from tests.support.office import TEAM
from tests.support.people import IDS
from tests.support.reading import text_of

PATIENT = {"timings": Timings(interval=3600, notice_every=10**8, keys=KeyTimings(recheck=0.01))}
ANAS, BENS = 1, 2
CHRIS = Owner(None, TEAM, IDS["chris"])
pytestmark = pytest.mark.parametrize("digests", [PATIENT], indirect=True, ids=["patient"])


def refuse(digests: Digests, *users: int) -> dict[int, str]:
    """Lets the service refuse the keys of these users; returns the keys."""
    rows = digests.office.tracker.data.users
    keys = {number: rows[number].api_key for number in users}
    for number in users:
        rows[number].api_key = "another"
    return keys


async def test_keys_refused_together_are_kept_and_resume(digests: Digests) -> None:
    hers, his = await digests.add(), await digests.add("webshop", owner=BEN)
    keys = refuse(digests, ANAS, BENS)
    issue = digests.report()
    process = await digests.process()  # which has seen no key work
    for _ in range(20):
        await digests.tick(12 * HOUR, by=process)
    assert await digests.notices() == []

    digests.office.tracker.data.users[BENS].api_key = keys[BENS]
    for _ in range(6):
        await digests.tick(by=process)

    assert digests.covered(his) == {issue.id}
    assert [await digests.paused(digest) for digest in (his, hers)] == [None, Pause.KEY]
    assert len(await digests.notices("Your digest stopped.")) == 1
    told = [text_of(message) for message in await digests.person.messages()]
    assert sum("Take ownership" in text for text in told) == 1


@pytest.mark.parametrize(("refusals", "apart"), [(24, HOUR / 12), (3, 12 * HOUR)])
async def test_a_key_is_kept_until_often_refused_over_hours(
    digests: Digests, refusals: int, apart: timedelta
) -> None:
    digest = await digests.add()
    keys = refuse(digests, ANAS)
    issue = digests.report()
    for _ in range(refusals):
        await digests.tick(apart)

    digests.office.tracker.data.users[ANAS].api_key = keys[ANAS]
    for _ in range(2):
        await digests.tick()

    assert await digests.notices() == []
    assert digests.covered(digest) == {issue.id}


async def test_two_dead_keys_are_forgotten_while_others_work(digests: Digests) -> None:
    await digests.chris()
    channels = (("general", ANA), ("webshop", BEN), ("general", CHRIS))
    added = [await digests.add(channel, owner=owner, empty=owner == CHRIS) for channel, owner in channels]
    refuse(digests, ANAS, BENS)

    for _ in range(20):
        await digests.tick(12 * HOUR)

    assert [await digests.paused(digest) for digest in added] == [Pause.KEY, Pause.KEY, None]


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
