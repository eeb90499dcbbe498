"""Listens to the local Slack: what it sends to the bot, and what it gets."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Hear = Callable[[dict[str, Any]], object]
"""Gets what a log record of the local Slack has."""


class _Listener(logging.Handler):
    def __init__(self, hear: Hear) -> None:
        super().__init__()
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        self._hear(record.__dict__)


@contextmanager
def listening(what: str, hear: Hear) -> Iterator[None]:
    """Calls `hear` while the block runs: after each payload that is "delivered", with its `kind`, `payload`
    and `outcome` (Slack tells the user of anything but "acknowledged"), or for what is "received" from the
    bot, with a `payload`; `msg` is the method, "response_url" or "acknowledgement".
    """
    log, listener = logging.getLogger(f"issuebot.sandbox.{what}"), _Listener(hear)
    level, propagates = log.level, log.propagate
    log.addHandler(listener)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(listener)
        log.setLevel(level)
        log.propagate = propagates
