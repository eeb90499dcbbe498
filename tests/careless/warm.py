"""Runs tests in forks of one process, so that third-party packages are imported once.

    python tests/careless/warm.py

Reads lines with test IDs and a timeout as JSON, and prints a line with the result for each: "failed",
"passed", "timed out" or, if pytest couldn't run the tests, "not run".
"""

import contextlib
import importlib
import json
import os
import select
import signal
import sys
from pathlib import Path

import pytest

# What takes longest to import, without pytest's plugins: pytest has to import these itself.
PACKAGES = [
    "aiohttp.web",
    "alembic.command",
    "apscheduler.schedulers.asyncio",
    "cryptography.fernet",
    "markdown_it",
    "prometheus_client",
    "pydantic_settings",
    "slack_bolt.async_app",
    "sqlalchemy.ext.asyncio",
    "stamina",
    "structlog",
    "typer",
]
OPTIONS = ["-n0", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]


class Failures:
    """Counts the tests that fail. Where a fixture fails, the test says nothing about what it is named for."""

    def __init__(self) -> None:
        self.count = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.count += report.failed and report.when == "call"


def run(tests: list[str]) -> str:
    failures = Failures()
    ended = pytest.main([*OPTIONS, *tests], plugins=[failures])
    if failures.count:
        return "failed"
    return "passed" if ended == pytest.ExitCode.OK else "not run"


def forked(tests: list[str], seconds: float) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDWR), sys.stdout.fileno())
        os.dup2(sys.stdout.fileno(), sys.stderr.fileno())
        try:
            os.write(writing, run(tests).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        result = (pipe.read() or "not run") if select.select([pipe], [], [], seconds)[0] else "timed out"
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return result


def main() -> None:
    sys.path[0] = str(Path.cwd())  # the copy, in place of this folder
    for package in PACKAGES:
        importlib.import_module(package)
    for line in sys.stdin:
        sys.stdout.write(f"{forked(**json.loads(line))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
