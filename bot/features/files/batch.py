"""Files that are attached together, with the progress and outcome of each."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto

from pydantic import BaseModel, ConfigDict

from bot.errors import BotError
from bot.features.lost_writes import CLOCK_SKEW
from bot.service.conventions import stored_name
from bot.service.inputs import UploadInput
from bot.service.models import Attachment


class FileToAttach(BaseModel):
    """A file by its ID in Slack, and the name to attach it under."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True)
class Download:
    """A file's content, which can be read once, in chunks, and what Slack says about it."""

    content: AsyncGenerator[bytes, None]
    content_type: str | None = None
    size: int | None = None


class State(Enum):
    WAITING = auto()
    UPLOADING = auto()
    UPLOADED = auto()
    ATTACHING = auto()
    ATTACHED = auto()
    FAILED = auto()
    """Certainly not attached; can be retried."""
    UNSURE = auto()
    """It may or may not be attached; a retry checks first."""
    REFUSED = auto()
    """The service doesn't accept it because of its size or type; a retry won't help."""
    CLAIMED = auto()
    """Another request attached this file to this issue, or with the error InProgress, is doing so now."""


@dataclass(eq=False)
class BatchFile:
    """One file of a batch, and how far it is."""

    wanted: FileToAttach
    source: Download
    state: State = State.WAITING
    sent: int = 0
    error: BotError | None = None
    upload: UploadInput | None = None
    upload_id: int | None = None
    attachment: Attachment | None = None

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The content; `sent` counts its bytes."""
        async with aclosing(self.source.content) as content:
            async for chunk in content:
                self.sent += len(chunk)
                yield chunk

    def end(self, state: State, error: BotError | None = None) -> None:
        """Set the state, and the error that led to it."""
        self.state, self.error = state, error

    def matches(self, attachment: Attachment, user_id: int, since: datetime | None) -> bool:
        """Whether this attachment is this file, attached by that user since then (at any time for None)."""
        size = self.sent if self.upload else self.source.size
        fits = attachment.filename == stored_name(self.wanted.name) and size in (None, attachment.filesize)
        mine = attachment.author is not None and attachment.author.id == user_id
        made = attachment.created_on
        recent = since is None or (made is not None and made >= since - CLOCK_SKEW)
        return fits and mine and recent


@dataclass(eq=False)
class Batch:
    """Files that are attached together. `since` is the first attempt; `again` is set on later ones.

    `in_order` uploads one after the other, since the service lists files in the order of their uploads.
    """

    files: tuple[BatchFile, ...]
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    again: bool = False
    in_order: bool = False

    def in_state(self, *states: State) -> tuple[BatchFile, ...]:
        """The files in any of these states."""
        return tuple(file for file in self.files if file.state in states)

    @property
    def newly_attached(self) -> int:
        """How many files this attempt attached, or found attached by the one that it repeats."""
        return sum(bool(file.upload) or self.again for file in self.in_state(State.ATTACHED))

    def match(self, attachments: Sequence[Attachment], user_id: int, since: datetime | None) -> None:
        """Mark the files that are among the attachments; each attachment matches at most one file."""
        known = {file.attachment.id for file in self.files if file.attachment}
        for file in self.files:
            free = [a for a in attachments if a.id not in known and file.matches(a, user_id, since)]
            if file.attachment or not free:
                continue
            found = next((a for a in free if a.id == file.upload_id), free[0])
            file.attachment = found
            file.end(State.ATTACHED)
            known.add(found.id)
