"""Lets Python sleep under libfaketime 0.9.10, which refuses to sleep until a monotonic time."""

import select
import time


def sleep(seconds: float) -> None:
    select.select((), (), (), seconds)


time.sleep = sleep
