"""Lets Python run under libfaketime 0.9.10, which refuses to sleep until a monotonic time, and which reads
the environment whenever a thread waits: a change of it meanwhile, as by a test, can crash the process.
"""

import os
import select
import subprocess
import time

start = subprocess.Popen.__init__


def sleep(seconds: float) -> None:
    select.select((), (), (), seconds)


def unchanged(*_: object) -> None:
    """Leaves a change to `os.environ`, where Python looks."""


def started_with_changes(self: object, *args: object, env: object = None, **rest: object) -> None:
    start(self, *args, env=os.environ if env is None else env, **rest)


time.sleep = sleep
os.putenv = os.unsetenv = unchanged
subprocess.Popen.__init__ = started_with_changes
