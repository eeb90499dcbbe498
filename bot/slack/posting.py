"""Posting: privately to the person who asked, or where the work was asked for.

A `response_url` reaches every conversation, also those that the bot isn't in, but takes five posts in
30 minutes (slack-rules, Time). What is announced goes by `chat.postMessage`, so that it lands in the
thread that asked. A post is never repeated when it may have been made.
"""

from dataclasses import asdict, dataclass
from enum import Enum
from urllib.parse import urlsplit

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slack.views.blocks import JSON, Message

log = structlog.get_logger(__name__)

RESPONSE_HOSTS = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
TIMEOUT = 10
UNREACHED = frozenset({"not_in_channel", "channel_not_found"})


@dataclass(frozen=True)
class Place:
    """Where something was asked for: a conversation, a thread in it, and a way to answer there."""

    channel_id: str | None = None
    thread_ts: str | None = None
    response_url: str | None = None

    def as_json(self) -> JSON:
        """For a view's `private_metadata` or a continuation."""
        return {key: value for key, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, data: object) -> "Place":
        """What `as_json` wrote; anything else in it is dropped."""
        known = data if isinstance(data, dict) else {}
        return cls(
            **{
                k: v
                for k, v in known.items()
                if k in ("channel_id", "thread_ts", "response_url") and isinstance(v, str)
            }
        )


class Announced(Enum):
    """What became of an announcement; the value is a sentence's end for the person."""

    YES = "was announced"
    NOWHERE = "was not asked for in a conversation"
    SHARED = "this channel is shared with people outside your company"
    UNKNOWN = "I can't see who reads along here: invite me with `/invite` to have it announced"
    FAILED = "Slack didn't take the message"


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
            await slack.chat_postEphemeral(
                channel=place.channel_id, user=user_id, thread_ts=place.thread_ts, **_by_method(arguments)
            )
        except SlackApiError as error:
            log.info("private_answer_moved", action="answer", error=error.response.get("error"))
        else:
            return
    await slack.chat_postMessage(channel=user_id, **arguments)


async def dismiss(slack: AsyncWebClient, place: Place) -> None:
    """Take away the private message whose button was pressed."""
    if place.response_url and trusted(slack, place.response_url):
        await _respond(slack, place.response_url, {"delete_original": True})


async def publicly(slack: AsyncWebClient, place: Place, message: Message) -> Announced:
    """Post where the work was asked for, unless outsiders read along there or can't be ruled out."""
    if place.channel_id is None:
        return Announced.NOWHERE
    try:
        info = await slack.conversations_info(channel=place.channel_id)
    except SlackApiError as error:
        log.info("not_announced", action="announce", error=error.response.get("error"))
        return Announced.UNKNOWN
    channel = info.get("channel") or {}
    if channel.get("is_ext_shared") or channel.get("is_pending_ext_shared"):
        return Announced.SHARED
    arguments = message.as_arguments()
    try:
        await slack.chat_postMessage(channel=place.channel_id, thread_ts=place.thread_ts, **arguments)
    except SlackApiError as error:
        reason = error.response.get("error")
        if (
            reason in UNREACHED
            and place.thread_ts is None
            and place.response_url
            and trusted(slack, place.response_url)
        ):
            posted = await _respond(slack, place.response_url, arguments | {"response_type": "in_channel"})
            return Announced.YES if posted else Announced.FAILED
        log.warning("announcement_refused", action="announce", error=reason)
        return Announced.UNKNOWN if reason in UNREACHED else Announced.FAILED
    return Announced.YES


def _by_method(arguments: JSON) -> JSON:
    return {key: value for key, value in arguments.items() if not key.startswith("unfurl_")}


async def _respond(slack: AsyncWebClient, url: str, body: JSON) -> bool:
    """One post to a response URL; whether it was taken. Never repeated."""
    client = AsyncWebhookClient(url, timeout=TIMEOUT, session=slack.session, retry_handlers=[])
    try:
        answer = await client.send_dict(body)
    except (OSError, TimeoutError) as error:
        log.warning("response_url_failed", action="answer", error=type(error).__name__)
        return False
    if answer.status_code != 200:  # noqa: PLR2004 - HTTP's own number
        log.info("response_url_refused", action="answer", status=answer.status_code)
        return False
    return True
