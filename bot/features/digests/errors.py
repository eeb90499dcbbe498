"""Why a digest can't be added, found or used; worded in `sentences`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Literal

from bot.errors import UserError


class TooManyDigests(UserError):
    """A channel or an owner has as many digests as allowed."""

    whose: Literal["channel", "owner"]
    most: int


class TooOften(UserError):
    """The schedule has due times less than `gap` apart."""

    gap: timedelta


class NeverDue(UserError):
    """The schedule has no due time in this time zone."""

    zone: str


class TimeZoneRemoved(UserError):
    """A system update removed the digest's time zone."""

    zone: str


class ProjectClosed(UserError):
    project: str


class DuplicateDigest(UserError):
    """The channel has the same digest; None while it is being added."""

    digest: int | None


class DigestNotNamed(UserError):
    """No number was given, and the channel has none or several; their projects by number."""

    known: Mapping[int, str]


class UnknownDigest(UserError):
    """There is no such digest here; `restoring`: none that was removed."""

    digest: int
    restoring: bool = False


class NotAgreed(UserError):
    """The digest's project isn't public, and its owner hasn't agreed to show it; `owner` is someone else."""

    digest: int
    project: str
    owner: str | None


class ProjectHidden(UserError):
    """The user can't see the digest's project; `owner` is the digest's, if it is someone else's."""

    project: str
    digest: int
    owner: str | None


class OwnerLostAccess(UserError):
    """The owner of someone else's digest can't read its project anymore, maybe because of their key."""

    digest: int
    owner: str
    project: str


class OwnerChanged(UserError):
    """Someone else owns the digest than the form named."""

    owner: str


class DigestPaused(UserError):
    """A paused digest can't be posted."""

    digest: int


class RepeatedRequest(UserError):
    """The digest was requested a moment ago."""

    digest: int


@contextmanager
def collected(problems: list[UserError] | None) -> Iterator[None]:
    """Append a UserError to `problems`, if given, instead of raising it."""
    try:
        yield
    except UserError as error:
        if problems is None:
            raise
        problems.append(error)
