"""No regular expression in the package takes more than linear time."""

import re
import time

import pytest

from tests.hostile.regular_expressions import Use, all_uses, hostile_pieces

QUADRATIC = 8
"""For four times the text, a linear expression takes 4 times as long, a quadratic one 16 times."""
BRIEF, NOTICEABLE = 0.0003, 0.02
"""Seconds below which times aren't compared: for 2,000 characters, and for 12,000."""


def _seconds(use: Use, pieces: tuple[str, str, str], length: int, tries: int) -> float:
    """Returns this thread's processor time, so that a busy machine makes no difference."""
    before, piece, ending = pieces
    text = before + piece * (length // len(piece)) + ending
    taken = []
    for _ in range(tries):
        started = time.thread_time()
        use.run(text)
        taken.append(time.thread_time() - started)
    return min(taken)


def _suspicious(use: Use, pieces: tuple[str, str, str]) -> bool:
    """A quick check that rules out almost all texts."""
    longer = _seconds(use, pieces, 2_000, 1)
    if longer < BRIEF or longer < QUADRATIC * 0.7 * _seconds(use, pieces, 500, 1):
        return False
    return _seconds(use, pieces, 6_000, 1) > 4 * longer  # rules out lookaheads of a bounded length


def _out_of_proportion(use: Use, pieces: tuple[str, str, str], tries: int) -> bool:
    longer = _seconds(use, pieces, 12_000, tries)
    return longer > NOTICEABLE and longer > QUADRATIC * _seconds(use, pieces, 3_000, tries)


def quadratic(use: Use) -> str | None:
    """Returns the text that makes the expression quadratic, if there is one."""
    for pieces in hostile_pieces(use.pattern):
        if _suspicious(use, pieces) and all(_out_of_proportion(use, pieces, tries) for tries in (1, 3)):
            return f"12,000 characters of {pieces}"
    return None


@pytest.mark.parametrize(
    "use", [pytest.param(u, id=f"{u.module}:{u.pattern.pattern[:40]}") for u in all_uses()]
)
def test_no_regular_expression_is_quadratic(use: Use) -> None:
    assert quadratic(use) is None, f"{use.method} of {use.pattern.pattern!r}"


def test_a_quadratic_expression_is_found() -> None:
    assert quadratic(Use("here", re.compile(r"X-[\w-]*API-Key"), "search")) is not None
