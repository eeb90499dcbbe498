"""Timings of crash detection and recovery."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Durations in seconds. All replicas that share a database use the same values.

    After a crash, another replica takes over the process's requests within `heartbeat_timeout` + 2 ×
    `interval`, and its digests when their leases of `longest_post` have ended, too. It looks for a digest
    message that may have been posted no sooner than `longest_post` after the send was recorded.
    """

    interval: float = 5.0
    """The interval of heartbeats, and of checks for crashed replicas, due digests and followed issues."""
    heartbeat_timeout: float = 20.0
    longest_post: float = 35.0
    """The longest time from recording a send in the database to the end of the request that posts it."""
    look_up_after: float = 10.0
    """The delay before the bot looks for a message whose post request failed."""
    follow_every: float = 60.0
    """The interval at which the issues that a user follows are read."""


DEFAULT = Timings()
