"""Includes the thread that an issue is created from: its messages in the description, its files attached."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum, auto

from pydantic import BaseModel, ConfigDict
from slack_sdk.errors import SlackApiError

from bot.errors import UserError, WrongField
from bot.features.new_issue.metadata import NewIssueMetadata
from bot.features.new_issue.thread_text import Included, written
from bot.slack import forms, rich_input
from bot.slack.audience import is_member
from bot.slack.blocks import JSON
from bot.slack.errors import FormExpired
from bot.slack.interaction import FormSubmission
from bot.slack.posting import SLACK_FAILED, reason
from bot.slack.replies import Reply
from bot.slack.text import prose
from bot.slack.threads import Thread, Threads
from bot.slack.waits import Waits
from bot.store.saved_input import SavedInput

FIELD = "thread"


class Unread(StrEnum):
    """Why a thread can't be read."""

    NOT_MEMBER = auto()
    DIRECT = auto()
    """The bot can't be invited to direct messages."""
    LEFT = auto()
    """The user is no longer in the conversation."""
    SCOPE = auto()
    LIMITED = auto()
    FAILED = auto()


class ThreadUnreadable(UserError):
    """A thread was to be included and can't be read; `scope` is the missing one, if that is why."""

    why: Unread
    scope: str


class OfferedThread(BaseModel):
    """A thread that a form offers to include; `total` is 0 if unknown.

    `parent` is the description that the form starts with, if it is the thread's first message.
    """

    model_config = ConfigDict(frozen=True)

    channel_id: str
    ts: str
    total: int = 0
    parent: str = ""
    unread: Unread | None = None
    scope: str = ""


@dataclass(frozen=True)
class ThreadInclusion:
    """Offers a message's thread in the form, and reads it when the form is submitted."""

    threads: Threads
    saved: SavedInput
    waits: Waits

    async def look(self, reply: Reply, message: JSON) -> OfferedThread | None:
        """Look at a message's thread, so that the form can offer it; None if it is in none."""
        ts, channel_id = message.get("thread_ts"), reply.place.channel_id
        if not (ts and channel_id):
            return None
        thread = Thread(reply.owner.team_id, channel_id, str(ts))
        try:
            async with asyncio.timeout(self.waits.thread_look):
                await self.threads.look(reply.slack, thread)
        except SLACK_FAILED as error:
            refused = _unreadable(error, channel_id)
            if refused.why not in (Unread.LIMITED, Unread.FAILED):  # it may work later
                return OfferedThread(
                    channel_id=channel_id, ts=thread.ts, unread=refused.why, scope=refused.scope
                )
        return OfferedThread(channel_id=channel_id, ts=thread.ts, total=thread.total)

    async def save(self, reply: Reply, offered: OfferedThread, message: JSON, description: str) -> str:
        """Save what a form for a message offers; returns its ID. The form starts with the `description`."""
        if message["ts"] == offered.ts:
            offered = offered.model_copy(update={"parent": description})
        return await self.saved.put(reply.owner, offered.model_dump(mode="json"))

    async def offered(self, reply: Reply, metadata: NewIssueMetadata) -> OfferedThread | None:
        """The thread that a form offers. Raises FormExpired after a day."""
        if metadata.thread is None:
            return None
        payload = await self.saved.get(reply.owner, metadata.thread)
        if payload is None:
            raise FormExpired("issue")
        return OfferedThread.model_validate(payload)

    async def included(self, reply: Reply, form: FormSubmission, description: str) -> Included:
        """The description with the thread below it, if the form's box is checked.

        The thread replaces a description that only repeats its first message. Raises WrongField with
        ThreadUnreadable, and FormExpired.
        """
        offered = await self.offered(reply, NewIssueMetadata.of(form.view))
        if offered is None or not forms.Values(form.view.json).all_chosen(FIELD):
            return Included(description)
        thread = Thread(reply.owner.team_id, offered.channel_id, offered.ts, total=offered.total)
        reply.progress = lambda: prose(_progress(thread))
        try:
            if not await _may_read(reply, offered.channel_id):
                raise WrongField(FIELD, ThreadUnreadable(Unread.LEFT, ""))
            await self.threads.read(reply.slack, thread, self.waits.thread)
        except SLACK_FAILED as error:
            raise WrongField(FIELD, _unreadable(error, offered.channel_id)) from None
        repeated = offered.ts in thread.messages and await _is_untouched(reply, offered.parent, description)
        return await written(reply, thread, "" if repeated else description)


async def _may_read(reply: Reply, channel_id: str) -> bool:
    """Whether the user can still read a conversation: a form may be submitted a day after it was opened."""
    channel = (await reply.slack.conversations_info(channel=channel_id)).get("channel") or {}
    is_public = channel.get("is_channel") is True and channel.get("is_private") is False
    return is_public or await is_member(reply.slack, channel_id, reply.owner.user_id)


async def _is_untouched(reply: Reply, initial: str, submitted: str) -> bool:
    """Whether the user submitted the description as the form showed it."""
    text_format = reply.wording.text_format
    shown = await rich_input.prefilled(initial, text_format)
    return bool(initial) and rich_input.written(shown, text_format, str) == submitted


def _progress(thread: Thread) -> str:
    read, total = len(thread.messages), thread.total
    far = f": {read} of {max(read, total)} messages" if total else ""
    return f"Reading the thread{far}… You can close this form."


def _unreadable(error: BaseException, channel_id: str) -> ThreadUnreadable:
    match reason(error):
        case "missing_scope":
            needed = error.response.get("needed") if isinstance(error, SlackApiError) else None
            return ThreadUnreadable(Unread.SCOPE, str(needed or "channels:history"))
        case "not_in_channel" | "channel_not_found":
            return ThreadUnreadable(Unread.DIRECT if channel_id.startswith("D") else Unread.NOT_MEMBER, "")
        case "ratelimited":
            return ThreadUnreadable(Unread.LIMITED, "")
    return ThreadUnreadable(Unread.FAILED, "")
