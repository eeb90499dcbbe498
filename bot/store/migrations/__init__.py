"""The migrations, one module each in `versions`, run with alembic, which is slow to import."""

from collections.abc import Callable, Iterator
from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext, RevisionStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

VERSIONS = Path(__file__).parent / "versions"


def scripts(versions: Path = VERSIONS) -> ScriptDirectory:
    return ScriptDirectory(str(Path(__file__).parent), version_locations=[str(versions)])


def migrate(connection: Connection, on_migration: Callable[[str], object], versions: Path = VERSIONS) -> None:
    """Migrate to the latest of the `versions` in the current transaction.

    Calls `on_migration` with each migration's number and title before it runs. Raises errors of alembic and
    the database.
    """
    directory = scripts(versions)

    def steps(current: tuple[str, ...], _context: MigrationContext) -> Iterator[RevisionStep]:
        for script in reversed([*directory.iterate_revisions("head", current or "base")]):
            on_migration(f"{script.revision}: {script.doc}")
            yield RevisionStep.upgrade_from_script(directory.revision_map, script)

    context = MigrationContext.configure(connection, opts={"fn": steps, "transactional_ddl": True})
    with context.begin_transaction(), Operations.context(context):
        context.run_migrations()
