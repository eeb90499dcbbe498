"""Listens to the local Slack: what it sends to the bot, and what it gets."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def listening(what: str, hear: Callable[[dict[str, Any]], object]) -> Iterator[None]:
    """Calls `hear` while the block runs: after each payload that is "delivered", with its `kind`, `payload`
    and `outcome` (Slack tells the user of anything but "acknowledged"), or for what is "received" from the
    bot, with a `payload`; `msg` is the method, "response_url" or "acknowledgement".
    """
    log = logging.getLogger(f"issuebot.sandbox.{what}")
    level = log.level

    def heard(record: logging.LogRecord) -> bool:
        hear(vars(record))
        return not log.propagate  # else it would be printed

    log.addFilter(heard)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeFilter(heard)
        log.setLevel(level)
