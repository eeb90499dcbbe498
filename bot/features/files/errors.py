"""Why a file can't be attached."""

from dataclasses import dataclass
from enum import StrEnum, auto

from bot.errors import UserError


class Loss(StrEnum):
    """Why a file couldn't be downloaded from Slack, or where it was lost."""

    DELETED = auto()
    ELSEWHERE = auto()
    """Another service has it."""
    HIDDEN = auto()
    """The bot isn't in the conversation."""
    NOT_OFFERED = auto()
    """Slack gives no address for it."""
    NOT_OWN = auto()
    """The user isn't the one who uploaded it."""
    FOREIGN_HOST = auto()
    """Its address isn't Slack's."""
    REDIRECTED = auto()
    RATE_LIMITED = auto()
    UNREACHED = auto()
    FAILED = auto()
    """Slack answered with an error."""
    PAGE = auto()
    """Slack answered with an HTML page."""
    WRONG_SIZE = auto()
    CUT_OFF = auto()
    """The connection to Slack was lost."""
    INCOMPLETE = auto()
    """The download stalled, or its length was wrong."""
    NOT_UPLOADED = auto()
    """The upload's outcome is unknown, but an upload alone isn't attached to anything."""
    NOT_ATTACHED = auto()
    """It isn't among the issue's attachments."""


class LostFile(UserError):
    """A file couldn't be downloaded, or was lost during the upload.

    `place` is the service that has it, for `Loss.ELSEWHERE`; the sizes in bytes are for `Loss.WRONG_SIZE`.
    """

    why: Loss
    place: str = ""
    received: int = 0
    expected: int = 0


@dataclass(frozen=True)
class MissingFile:
    """A message's file that can't be downloaded; `why` and `place` as in `LostFile`."""

    name: str
    why: Loss
    place: str = ""
