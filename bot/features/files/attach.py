"""Attaches files to issues: several at a time, in constant memory, and none of them twice.

A file is claimed for an issue before it is uploaded, and the claim is freed only when the file is certainly
not attached. Otherwise the issue's attachments are checked before anything is sent again. An upload token
works once, so repeating the same change of an issue can't attach a file twice.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus

import structlog

from bot.errors import (
    BotError,
    InProgress,
    NotFound,
    OutcomeUnknown,
    Refused,
    ServiceError,
    TooLarge,
    UserError,
)
from bot.features.accounts.accounts import Accounts, Session
from bot.features.files.batch import Batch, BatchFile, State
from bot.features.files.errors import Loss, LostFile
from bot.features.issues.issues import Issues
from bot.service.client import Client
from bot.service.inputs import AttachmentChanges, IssueChanges, UploadInput
from bot.service.models import Attachment, Issue
from bot.service.optional import UPDATE_ISSUE
from bot.store.claims import Claim
from bot.store.claims import State as ClaimState
from bot.store.owner import Owner
from bot.store.store import Store

log = structlog.get_logger(__name__)

PARALLEL_UPLOADS = 3
SETTLED = {
    State.ATTACHED: ClaimState.DONE,
    State.ATTACHING: ClaimState.UNKNOWN,
    State.UNSURE: ClaimState.UNKNOWN,
}
"""What becomes of the claim on a file in this state; the other claims are freed."""


class CantAttach(UserError):
    """The service accepts files only while an issue is created."""


class NotUploader(UserError):
    """Another user attached the file."""


class AttachmentGone(UserError):
    """The file isn't attached to the issue."""

    issue: int


@dataclass(frozen=True)
class Files:
    """Uploads and attaches files with the asking user's key."""

    client: Client
    accounts: Accounts
    issues: Issues
    store: Store
    looks: Sequence[float]

    async def attach(self, owner: Owner, number: int, batch: Batch) -> None:
        """Upload the files and attach the uploaded ones in one change of the issue; `batch` has the outcomes.

        Raises UserError if the user can't see the issue, CantAttach, NotLinked, and ServiceError if the issue
        can't be read or the key can't be verified.
        """
        async with self.accounts.reading(owner) as session:
            issue = await self.issues.one(session, number)
        if self.client.optional.is_missing(UPDATE_ISSUE):
            raise CantAttach
        if batch.again:
            batch.match(issue.attachments, session.user_id, batch.since)
        async with self.claimed(session, issue, batch):
            uploads = await self.upload(session, batch)
            if uploads:
                session = await self.accounts.reverified(session)  # files may take minutes
                await self._put(session, number, batch)
        await self._match_attachments(session, number, batch)

    @asynccontextmanager
    async def claimed(self, session: Session, issue: Issue, batch: Batch) -> AsyncIterator[None]:
        """Hold the waiting files for this issue; afterwards free those that are certainly not attached.

        Files that are on the issue already, or that another request attaches, end at once. Raises
        ServiceError.
        """
        claims: dict[BatchFile, Claim] = {}
        try:
            for file in batch.in_state(State.WAITING):
                claims[file] = await self.store.claims.take(_claim(session.owner, issue.id, file))
            if any(not claim.won or claim.tried_at for claim in claims.values()):
                now = await self.issues.one(session, issue.id)  # attached since the issue was read?
                _look_up(claims, now.attachments, session.user_id)
            yield
        finally:
            for file, claim in claims.items():
                await self.store.claims.settle(claim, SETTLED.get(file.state))

    async def upload(self, session: Session, batch: Batch) -> tuple[UploadInput, ...]:
        """Upload the waiting files, a few at a time; returns the input that attaches the uploaded ones."""
        gate = asyncio.Semaphore(1 if batch.in_order else PARALLEL_UPLOADS)

        async def upload_in_turn(file: BatchFile) -> None:
            async with gate:
                await self._upload(session, file)

        async with asyncio.TaskGroup() as sending:
            for file in batch.in_state(State.WAITING):
                sending.create_task(upload_in_turn(file))
        return tuple(file.upload for file in batch.in_state(State.UPLOADED) if file.upload)

    async def attached(self, owner: Owner, number: int, batch: Batch) -> None:
        """Record that an issue was created with the uploaded files.

        Files still waiting belong to an issue that an earlier attempt created; they are looked up there.
        """
        if not batch.files:
            return
        for file in batch.in_state(State.UPLOADED):
            file.end(State.ATTACHED)
            try:
                claim = await self.store.claims.take(_claim(owner, number, file))
                await self.store.claims.settle(claim, ClaimState.DONE)
            except Exception:  # the file is attached, so this isn't a failure
                log.exception("attached file not recorded", action="file.not_remembered", issue=number)
        with suppress(ServiceError, UserError):
            async with self.accounts.reading(owner) as session:
                await self._match_attachments(session, number, batch)
        for file in batch.in_state(State.WAITING):
            file.end(State.FAILED, LostFile(Loss.NOT_ATTACHED))

    async def own_attachment(self, owner: Owner, number: int, attachment_id: int) -> Attachment:
        """A file that this user attached to the issue. Raises UserError, NotLinked, ServiceError."""
        async with self.accounts.reading(owner) as session:
            return await self._own_attachment(session, number, attachment_id)

    async def describe(
        self, owner: Owner, number: int, attachment_id: int, name: str, description: str
    ) -> None:
        """Rename or describe a file that this user attached.

        Raises UserError if someone else attached it, NotLinked, and ServiceError.
        """
        async with self.accounts.reading(owner) as session:
            await self._own_attachment(session, number, attachment_id)
        changes = AttachmentChanges(filename=name, description=description)
        try:
            await self.client.update_attachment(session.key, attachment_id, changes)
        except OutcomeUnknown:
            if not await self._is_described(session, number, attachment_id, description):
                raise

    async def _is_described(
        self, session: Session, number: int, attachment_id: int, description: str
    ) -> bool:
        with suppress(ServiceError, UserError):
            now = await self._own_attachment(session, number, attachment_id)
            return (now.description or "") == description
        return False

    async def _own_attachment(self, session: Session, number: int, attachment_id: int) -> Attachment:
        issue = await self.issues.one(session, number)
        for attachment in issue.attachments:
            if attachment.id == attachment_id and attachment.author:
                if attachment.author.id == session.user_id:
                    return attachment
                raise NotUploader
        raise AttachmentGone(number)

    async def _upload(self, session: Session, file: BatchFile) -> None:
        wanted, source = file.wanted, file.source
        file.state = State.UPLOADING
        chunks = file.chunks()
        try:
            upload = await self.client.upload_file(
                session.key, chunks, filename=wanted.name, size=source.size
            )
        except OutcomeUnknown:
            file.end(State.FAILED, LostFile(Loss.NOT_UPLOADED))
        except (ServiceError, UserError) as error:
            file.end(State.REFUSED if _is_final(error) else State.FAILED, error)
        except (TimeoutError, ValueError):  # raised by the client that sends the download
            file.end(State.FAILED, LostFile(Loss.INCOMPLETE))
        else:
            file.upload_id = upload.id
            file.upload = UploadInput.model_validate(
                {"token": upload.token, "filename": wanted.name}
                | ({"content_type": source.content_type} if source.content_type else {})
                | ({"description": wanted.description} if wanted.description else {})
            )
            file.end(State.UPLOADED)
        finally:
            await chunks.aclose()

    async def _put(self, session: Session, number: int, batch: Batch) -> None:
        """Attach the uploaded files. Raises CantAttach."""
        files = batch.in_state(State.UPLOADED)
        try:
            await self._change(session, number, files)
        except NotFound:  # the issue was just read, so the endpoint is missing
            self.client.optional.note_missing(UPDATE_ISSUE)
            for file in files:
                file.end(State.FAILED)
            raise CantAttach from None
        except OutcomeUnknown:
            await self._after_unknown(session, number, batch)
        except ServiceError as error:
            for file in files:
                file.end(State.FAILED, error)

    async def _change(self, session: Session, number: int, files: tuple[BatchFile, ...]) -> None:
        for file in files:
            file.state = State.ATTACHING
        uploads = tuple(file.upload for file in files if file.upload)
        await self.client.optional.update_issue(session.key, number, IssueChanges(uploads=uploads))
        for file in files:
            file.end(State.ATTACHED)

    async def _after_unknown(self, session: Session, number: int, batch: Batch) -> None:
        """Check whether the change was saved; if not, repeat it with the same tokens."""
        for wait in self.looks:
            await asyncio.sleep(wait)
            await self._match_attachments(session, number, batch)
            if not batch.in_state(State.ATTACHING):
                return
        try:
            session = await self.accounts.reverified(session)
            await self._change(session, number, batch.in_state(State.ATTACHING))
        except Refused:
            await self._match_attachments(session, number, batch)
        except (ServiceError, UserError):
            pass
        for file in batch.in_state(State.ATTACHING):
            file.end(State.UNSURE)

    async def _match_attachments(self, session: Session, number: int, batch: Batch) -> None:
        """Match the files with the issue's attachments; does nothing if the issue can't be read."""
        with suppress(ServiceError, UserError):
            issue = await self.issues.one(session, number)
            batch.match(issue.attachments, session.user_id, batch.since)


def _is_final(error: BotError) -> bool:
    """Whether the service refused this file because of its size or type."""
    unprocessable = isinstance(error, Refused) and error.status == HTTPStatus.UNPROCESSABLE_ENTITY
    return unprocessable or isinstance(error, TooLarge)


def _look_up(claims: Mapping[BatchFile, Claim], attachments: Sequence[Attachment], user_id: int) -> None:
    """Settle the files that earlier attempts have attached, and those that aren't this request's."""
    for file, claim in claims.items():
        if not claim.won or claim.tried_at:
            Batch((file,)).match(attachments, user_id, claim.tried_at)
        if not claim.won and file.state is State.WAITING:
            file.end(State.CLAIMED, None if claim.done else InProgress())


def _claim(owner: Owner, number: int, file: BatchFile) -> str:
    return f"file:{owner.team_id}:{file.wanted.id}:{number}"
