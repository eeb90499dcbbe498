"""Downloads files from Slack; sends the token to Slack's file hosts only and never follows redirects."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.files.batch import Download
from bot.features.files.errors import Loss, LostFile
from bot.slack.blocks import JSON
from bot.slack.posting import OUTCOME_UNKNOWN, reason

CHUNK = 64 * 1024
TIMEOUT = aiohttp.ClientTimeout(total=600, connect=5, sock_read=30)
REASONS = {"file_deleted": Loss.DELETED, "ratelimited": Loss.RATE_LIMITED}
"""Of Slack's error codes; others mean that the file is hidden from the bot."""
STATUSES: dict[int, Loss] = {
    HTTPStatus.NOT_FOUND: Loss.DELETED,
    HTTPStatus.GONE: Loss.DELETED,
    HTTPStatus.UNAUTHORIZED: Loss.HIDDEN,
    HTTPStatus.FORBIDDEN: Loss.HIDDEN,
}


async def look_up(slack: AsyncWebClient, files: Sequence[JSON]) -> list[JSON | LostFile]:
    """For each file, its complete Slack file object, or the reason why it can't be downloaded."""

    async def one(file: JSON) -> JSON | LostFile:
        try:
            return await _complete(slack, file)
        except LostFile as lost:
            return lost

    return list(await asyncio.gather(*(one(file) for file in files)))


async def _complete(slack: AsyncWebClient, file: JSON) -> JSON:
    """Complete a file object that Slack abbreviated (docs/slack.md, Files). Raises LostFile."""
    known = download_url(file) or file.get("is_external") or file.get("mode") == "tombstone"
    if not known or file.get("file_access") == "check_file_info":
        file = await _info(slack, str(file.get("id") or ""))
    mode = file.get("mode")
    if mode == "tombstone":
        raise LostFile(Loss.DELETED)
    if file.get("is_external") or mode == "external":
        raise LostFile(Loss.ELSEWHERE, place=str(file.get("external_type") or "elsewhere"))
    if file.get("file_access") == "access_denied":
        raise LostFile(Loss.HIDDEN)
    if mode == "hidden_by_limit" or not download_url(file):
        raise LostFile(Loss.NOT_OFFERED)
    return file


async def _info(slack: AsyncWebClient, file_id: str) -> JSON:
    try:
        answer = await slack.files_info(file=file_id)
    except SlackApiError as error:
        why = reason(error)
        other = Loss.UNREACHED if why in OUTCOME_UNKNOWN else Loss.HIDDEN
        raise LostFile(REASONS.get(why or "", other)) from None
    except (aiohttp.ClientError, TimeoutError):
        raise LostFile(Loss.UNREACHED) from None
    file: JSON = answer.get("file") or {}
    return file


async def download(
    slack: AsyncWebClient, hosts: frozenset[str], file: JSON, uploader: str | None = None
) -> Download:
    """A file of a message or form that is downloaded when its content is read, which raises LostFile.

    `uploader` must own the file: the token can read files of every conversation that the bot is in.
    """
    [found] = await look_up(slack, [file])
    if uploader is not None and not isinstance(found, LostFile) and found.get("user") != uploader:
        found = LostFile(Loss.NOT_OWN)
    content = _fetch(slack, hosts, found)
    if isinstance(found, LostFile):
        return Download(content)
    size = found.get("size")
    return Download(content, found.get("mimetype"), size if isinstance(size, int) else None)


def name_of(file: JSON) -> str:
    return str(file.get("name") or file.get("title") or "file")


def download_url(file: JSON) -> str:
    """The URL to download a file from; empty if unknown."""
    return str(file.get("url_private_download") or file.get("url_private") or "")


async def _fetch(
    slack: AsyncWebClient, hosts: frozenset[str], file: JSON | LostFile
) -> AsyncGenerator[bytes, None]:
    """Stream a file that was looked up. Raises LostFile if Slack doesn't provide it."""
    if isinstance(file, LostFile):
        raise file
    url = download_url(file)
    if not _may_have_token(slack, hosts, url):
        raise LostFile(Loss.FOREIGN_HOST)
    if slack.session is None:
        raise LostFile(Loss.UNREACHED)
    headers = {"Authorization": f"Bearer {slack.token}", "Accept-Encoding": "identity"}
    try:
        async with slack.session.get(url, headers=headers, allow_redirects=False, timeout=TIMEOUT) as answer:
            _check(answer, file)
            async for chunk in answer.content.iter_chunked(CHUNK):
                yield chunk
    except (aiohttp.ClientError, TimeoutError):
        raise LostFile(Loss.CUT_OFF) from None


def _check(answer: aiohttp.ClientResponse, file: JSON) -> None:
    """Raises LostFile unless the answer is the file.

    Without permission, Slack answers 200 with an HTML page instead of the file (docs/slack.md, Files).
    """
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        raise LostFile(Loss.REDIRECTED)
    if answer.status != HTTPStatus.OK:
        raise LostFile(STATUSES.get(answer.status, Loss.FAILED))
    if answer.content_type == "text/html" and file.get("mimetype") != "text/html":
        raise LostFile(Loss.PAGE)
    size, length = file.get("size"), answer.content_length
    if isinstance(size, int) and length is not None and length != size:
        raise LostFile(Loss.WRONG_SIZE, received=length, expected=size)


def _may_have_token(slack: AsyncWebClient, hosts: frozenset[str], url: str) -> bool:
    target, api = urlsplit(url), urlsplit(slack.base_url)
    if target.netloc == api.netloc:
        return target.scheme == api.scheme
    return target.scheme == "https" and target.netloc.lower() in hosts
