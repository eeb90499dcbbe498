"""Fetching files from Slack: the token goes to Slack's file hosts only and never along a redirect."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.views.blocks import JSON
from bot.usecases.files import Incoming, LostFile

PIECE = 64 * 1024
TIMEOUT = aiohttp.ClientTimeout(total=600, connect=5, sock_read=30)
OK = 200


def incoming(slack: AsyncWebClient, hosts: frozenset[str], file: JSON) -> Incoming:
    """A file of a message or a form (Slack's file object), to be read when it is wanted."""
    name = str(file.get("name") or file.get("title") or "file")
    size = file.get("size") if isinstance(file.get("size"), int) else None
    return Incoming(name, file.get("mimetype"), size, fetch(slack, hosts, file))


async def fetch(slack: AsyncWebClient, hosts: frozenset[str], file: JSON) -> AsyncIterator[bytes]:
    """The file's bytes in pieces. Raises LostFile where Slack doesn't hand it out.

    Without the right, Slack answers 200 with a page instead of the file (slack-rules, Files).
    """
    if file.get("file_access") == "check_file_info":
        file = (await slack.files_info(file=file["id"])).get("file") or {}
    url = str(file.get("url_private_download") or file.get("url_private") or "")
    if not _may_have_token(slack, hosts, url):
        raise LostFile("it doesn't lie with Slack, so I can't fetch it")
    session = slack.session
    if session is None:
        raise LostFile("I'm not connected to Slack")
    headers = {"Authorization": f"Bearer {slack.token}"}
    try:
        async with session.get(url, headers=headers, allow_redirects=False, timeout=TIMEOUT) as answer:
            if answer.status != OK or _is_page(answer, file):
                raise LostFile("Slack didn't hand it out: invite me to the conversation and try again")
            async for piece in answer.content.iter_chunked(PIECE):
                yield piece
    except (aiohttp.ClientError, TimeoutError):
        raise LostFile("it was lost on the way from Slack: try again") from None


def _may_have_token(slack: AsyncWebClient, hosts: frozenset[str], url: str) -> bool:
    target, api = urlsplit(url), urlsplit(slack.base_url)
    if target.netloc == api.netloc:
        return target.scheme == api.scheme
    return target.scheme == "https" and target.netloc.lower() in hosts


def _is_page(answer: aiohttp.ClientResponse, file: JSON) -> bool:
    return answer.content_type == "text/html" and file.get("mimetype") != "text/html"
