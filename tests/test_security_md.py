"""Every module and test that SECURITY.md names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_named_test_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)

    assert named
    assert [
        f"{file}::{test}"
        for file, test in named
        if not re.search(rf"^(async )?def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    ] == []


def test_every_named_module_exists_and_every_protection_is_tested() -> None:
    rows = [row for row in TEXT.splitlines() if row.startswith("| ")][1:]

    assert [path for path in re.findall(r"`(bot/[\w/]+\.py)`", TEXT) if not (ROOT / path).is_file()] == []
    assert [row for row in rows if "::test_" not in row] == []
