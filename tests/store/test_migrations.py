"""The migrations are found by their file names."""

from pathlib import Path

from alembic.script import ScriptDirectory

from bot.store.database import LATEST
from bot.store.upgrade import configured


def test_the_latest_revision_matches_its_file_name() -> None:
    directory = ScriptDirectory.from_config(configured())

    assert directory.get_heads() == [LATEST]
    assert all(
        Path(script.path).name.startswith(f"{script.revision}_") for script in directory.walk_revisions()
    )
