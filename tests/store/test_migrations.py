"""Old and new replicas live side by side during a release: migrations leave room for the version before."""

from io import StringIO
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from alembic.operations import MigrateOperation, Operations, ops
from alembic.script import Script, ScriptDirectory

from bot.store.database import LATEST
from bot.store.upgrade import configured

BEFORE_THE_RULE = {"0001", "0002", "0003"}
DIRECTORY = ScriptDirectory.from_config(configured())
SCRIPTS = [script for script in DIRECTORY.walk_revisions() if script.revision not in BEFORE_THE_RULE]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[MigrateOperation]:
    """What a migration asks for; whatever it would do in another way than by an operation fails."""
    asked: list[MigrateOperation] = []
    monkeypatch.setattr(Operations, "invoke", lambda _, operation: asked.append(operation))
    monkeypatch.setattr(Operations, "batch_alter_table", None)
    return asked


def only_adds(operation: MigrateOperation, new: set[str]) -> bool:
    """Whether the version before doesn't notice: it writes rows without the column, and any rows it likes."""
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
def test_a_migration_only_adds_what_the_version_before_does_not_notice(
    script: Script, asked: list[MigrateOperation]
) -> None:
    past_it = StringIO()
    how = {"as_sql": True, "output_buffer": past_it}
    with Operations.context(MigrationContext.configure(dialect_name="postgresql", opts=how)):
        script.module.upgrade()

    assert asked
    assert past_it.getvalue() == ""
    new = {operation.table_name for operation in asked if isinstance(operation, ops.CreateTableOp)}
    assert [type(operation).__name__ for operation in asked if not only_adds(operation, new)] == []


def test_the_latest_migration_is_known_by_its_files_name() -> None:
    assert DIRECTORY.get_heads() == [LATEST]
    assert all(
        Path(script.path).name.startswith(f"{script.revision}_") for script in DIRECTORY.walk_revisions()
    )
