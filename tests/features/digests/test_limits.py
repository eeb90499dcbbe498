"""Limits on how often digests run and how many there are."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from bot.features.digests.digests import MAX_IN_A_CHANNEL, MAX_OF_A_PERSON
from bot.features.digests.schedules import ScheduleError
from bot.store.followed import AT_ONCE
from tests.features.digests.newsroom import ANA, BEN, QUIET, Digests
from tests.support.digesting import requested_plan
from tests.support.reading import text_of

MANY = AT_ONCE + 100
"""Issues, each a row of three values."""


async def test_digest_comes_every_quarter_of_an_hour_at_most(digests: Digests) -> None:
    digest = await digests.add(schedule="cron */15 * * * *")
    for often in ("* * * * *", "*/14 * * * *", "0,5 9 * * 1", "55,5 23,0 * * *"):
        said = text_of(await digests.person.ask(f'/digest add webshop cron "{often}" empty:yes'))
        assert "at most once every 15 minutes. Choose a less frequent schedule, like `hourly`." in said
        with pytest.raises(ScheduleError):
            await digests.office.digests.change(ANA, digest, requested_plan("webshop", f"cron {often}"))


async def test_channels_and_owners_have_no_more_digests_than_the_limit(digests: Digests) -> None:
    bens = await digests.add(owner=BEN)
    for number in range(MAX_OF_A_PERSON):
        channel = f"more{number // MAX_IN_A_CHANNEL}"
        if not number % MAX_IN_A_CHANNEL:
            digests.add_channel(channel)
        await digests.add(channel, schedule=f"hourly :{number:02}")

    digests.ben.channel = "more0"
    said = text_of(await digests.ben.ask("/digest add webshop daily 9"))
    assert "This channel already has 20 digests, the maximum. Remove one" in said
    for typed in ("add webshop daily 9", f"take over {bens.id}"):
        answer = await digests.person.ask(f"/digest {typed}")
        if typed.startswith("take"):
            answer = await digests.person.after(digests.person.press(answer, "Take ownership"))
        assert "You already own 50 digests, the maximum. Remove one" in text_of(answer)


@pytest.fixture
def few_parameters() -> Iterator[None]:
    """SQLite takes as few parameters as one statement needs: fewer issues reach its limit in less time."""

    def limit(connection: Any, _: object) -> None:
        connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 3 * AT_ONCE + 100)

    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)


@pytest.mark.usefixtures("few_parameters")
async def test_issues_may_outnumber_the_databases_parameters(tmp_path: Path) -> None:
    async with Digests(tmp_path, timings=replace(QUIET, fresh=3600)).opened("ana") as digests:
        digest = await digests.add()
        for _ in range(MANY):
            digests.report()

        await digests.tick()

        assert len(digests.posted()) == 1
        covered = await digests.office.bot.store.digests.covered([digest.id])
        assert len(covered[digest.id]) == MANY
