"""Posting: privately to the person who asked, or where the work was asked for.

A `response_url` reaches every conversation, also those that the bot isn't in, but takes five posts in
30 minutes (slack-rules, Time). What is announced goes by `chat.postMessage`, so that it lands in the
thread that asked, and is never repeated when it may have been.
"""

from collections.abc import Awaitable
from enum import Enum
from http import HTTPStatus

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from yarl import URL

from bot.slack.blocks import JSON, Message
from bot.slack.interaction import Place

log = structlog.get_logger(__name__)

RESPONSE_ORIGINS = frozenset({"https://hooks.slack.com", "https://hooks.slack-gov.com"})
TIMEOUT = aiohttp.ClientTimeout(total=10)
SLACK_FAILED = (SlackApiError, aiohttp.ClientError, OSError, TimeoutError)
"""What a call to Slack raises: refused, or broken on the way."""
UNREACHED = frozenset({"not_in_channel", "channel_not_found"})
BROKE_OFF = frozenset({None, "internal_error", "fatal_error"})
"""Slack's words, or none at all, after which nobody knows what it did."""


class Announced(Enum):
    """What became of an announcement; the value is a sentence's end for the person."""

    YES = "was announced"
    NOWHERE = "was not asked for in a conversation"
    SHARED = "this channel is shared with people outside your company"
    ELSEWHERE = "you aren't in that conversation"
    UNKNOWN = "I can't see who reads along here: invite me with `/invite` to have it announced"
    FAILED = "Slack didn't take the message"
    UNSURE = "Slack broke off, so it may stand there for everybody or not"


class NotDelivered(Exception):
    """Slack took an answer by no way. What the answer was about stands."""


def reason(error: BaseException) -> str | None:
    """Slack's own word for a refusal; None for anything else, also for an answer that isn't the API's."""
    answer = getattr(error, "response", None)
    data = getattr(answer, "data", answer)
    word = data.get("error") if isinstance(data, dict) else None
    return word if isinstance(word, str) else None


def trusted(slack: AsyncWebClient, response_url: str) -> bool:
    """Whether a response URL is Slack's: answers go nowhere else (a crafted one would leak them).

    It is read by the parser that also sends to it, so that the two can't disagree about its host.
    """
    try:
        target = URL(response_url)
        if not target.absolute or target.user is not None or target.password is not None:
            return False
        return str(target.origin()) in RESPONSE_ORIGINS | {str(URL(slack.base_url).origin())}
    except ValueError:
        return False


async def privately(
    slack: AsyncWebClient, place: Place, user_id: str, message: Message, *, replace: bool = False
) -> None:
    """Answer one person: where they asked, else in their conversation with the bot.

    Where a way fails, the answer goes the next one, though it may be there all the same: whoever asked is
    rather told twice than not at all. `replace` puts the answer in the place of the private message whose
    button was pressed. Raises NotDelivered.
    """
    arguments = message.as_arguments()
    if place.response_url and trusted(slack, place.response_url):
        extra: JSON = {"response_type": "ephemeral", "replace_original": replace}
        if await _respond(slack, place.response_url, arguments | extra) == HTTPStatus.OK:
            return
    if place.channel_id:
        # Not in the thread: Slack shows nothing there unless it is an active one.
        there = slack.chat_postEphemeral(channel=place.channel_id, user=user_id, **_by_method(arguments))
        if await _taken(there):
            return
    if not await _taken(slack.chat_postMessage(channel=user_id, **arguments)):
        raise NotDelivered


async def _taken(post: Awaitable[object]) -> bool:
    """Whether Slack says that it took a private message."""
    try:
        await post
    except SLACK_FAILED as error:
        log.warning(
            "not answered in this way", action="answer.failed", error=reason(error) or type(error).__name__
        )
        return False
    return True


async def to_person(slack: AsyncWebClient, user_id: str, message: Message) -> bool:
    """A direct message to somebody who didn't ask for anything here; whether Slack took it."""
    try:
        await slack.chat_postMessage(channel=user_id, **message.as_arguments())
    except SLACK_FAILED as error:
        log.warning("direct message refused", action="direct.refused", error=type(error).__name__)
        return False
    return True


async def dismiss(slack: AsyncWebClient, place: Place) -> None:
    """Take away the private message whose button was pressed."""
    if place.response_url and trusted(slack, place.response_url):
        await _respond(slack, place.response_url, {"delete_original": True})


async def withdraw(slack: AsyncWebClient, place: Place, ts: str) -> bool:
    """Take away the public message whose button was pressed; whether it is gone.

    One that came by a response URL, where the bot isn't a member, goes the same way.
    """
    try:
        await slack.chat_delete(channel=place.channel_id or "", ts=ts)
    except SLACK_FAILED as error:
        if reason(error) == "message_not_found":
            return True
        log.info(
            "withdrawn otherwise",
            action="announcement.withdrawn_otherwise",
            error=reason(error) or type(error).__name__,
        )
        url = place.response_url
        if not (url and trusted(slack, url)):
            return False
        return await _respond(slack, url, {"delete_original": True}) == HTTPStatus.OK
    return True


async def publicly(slack: AsyncWebClient, place: Place, message: Message) -> tuple[Announced, str | None]:
    """Post where the work was asked for; `audiences` knows whether that may be.

    Returns the outcome, and the post's `ts` unless it went by a response URL, which doesn't tell it.
    """
    if place.channel_id is None:
        return Announced.NOWHERE, None
    arguments = message.as_arguments()
    try:
        answer = await slack.chat_postMessage(
            channel=place.channel_id, thread_ts=place.thread_ts, **arguments
        )
    except SLACK_FAILED as error:
        why, url = reason(error), place.response_url
        if why in UNREACHED and place.thread_ts is None and url and trusted(slack, url):
            return await _publicly_by_url(slack, url, arguments), None
        log.warning("announcement failed", action="announcement.failed", error=why or type(error).__name__)
        return _became(error), None
    return Announced.YES, str(answer["ts"])


async def update(slack: AsyncWebClient, channel_id: str, ts: str, message: Message) -> bool:
    """Replace what the bot's post says; True also when somebody has deleted the post."""
    try:
        await slack.chat_update(channel=channel_id, ts=ts, **_by_method(message.as_arguments()))
    except SLACK_FAILED as error:
        why = reason(error) or type(error).__name__
        log.warning("post not updated", action="post.not_updated", error=why)
        return why == "message_not_found"
    return True


async def _publicly_by_url(slack: AsyncWebClient, url: str, arguments: JSON) -> Announced:
    everybody: JSON = {"response_type": "in_channel", "replace_original": False}
    status = await _respond(slack, url, arguments | everybody)
    if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Announced.UNSURE
    return Announced.YES if status == HTTPStatus.OK else Announced.FAILED


def _became(error: BaseException) -> Announced:
    """What became of a public post that failed so."""
    why = reason(error)
    if why in UNREACHED:
        return Announced.UNKNOWN
    status = getattr(getattr(error, "response", None), "status_code", None)
    refused = isinstance(error, SlackApiError) and why not in BROKE_OFF
    if refused or status == HTTPStatus.TOO_MANY_REQUESTS or isinstance(error, aiohttp.ClientConnectorError):
        return Announced.FAILED
    return Announced.UNSURE


def _by_method(arguments: JSON) -> JSON:
    return {key: value for key, value in arguments.items() if not key.startswith("unfurl_")}


async def _respond(slack: AsyncWebClient, url: str, body: JSON) -> int | None:
    """One post to a response URL; the answer's status, 0 where Slack wasn't reached.

    None where the connection broke, or a page came in place of an answer: it may have been taken.
    """
    connections = slack.session
    if connections is None:
        return 0
    try:
        async with connections.post(url, json=body, timeout=TIMEOUT, allow_redirects=False) as answer:
            status = answer.status
            page = await answer.content.read(1) == b"<"
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        log.warning("response URL failed", action="response_url.failed", error=type(error).__name__)
        return 0 if isinstance(error, aiohttp.ClientConnectorError) else None
    if page and status == HTTPStatus.OK:
        log.warning("response URL failed", action="response_url.failed", error="a page")
        return None
    if status != HTTPStatus.OK:
        log.info("response URL refused", action="response_url.refused", status=status)
    return status
