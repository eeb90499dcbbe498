"""Migrations are backward compatible: old and new replicas run side by side during a release."""

from io import StringIO
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from alembic.operations import MigrateOperation, Operations, ops
from alembic.script import Script, ScriptDirectory

from bot.store.database import LATEST
from bot.store.upgrade import configured

EXEMPT = {"0001", "0002", "0003"}
DIRECTORY = ScriptDirectory.from_config(configured())
SCRIPTS = [script for script in DIRECTORY.walk_revisions() if script.revision not in EXEMPT]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[MigrateOperation]:
    """The operations of a migration. Doing anything else fails."""
    asked: list[MigrateOperation] = []
    monkeypatch.setattr(Operations, "invoke", lambda _, operation: asked.append(operation))
    monkeypatch.setattr(Operations, "batch_alter_table", None)
    return asked


def only_adds(operation: MigrateOperation, new: set[str]) -> bool:
    """Return whether the previous version still works: it writes rows without the new column."""
    match operation:
        case ops.CreateTableOp():
            return True
        case ops.AddColumnOp():
            column = operation.column
            constrained = column.unique or column.primary_key or column.foreign_keys
            return not constrained and bool(column.nullable or column.server_default is not None)
        case ops.CreateIndexOp():
            return not operation.unique or operation.table_name in new
    return False


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.revision for script in SCRIPTS])
def test_migrations_are_compatible_with_the_previous_version(
    script: Script, asked: list[MigrateOperation]
) -> None:
    other_sql = StringIO()
    options = {"as_sql": True, "output_buffer": other_sql}
    with Operations.context(MigrationContext.configure(dialect_name="postgresql", opts=options)):
        script.module.upgrade()

    assert asked
    assert other_sql.getvalue() == ""
    new = {operation.table_name for operation in asked if isinstance(operation, ops.CreateTableOp)}
    assert [type(operation).__name__ for operation in asked if not only_adds(operation, new)] == []


def test_the_latest_revision_matches_its_file_name() -> None:
    assert DIRECTORY.get_heads() == [LATEST]
    assert all(
        Path(script.path).name.startswith(f"{script.revision}_") for script in DIRECTORY.walk_revisions()
    )
