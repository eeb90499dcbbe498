"""Attaches files to issues: several at a time, in constant memory, and none of them twice.

A file is claimed for an issue before it is uploaded, and the claim is freed only when the file is certainly
not attached. Otherwise the issue's attachments are checked before anything is sent again. An upload token
works once, so repeating the same change of an issue can't attach a file twice.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from http import HTTPStatus

import structlog
from pydantic import BaseModel, ConfigDict

from bot import errors
from bot.access.access import Access
from bot.access.accounts import Session
from bot.features.issues.issues import IssueNotFound, Issues, UpdatesUnsupported
from bot.service.conventions import CLOCK_SKEW, stored_name
from bot.service.inputs import AttachmentChanges, IssueChanges, UploadInput
from bot.service.models import Attachment, Issue
from bot.store.claims import Claim, State
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

PARALLEL_UPLOADS = 3


class FileToAttach(BaseModel):
    """A file by its ID in Slack, and the name to attach it under."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    description: str = ""


class MissingFile(BaseModel):
    """A message's file that can't be downloaded, and why, as a sentence."""

    model_config = ConfigDict(frozen=True)

    name: str
    why: str


@dataclass(frozen=True)
class Download:
    """A file's content, which can be read once, in chunks, and what Slack says about it."""

    content: AsyncGenerator[bytes, None]
    content_type: str | None = None
    size: int | None = None


class FileState(Enum):
    WAITING = auto()
    UPLOADING = auto()
    UPLOADED = auto()
    ATTACHING = auto()
    ATTACHED = auto()
    FAILED = auto()  # certainly not attached; can be retried
    UNCONFIRMED = auto()  # it may or may not be attached; a retry checks first
    REFUSED = auto()  # the service doesn't accept it because of its size or type; a retry won't help
    CLAIMED = auto()
    """Another request attached this file to this issue, or with the error InProgress, is doing so now."""


@dataclass(eq=False)
class BatchFile:
    """One file of a batch, and how far it is."""

    request: FileToAttach
    source: Download
    state: FileState = field(default=FileState.WAITING, init=False)
    sent: int = field(default=0, init=False)
    error: errors.BotError | None = field(default=None, init=False)
    upload: UploadInput | None = field(default=None, init=False)
    upload_id: int | None = field(default=None, init=False)
    attachment: Attachment | None = field(default=None, init=False)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The content; `sent` counts its bytes."""
        async with aclosing(self.source.content) as content:
            async for chunk in content:
                self.sent += len(chunk)
                yield chunk

    def end(self, state: FileState, error: errors.BotError | None = None) -> None:
        self.state, self.error = state, error

    def matches(self, attachment: Attachment, user_id: int | None, since: datetime | None) -> bool:
        """Whether this attachment is this file, attached by that user since then (by anyone, at any time for
        None).
        """
        size = self.sent if self.upload else self.source.size
        fits = attachment.filename == stored_name(self.request.name) and size in (None, attachment.filesize)
        mine = user_id is None or (attachment.author is not None and attachment.author.id == user_id)
        made = attachment.created_on
        recent = since is None or (made is not None and made >= since - CLOCK_SKEW)
        return fits and mine and recent


@dataclass(eq=False)
class Batch:
    """Files that are attached together. `since` is the first attempt; `again` is set on later ones.

    `in_order` uploads one after the other, because the service lists files in the order of their uploads.
    """

    files: tuple[BatchFile, ...]
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    again: bool = False
    in_order: bool = False

    def in_state(self, *states: FileState) -> tuple[BatchFile, ...]:
        return tuple(file for file in self.files if file.state in states)

    @property
    def newly_attached(self) -> int:
        """How many files this attempt attached, or found attached by the one that it repeats."""
        return sum(bool(file.upload) or self.again for file in self.in_state(FileState.ATTACHED))

    def match(self, attachments: Sequence[Attachment], user_id: int | None, since: datetime | None) -> None:
        """Mark the files that are among the attachments; each attachment matches at most one file."""
        known = {file.attachment.id for file in self.files if file.attachment}
        for file in self.files:
            free = [a for a in attachments if a.id not in known and file.matches(a, user_id, since)]
            if file.attachment or not free:
                continue
            attachment = next((a for a in free if a.id == file.upload_id), free[0])
            file.attachment = attachment
            file.end(FileState.ATTACHED)
            known.add(attachment.id)


SETTLED = {
    FileState.ATTACHED: State.DONE,
    FileState.ATTACHING: State.UNKNOWN,
    FileState.UNCONFIRMED: State.UNKNOWN,
}
"""Return the claim's state for a file in this state; other claims are freed."""


class Files:
    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def attach(self, owner: Owner, number: int, batch: Batch) -> None:
        """Upload the files and attach the uploaded ones in one change of the issue; `batch` has the outcomes.

        Raises UserError if the user can't see the issue, UpdatesUnsupported if the service accepts files only
        while an issue is created, NotLinked, and ServiceError if the issue can't be read or the key can't be
        verified.
        """
        async with self.access.accounts.reading(owner) as session:
            issue = await self.issues.one(session, number)
        self.issues.check_supported(number)
        if batch.again:
            batch.match(issue.attachments, session.user_id, batch.since)
        async with self.uploading(session, issue, batch) as (session, uploads):
            if uploads:
                await self._put(session, number, batch)
        await self._match_attachments(session, number, batch)

    @asynccontextmanager
    async def uploading(
        self, session: Session, issue: Issue, batch: Batch
    ) -> AsyncIterator[tuple[Session, tuple[UploadInput, ...]]]:
        """Hold the waiting files for this issue, and upload them; afterward free those that are certainly not
        attached. Gives what attaches the uploaded ones, and the session to do that with.

        Files that are on the issue already, or that another request attaches, end at once. Raises
        ServiceError.
        """
        claims: dict[BatchFile, Claim] = {}
        try:
            for file in batch.in_state(FileState.WAITING):
                key = _claim(session.owner, issue.id, file)
                claims[file] = await self.access.store.claims.claim(key, by=session.owner)

            if any(not claim.won or claim.tried_at for claim in claims.values()):
                now = await self.issues.one(session, issue.id)  # attached since the issue was read?
                await self._look_up(session, claims, now.attachments)
            uploads = await self.upload(session, batch)
            # Files may take minutes.
            yield await self.access.accounts.reverified(session) if uploads else session, uploads
        finally:
            for file, claim in claims.items():
                await self.access.store.claims.settle(claim, SETTLED.get(file.state))

    async def _look_up(
        self, session: Session, claims: Mapping[BatchFile, Claim], attachments: Sequence[Attachment]
    ) -> None:
        """Settle the files that earlier attempts, others' too, have attached, and those that aren't this
        request's.
        """
        for file, claim in claims.items():
            another = claim.tried_by if claim.tried_by != session.owner else None
            if not claim.won or claim.tried_at:
                user_id = await self.access.store.links.user_id(another) if another else session.user_id
                Batch((file,)).match(attachments, user_id, claim.tried_at)
            if file.state is FileState.WAITING and not claim.won:
                file.end(FileState.CLAIMED, None if claim.done else errors.InProgress())
            elif file.state is FileState.WAITING and another:
                await self.access.store.claims.attempt_as(claim, session.owner)

    async def upload(self, session: Session, batch: Batch) -> tuple[UploadInput, ...]:
        """Upload the waiting files, a few at a time; returns the input that attaches the uploaded ones."""
        gate = asyncio.Semaphore(1 if batch.in_order else PARALLEL_UPLOADS)

        async def upload_in_turn(file: BatchFile) -> None:
            async with gate:
                await self._upload(session, file)

        async with asyncio.TaskGroup() as sending:
            for file in batch.in_state(FileState.WAITING):
                sending.create_task(upload_in_turn(file))
        return tuple(file.upload for file in batch.in_state(FileState.UPLOADED) if file.upload)

    async def attached(self, owner: Owner, number: int, batch: Batch) -> None:
        """Record that an issue was created with the uploaded files.

        Files still waiting belong to an issue that an earlier attempt created; they are looked up there.
        """
        if not batch.files:
            return
        for file in batch.in_state(FileState.UPLOADED):
            file.end(FileState.ATTACHED)
            try:
                claim = await self.access.store.claims.claim(_claim(owner, number, file))
                await self.access.store.claims.settle(claim, State.DONE)
            except Exception:  # the file is attached, so this isn't a failure
                log.exception("attached file not recorded", action="file.not_remembered", issue=number)

        with suppress(errors.ServiceError, errors.UserError):
            async with self.access.accounts.reading(owner) as session:
                await self._match_attachments(session, number, batch)
        for file in batch.in_state(FileState.WAITING):
            file.end(FileState.FAILED, errors.UserError("It didn't show up on the issue. Try again."))

    async def own_attachment(self, owner: Owner, number: int, attachment_id: int) -> Attachment:
        """A file that this user attached to the issue. Raises UserError, NotLinked, ServiceError."""
        async with self.access.accounts.reading(owner) as session:
            return await self._own_attachment(session, number, attachment_id)

    async def describe(
        self, owner: Owner, number: int, attachment_id: int, name: str, description: str
    ) -> None:
        """Rename or describe a file that this user attached.

        Raises UserError if someone else attached it, NotLinked, and ServiceError.
        """
        async with self.access.accounts.reading(owner) as session:
            await self._own_attachment(session, number, attachment_id)
        changes = AttachmentChanges(filename=name, description=description)
        try:
            await self.access.client.update_attachment(session.key, attachment_id, changes)
        except errors.OutcomeUnknown:
            with suppress(errors.ServiceError, errors.UserError):
                now = await self._own_attachment(session, number, attachment_id)
                if (now.description or "") == description:
                    return
            raise

    async def _own_attachment(self, session: Session, number: int, attachment_id: int) -> Attachment:
        issue = await self.issues.one(session, number)
        for attachment in issue.attachments:
            if attachment.id == attachment_id and attachment.author:
                if attachment.author.id == session.user_id:
                    return attachment
                raise errors.UserError(
                    "Someone else attached this file. Only they can rename or describe it here."
                )
        raise errors.UserError(
            "This file is no longer attached to #{number}. To attach it again, type "
            "`{/issue} attach {number}`.",
            number=number,
        )

    async def _upload(self, session: Session, file: BatchFile) -> None:
        request, source = file.request, file.source
        file.state = FileState.UPLOADING
        chunks = file.chunks()

        try:
            upload = await self.access.client.upload_file(
                session.key, chunks, filename=request.name, size=source.size
            )
        except errors.OutcomeUnknown:
            file.end(FileState.FAILED, errors.UserError("The connection to {service} was lost. Try again."))
        except (errors.ServiceError, errors.UserError) as error:
            file.end(FileState.REFUSED if _is_final(error) else FileState.FAILED, error)
        except (TimeoutError, ValueError):  # raised by the client that sends the download
            file.end(FileState.FAILED, errors.UserError("The download from Slack was incomplete. Try again."))
        else:
            file.upload_id = upload.id
            file.upload = UploadInput.model_validate(
                {"token": upload.token, "filename": request.name}
                | ({"content_type": source.content_type} if source.content_type else {})
                | ({"description": request.description} if request.description else {})
            )
            file.end(FileState.UPLOADED)
        finally:
            await chunks.aclose()

    async def _put(self, session: Session, number: int, batch: Batch) -> None:
        """Attach the uploaded files. Raises UpdatesUnsupported."""
        files = batch.in_state(FileState.UPLOADED)
        try:
            await self._change(session, number, files)
        except UpdatesUnsupported:
            for file in files:
                file.end(FileState.FAILED)
            raise
        except errors.OutcomeUnknown:
            await self._after_unknown(session, number, batch)
        except (errors.ServiceError, IssueNotFound) as error:
            for file in files:
                file.end(FileState.FAILED, error)

    async def _change(self, session: Session, number: int, files: tuple[BatchFile, ...]) -> None:
        for file in files:
            file.state = FileState.ATTACHING
        uploads = tuple(file.upload for file in files if file.upload)
        await self.issues.send(session, number, IssueChanges(uploads=uploads))
        for file in files:
            file.end(FileState.ATTACHED)

    async def _after_unknown(self, session: Session, number: int, batch: Batch) -> None:
        """Check whether the change was saved; if not, repeat it with the same tokens."""
        for wait in self.access.delays.lookups:
            await asyncio.sleep(wait)
            await self._match_attachments(session, number, batch)
            if not batch.in_state(FileState.ATTACHING):
                return

        try:
            session = await self.access.accounts.reverified(session)
            await self._change(session, number, batch.in_state(FileState.ATTACHING))
        except errors.Refused:
            await self._match_attachments(session, number, batch)
        except (errors.ServiceError, errors.UserError):
            pass
        for file in batch.in_state(FileState.ATTACHING):
            file.end(FileState.UNCONFIRMED)

    async def _match_attachments(self, session: Session, number: int, batch: Batch) -> None:
        """Match the files with the issue's attachments; does nothing if the issue can't be read."""
        with suppress(errors.ServiceError, errors.UserError):
            issue = await self.issues.one(session, number)
            batch.match(issue.attachments, session.user_id, batch.since)


def _is_final(error: errors.BotError) -> bool:
    """Whether the service refused this file because of its size or type."""
    unprocessable = isinstance(error, errors.Refused) and error.status == HTTPStatus.UNPROCESSABLE_ENTITY
    return unprocessable or isinstance(error, errors.TooLarge)


def _claim(owner: Owner, number: int, file: BatchFile) -> str:
    return f"file:{owner.team_id}:{file.request.id}:{number}"
