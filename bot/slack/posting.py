"""Posting: privately to the person who asked, or where the work was asked for.

A `response_url` reaches every conversation, also those that the bot isn't in, but takes five posts in
30 minutes (slack-rules, Time). What is announced goes by `chat.postMessage`, so that it lands in the
thread that asked. A post is never repeated when it may have been made.
"""

from dataclasses import asdict, dataclass
from enum import Enum
from urllib.parse import urlsplit

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slack.views.blocks import JSON, Message

log = structlog.get_logger(__name__)

RESPONSE_HOSTS = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
TIMEOUT = 10
SLACK_FAILED = (SlackApiError, aiohttp.ClientError, OSError, TimeoutError)
"""What a call to Slack raises: refused, or broken on the way."""
UNREACHED = frozenset({"not_in_channel", "channel_not_found"})


@dataclass(frozen=True)
class Place:
    """Where something was asked for: a conversation, a thread in it, and a way to answer there; or `home`."""

    channel_id: str | None = None
    thread_ts: str | None = None
    response_url: str | None = None
    home: bool = False

    def as_json(self) -> JSON:
        """For a view's `private_metadata` or a continuation."""
        return {key: value for key, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, data: object) -> "Place":
        """What `as_json` wrote; anything else in it is dropped."""
        known = data if isinstance(data, dict) else {}
        texts = {
            k: v
            for k, v in known.items()
            if k in ("channel_id", "thread_ts", "response_url") and isinstance(v, str)
        }
        return cls(**texts, home=known.get("home") is True)


class Announced(Enum):
    """What became of an announcement; the value is a sentence's end for the person."""

    YES = "was announced"
    NOWHERE = "was not asked for in a conversation"
    SHARED = "this channel is shared with people outside your company"
    UNKNOWN = "I can't see who reads along here: invite me with `/invite` to have it announced"
    FAILED = "Slack didn't take the message"


def reason(error: BaseException) -> str | None:
    """Slack's own word for a refusal; None for anything else, also for an answer that isn't the API's."""
    answer = getattr(error, "response", None)
    data = getattr(answer, "data", answer)
    word = data.get("error") if isinstance(data, dict) else None
    return word if isinstance(word, str) else None


def trusted(slack: AsyncWebClient, response_url: str) -> bool:
    """Whether a response URL is Slack's: answers go nowhere else (a crafted one would leak them)."""
    target, api = urlsplit(response_url), urlsplit(slack.base_url)
    if target.netloc == api.netloc and target.scheme == api.scheme:
        return True
    return target.scheme == "https" and target.hostname in RESPONSE_HOSTS and target.port in (None, 443)


async def privately(
    slack: AsyncWebClient, place: Place, user_id: str, message: Message, *, replace: bool = False
) -> None:
    """Answer one person: where they asked, else in their conversation with the bot.

    `replace` puts the answer in the place of the private message whose button was pressed.
    """
    arguments = message.as_arguments()
    if place.response_url and trusted(slack, place.response_url):
        extra: JSON = {"response_type": "ephemeral", "replace_original": replace}
        if await _respond(slack, place.response_url, arguments | extra):
            return
    if place.channel_id:
        try:
            # Not in the thread: Slack shows nothing there unless it is an active one.
            await slack.chat_postEphemeral(channel=place.channel_id, user=user_id, **_by_method(arguments))
        except SlackApiError as error:
            log.info("private_answer_moved", action="answer", error=reason(error))
        else:
            return
    await slack.chat_postMessage(channel=user_id, **arguments)


async def to_person(slack: AsyncWebClient, user_id: str, message: Message) -> bool:
    """A direct message to somebody who didn't ask for anything here; whether Slack took it."""
    try:
        await slack.chat_postMessage(channel=user_id, **message.as_arguments())
    except SLACK_FAILED as error:
        log.warning("direct_message_refused", action="tell", error=type(error).__name__)
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
    except SlackApiError as error:
        if reason(error) == "message_not_found":
            return True
        log.info("withdrawn_otherwise", action="withdraw", error=reason(error))
        url = place.response_url
        return bool(url and trusted(slack, url) and await _respond(slack, url, {"delete_original": True}))
    return True


async def overheard(slack: AsyncWebClient, channel_id: str) -> Announced | None:
    """Why nothing may be said in a conversation: outsiders read along there, or can't be ruled out."""
    try:
        info = await slack.conversations_info(channel=channel_id)
    except SLACK_FAILED as error:
        log.info("not_announced", action="announce", error=type(error).__name__)
        return Announced.UNKNOWN
    channel = info.get("channel") or {}
    if channel.get("is_ext_shared") or channel.get("is_pending_ext_shared"):
        return Announced.SHARED
    return None


async def publicly(slack: AsyncWebClient, place: Place, message: Message) -> Announced:
    """Post where the work was asked for, unless outsiders read along there or can't be ruled out."""
    if place.channel_id is None:
        return Announced.NOWHERE
    if (why_not := await overheard(slack, place.channel_id)) is not None:
        return why_not
    arguments = message.as_arguments()
    try:
        await slack.chat_postMessage(channel=place.channel_id, thread_ts=place.thread_ts, **arguments)
    except SlackApiError as error:
        why = reason(error)
        if (
            why in UNREACHED
            and place.thread_ts is None
            and place.response_url
            and trusted(slack, place.response_url)
        ):
            posted = await _respond(
                slack,
                place.response_url,
                arguments | {"response_type": "in_channel", "replace_original": False},
            )
            return Announced.YES if posted else Announced.FAILED
        log.warning("announcement_refused", action="announce", error=why)
        return Announced.UNKNOWN if why in UNREACHED else Announced.FAILED
    except SLACK_FAILED as error:
        log.warning("announcement_lost", action="announce", error=type(error).__name__)
        return Announced.FAILED
    return Announced.YES


def _by_method(arguments: JSON) -> JSON:
    return {key: value for key, value in arguments.items() if not key.startswith("unfurl_")}


async def _respond(slack: AsyncWebClient, url: str, body: JSON) -> bool:
    """One post to a response URL; whether it was taken, or may have been: it is never repeated."""
    client = AsyncWebhookClient(url, timeout=TIMEOUT, session=slack.session, retry_handlers=[])
    try:
        answer = await client.send_dict(body)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        log.warning("response_url_failed", action="answer", error=type(error).__name__)
        return not isinstance(error, aiohttp.ClientConnectorError)
    if answer.status_code != 200:  # noqa: PLR2004 - HTTP's own number
        log.info("response_url_refused", action="answer", status=answer.status_code)
        return False
    return True
