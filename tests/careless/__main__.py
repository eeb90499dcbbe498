"""Makes each change of the table in a copy of the tree, runs its tests, and prints a line with the result.

    python -m tests.careless [FILTER…]

A filter is a part of such a line. First, all tests have to pass without any change.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from tests.careless.table import ROOT, Change, changes

SECONDS = 120
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
SAID = {
    "failed": "caught",
    "passed": "NOT CAUGHT, the test passes",
    "not run": "NOT CAUGHT, the test can't run",
    "timed out": f"NOT CAUGHT, the test takes over {SECONDS} s",
}


class Copy:
    """A copy of the tree, and a process that runs tests in it."""

    def __init__(self, folder: Path) -> None:
        self._folder, temporary = folder / "tree", folder / "tmp"
        temporary.mkdir(parents=True)
        # Sessions of pytest that share their temporary directory change its permissions while others use it.
        own = {"PYTHONPATH": str(self._folder), "PYTEST_DEBUG_TEMPROOT": str(temporary)}
        self._environment = os.environ | own
        self._environment.pop("PYTEST_ADDOPTS", None)
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        output = subprocess.check_output(listed, cwd=ROOT, text=True)  # noqa: S603 - the arguments are ours
        for name in output.split("\0"):
            if (ROOT / name).is_file():
                (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self._folder / name)

    def passes_unchanged(self, tests: list[str]) -> bool:
        command = [*PYTEST, *tests]
        return not subprocess.call(command, cwd=self._folder, env=self._environment)  # noqa: S603 - as above

    @contextmanager
    def running(self) -> Iterator["Copy"]:
        self._warm = subprocess.Popen(
            [sys.executable, "tests/careless/warm.py"],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with self._warm:
            yield self

    def outcome(self, change: Change) -> str:
        """Returns what the change's tests come to with the change made."""
        assert self._warm.stdin
        assert self._warm.stdout
        with self._changed(change):
            request = {"tests": change.tests, "seconds": SECONDS}
            print(json.dumps(request), file=self._warm.stdin, flush=True)
            return self._warm.stdout.readline().strip()

    @contextmanager
    def _changed(self, change: Change) -> Iterator[None]:
        path = self._folder / change.file
        text = path.read_text()
        self._write(path, text.replace(change.before, change.after))
        yield
        self._write(path, text)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        """Writes a file and deletes its bytecode, which Python takes for current if time and size agree."""
        path.write_text(text)
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()


def ending(change: Change, verdict: str, started: float) -> bool:
    sys.stdout.write(f"{verdict} ({time.monotonic() - started:.1f} s): {change}\n")
    sys.stdout.flush()
    return verdict == SAID["failed"]


def judged(changes: list[Change]) -> Iterator[bool]:
    """Returns for each change whether its tests catch it, or nothing if they fail without it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="careless-")))
        copies = [Copy(folder / str(number)) for number in range(os.cpu_count() or 1)]
        if not copies[0].passes_unchanged(sorted({test for change in changes for test in change.tests})):
            return
        free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            free.put(stack.enter_context(copy.running()))

        def caught(change: Change) -> bool:
            copy, started = free.get(), time.monotonic()
            outcome = copy.outcome(change)
            free.put(copy)
            return ending(change, SAID[outcome], started)

        with ThreadPoolExecutor(len(copies)) as pool:
            yield from pool.map(caught, changes)


def main(filters: list[str]) -> int:
    started = time.monotonic()
    chosen = [each for each in changes() if not filters or any(part in str(each) for part in filters)]
    problems = {change: change.problem() for change in chosen}
    for change, problem in problems.items():
        if problem:
            ending(change, problem, started)
    possible = [change for change, problem in problems.items() if not problem]
    passed = sum(judged(possible)) if possible else 0
    failed = len(chosen) - passed
    sys.stdout.write(f"{passed} passed, {failed} failed, in {time.monotonic() - started:.0f} s\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
