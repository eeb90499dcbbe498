"""Posts messages: privately to the user who asked, or in the conversation where they asked.

A public post has a menu in which the user who caused it can delete it.

A `response_url` works in every conversation, even those that the bot isn't in, but only for five posts in 30
minutes (docs/slack.md, Time). Public posts use `chat.postMessage`, so that they land in the right thread, and
are never retried if the first attempt may have succeeded.
"""

import asyncio
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus

import aiohttp
import structlog
from slack_sdk.web.async_client import AsyncWebClient
from yarl import URL

from bot.errors import UserError
from bot.slack.outgoing.outcomes import (
    ChannelStatus,
    Delayed,
    DeliveryOutcome,
    Posted,
    PostOutcome,
    PostRefused,
    Unconfirmed,
)
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
from bot.slack.surfaces.interaction import Destination
from bot.slack.workspaces.slack_errors import (
    NO_ACCESS,
    SLACK_FAILED,
    Failure,
    failure,
    reason,
    retry_after,
    why,
)
from bot.slack_limits import MAX_MENU_OPTIONS
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

RESPONSE_ORIGINS = frozenset({"https://hooks.slack.com", "https://hooks.slack-gov.com"})
RESPONSE_URL_SECONDS = 10
LOOK_BACK = 100  # how many seconds and messages back an answer is looked for that Slack didn't confirm
LONGEST_ANSWER_WAIT = 30.0  # the most seconds of a rate limit that an answer waits on its last way


def deletable(message: Message, owner: Owner, first_name: str, service: str) -> Message:
    """Add *Delete post*, for this user, to the first menu with room, or else in a menu of its own."""
    blocks, delete = message.blocks, delete_menu(owner, first_name, service)
    for n, block in enumerate(blocks):
        old = block.get("accessory") or {}
        if old.get("action_id") == MENU and len(old["options"]) < MAX_MENU_OPTIONS:
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


def for_update(message: Message) -> JSON:
    """The arguments for `chat.update`; like ephemeral messages, an update takes no `unfurl_…`."""
    return {key: value for key, value in message.as_arguments().items() if not key.startswith("unfurl_")}


async def write(
    slack: AsyncWebClient,
    channel_id: str,
    message: Message,
    *,
    thread_ts: str | None = None,
    ts: str | None = None,
    retry: float = 1,
) -> DeliveryOutcome:
    """Post a message with one request, or put it in place of the bot's post `ts`.

    `retry` is how many seconds to wait after a failure if Slack doesn't say.
    """
    try:
        answer = await (
            slack.chat_update(channel=channel_id, ts=ts, **for_update(message))
            if ts
            else slack.chat_postMessage(channel=channel_id, thread_ts=thread_ts, **message.as_arguments())
        )
    except SLACK_FAILED as error:
        return outcome_of(error, retry)
    return Posted(str(answer["ts"]))


def outcome_of(error: BaseException, retry: float) -> DeliveryOutcome:
    """What became of a post whose request failed."""
    log.warning("not posted", action="post.failed", error=why(error))
    match failure(error):
        case Failure.DELAYED | Failure.LOCKED_OUT:
            seconds = retry_after(error, retry)
            return Delayed(retry if seconds is None else seconds)
        case Failure.UNKNOWN:
            return Unconfirmed()
        case Failure.GONE:
            return PostRefused(ChannelStatus.GONE, reason(error))
    return PostRefused(error=reason(error))


async def update(slack: AsyncWebClient, channel_id: str, ts: str, message: Message) -> bool:
    """Replace the text of the bot's post; True also if the post was deleted."""
    outcome = await write(slack, channel_id, message, ts=ts)
    return isinstance(outcome, Posted) or outcome == PostRefused(None, "message_not_found")


async def page_of(
    slack: AsyncWebClient, channel_id: str, thread_ts: str | None, **span: object
) -> tuple[list[JSON], bool]:
    """Messages of a conversation, or of a thread in it, and whether there are more. Raises SLACK_FAILED.

    A conversation is read from the newest message to the oldest, a thread the other way round.
    """
    about: JSON = {"channel": channel_id, **span}
    page = await (
        slack.conversations_replies(ts=thread_ts, **about)
        if thread_ts
        else slack.conversations_history(**about)
    )
    return page.get("messages") or [], bool(page.get("has_more"))


def marked(messages: Sequence[JSON], mark: str) -> str | None:
    """The `ts` of the message with a block of this ID; None without one."""
    for message in messages:
        if any(block.get("block_id") == mark for block in message.get("blocks") or ()):
            return str(message["ts"])
    return None


def with_mark(message: Message, mark: str) -> Message:
    """The message, to be found by its first block's ID: Slack returns it without an extra scope."""
    first, *others = message.blocks
    return replace(message, blocks=(first | {"block_id": mark}, *others))


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
        there: JSON = {"channel": place.channel_id, "thread_ts": thread}
        try:
            await slack.chat_postEphemeral(user=user_id, **there, **for_update(message))
        except SLACK_FAILED as error:
            log.warning("could not answer, trying another way", action="answer.failed", error=why(error))
        else:
            return

    outcome = await write(slack, user_id, message)
    if isinstance(outcome, Delayed) and outcome.seconds <= LONGEST_ANSWER_WAIT:
        await asyncio.sleep(outcome.seconds)
        outcome = await write(slack, user_id, message)
    if not isinstance(outcome, Posted):
        raise NotDelivered


async def _directly(slack: AsyncWebClient, place: Destination, message: Message) -> bool:
    """Post an ordinary message in the user's direct messages with the bot; returns whether it is there.

    If Slack doesn't confirm it, looks for it, because another try would show there, too.
    """
    mark, channel = f"answer-{secrets.token_hex(8)}", place.channel_id or ""
    outcome = await write(slack, channel, with_mark(message, mark), thread_ts=place.thread_ts)
    if isinstance(outcome, Posted):
        return True
    oldest = str(time.time() - LOOK_BACK)
    try:
        messages, _ = await page_of(slack, channel, place.thread_ts, oldest=oldest, limit=LOOK_BACK)
    except SLACK_FAILED as error:
        log.warning("answer not found", action="answer.failed", error=why(error))
        return False
    return marked(messages, mark) is not None


async def to_person(slack: AsyncWebClient, user_id: str, message: Message) -> bool:
    """Send a direct message to a user who didn't ask for anything; returns whether Slack accepted it."""
    return isinstance(await write(slack, user_id, message), Posted)


async def direct_channel(slack: AsyncWebClient, user_id: str) -> str:
    """The ID of a user's direct messages with the bot. Raises UserError."""
    try:
        opened = await slack.conversations_open(users=user_id)
    except SLACK_FAILED as error:
        if failure(error) in (Failure.DELAYED, Failure.UNKNOWN):
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
    url: str | None = answer.get("permalink")
    return url


async def publicly(
    slack: AsyncWebClient, place: Destination, message: Message
) -> tuple[PostOutcome, str | None]:
    """Post where the user asked; call `Conversations.why_not_share` first.

    Returns the outcome, and the post's `ts` unless it went through a response URL, which doesn't return it.
    """
    if place.channel_id is None:
        return PostOutcome.NOWHERE, None
    match await write(slack, place.channel_id, message, thread_ts=place.thread_ts):
        case Posted(ts):
            return PostOutcome.YES, ts
        case PostRefused(error=code) if code in NO_ACCESS:
            if place.thread_ts is not None or _slack_url(slack, place) is None:
                return PostOutcome.AUDIENCE_UNREAD, None
            in_channel: JSON = {"response_type": "in_channel", "replace_original": False}
            status = await _respond(slack, place, message.as_arguments() | in_channel)
            if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                return PostOutcome.UNCONFIRMED, None
            return (PostOutcome.YES if status == HTTPStatus.OK else PostOutcome.FAILED), None
        case Unconfirmed():
            return PostOutcome.UNCONFIRMED, None
        case Delayed():
            return PostOutcome.DELAYED, None
    return PostOutcome.FAILED, None


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
        async with connections.post(
            url, json=body, timeout=timeout, allow_redirects=False, proxy=slack.proxy
        ) as answer:
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
