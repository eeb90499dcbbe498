"""Compares the size of the code, and what one action runs of it, with `docs/growth.md`, *The code*.

    python -m tests.benchmarks.figures

Prints each figure beside the recorded one. Fails if one is larger: record it there, with the reason in the
commit.
"""

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks import acts

ROOT = Path(__file__).parents[2]
RECORDED = re.compile(r"^\| (?P<what>[^|]+?) \|(?P<figures>(?: [\d,]+ \|)+)", re.MULTILINE)
KINDS = ("reads", "writes", "functions", "files")
LEEWAY = {"functions": 5, "files": 1}
"""What differs from run to run, by the order in which tasks run."""


def recorded() -> dict[str, tuple[int, ...]]:
    """The tables of the section."""
    section = (ROOT / "docs/growth.md").read_text(encoding="utf-8").partition("## The code")[2]
    rows = RECORDED.finditer(section.partition("\n## ")[0])
    return {row["what"]: tuple(map(_number, row["figures"].split("|")[:-1])) for row in rows}


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def sizes() -> Iterator[tuple[str, int]]:
    """Lines of Python, blank ones and comments too, and modules with content."""
    lines, sandbox = _lines("bot"), _lines("bot/sandbox")
    yield "lines outside the sandbox", sum(lines) - sum(sandbox)
    yield "modules outside the sandbox", sum(map(bool, lines)) - sum(map(bool, sandbox))
    yield "lines of the sandbox", sum(sandbox)
    yield "lines of tests", sum(_lines("tests"))


def _lines(folder: str) -> list[int]:
    modules = (ROOT / folder).rglob("*.py")
    return [len(module.read_text(encoding="utf-8").splitlines()) for module in modules]


async def measured() -> dict[str, tuple[int, ...]]:
    with TemporaryDirectory(prefix="issuebot-figures-") as directory:
        rows = await acts.recorded(Path(directory))
    figures = {row.what: int(row.ours) for row in rows}
    actions = dict.fromkeys(what.rpartition(": ")[0] for what in figures)
    counted = {action: tuple(figures[f"{action}: {kind}"] for kind in KINDS) for action in actions}
    return {**{what: (figure,) for what, figure in sizes()}, **counted}


def grown(now: Mapping[str, tuple[int, ...]], before: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """The figures that are larger than recorded, or not recorded."""
    for what, figures in now.items():
        kinds = KINDS if len(figures) > 1 else ("lines",)
        for kind, figure, past in zip(kinds, figures, before.get(what, (0,) * len(figures)), strict=True):
            if figure > past + LEEWAY.get(kind, 0):
                yield f"{what}, {kind}: {figure:,}, recorded: {past:,}"


def main() -> int:
    before, now = recorded(), asyncio.run(measured())
    if any(grown(now, before)):  # a busy machine may have added to an action
        again = asyncio.run(measured())
        now = {what: tuple(map(min, figures, again[what])) for what, figures in now.items()}
    for what, figures in now.items():
        columns = (f"{number:,}" for number in figures)
        past = (f"{number:,}" for number in before.get(what, ()))
        sys.stdout.write(f"{what:<40} {' '.join(columns):<20} recorded: {' '.join(past)}\n")
    if larger := [*grown(now, before)]:
        sys.stdout.write("\nLarger than in docs/growth.md, The code. Make it smaller, or record it there:\n")
        sys.stdout.write("".join(f"  {one}\n" for one in larger))
    return 1 if larger else 0


if __name__ == "__main__":
    sys.exit(main())
