"""The table of careless changes: what to change in which file, and the test that must fail then."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Change:
    """A row. If it has several tests, or a test several parameters, one of them has to fail."""

    table: str
    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.table}: {self.name}"

    def problem(self) -> str | None:
        """Returns why the change can't be made to this tree."""
        path = ROOT / self.file
        count = path.read_text().count(self.before) if path.is_file() else 0
        if count != 1:
            return f"LINE GONE, found {count} times in {self.file}"
        if self.before == self.after:
            return "CHANGES NOTHING"
        gone = [test for test in self.tests if not _exists(test)]
        return f"TEST GONE, {', '.join(gone)}" if gone or not self.tests else None


def changes() -> Iterator[Change]:
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        for row in tomllib.loads(path.read_text())["change"]:
            named = row.pop("test")
            tests = (named,) if isinstance(named, str) else tuple(named)
            yield Change(table=path.stem, tests=tests, **row)


def _exists(test: str) -> bool:
    """Returns whether a file has such a test, whatever its parameters."""
    file, *names = test.partition("[")[0].split("::")
    path = ROOT / file
    text = path.read_text() if path.is_file() else ""
    patterns = (rf"^\s*(async def|def|class) {name}\b" for name in names)
    return bool(names) and all(re.search(pattern, text, re.MULTILINE) for pattern in patterns)
