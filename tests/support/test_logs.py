import io
import logging
import sys
from typing import Any

import stamina.instrumentation
import structlog

from bot import telemetry
from tests.support.logs import restored


def _logging() -> dict[str, Any]:
    names = ("", "aiohttp.access", "apscheduler", "made.by.a.test", *telemetry.QUIET)
    return {
        "structlog": structlog.get_config(),
        "context": structlog.contextvars.get_contextvars(),
        "handlers": list(logging.getLogger().handlers),
        "levels": {name: logging.getLogger(name).level for name in names},
        "hooks": stamina.instrumentation.get_on_retry_hooks(),
        "excepthook": sys.excepthook,
    }


def test_logging_changes_are_undone_after_a_test() -> None:
    before = _logging()

    with restored():
        telemetry.configure("json", "debug", stream=io.StringIO())
        logging.getLogger("made.by.a.test").setLevel(logging.ERROR)
        structlog.contextvars.bind_contextvars(team="T1")
        changed = _logging()

    assert [name for name, value in changed.items() if value == before[name]] == []
    assert _logging() == before
