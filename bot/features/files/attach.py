"""Carrying files into the service: several at a time, in constant memory, and none of them twice.

A file is claimed for an issue before it is sent there, and given back only when it is certain that it was
not attached. Where that can't be told, the issue's attachments are looked at before anything is sent again;
an upload's token is good once, so that the same change of an issue can't attach a file a second time.
"""

import asyncio
from contextlib import suppress
from http import HTTPStatus

import structlog

from bot.errors import (
    BotError,
    NotFound,
    OutcomeUnknown,
    Refused,
    ServiceError,
    TooLarge,
    UserError,
)
from bot.features.accounts.accounts import Accounts, Session
from bot.features.files.batch import Carried, Incoming, Load, LostFile, State
from bot.features.issues.issues import Issues
from bot.features.lost_writes import LOOKS
from bot.service.client import Client
from bot.service.inputs import AttachmentChanges, IssueChanges, UploadInput
from bot.service.models import Attachment
from bot.store.owner import Owner
from bot.store.store import Store

log = structlog.get_logger(__name__)

__all__ = ["CantAttach", "Carried", "Files", "Incoming", "Load", "LostFile", "State"]

AT_ONCE = 3
UPDATE = "update_issue"


class CantAttach(UserError):
    """The service takes files with a new issue only."""

    def __init__(self) -> None:
        super().__init__("{service} can't attach files to an issue that exists: create a new one with them.")


class Files:
    """Carries files with the key of whoever asks."""

    def __init__(self, client: Client, accounts: Accounts, issues: Issues, store: Store) -> None:
        self._client = client
        self._accounts = accounts
        self._issues = issues
        self._store = store

    async def attach(self, owner: Owner, number: int, load: Load) -> None:
        """Upload the files and attach those that arrived in one change of the issue; `load` holds what became
        of each.

        Raises UserError when the person sees no such issue, CantAttach, NotLinked, and ServiceError when the
        service can't be asked at all.
        """
        async with self._accounts.reading(owner) as session:
            issue = await self._issues.one(session, number)
        if self._client.beyond.is_missing(UPDATE):
            raise CantAttach
        if load.again:
            load.recognise(issue.attachments, session.user_id, load.since)
        claimed = await self._claim(session, number, load, issue.attachments)
        try:
            uploads = await self.upload(session, load)
            if uploads:
                session = await self._accounts.reverified(session)  # files may take minutes
                await self._put(session, number, load)
        finally:
            kept = (State.ATTACHING, State.ATTACHED, State.UNSURE)
            for one, key in claimed:
                if one.state not in kept:
                    await self._store.deliveries.release(key)
        await self._look(session, number, load)

    async def upload(self, session: Session, load: Load) -> tuple[UploadInput, ...]:
        """Send the waiting files, a few at a time; what attaches those that arrived."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def in_turn(one: Carried) -> None:
            async with gate:
                await self._upload(session, one)

        async with asyncio.TaskGroup() as sending:
            for one in load.in_state(State.WAITING):
                sending.create_task(in_turn(one))
        return tuple(one.upload for one in load.in_state(State.UPLOADED) if one.upload)

    async def attached(self, owner: Owner, number: int, load: Load) -> None:
        """Note that an issue was created with what arrived of the load.

        What still waits belongs to an issue that an earlier attempt made: it is looked for there.
        """
        if not load.files:
            return
        for one in load.in_state(State.UPLOADED):
            one.end(State.ATTACHED)
            try:
                await self._store.deliveries.claim(_claim(owner, number, one))
            except Exception:  # the issue exists with the file: nothing here may make a failure of that
                log.exception("not remembered", action="file.not_remembered", issue=number)
        with suppress(ServiceError, UserError):
            async with self._accounts.reading(owner) as session:
                await self._look(session, number, load)
        for one in load.in_state(State.WAITING):
            one.end(State.FAILED, LostFile("it is not among the issue's files: try again"))

    async def own(self, owner: Owner, number: int, attachment_id: int) -> Attachment:
        """A file that this very person attached to the issue. Raises UserError, NotLinked, ServiceError."""
        async with self._accounts.reading(owner) as session:
            return await self._own(session, number, attachment_id)

    async def describe(
        self, owner: Owner, number: int, attachment_id: int, name: str, description: str
    ) -> None:
        """Give a person's own file another name and description.

        Raises UserError when it is somebody else's, NotLinked, Refused and the other ServiceErrors.
        """
        async with self._accounts.reading(owner) as session:
            await self._own(session, number, attachment_id)
        changes = AttachmentChanges(filename=name, description=description)
        try:
            await self._client.update_attachment(session.key, attachment_id, changes)
        except OutcomeUnknown:
            if not await self._is_described(session, number, attachment_id, description):
                raise

    async def _is_described(
        self, session: Session, number: int, attachment_id: int, description: str
    ) -> bool:
        with suppress(ServiceError, UserError):
            now = await self._own(session, number, attachment_id)
            return (now.description or "") == description
        return False

    async def _own(self, session: Session, number: int, attachment_id: int) -> Attachment:
        issue = await self._issues.one(session, number)
        for attachment in issue.attachments:
            if attachment.id == attachment_id and attachment.author:
                if attachment.author.id == session.user_id:
                    return attachment
                raise UserError("Somebody else attached that file: only they can rename or describe it here.")
        raise UserError(f"That file is no longer attached to #{number}.")

    async def _claim(
        self, session: Session, number: int, load: Load, attachments: tuple[Attachment, ...]
    ) -> list[tuple[Carried, str]]:
        """Claim every waiting file for this issue; those that were claimed."""
        claimed = []
        for one in load.in_state(State.WAITING):
            key = _claim(session.owner, number, one)
            if await self._store.deliveries.claim(key) or one.unsure:
                claimed.append((one, key))
                continue
            Load((one,)).recognise(attachments, session.user_id, None)
            if one.state is State.WAITING:
                said = f"it was attached to #{number} already, or is on its way there: look at the issue"
                one.end(State.TAKEN, LostFile(said))
        return claimed

    async def _upload(self, session: Session, one: Carried) -> None:
        file = one.file
        one.state = State.COMING
        pieces = one.pieces()
        try:
            upload = await self._client.upload_file(session.key, pieces, filename=file.name, size=file.size)
        except OutcomeUnknown:  # what was only uploaded hangs nowhere
            one.end(State.FAILED, LostFile("it was lost on the way to {service}: try again"))
        except (ServiceError, UserError) as error:
            one.end(State.REFUSED if _is_final(error) else State.FAILED, error)
        except (TimeoutError, ValueError):  # it stalled, or wasn't as long as it was said to be
            one.end(State.FAILED, LostFile("it didn't arrive whole from Slack: try again"))
        else:
            one.upload_id = upload.id
            one.upload = UploadInput.model_validate(
                {"token": upload.token, "filename": file.name}
                | ({"content_type": file.content_type} if file.content_type else {})
                | ({"description": file.description} if file.description else {})
            )
            one.end(State.UPLOADED)
        finally:
            await pieces.aclose()

    async def _put(self, session: Session, number: int, load: Load) -> None:
        """Attach what was uploaded. Raises CantAttach."""
        files = load.in_state(State.UPLOADED)
        try:
            await self._change(session, number, files)
        except NotFound:  # the issue was seen just now, so it is the endpoint that isn't there
            self._client.beyond.note_missing(UPDATE)
            for one in files:
                one.end(State.FAILED)
            raise CantAttach from None
        except OutcomeUnknown:
            await self._after_unknown(session, number, load)
        except ServiceError as error:
            for one in files:
                one.end(State.FAILED, error)

    async def _change(self, session: Session, number: int, files: tuple[Carried, ...]) -> None:
        for one in files:
            one.state = State.ATTACHING
        uploads = tuple(one.upload for one in files if one.upload)
        await self._client.beyond.update_issue(session.key, number, IssueChanges(uploads=uploads))
        for one in files:
            one.end(State.ATTACHED)

    async def _after_unknown(self, session: Session, number: int, load: Load) -> None:
        """The change may have been made: look, and if it wasn't, make it again with the same tokens."""
        for wait in LOOKS:
            await asyncio.sleep(wait)
            await self._look(session, number, load)
            if not load.in_state(State.ATTACHING):
                return
        try:
            session = await self._accounts.reverified(session)
            await self._change(session, number, load.in_state(State.ATTACHING))
        except Refused:
            await self._look(session, number, load)
        except (ServiceError, UserError):
            pass
        unsure = LostFile("I couldn't learn whether it was attached: “Retry” looks before it sends anything")
        for one in load.in_state(State.ATTACHING):
            one.end(State.UNSURE, unsure)

    async def _look(self, session: Session, number: int, load: Load) -> None:
        """Find the files among the issue's attachments, as far as it can be read."""
        with suppress(ServiceError, UserError):
            issue = await self._issues.one(session, number)
            load.recognise(issue.attachments, session.user_id, load.since)


def _is_final(error: BotError) -> bool:
    """Whether the service has refused this very file, for its size or type."""
    unprocessable = isinstance(error, Refused) and error.status == HTTPStatus.UNPROCESSABLE_ENTITY
    return unprocessable or isinstance(error, TooLarge)


def _claim(owner: Owner, number: int, one: Carried) -> str:
    return f"file:{owner.team_id}:{one.file.id}:{number}"
