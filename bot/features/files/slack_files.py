"""Downloads files from Slack; sends the token to Slack's file hosts only and never follows redirects."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.files.attach import Incoming, LostFile
from bot.slack.blocks import JSON
from bot.slack.posting import OUTCOME_UNKNOWN, reason

CHUNK = 64 * 1024
TIMEOUT = aiohttp.ClientTimeout(total=600, connect=5, sock_read=30)
HIDDEN = "Slack doesn't show it to me: invite me to the conversation and try again"
UNREACHED = "Slack can't be reached: try again"
DELETED = "it was deleted in Slack"


async def look_up(slack: AsyncWebClient, files: Sequence[JSON]) -> list[JSON | LostFile]:
    """For each file, its complete Slack file object, or the reason why it can't be downloaded."""

    async def one(file: JSON) -> JSON | LostFile:
        try:
            return await complete(slack, file)
        except LostFile as lost:
            return lost

    return list(await asyncio.gather(*(one(file) for file in files)))


async def complete(slack: AsyncWebClient, file: JSON) -> JSON:
    """Complete a file object that Slack abbreviated (docs/slack.md, Files). Raises LostFile."""
    if file.get("mode") == "tombstone":
        raise LostFile(DELETED)
    if file.get("file_access") == "check_file_info" or not (download_url(file) or file.get("is_external")):
        file = await _info(slack, str(file.get("id") or ""))
    if file.get("mode") == "tombstone":
        raise LostFile(DELETED)
    if file.get("is_external") or file.get("mode") == "external":
        place = str(file.get("external_type") or "elsewhere")
        raise LostFile(f"it lies with another service ({place}), not with Slack, so I can't fetch it")
    if file.get("file_access") == "access_denied":
        raise LostFile(HIDDEN)
    if file.get("mode") == "hidden_by_limit" or not download_url(file):
        raise LostFile("Slack doesn't hand it out: it may be older than your plan keeps files")
    return file


async def incoming(
    slack: AsyncWebClient,
    hosts: frozenset[str],
    file: JSON,
    *,
    name: str | None = None,
    description: str | None = None,
    uploader: str | None = None,
) -> Incoming:
    """A file of a message or form whose content is downloaded when read; reading raises LostFile.

    `uploader` must own the file: the token can read files of every conversation that the bot is in.
    """
    file_id = str(file.get("id") or "")
    [found] = await look_up(slack, [file])
    if uploader is not None and not isinstance(found, LostFile) and found.get("user") != uploader:
        found = LostFile("somebody else put it into Slack: take it from their message")
    content = fetch(slack, hosts, found)
    if isinstance(found, LostFile):
        return Incoming(file_id, name or name_of(file), None, None, content)
    size = found.get("size") if isinstance(found.get("size"), int) else None
    return Incoming(
        file_id, name or name_of(found), found.get("mimetype"), size, content, description=description or ""
    )


def name_of(file: JSON) -> str:
    return str(file.get("name") or file.get("title") or "file")


def download_url(file: JSON) -> str:
    """The URL to download a file from; empty if unknown."""
    return str(file.get("url_private_download") or file.get("url_private") or "")


async def fetch(
    slack: AsyncWebClient, hosts: frozenset[str], file: JSON | LostFile
) -> AsyncGenerator[bytes, None]:
    """Stream a file that was looked up. Raises LostFile if Slack doesn't provide it.

    Without permission, Slack answers 200 with an HTML page instead of the file (docs/slack.md, Files).
    """
    if isinstance(file, LostFile):
        raise file
    url = download_url(file)
    if not _may_have_token(slack, hosts, url):
        raise LostFile("its address isn't Slack's, so I don't show my token there")
    session = slack.session
    if session is None:
        raise LostFile("I'm not connected to Slack")
    headers = {"Authorization": f"Bearer {slack.token}", "Accept-Encoding": "identity"}
    try:
        async with session.get(url, headers=headers, allow_redirects=False, timeout=TIMEOUT) as answer:
            _check(answer, file)
            async for chunk in answer.content.iter_chunked(CHUNK):
                yield chunk
    except (aiohttp.ClientError, TimeoutError):
        raise LostFile("it was lost on the way from Slack: try again") from None


def _check(answer: aiohttp.ClientResponse, file: JSON) -> None:
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        raise LostFile("Slack sent me to another address, which I don't follow")
    if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        raise LostFile(DELETED)
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise LostFile(HIDDEN)
    if answer.status != HTTPStatus.OK:
        raise LostFile("Slack failed to hand it out: try again")
    if answer.content_type == "text/html" and file.get("mimetype") != "text/html":
        raise LostFile(f"Slack handed out a page in its place; {HIDDEN}")
    size, length = file.get("size"), answer.content_length
    if isinstance(size, int) and length is not None and length != size:
        raise LostFile(f"what Slack handed out has another size ({length} bytes, not {size}); {HIDDEN}")


async def _info(slack: AsyncWebClient, file_id: str) -> JSON:
    try:
        answer = await slack.files_info(file=file_id)
    except SlackApiError as error:
        why = reason(error)
        if why == "file_deleted":
            raise LostFile(DELETED) from None
        if why == "ratelimited":
            raise LostFile("Slack is asking me to slow down: try again in a minute") from None
        if why in OUTCOME_UNKNOWN:
            raise LostFile(UNREACHED) from None
        raise LostFile(HIDDEN) from None
    except (aiohttp.ClientError, TimeoutError):
        raise LostFile(UNREACHED) from None
    file: JSON = answer.get("file") or {}
    return file


def _may_have_token(slack: AsyncWebClient, hosts: frozenset[str], url: str) -> bool:
    target, api = urlsplit(url), urlsplit(slack.base_url)
    if target.netloc == api.netloc:
        return target.scheme == api.scheme
    return target.scheme == "https" and target.netloc.lower() in hosts
