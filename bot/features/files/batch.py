"""Files that are carried over together: how far each one is, and what became of it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto

from bot.errors import BotError, UserError
from bot.features.lost_writes import CLOCK_SKEW
from bot.service.conventions import stored_name
from bot.service.inputs import UploadInput
from bot.service.models import Attachment


class LostFile(UserError):
    """A file that couldn't be fetched from where it lies, or was lost on the way; the message says why."""


@dataclass(frozen=True)
class Incoming:
    """A file to be carried over: `content` is read once, in pieces; `id` is the same in every attempt."""

    id: str
    name: str
    content_type: str | None
    size: int | None
    content: AsyncGenerator[bytes, None]
    description: str = ""


class State(Enum):
    """How far a file is."""

    WAITING = auto()
    COMING = auto()
    UPLOADED = auto()
    ATTACHING = auto()
    ATTACHED = auto()
    FAILED = auto()
    """Certainly not attached; may be tried again."""
    UNSURE = auto()
    """Nobody could say whether it was attached; whoever tries again looks first."""
    REFUSED = auto()
    """The service doesn't take it, for its size or type: trying again changes nothing."""
    TAKEN = auto()
    """Somebody else has carried this very file to this very issue, or is just doing it."""


@dataclass(eq=False)
class Carried:
    """One file of a load. `unsure` is how an earlier attempt at it ended."""

    file: Incoming
    unsure: bool = False
    state: State = State.WAITING
    sent: int = 0
    error: BotError | None = None
    upload: UploadInput | None = None
    upload_id: int | None = None
    attachment: Attachment | None = None

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The content, counted as it passes."""
        async with aclosing(self.file.content) as content:
            async for piece in content:
                self.sent += len(piece)
                yield piece

    def end(self, state: State, error: BotError | None = None) -> None:
        """Note what became of it."""
        self.state, self.error = state, error

    def is_here(self, attachment: Attachment, user_id: int, since: datetime | None) -> bool:
        """Whether this attachment is this file, attached by that user since then (at any time for None)."""
        size = self.sent if self.upload else self.file.size
        fits = attachment.filename == stored_name(self.file.name) and size in (None, attachment.filesize)
        mine = attachment.author is not None and attachment.author.id == user_id
        made = attachment.created_on
        recent = since is None or (made is not None and made >= since - CLOCK_SKEW)
        return fits and mine and recent


@dataclass(eq=False)
class Load:
    """The files of one go, since its first attempt."""

    files: tuple[Carried, ...]
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    again: bool = False

    @classmethod
    def of(cls, files: Sequence[Incoming]) -> "Load":
        """A first attempt."""
        return cls(tuple(Carried(file) for file in files))

    def in_state(self, *states: State) -> tuple[Carried, ...]:
        """The files that are so far."""
        return tuple(one for one in self.files if one.state in states)

    def recognise(self, attachments: Sequence[Attachment], user_id: int, since: datetime | None) -> None:
        """Mark what is there, each attachment standing for one file only."""
        known = {one.attachment.id for one in self.files if one.attachment}
        for one in self.files:
            free = [a for a in attachments if a.id not in known and one.is_here(a, user_id, since)]
            if one.attachment or not free:
                continue
            found = next((a for a in free if a.id == one.upload_id), free[0])
            one.attachment = found
            one.end(State.ATTACHED)
            known.add(found.id)
