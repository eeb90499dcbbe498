"""Runs the bot like `issuebot run`, with a test's pace, forked from a process that has imported it, since
importing takes longer than all the rest.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot import app, config, telemetry
from bot.store.tables import NOW
from bot.timings import Delays, Timings
from tests.support.clock import SharedClock

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([__name__, "tests.support.sqlite"])


@dataclass(frozen=True)
class Pace:
    """The durations and the database's clock that a bot runs with. The timings alone decide how often the
    assigned issues are read.
    """

    timings: Timings
    delays: Delays | None = None
    clock: SharedClock | None = None


class Forked:
    """A process, as far as it is used like one of asyncio's; it writes to the end of the file `output`."""

    def __init__(self, pace: Pace, directory: Path, environment: Mapping[str, str], output: Path) -> None:
        run = (pace, directory, dict(environment), output)
        self._process = SERVER.Process(target=_run, args=run, daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    async def wait(self) -> int:
        await asyncio.to_thread(self._process.join)
        return self.returncode or 0

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(pace: Pace, directory: Path, environment: Mapping[str, str], output: Path) -> None:
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    with output.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    settings = config.load().model_copy(update={"notice_interval": 0})
    telemetry.configure(settings.log_format, settings.log_level, settings.secrets)
    clock = pace.clock.query() if pace.clock else NOW
    sys.exit(asyncio.run(app.run(settings, pace.timings, pace.delays, clock)))
