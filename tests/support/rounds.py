"""Counts the round trips that an act spends waiting for the service."""

from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """When a request arrived and when its answer left, by any one clock."""

    began: float
    ended: float


def rounds(spans: Sequence[Span]) -> int:
    """The longest chain of requests in which each one arrived after the answer to the one before it had left."""
    depth: dict[Span, int] = {}
    for span in sorted(spans):
        depth[span] = 1 + max((n for earlier, n in depth.items() if earlier.ended <= span.began), default=0)
    return max(depth.values(), default=0)
