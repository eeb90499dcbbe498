"""The timings that decide how soon a crash is noticed and repaired."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Timings:
    """In seconds. Replicas that share a database share these, too.

    After a crash, what the dead process held is taken over within `heartbeat_timeout` + 2 × `interval`; a
    digest's message that it may have posted is looked up `longest_post` after it was announced.
    """

    interval: float = 5.0
    """Between heartbeats, between checks for crashed replicas, and between checks for due digests."""
    heartbeat_timeout: float = 20.0
    longest_post: float = 35.0
    """From announcing a digest's message in the database to the end of the request that posts it."""
    look_up_after: float = 10.0
    """Until a digest's message whose request failed is looked up."""


DEFAULT = Timings()
