"""The one migration, and a next one: running replicas go on, and an older version doesn't start."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from bot.store.database import LATEST, Database, DatabaseUnavailableError
from bot.store.migrations import VERSIONS, migrate, scripts
from tests.support.digesting import WEB
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import text_of, until

NEXT = '''"""Columns, indexes and a table that the next version adds."""

import sqlalchemy
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for table in sqlalchemy.inspect(op.get_bind()).get_table_names():
        if table != "alembic_version":
            op.add_column(table, sqlalchemy.Column("later", sqlalchemy.Text))
            number = sqlalchemy.Column("later_too", sqlalchemy.Integer, nullable=False, server_default="7")
            op.add_column(table, number)
            op.create_index(f"ix_{table}_later", table, ["later"])
    op.create_table("later", sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True))
'''


async def migrated_by_the_next_version(url: str, versions: Path) -> list[str]:
    """Migrates as the next version would; returns what it announced."""
    shutil.copytree(VERSIONS, versions, ignore=shutil.ignore_patterns("__pycache__"))
    (versions / "0002_next.py").write_text(NEXT)
    announcements: list[str] = []
    database = Database(url)
    await database.write(partial(migrate, on_migration=announcements.append, versions=versions))
    await database.close()
    return announcements


def test_the_latest_revision_matches_its_file_name() -> None:
    directory = scripts()

    assert directory.get_heads() == [LATEST]
    assert all(
        Path(script.path).name.startswith(f"{script.revision}_") for script in directory.walk_revisions()
    )


async def test_a_running_replica_works_on_what_the_next_version_migrates(url: str, tmp_path: Path) -> None:
    office = Office(tmp_path, database_url=url)
    await office.open()
    try:
        chris = Person(office, "U0CHRIS01")
        await chris.command("/issue new Asked before linking project:webshop")

        announcements = await migrated_by_the_next_version(url, tmp_path / "versions")

        assert announcements == ["0002: Columns, indexes and a table that the next version adds."]
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
    finally:
        await office.close()


async def _said(person: Person, text: str) -> bool:
    return any(text in text_of(message) for message in await person.messages())


async def test_a_database_that_a_newer_version_migrated_is_refused(url: str, tmp_path: Path) -> None:
    await migrated_by_the_next_version(url, tmp_path / "versions")
    database = Database(url)

    with pytest.raises(DatabaseUnavailableError) as refused:
        await database.open()

    assert str(refused.value) == (
        "a newer version migrated it, so run that version, or restore a backup from before the upgrade"
    )
    assert await database.age() == "newer"
    await database.close()
