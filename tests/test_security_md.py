"""Every module and test that SECURITY.md names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROTECTIONS = 15
"""How many SECURITY.md lists: none disappears unnoticed."""
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
    header, *rows = (row.split("|")[1:-1] for row in TEXT.splitlines() if row.startswith("| "))
    modules = re.findall(r"`(bot/[\w/]+\.py)`", TEXT)

    assert [column.strip() for column in header] == ["who", "what they can't do", "how", "where", "tests"]
    assert len(rows) >= PROTECTIONS
    assert len(modules) >= len(rows)
    assert [path for path in modules if not (ROOT / path).is_file()] == []
    assert [row for row in rows if "`bot/" not in row[3] or "::test_" not in row[4]] == []
