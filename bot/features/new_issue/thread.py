"""Includes the thread that an issue is created from: its messages in the description, its files attached."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum, auto

from pydantic import BaseModel, ConfigDict
from slack_sdk.errors import SlackApiError

from bot.errors import UserError, WrongField
from bot.features.files.jobs import look_up, name_of
from bot.features.new_issue.form import NewIssueMetadata
from bot.features.parts import Parts
from bot.service.conventions import DESCRIPTION_BYTES
from bot.slack.incoming.feature import FormExpired
from bot.slack.interaction import FormSubmission
from bot.slack.language.values import NoZone
from bot.slack.outgoing.audience import is_member
from bot.slack.outgoing.posting import SLACK_FAILED, permalink, reason
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms, rich_input
from bot.slack.surfaces.blocks import JSON, Block, context, shortened
from bot.slack.text.mrkdwn import prose
from bot.slack.text.to_service import FORMATS, Format, translate
from bot.slack.workspaces.messages import author_of, names_in
from bot.slack.workspaces.threads import Thread

FIELD = "thread"
FILES, NAMES = 40, 1000
"""How many files of a thread are attached, and how long the list of the others' names may be."""
PROGRESS = "Reading the thread… You can close this form."
ENDING = 500  # bytes that are kept free for the link to the rest of a thread


class Unread(StrEnum):
    NOT_MEMBER = auto()
    DIRECT = auto()  # the bot can't be invited to direct messages
    LEFT = auto()  # the user is no longer in the conversation
    SCOPE = auto()
    LIMITED = auto()
    FAILED = auto()


class OfferedThread(BaseModel):
    """A thread that a form offers to include, `checked` at first; `total` is 0 if unknown.

    `parent` is the description that the form starts with, if it is the thread's first message.
    """

    model_config = ConfigDict(frozen=True)

    channel_id: str
    ts: str
    total: int = 0
    parent: str = ""
    unread: Unread | None = None
    scope: str = ""
    checked: bool = False


@dataclass(frozen=True)
class Included:
    """An issue's description with a thread, the thread's files as Slack's objects, and notes for the user."""

    description: str
    files: tuple[JSON, ...] = ()
    notes: tuple[str, ...] = ()


class ThreadInclusion:
    """Offers a message's thread in the form, and reads it when the form is submitted."""

    def __init__(self, parts: Parts) -> None:
        self.saved, self.delays = parts.store.saved_input, parts.delays

    async def look(self, reply: Reply, message: JSON) -> OfferedThread | None:
        """Look at a message's thread, so that the form can offer it; None if it is in none."""
        ts, channel_id = message.get("thread_ts"), reply.place.channel_id
        if not (ts and channel_id):
            return None
        thread = Thread(reply.slack, channel_id, str(ts))
        try:
            async with asyncio.timeout(self.delays.thread_look):
                await thread.read_page()
        except SLACK_FAILED as error:
            unread, scope = _refused(error, channel_id)
            if unread not in (Unread.LIMITED, Unread.FAILED):  # it may work later
                return OfferedThread(channel_id=channel_id, ts=thread.ts, unread=unread, scope=scope)
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

        The thread replaces a description that only repeats its first message. Raises WrongField, FormExpired.
        """
        offered = await self.offered(reply, NewIssueMetadata.of(form.view))
        if offered is None or not forms.Values(form.view.json).all_chosen(FIELD):
            return Included(description)
        thread = Thread(reply.slack, offered.channel_id, offered.ts)
        reply.progress = lambda: PROGRESS
        try:
            if not await _may_read(reply, offered.channel_id):
                raise _not_included(Unread.LEFT)
            await thread.read(self.delays.thread)
        except SLACK_FAILED as error:
            raise _not_included(*_refused(error, offered.channel_id)) from None
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


def _refused(error: BaseException, channel_id: str) -> tuple[Unread, str]:
    """Why a thread can't be read, with the missing scope, if that is why."""
    match reason(error):
        case "missing_scope":
            needed = error.response.get("needed") if isinstance(error, SlackApiError) else None
            return Unread.SCOPE, str(needed or "channels:history")
        case "not_in_channel" | "channel_not_found":
            return (Unread.DIRECT if channel_id.startswith("D") else Unread.NOT_MEMBER), ""
        case "ratelimited":
            return Unread.LIMITED, ""
    return Unread.FAILED, ""


NOT_INCLUDED = {
    Unread.SCOPE: "I can't read the thread. Ask a Slack administrator to grant me the `{scope}` scope",
    Unread.DIRECT: "I can't read direct messages between people. Copy what matters into the description",
    Unread.NOT_MEMBER: "I can't read the thread. Invite me with `/invite @Issue Bot`",
    Unread.LEFT: "You're no longer in this conversation. Ask to be added",
    Unread.LIMITED: "Slack limits how fast I can read threads. Try again in a minute",
    Unread.FAILED: "Slack didn't send the thread. Try again in a minute",
}


def _not_included(unread: Unread, scope: str = "") -> WrongField:
    """A thread was to be included and can't be read."""
    why = NOT_INCLUDED[unread].format(scope=scope)
    return WrongField(FIELD, UserError("{why}. You can also create the issue without the thread.", why=why))


def form_field(offered: OfferedThread) -> Block:
    """The checkbox, or what to do so that the bot can read the thread."""
    if offered.unread:
        return context(prose(_how_to_include(offered.unread, offered.scope)))
    many = f"{offered.total} messages" if offered.total > 1 else "All messages"
    box = forms.checkbox(FIELD, "Include the thread", checked=offered.checked)
    return forms.field(FIELD, "Thread", box, hint=f"{many}, with their authors, times, and files")


def _how_to_include(why: Unread, scope: str) -> str:
    """What to do so that the bot can read a thread, in plain text."""
    match why:
        case Unread.SCOPE:
            return f"To include the thread, ask a Slack administrator to grant me the `{scope}` scope."
        case Unread.DIRECT:
            return "I can't read direct messages between people. Copy what matters into the description."
        case _:
            return "To include the thread, invite me with `/invite @Issue Bot` and open this form again."


async def written(reply: Reply, thread: Thread, description: str) -> Included:
    """Adds a thread to an issue's description, without the bot's own posts."""
    app = reply.interaction.payload.get("api_app_id")
    said = [message for message in thread.messages.values() if not app or message.get("app_id") != app]
    if not said:
        return Included(description, notes=("The thread has only my own posts, so I didn't include it.",))
    own_zone, to = (await reply.profile()).zone, FORMATS[reply.wording.text_format]
    zone = UTC if own_zone is NoZone.UNKNOWN else own_zone  # the text says which
    files = await _files(reply, said)
    url = await permalink(reply.slack, reply.place, {"ts": thread.ts})
    name = to.link(url, "Thread in Slack") if url else "Thread in Slack"
    parts = [f"{name} (times are in {to.text(str(zone))}):"]
    room = DESCRIPTION_BYTES - ENDING - _size(f"{description}\n\n{parts[0]}")
    for message in said:
        part = await _said(reply, message, files, zone, to)
        if (room := room - _size(f"\n\n{part}")) < 0:
            break
        parts.append(part)
    notes = []
    count = len(parts) - 1
    if count < len(said) or not thread.complete:
        url = await permalink(reply.slack, reply.place, said[min(count, len(said) - 1)])
        parts.append("The thread continues in Slack" + (f": {to.link(url, '')}" if url else "."))
        total = max(len(said), thread.total)
        notes.append(
            f"The issue has the first {count} of the thread's {total} messages and a link to the rest."
        )
    attached = tuple(files.values())
    if others := ", ".join(map(name_of, attached[FILES:])):
        notes.append(
            f"I attach up to {FILES} files from a thread. To attach the others, choose “More actions › "
            f"Attach files to an issue” on their messages: {shortened(others, NAMES)}"
        )
    return Included("\n\n".join(filter(None, (description, *parts))), attached[:FILES], tuple(notes))


async def _said(reply: Reply, message: JSON, files: Mapping[str, JSON], zone: tzinfo, to: Format) -> str:
    """A message: its author and time, its text, and the names of its files."""
    author = " ".join((await author_of(reply, message)).split())
    at = datetime.fromtimestamp(float(message["ts"]), zone)
    time = f"{at:%b} {at.day}, {at.year}, {at.hour % 12 or 12}:{at:%M %p}"
    text = message["text"]
    own = (files.get(str(file.get("id"))) for file in message.get("files") or ())
    names = ", ".join(to.text(name_of(file)) for file in own if file)
    parts = (
        f"{to.marked('bold', to.text(author))} · {time}",
        await asyncio.to_thread(translate, text, await names_in(reply, text), to),
        f"Files: {names}" if names else "",
    )
    return "\n\n".join(filter(None, parts))


async def _files(reply: Reply, messages: Sequence[JSON]) -> dict[str, JSON]:
    """The files of messages by ID, in order and without deleted ones; complete, unless Slack doesn't show
    them.
    """
    given = {
        str(file["id"]): file
        for message in messages
        for file in message.get("files") or ()
        if file.get("id") and file.get("mode") != "tombstone"
    }
    looked_up = zip(given, await look_up(reply.slack, list(given.values())[:FILES]), strict=False)
    return given | {file_id: found for file_id, found in looked_up if not isinstance(found, UserError)}


def _size(text: str) -> int:
    """How many bytes a text takes in the service, where line breaks are CRLF."""
    return len(text.encode(errors="replace")) + text.count("\n")
