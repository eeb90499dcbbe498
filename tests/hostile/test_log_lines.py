"""No text from others can forge a log line."""

import io
import logging
import re
from typing import Any

import pytest
import structlog

from bot import telemetry

SECRET = "xoxb-1-" + "canary" * 20
FORGED = "x\r\n2026-01-01 [info] forged\x1b[2J\x9b31m\u2028forged\x85forged\x0bforged\x00"


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_log_line_stays_one_line(form: Any) -> None:
    stream = io.StringIO()
    telemetry.configure(form, "info", stream=stream)
    structlog.get_logger("x").info(FORGED, action="x", name=FORGED)
    logging.getLogger("y").warning("%s", FORGED)
    try:
        int(FORGED)
    except ValueError:
        structlog.get_logger("x").exception("failed", action="x", names=[FORGED])

    said = stream.getvalue()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", said)
    assert len([line for line in said.splitlines() if not line.startswith("    ")]) == 3


@pytest.mark.parametrize("form", ["console", "json"])
def test_truncated_values_never_contain_part_of_a_secret(form: Any) -> None:
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    telemetry.configure(form, "info", stream=stream)
    long = "a " * 2_460 + SECRET + " b" * 500_000
    try:
        structlog.get_logger("x").info("long", action="x", why=long)
        try:
            raise ValueError(long)  # noqa: TRY301 - its message is what is logged
        except ValueError:
            structlog.get_logger("x").exception("failed", action="x")
    finally:
        root.handlers, root.level = handlers, level
        structlog.reset_defaults()

    said = stream.getvalue()
    assert len(said) < 25_000
    assert "canary" not in said
    assert "ValueError" in said
