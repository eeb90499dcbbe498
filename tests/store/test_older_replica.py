"""A replica of this version works on a database that the next version has migrated by additions."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from bot.store.database import Database
from bot.store.tables import Table
from tests.support.digesting import WEB
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import text_of, until


@pytest.fixture
async def newer(url: str) -> AsyncIterator[Database]:
    """A database migrated by the next version."""
    database = Database(url)
    await database.open()

    def migrate(connection: Connection) -> None:
        for table in Table.metadata.tables:
            for statement in (
                f"alter table {table} add column later text",
                f"alter table {table} add column later_too integer not null default 7",
                f"create index ix_{table}_later on {table} (later)",
            ):
                connection.execute(text(statement))
        connection.execute(text("create table later (id integer primary key)"))
        connection.execute(text("update alembic_version set version_num = '9999'"))

    await database.write(migrate)
    yield database
    await database.close()


async def test_a_replica_works_on_the_next_versions_schema(newer: Database, url: str, tmp_path: Path) -> None:
    office = Office(tmp_path, database_url=url)
    await office.open()
    try:
        chris = Person(office, "U0CHRIS01")
        await chris.command("/issue new Asked before linking project:webshop")
        made = await chris.after(chris.submit(await chris.form("Link account"), {"API key": KEYS["chris"]}))
        assert "Asked before linking" in text_of(made)
        assert "Infrastructure" in text_of(await chris.ask("/tracker default infrastructure"))
        assert "Made here" in text_of(await chris.ask("/issue new Made here"))
        assert "ogged 20" in text_of(await chris.ask("/timelog project:webshop 20m activity:design"))
        for command, answer in (
            (WEB, "is set up"),
            ("/digest", "digest in this channel"),
            ("/digest now", "Nothing new"),
        ):
            await chris.command(command)
            await until(partial(_said, chris, answer))
        assert office.violations() == []
        assert await newer.age() == "newer"
    finally:
        await office.close()


async def _said(person: Person, text: str) -> bool:
    return any(text in text_of(message) for message in await person.messages())
