"""Posts messages: privately to the user who asked, or in the conversation where they asked.

A public post has a menu in which the user who caused it can delete it.

A `response_url` works in every conversation, even those that the bot isn't in, but only for five posts in 30
minutes (docs/slack.md, Time). Public posts use `chat.postMessage`, so that they land in the right thread, and
are never retried if the first attempt may have succeeded.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable
from contextlib import suppress
from enum import Enum
from http import HTTPStatus
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from yarl import URL

from bot.errors import UserError
from bot.slack.interaction import Destination
from bot.slack.surfaces.blocks import (
    JSON,
    Element,
    Message,
    actions,
    confirm,
    menu,
    menu_option,
    option_values,
)
from bot.slack.surfaces.buttons import MENU, ActionExpired, DeletePost
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

RESPONSE_ORIGINS = frozenset({"https://hooks.slack.com", "https://hooks.slack-gov.com"})
RESPONSE_URL_SECONDS = 10
SLACK_FAILED = (SlackApiError, aiohttp.ClientError, OSError, TimeoutError)
"""The errors of a call to Slack that is refused or whose connection breaks."""
MENU_OPTIONS = 5
LOOK_BACK = 100  # how many seconds and messages back an answer is looked for that Slack didn't confirm
LONGEST_WAIT = 30.0  # the most seconds of a rate limit that an answer waits on its last way
NO_ACCESS = frozenset({"not_in_channel", "channel_not_found"})
OUTCOME_UNKNOWN = frozenset({None, "internal_error", "fatal_error"})
"""Slack's errors, or none at all, after which the outcome is unknown."""


class PostOutcome(Enum):
    YES = "posted"
    NOWHERE = "not asked for in a conversation"
    SHARED = "outsiders read the channel"
    ELSEWHERE = "the user isn't in the conversation"
    HIDDEN = "not everyone can see it in the service"
    UNKNOWN = "the audience is unknown"
    FAILED = "refused"
    UNSURE = "not confirmed"


NOT_ANNOUNCED = {
    PostOutcome.NOWHERE: "there's no channel to post in. Run this from a channel",
    PostOutcome.SHARED: "this channel is shared with people outside your company",
    PostOutcome.ELSEWHERE: "you aren't in that conversation. Join it to post there",
    PostOutcome.HIDDEN: "the project isn't public, and others here may not have access to it",
    PostOutcome.UNKNOWN: (
        "I can't see who's in this channel. Invite me with `/invite @Issue Bot` to post here"
    ),
    PostOutcome.FAILED: "Slack rejected the post. Check who can post in this channel",
    PostOutcome.UNSURE: "Slack didn't confirm the post. Check the channel before you try again",
}
"""Why something wasn't announced; each ends a sentence."""


def not_posted(why: PostOutcome) -> str:
    """Why a reply wasn't announced, or may not have been."""
    if why is PostOutcome.UNSURE:
        return "Slack didn't confirm the post. Check the channel before you share this again."
    return f"I didn't post this because {NOT_ANNOUNCED[why]}."


def deletable(message: Message, owner: Owner, first_name: str, service: str) -> Message:
    """Add *Delete post*, for this user, to the first menu with room, or else in a menu of its own."""
    blocks, delete = message.blocks, delete_menu(owner, first_name, service)
    for n, block in enumerate(blocks):
        old = block.get("accessory") or {}
        if old.get("action_id") == MENU and len(old["options"]) < MENU_OPTIONS:
            longer = block | {"accessory": menu([*old["options"], *delete["options"]])}
            return Message(message.text, (*blocks[:n], longer, *blocks[n + 1 :]))
    last = blocks[-1] if blocks else {}
    if last.get("type") == "actions":  # beside its buttons
        return Message(message.text, (*blocks[:-1], last | {"elements": [*last["elements"], delete]}))
    return Message(message.text, (*blocks, actions([delete])))


def delete_menu(owner: Owner, first_name: str, service: str) -> Element:
    """A menu with *Delete post* only, which says who may use it and asks first."""
    label = f"Delete post ({first_name} only)" if first_name else "Delete post"
    by = DeletePost(enterprise_id=owner.enterprise_id or "", team_id=owner.team_id, user_id=owner.user_id)
    question = confirm("Delete this post?", f"Nothing changes in {service}.", "Delete post", style="danger")
    return menu([menu_option(label, by)], confirm=question)


def poster_of(message: JSON) -> Owner | None:
    """The user who may delete a post, by the *Delete post* in its menus."""
    for value in option_values(message):
        action, _, carried = value.partition(" ")
        if action == DeletePost.action:
            with suppress(ActionExpired):
                delete = DeletePost.unpack(carried)
                return Owner(delete.enterprise_id or None, delete.team_id, delete.user_id)
            return None
    return None


class NotDelivered(Exception):
    """No way to reach the user worked. The work that the message was about is still done."""


def reason(error: BaseException) -> str | None:
    """Slack's error code; None for any other error or response."""
    answer = getattr(error, "response", None)
    data = getattr(answer, "data", answer)
    word = data.get("error") if isinstance(data, dict) else None
    return word if isinstance(word, str) else None


def why(error: BaseException) -> str:
    """What the log says of a failed call: Slack's error code, or the error's type."""
    return reason(error) or type(error).__name__


def retry_after(error: SlackApiError, otherwise: float) -> float | None:
    """The seconds to wait after a 429, `otherwise` if Slack doesn't say; None for any other error."""
    answer: Any = error.response
    if getattr(answer, "status_code", None) != HTTPStatus.TOO_MANY_REQUESTS:
        return None
    headers = {name.lower(): value for name, value in answer.headers.items()}
    wait = str(headers.get("retry-after", ""))
    return float(wait) if wait.isdecimal() else otherwise


def _slack_url(slack: AsyncWebClient, place: Destination) -> str | None:
    """The response URL, if it belongs to Slack; a forged one would leak the reply.

    Parses it like the HTTP client does, so that the two can't disagree about the host.
    """
    with suppress(ValueError):
        target = URL(place.response_url or "")
        plain = target.absolute and target.user is None and target.password is None
        if plain and str(target.origin()) in RESPONSE_ORIGINS | {str(URL(slack.base_url).origin())}:
            return place.response_url
    return None


async def privately(
    slack: AsyncWebClient, place: Destination, user_id: str, message: Message, *, replace: bool = False
) -> None:
    """Reply to one user: where they asked, or else in their direct messages with the bot.

    Tries the next way if one fails, even though the message may have arrived: two replies are better than
    none. The last way waits out a rate limit. `replace` replaces the private message whose button the user
    chose. Raises NotDelivered.
    """
    arguments = message.as_arguments()
    # Slack shows ephemeral messages only in active threads, as one is where the user has just written.
    thread = place.thread_ts if place.said_there else None
    extra: JSON = {"response_type": "ephemeral", "replace_original": replace}
    if thread and not replace:
        extra["thread_ts"] = thread
    if place.direct and not replace and await _directly(slack, place, message):
        return
    if await _respond(slack, place, arguments | extra) == HTTPStatus.OK:
        return
    if place.channel_id and not place.direct:
        there = slack.chat_postEphemeral(
            channel=place.channel_id, user=user_id, thread_ts=thread, **_without_unfurls(arguments)
        )
        if await _accepted(there, "could not answer, trying another way", "answer.failed"):
            return
    try:
        await slack.chat_postMessage(channel=user_id, **arguments)
    except SLACK_FAILED as error:
        wait = retry_after(error, 1) if isinstance(error, SlackApiError) else None
        if wait is None or wait > LONGEST_WAIT:
            raise NotDelivered from error
        await asyncio.sleep(wait)
        if not await to_person(slack, user_id, message):
            raise NotDelivered from error


async def _accepted(post: Awaitable[object], otherwise: str, action: str) -> bool:
    """Whether Slack confirmed a private message; logs `otherwise`, as `action`, if it didn't."""
    try:
        await post
    except SLACK_FAILED as error:
        log.warning(otherwise, action=action, error=why(error))
        return False
    return True


async def _directly(slack: AsyncWebClient, place: Destination, message: Message) -> bool:
    """Post an ordinary message in the user's direct messages with the bot; returns whether it is there.

    If Slack doesn't confirm it, looks for its first block's ID, because another try would show there, too.
    """
    mark, channel = f"answer-{secrets.token_hex(8)}", place.channel_id or ""
    first = tuple({"block_id": mark} | block for block in message.blocks[:1])
    marked = Message(message.text, (*first, *message.blocks[1:]))
    post = slack.chat_postMessage(channel=channel, thread_ts=place.thread_ts, **marked.as_arguments())
    if await _accepted(post, "looking for the answer", "answer.look_up"):
        return True
    about: JSON = {"channel": channel, "oldest": str(time.time() - LOOK_BACK), "limit": LOOK_BACK}
    try:
        page = await (
            slack.conversations_replies(ts=place.thread_ts, **about)
            if place.thread_ts
            else slack.conversations_history(**about)
        )
    except SLACK_FAILED as error:
        log.warning("answer not found", action="answer.failed", error=why(error))
        return False
    blocks = (block for found in page.get("messages") or () for block in found.get("blocks") or ())
    return any(block.get("block_id") == mark for block in blocks)


async def to_person(slack: AsyncWebClient, user_id: str, message: Message) -> bool:
    """Send a direct message to a user who didn't ask for anything; returns whether Slack accepted it."""
    post = slack.chat_postMessage(channel=user_id, **message.as_arguments())
    return await _accepted(post, "could not send a direct message", "direct.refused")


async def direct_channel(slack: AsyncWebClient, user_id: str) -> str:
    """The ID of a user's direct messages with the bot. Raises UserError."""
    try:
        opened = await slack.conversations_open(users=user_id)
    except SLACK_FAILED as error:
        if reason(error) in OUTCOME_UNKNOWN | {"ratelimited"}:
            raise UserError("Slack isn't responding. Try again in a minute.") from None
        raise UserError(
            "Slack doesn't let me send you direct messages. Ask a workspace admin to reinstall me, then "
            "try again."
        ) from None
    return str(opened["channel"]["id"])


async def dismiss(slack: AsyncWebClient, place: Destination) -> None:
    await _respond(slack, place, {"delete_original": True})


async def delete_post(slack: AsyncWebClient, place: Destination, ts: str) -> bool:
    """Delete the public message whose button the user chose; returns whether it is gone.

    Where the bot isn't a member, deletes it through the response URL that it was posted with.
    """
    try:
        await slack.chat_delete(channel=place.channel_id or "", ts=ts)
    except SLACK_FAILED as error:
        if reason(error) == "message_not_found":
            return True
        action = "announcement.withdrawn_otherwise"
        log.info("deleting through the response URL", action=action, error=why(error))
        return await _respond(slack, place, {"delete_original": True}) == HTTPStatus.OK
    return True


async def is_deleted(slack: AsyncWebClient, channel_id: str, ts: str) -> bool:
    """Whether Slack says that there's no such post anymore."""
    try:
        await slack.chat_getPermalink(channel=channel_id, message_ts=ts)
    except SLACK_FAILED as error:
        return reason(error) == "message_not_found"
    return False


async def permalink(slack: AsyncWebClient, place: Destination, message: JSON) -> str | None:
    """The link to a message in the place's conversation; None if Slack doesn't tell."""
    try:
        answer = await slack.chat_getPermalink(channel=place.channel_id or "", message_ts=message["ts"])
    except SLACK_FAILED:
        return None
    found: str | None = answer.get("permalink")
    return found


async def publicly(
    slack: AsyncWebClient, place: Destination, message: Message
) -> tuple[PostOutcome, str | None]:
    """Post where the user asked; call `Audiences.why_not_share` first.

    Returns the outcome, and the post's `ts` unless it went through a response URL, which doesn't return it.
    """
    if place.channel_id is None:
        return PostOutcome.NOWHERE, None
    arguments = message.as_arguments()
    try:
        answer = await slack.chat_postMessage(
            channel=place.channel_id, thread_ts=place.thread_ts, **arguments
        )
    except SLACK_FAILED as error:
        if reason(error) in NO_ACCESS and place.thread_ts is None and _slack_url(slack, place):
            in_channel: JSON = {"response_type": "in_channel", "replace_original": False}
            status = await _respond(slack, place, arguments | in_channel)
            if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                return PostOutcome.UNSURE, None
            return (PostOutcome.YES if status == HTTPStatus.OK else PostOutcome.FAILED), None
        log.warning("could not post", action="announcement.failed", error=why(error))
        return _outcome(error), None
    return PostOutcome.YES, str(answer["ts"])


async def update(slack: AsyncWebClient, channel_id: str, ts: str, message: Message) -> bool:
    """Replace the text of the bot's post; True also if the post was deleted."""
    try:
        await slack.chat_update(channel=channel_id, ts=ts, **for_update(message))
    except SLACK_FAILED as error:
        log.warning("could not update a post", action="post.not_updated", error=why(error))
        return reason(error) == "message_not_found"
    return True


def _outcome(error: BaseException) -> PostOutcome:
    code = reason(error)
    if code in NO_ACCESS:
        return PostOutcome.UNKNOWN
    status = getattr(getattr(error, "response", None), "status_code", None)
    refused = isinstance(error, SlackApiError) and code not in OUTCOME_UNKNOWN
    if refused or status == HTTPStatus.TOO_MANY_REQUESTS or isinstance(error, aiohttp.ClientConnectorError):
        return PostOutcome.FAILED
    return PostOutcome.UNSURE


def for_update(message: Message) -> JSON:
    return _without_unfurls(message.as_arguments())


def _without_unfurls(arguments: JSON) -> JSON:
    return {key: value for key, value in arguments.items() if not key.startswith("unfurl_")}


async def _respond(slack: AsyncWebClient, place: Destination, body: JSON) -> int | None:
    """Post to the response URL and return the status; 0 if there is none, or Slack wasn't reached.

    None if the connection broke or an HTML page came back: the post may have been accepted.
    """
    connections, url = slack.session, _slack_url(slack, place)
    if connections is None or url is None:
        return 0
    timeout = aiohttp.ClientTimeout(
        total=min(connections.timeout.total or RESPONSE_URL_SECONDS, RESPONSE_URL_SECONDS)
    )
    try:
        async with connections.post(url, json=body, timeout=timeout, allow_redirects=False) as answer:
            status = answer.status
            page = await answer.content.read(1) == b"<"
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        log.warning("response URL failed", action="response_url.failed", error=type(error).__name__)
        return 0 if isinstance(error, aiohttp.ClientConnectorError) else None
    if page and status == HTTPStatus.OK:
        log.warning("response URL failed", action="response_url.failed", error="an HTML page")
        return None
    if status != HTTPStatus.OK:
        log.info("response URL refused", action="response_url.refused", status=status)
    return status
