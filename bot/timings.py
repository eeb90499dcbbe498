"""Timings of crash detection and recovery, and of keys that the service refuses."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class KeyTimings:
    """When a refused key is tried again, and when it is forgotten. Durations in seconds."""

    recheck: float = 0.5
    """The pause before a refused key is checked again at once."""
    watch: float = 5.0
    """The interval at which long work checks that the key is still there."""
    first_retry: float = 60.0
    """How long background work waits after a refusal; the wait doubles with each one."""
    longest_retry: float = 3600.0
    forget_after: float = 3 * 3600.0
    """A key is forgotten only after refusals for this long …"""
    refusals: int = 4
    """… of which there were this many, each after such a wait …"""
    together: float = 2 * 3600.0
    """… and unless another person's key was refused up to this time before the last try, or since."""
    others_for: float = 7 * 86400.0
    """A key that has been refused for longer than this says nothing about a service that accepts others."""


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
    fresh: float = 1.5
    """How old an answer that decides about a post may be; Slack may make the post wait for three more."""
    follow_every: float = 60.0
    """The interval at which the issues that a user follows are read."""
    keys: KeyTimings = field(default_factory=KeyTimings)


DEFAULT = Timings()
