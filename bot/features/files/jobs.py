"""Files that a person wants carried over, kept between what they press: their ids, never their contents.

Slack's file objects are asked for anew whenever they are needed, so a job may wait for a day.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import UserError
from bot.features.files import views
from bot.features.files.attach import Carried, Load, LostFile, State
from bot.features.issues.issues import Created
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message
from bot.slack.files import incoming, looked_up, name_of
from bot.slack.replies import Reply

MOST = 100


class Wanted(BaseModel):
    """A file by its id in Slack, and what it is to be called; `unsure` as an earlier attempt left it."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    description: str = ""
    unsure: bool = False


class Job(BaseModel):
    """Files, and what is known of where they go: an issue, and the message that they come from.

    `lost` are sentences about those that can't be fetched; `since` is the first attempt. `own` are only taken
    where the person put them into Slack: those that a form names, and no message. `rows` tell of the files
    that an earlier attempt has settled.
    """

    model_config = ConfigDict(frozen=True)

    files: tuple[Wanted, ...]
    lost: tuple[str, ...] = ()
    issue: int | None = None
    message: dict[str, Any] = {}
    place: dict[str, Any] = {}
    since: datetime | None = None
    own: bool = False
    rows: tuple[dict[str, Any], ...] = ()


def load_since(attempted: datetime | None) -> Load:
    """A load without files yet: another attempt when there was one before."""
    return Load((), attempted or datetime.now(UTC), again=attempted is not None)


class FileJobs:
    """TODO"""

    def __init__(self, saved: TODO_saved, file_hosts: TODO_file_hosts) -> None:
        self._saved = saved
        self._file_hosts = file_hosts

    async def of_message(self, reply: Reply, message: JSON) -> Job:
        """The files of a message. Raises UserError when it has none."""
        given = (message.get("files") or [])[:MOST]
        if not given:
            raise UserError("This message has no files: use it on one that has.")
        files, lost = [], []
        for file, found in zip(given, await looked_up(reply.slack, given), strict=True):
            if isinstance(found, LostFile):
                lost.append(f"{name_of(file)}: {found.sentence(reply.wording.service)}")
            else:
                files.append(Wanted(id=found["id"], name=name_of(found)))
        return Job(files=tuple(files), lost=tuple(lost), place=reply.place.as_json())

    async def keep(self, reply: Reply, job: Job) -> str:
        """Keep a job for its person for a day; the id to ask for it."""
        return await self._saved.put(reply.owner, job.model_dump(mode="json"))

    async def kept(self, reply: Reply, job_id: str) -> Job:
        """The person's job. Raises UserError when it is no longer there."""
        payload = await self._saved.get(reply.owner, job_id)
        if payload is None:
            raise UserError("That was too long ago: attach the files again.")
        try:
            return Job.model_validate(payload)
        except ValidationError:
            raise UserError(forms.NONSENSE) from None

    async def fill(self, reply: Reply, load: Load, wanted: Sequence[Wanted], *, own: bool = False) -> None:
        """Put the files into a load, ready to be carried; `own` as in a job."""
        files = await asyncio.gather(
            *(
                incoming(
                    reply.slack,
                    self._file_hosts,
                    {"id": one.id, "file_access": "check_file_info", "name": one.name},
                    name=one.name,
                    description=one.description,
                    uploader=reply.owner.user_id if own else None,
                )
                for one in wanted
            )
        )
        load.files = tuple(Carried(file, unsure=one.unsure) for file, one in zip(files, wanted, strict=True))

    async def field(self, reply: Reply, metadata: JSON) -> list[Block]:
        """The boxes for the files of a form's job; nothing for a form without one."""
        if not metadata.get("files"):
            return []
        job = await self.kept(reply, str(metadata["files"]))
        return views.files_field([(one.id, one.name) for one in job.files], job.lost)

    async def choose(self, reply: Reply, metadata: JSON, load: Load) -> None:
        """Put what is ticked of the files of a submitted form's job into the load; nothing without a job."""
        if metadata.get("files"):
            job = await self.kept(reply, str(metadata["files"]))
            ticked = forms.Values(reply.view).all_chosen("files")
            await self.fill(reply, load, [one for one in job.files if one.id in ticked], own=job.own)

    async def beside(self, reply: Reply, made: Created, load: Load) -> tuple[Block, ...]:
        """What is said of an issue's files beside the issue; nothing when there were none."""
        return (await self.told(reply, made.issue.id, load)).blocks if load.files else ()

    async def told(
        self, reply: Reply, number: int, load: Load, *, own: bool = False, rows: tuple[Block, ...] = ()
    ) -> Message:
        """What became of each file of a load, below the `rows` of those settled before, with a way to try again
        what failed; `own` and `rows` as in a job.
        """
        again = load.in_state(State.FAILED, State.UNSURE)
        settled = [one for one in load.files if one not in again]
        rows += tuple(views.row(number, one, reply.wording) for one in settled)
        failed = [
            Wanted(
                id=one.file.id,
                name=one.file.name,
                description=one.file.description,
                unsure=one.state is State.UNSURE,
            )
            for one in again
        ]
        retry = None
        if failed:
            place = reply.place.as_json()
            job = Job(files=tuple(failed), issue=number, place=place, since=load.since, own=own, rows=rows)
            retry = await self.keep(reply, job)
        rows += tuple(views.row(number, one, reply.wording) for one in again)
        return views.told(number, rows, reply.wording, retry)
