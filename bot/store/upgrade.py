"""Migrates the database to this version's schema with alembic."""

from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection


def migrate(connection: Connection, on_migration: Callable[[str], object]) -> None:
    """Migrate to this version's schema in the current transaction.

    Calls `on_migration` with each migration's number and title before it runs. Raises errors of alembic and
    the database.
    """
    config = configured()
    current = MigrationContext.configure(connection).get_current_revision() or ""
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    pending = sorted((script.revision, script.doc) for script in scripts if script.revision > current)

    def announce_next(**_: object) -> None:
        if pending:
            revision, title = pending.pop(0)
            on_migration(f"{revision}: {title}")

    config.attributes |= {"connection": connection, "on_version_apply": announce_next}
    announce_next()
    command.upgrade(config, "head")


def configured() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
