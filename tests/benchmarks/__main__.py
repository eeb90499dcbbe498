"""Compares the bot's cost with minimal programs that do the same, in one table of ratios.

    python -m tests.benchmarks [PART…] [--digests 1000]

Each side runs in its own process, and so does the service; this process plays Slack. The sides take turns,
all traffic stays on 127.0.0.1, and the run ends by itself after a few minutes. It reads /proc, so it needs
Linux.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks import carrying, commands, digests, far, listing, starting
from tests.benchmarks.sides import Scene, scene
from tests.benchmarks.table import Row, printed

PARTS = ("commands", "far", "listing", "files", "start", "digests")


async def run(options: argparse.Namespace) -> list[Row]:
    """Runs the requested parts one after the other."""
    parts: dict[str, Callable[[Scene], Awaitable[list[Row]]]] = {
        "commands": lambda where: commands.measure(where, options.commands),
        "far": lambda where: far.measure(where, options.rounds),
        "listing": lambda where: listing.measure(where, options.rounds),
        "files": lambda where: carrying.measure(where, options.rounds),
        "start": lambda where: starting.measure(where, options.rounds),
        "digests": lambda where: digests.rows(where.directory, options.digests),
    }
    rows: list[Row] = []
    with TemporaryDirectory(prefix="issuebot-benchmarks-") as directory:
        async with scene(Path(directory)) as where:
            for name in options.parts or PARTS:
                sys.stderr.write(f"{name} …\n")
                rows += await parts[name](where)
    return rows


def main() -> int:
    """Prints the table; returns 1 if a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; without, all")
    parser.add_argument("--commands", type=int, default=200, help="how often each command, on each side")
    parser.add_argument("--rounds", type=int, default=5, help="of everything else, on each side")
    parser.add_argument("--digests", type=int, default=150, help="how many are due at once")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    rows = asyncio.run(run(options))
    sys.stdout.write(printed(rows))
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
