"""The files that a user wants attached, saved between two interactions: their ids, never their contents.

Slack's file objects are looked up again whenever they are needed, so a job can wait for a day.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import UserError
from bot.features.files import views
from bot.features.files.batch import Batch, BatchFile, FileToAttach, State
from bot.features.files.errors import LostFile, MissingFile
from bot.features.files.slack_files import download, look_up, name_of
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message
from bot.slack.buttons import ActionExpired
from bot.slack.interaction import FormSubmission
from bot.slack.replies import Reply
from bot.slack.saved_payload import message_saveable
from bot.store.saved_input import SavedInput

MAX_FILES = 100


class MessageWithoutFiles(UserError):
    """Files of a message were asked for, and it has none."""


class JobExpired(UserError):
    """The saved job was deleted, or belongs to another user."""


class Job(BaseModel):
    """Files, the issue that they are for, and the message that they come from, where known.

    `since` is the first attempt. With `own`, only files that the user uploaded to Slack are accepted, since a
    forged form can name any file. `rows` are the results of files that an earlier attempt settled.
    """

    model_config = ConfigDict(frozen=True)

    files: tuple[FileToAttach, ...]
    missing: tuple[MissingFile, ...] = ()
    issue: int | None = None
    message: dict[str, Any] = {}
    place: dict[str, Any] = {}
    since: datetime | None = None
    own: bool = False
    rows: tuple[dict[str, Any], ...] = ()


def new_batch(attempted: datetime | None) -> Batch:
    """A batch without files yet; `attempted` is the first attempt, if there was one."""
    return Batch((), attempted or datetime.now(UTC), again=attempted is not None)


@dataclass(frozen=True)
class FileJobs:
    """Saves jobs, and makes batches of their files. Slack's token is sent to `file_hosts` only."""

    saved: SavedInput
    file_hosts: frozenset[str]

    async def from_message(self, reply: Reply, message: JSON) -> Job:
        """A job for the files of a message. Raises MessageWithoutFiles."""
        given = (message.get("files") or [])[:MAX_FILES]
        if not given:
            raise MessageWithoutFiles
        files, missing = [], []
        for file, found in zip(given, await look_up(reply.slack, given), strict=True):
            if isinstance(found, LostFile):
                missing.append(MissingFile(name_of(file), found.why, found.place))
            else:
                files.append(FileToAttach(id=found["id"], name=name_of(found)))
        return Job(files=tuple(files), missing=tuple(missing), place=reply.place.as_json())

    async def save_message(self, reply: Reply, message: JSON) -> str:
        """Save a message with its files, if any, and the place to answer; returns the job's id."""
        job = await self.from_message(reply, message) if message.get("files") else Job(files=())
        about = {"message": message_saveable(message), "place": reply.place.as_json()}
        return await self.save(reply, job.model_copy(update=about))

    async def save(self, reply: Reply, job: Job) -> str:
        """Save a job for a day, for its user only; returns its id."""
        return await self.saved.put(reply.owner, job.model_dump(mode="json"))

    async def load(self, reply: Reply, job_id: str) -> Job:
        """The user's saved job. Raises JobExpired."""
        payload = await self.saved.get(reply.owner, job_id)
        if payload is None:
            raise JobExpired
        try:
            return Job.model_validate(payload)
        except ValidationError:
            raise ActionExpired from None

    async def message(self, reply: Reply, job_id: str) -> Job:
        """As `load`, for a job with a message. Raises ActionExpired for any other."""
        job = await self.load(reply, job_id)
        if "ts" not in job.message:
            raise ActionExpired
        return job

    async def fill(
        self,
        reply: Reply,
        batch: Batch,
        wanted: Sequence[FileToAttach],
        known: Mapping[str, JSON] | None = None,
        *,
        own: bool = False,
    ) -> None:
        """Set the batch's files, ready to be uploaded; `own` as in a job.

        `known` are complete file objects by ID; Slack is asked for the others.
        """
        uploader, known = reply.owner.user_id if own else None, known or {}
        stubs = [known.get(file.id) or {"id": file.id, "file_access": "check_file_info"} for file in wanted]
        downloads = (download(reply.slack, self.file_hosts, stub, uploader) for stub in stubs)
        batch.files = tuple(map(BatchFile, wanted, await asyncio.gather(*downloads)))

    async def form_field(self, reply: Reply, job_id: str | None) -> list[Block]:
        """The checkboxes for the files of a form's job; empty for a form without one."""
        if not job_id:
            return []
        job = await self.load(reply, job_id)
        return views.files_field([(file.id, file.name) for file in job.files], job.missing, reply.wording)

    async def fill_from_form(
        self, reply: Reply, form: FormSubmission, batch: Batch, of_thread: Sequence[JSON] = ()
    ) -> None:
        """Set the batch's files: those of a thread in their order, and the form's own that are checked."""
        job_id = form.view.metadata.get("files")
        job = await self.load(reply, str(job_id)) if job_id else Job(files=())
        checked = forms.Values(form.view.json).all_chosen("files")
        unchecked = {file.id for file in job.files} - set(checked)
        known = {str(file["id"]): file for file in of_thread if file["id"] not in unchecked}
        files = [FileToAttach(id=file_id, name=name_of(file)) for file_id, file in known.items()]
        files += [file for file in job.files if file.id in checked and file.id not in known]
        batch.in_order = bool(of_thread)
        await self.fill(reply, batch, files, known, own=job.own)

    async def results(self, reply: Reply, number: int, batch: Batch, job: Job | None = None) -> Message:
        """The result of each file, below those of the `job` settled before, with a button that retries the
        failed ones.
        """
        job = job or Job(files=())
        rows = job.rows
        retryable = batch.in_state(State.FAILED, State.UNSURE)
        settled = [file for file in batch.files if file not in retryable]
        rows += tuple(views.row(number, file, reply.wording) for file in settled)
        failed = [file.wanted for file in retryable]
        retry = None
        if failed:
            place = reply.place.as_json()
            retried = Job(files=tuple(failed), issue=number, place=place, since=batch.since, rows=rows)
            retried = retried.model_copy(update={"own": job.own, "message": job.message})
            retry = await self.save(reply, retried)
        rows += tuple(views.row(number, file, reply.wording) for file in retryable)
        return views.results(number, rows, reply.wording, retry)
