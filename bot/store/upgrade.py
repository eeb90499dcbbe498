"""Bringing a database's tables to this version, with alembic."""

from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection


def migrate(connection: Connection, say: Callable[[str], object]) -> None:
    """Brings the tables to this version, in the transaction that there is.

    `say` is told each migration's number and meaning right before it runs. Raises what alembic and the
    database raise.
    """
    config = configured()
    there = MigrationContext.configure(connection).get_current_revision() or ""
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    waiting = sorted((script.revision, script.doc) for script in scripts if script.revision > there)

    def next_one(**_: object) -> None:
        if waiting:
            revision, meaning = waiting.pop(0)
            say(f"{revision}: {meaning}")

    config.attributes |= {"connection": connection, "on_version_apply": next_one}
    next_one()
    command.upgrade(config, "head")


def configured() -> Config:
    """Alembic's configuration, which no file has."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
