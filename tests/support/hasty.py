"""Runs the bot like `issuebot run`, with a test's timings, forked from a process that has imported it, since
importing takes longer than all the rest.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from bot import app, config, telemetry
from bot.timings import Timings

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([__name__])


class Forked:
    """A process, as far as it is used like one of asyncio's; it writes to the end of the file `output`."""

    def __init__(
        self, timings: Timings, directory: Path, environment: Mapping[str, str], output: Path
    ) -> None:
        run = (timings, directory, dict(environment), output)
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


def _run(timings: Timings, directory: Path, environment: Mapping[str, str], output: Path) -> None:
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    with output.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    settings = config.load()
    telemetry.configure(settings.log_format, settings.log_level, settings.secrets)
    sys.exit(asyncio.run(app.run(settings, timings)))
