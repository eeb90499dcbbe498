"""Restores the logging configuration after a test, so that tests don't affect each other's logs."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import stamina.instrumentation
import structlog


def _levels() -> dict[logging.Logger, int]:
    known = logging.Logger.manager.loggerDict.values()
    return {logger: logger.level for logger in known if isinstance(logger, logging.Logger)}


@contextmanager
def restored() -> Iterator[None]:
    """Runs the block, then undoes every logging change that the bot makes at startup."""
    root = logging.getLogger()
    handlers, level, levels = root.handlers, root.level, _levels()
    configuration, hooks = structlog.get_config(), stamina.instrumentation.get_on_retry_hooks()
    uncaught = sys.excepthook
    try:
        yield
    finally:
        root.handlers, sys.excepthook = handlers, uncaught
        root.setLevel(level)
        for logger, now in _levels().items():
            if now != levels.get(logger, logging.NOTSET):
                logger.setLevel(levels.get(logger, logging.NOTSET))
        structlog.configure(**configuration)
        structlog.contextvars.clear_contextvars()
        stamina.instrumentation.set_on_retry_hooks(hooks)
