"""The files that a user wants attached: their IDs, saved between two interactions, and their download.

Slack's file objects are looked up again whenever they are needed, so a selection can wait for a day. The
token is sent to Slack's file hosts only, and redirects are never followed.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from pydantic import BaseModel, ConfigDict, ValidationError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import UserError
from bot.features.files import views
from bot.features.files.attach import Batch, BatchFile, Download, FileState, FileToAttach, MissingFile
from bot.features.parts import Parts
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Block, Message
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.drafts import message_saveable
from bot.slack.surfaces.interaction import FormSubmission
from bot.slack.workspaces.slack_errors import Failure, failure, reason

MAX_FILES_OF_MESSAGE = 100
CHUNK = 64 * 1024
TIMEOUT = aiohttp.ClientTimeout(total=600, connect=5, sock_read=30)
INVITE = "Invite me to the conversation with `/invite @Issue Bot`, then try again."
UPLOAD = "Download it, then upload it to Slack."
STORAGE = {"gdrive": "Google Drive", "dropbox": "Dropbox", "box": "Box", "onedrive": "OneDrive"}
"""The names of Slack's `external_type`s."""


class FileSelection(BaseModel):
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
class SavedSelections:
    """Saves selections, and makes batches of their files."""

    parts: Parts

    async def from_message(self, reply: Reply, message: JSON) -> FileSelection:
        """A selection for the files of a message. Raises UserError if it has none."""
        given = (message.get("files") or [])[:MAX_FILES_OF_MESSAGE]
        if not given:
            raise UserError("This message has no files. Choose a message that has some.")
        files, missing = [], []
        looked_up = await asyncio.gather(*(look_up(reply.slack, file) for file in given))
        for file, details in zip(given, looked_up, strict=True):
            if isinstance(details, UserError):
                missing.append(MissingFile(name=name_of(file), why=reply.wording.sentence(details)))
            else:
                files.append(FileToAttach(id=details["id"], name=name_of(details)))
        return FileSelection(files=tuple(files), missing=tuple(missing), place=reply.place.as_json())

    async def save_message(self, reply: Reply, message: JSON) -> str:
        """Save a message with its files, if any, and the place to reply; returns their ID."""
        selection = FileSelection(files=())
        if message.get("files"):
            selection = await self.from_message(reply, message)
        about = {"message": message_saveable(message), "place": reply.place.as_json()}
        return await self.save(reply, selection.model_copy(update=about))

    async def save(self, reply: Reply, selection: FileSelection) -> str:
        return await self.parts.store.saved_input.put(reply.owner, selection.model_dump(mode="json"))

    async def load(self, reply: Reply, saved_id: str) -> FileSelection:
        """The user's saved selection. Raises UserError if it isn't stored anymore."""
        payload = await self.parts.store.saved_input.get(reply.owner, saved_id)
        if payload is None:
            raise UserError("This request has expired. Attach the files again.")
        try:
            return FileSelection.model_validate(payload)
        except ValidationError:
            raise ActionExpired from None

    async def message(self, reply: Reply, saved_id: str) -> FileSelection:
        """Load a selection with a message. Raises ActionExpired for any other."""
        selection = await self.load(reply, saved_id)
        if "ts" not in selection.message:
            raise ActionExpired
        return selection

    async def fill(
        self,
        reply: Reply,
        batch: Batch,
        requests: Sequence[FileToAttach],
        known: Mapping[str, JSON] | None = None,
        *,
        own: bool = False,
    ) -> None:
        """Set the batch's files, ready to be uploaded; `own` as in a selection.

        `known` are complete file objects by ID; Slack is asked for the others.
        """
        uploader, known = reply.owner.user_id if own else None, known or {}
        stubs = [known.get(file.id) or {"id": file.id, "file_access": "check_file_info"} for file in requests]
        downloads = (download(reply.slack, self.parts.platform.file_hosts, stub, uploader) for stub in stubs)
        batch.files = tuple(map(BatchFile, requests, await asyncio.gather(*downloads)))

    async def form_field(self, reply: Reply, saved_id: str | None) -> list[Block]:
        """The checkboxes for the files of a form's selection; empty for a form without one."""
        if not saved_id:
            return []
        selection = await self.load(reply, saved_id)
        return views.files_field([(file.id, file.name) for file in selection.files], selection.missing)

    async def fill_from_form(
        self, reply: Reply, form: FormSubmission, batch: Batch, of_thread: Sequence[JSON] = ()
    ) -> None:
        """Set the batch's files: those of a thread in their order, and the form's own that are checked."""
        saved_id = form.view.metadata.get("files")
        selection = await self.load(reply, str(saved_id)) if saved_id else FileSelection(files=())
        checked = forms.Values(form.view.json).all_chosen("files")
        unchecked = {file.id for file in selection.files} - set(checked)
        known = {str(file["id"]): file for file in of_thread if file["id"] not in unchecked}
        files = [FileToAttach(id=file_id, name=name_of(file)) for file_id, file in known.items()]
        files += [file for file in selection.files if file.id in checked and file.id not in known]
        batch.in_order = bool(of_thread)
        if files:
            await self.fill(reply, batch, files, known, own=selection.own)

    async def results(
        self, reply: Reply, number: int, batch: Batch, selection: FileSelection | None = None
    ) -> Message:
        """The result of each file, below those that the `selection` has settled, with a button that retries
        the failed ones.
        """
        selection = selection or FileSelection(files=())
        retryable = batch.in_state(FileState.FAILED, FileState.UNCONFIRMED)
        settled = [file for file in batch.files if file not in retryable]
        rows = (*selection.rows, *(views.row(number, file, reply.wording) for file in settled))
        retry = None

        if retryable:
            failed, place = tuple(file.request for file in retryable), reply.place.as_json()
            about = {"files": failed, "missing": (), "issue": number, "place": place}
            again = selection.model_copy(update={**about, "since": batch.since, "rows": rows})
            retry = await self.save(reply, again)
        rows += tuple(views.row(number, file, reply.wording) for file in retryable)
        return views.results(number, rows, reply.wording, retry)


async def look_up(slack: AsyncWebClient, file: JSON) -> JSON | UserError:
    """The complete Slack file object, or the reason why it can't be downloaded."""
    try:
        return await _complete(slack, file)
    except UserError as lost:
        return lost


async def _complete(slack: AsyncWebClient, file: JSON) -> JSON:
    """Complete a file object that Slack abbreviated (docs/slack.md, Files). Raises UserError."""
    known = download_url(file) or file.get("is_external") or file.get("mode") == "tombstone"
    if not known or file.get("file_access") == "check_file_info":
        file = await _info(slack, str(file.get("id") or ""))
    mode = file.get("mode")
    if mode == "tombstone":
        raise _deleted()

    if file.get("is_external") or mode == "external":
        if not (place := STORAGE.get(str(file.get("external_type")))):
            raise UserError("It's stored outside Slack. {how}", how=UPLOAD)
        raise UserError("It's stored in {place}, not in Slack. {how}", place=place, how=UPLOAD)
    if file.get("file_access") == "access_denied":
        raise _hidden()
    if mode == "hidden_by_limit" or not download_url(file):
        raise UserError("Slack no longer provides it. It may be too old for your Slack plan.")
    return file


def _deleted() -> UserError:
    return UserError("It was deleted in Slack.")


def _hidden() -> UserError:
    return UserError("I can't see it in Slack. {how}", how=INVITE)


def _unreached() -> UserError:
    return UserError("I can't reach Slack. Try again in a minute.")


async def _info(slack: AsyncWebClient, file_id: str) -> JSON:
    try:
        answer = await slack.files_info(file=file_id)
    except SlackApiError as error:
        match reason(error):
            case "file_deleted":
                raise _deleted() from None
            case "ratelimited":
                raise UserError("Slack is limiting my downloads. Try again in a minute.") from None
            case _:
                raise (_unreached() if failure(error) is Failure.UNKNOWN else _hidden()) from None
    except (aiohttp.ClientError, TimeoutError):
        raise _unreached() from None
    file: JSON = answer.get("file") or {}
    return file


async def download(
    slack: AsyncWebClient, hosts: frozenset[str], file: JSON, uploader: str | None = None
) -> Download:
    """A file of a message or form that is downloaded when its content is read, which raises UserError.

    `uploader` must own the file: the token can read files of every conversation that the bot is in.
    """
    details = await look_up(slack, file)
    if uploader is not None and not isinstance(details, UserError) and details.get("user") != uploader:
        details = UserError(
            "Someone else uploaded it to Slack. On their message, choose "
            "“More actions › Attach files to an issue”."
        )
    content = _fetch(slack, hosts, details)
    if isinstance(details, UserError):
        return Download(content)
    size = details.get("size")
    return Download(content, details.get("mimetype"), size if isinstance(size, int) else None)


def name_of(file: JSON) -> str:
    return str(file.get("name") or file.get("title") or "file")


def download_url(file: JSON) -> str:
    """The URL to download a file from; empty if unknown."""
    return str(file.get("url_private_download") or file.get("url_private") or "")


async def _fetch(
    slack: AsyncWebClient, hosts: frozenset[str], file: JSON | UserError
) -> AsyncGenerator[bytes, None]:
    """Stream a file that was looked up. Raises UserError if Slack doesn't provide it."""
    if isinstance(file, UserError):
        raise file
    url = download_url(file)
    if not _may_have_token(slack, hosts, url):
        raise UserError("It isn't stored on Slack's own servers. {how}", how=UPLOAD)
    if slack.session is None:
        raise _unreached()

    headers = {"Authorization": f"Bearer {slack.token}", "Accept-Encoding": "identity"}
    try:
        async with slack.session.get(
            url, headers=headers, allow_redirects=False, timeout=TIMEOUT, proxy=slack.proxy
        ) as answer:
            _check(answer, file)
            async for chunk in answer.content.iter_chunked(CHUNK):
                yield chunk
    except (aiohttp.ClientError, TimeoutError):
        raise UserError("The connection to Slack was lost. Try again.") from None


def _check(answer: aiohttp.ClientResponse, file: JSON) -> None:
    """Raises UserError unless the response is the file.

    Without permission, Slack returns 200 with an HTML page instead of the file (docs/slack.md, Files).
    """
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        raise UserError("Slack redirected the download, so I stopped. {how}", how=UPLOAD)
    match answer.status:
        case HTTPStatus.NOT_FOUND | HTTPStatus.GONE:
            raise _deleted()
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            raise _hidden()
        case status if status != HTTPStatus.OK:
            raise UserError("Slack couldn't send it. Try again in a minute.")

    if answer.content_type == "text/html" and file.get("mimetype") != "text/html":
        raise UserError("Slack didn't let me download it. {how}", how=INVITE)
    size, length = file.get("size"), answer.content_length
    if isinstance(size, int) and length is not None and length != size:
        raise UserError("The download from Slack was incomplete. {how}", how="Try again in a minute.")


def _may_have_token(slack: AsyncWebClient, hosts: frozenset[str], url: str) -> bool:
    target, api = urlsplit(url), urlsplit(slack.base_url)
    if target.netloc == api.netloc:
        return target.scheme == api.scheme
    return target.scheme == "https" and target.netloc.lower() in hosts
