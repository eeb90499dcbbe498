"""Counts the round trips that an act spends waiting for the service."""

from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """When a request arrived and when its answer left, by any one clock."""

    began: float
    ended: float


def round_of_each(spans: Sequence[Span]) -> list[int]:
    """The round of each request, from 1: one more than that of any request answered before it arrived."""
    rounds = [0] * len(spans)
    for number in sorted(range(len(spans)), key=spans.__getitem__):
        before = (n for n, earlier in zip(rounds, spans, strict=True) if earlier.ended <= spans[number].began)
        rounds[number] = 1 + max(before, default=0)
    return rounds


def rounds(spans: Sequence[Span]) -> int:
    """How many round trips the requests took."""
    return max(round_of_each(spans), default=0)
