"""Includes the thread that an issue is created from: its messages in the description, its files attached."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import chain

from pydantic import BaseModel, ConfigDict
from slack_sdk.errors import SlackApiError

from bot.errors import UserError, WrongField
from bot.features.files.selections import look_up, name_of
from bot.features.new_issue.form import NewIssueMetadata
from bot.features.parts import Parts
from bot.service.conventions import DESCRIPTION_BYTES
from bot.slack.language.values import NoZone
from bot.slack.outgoing.conversations import conversation, is_member
from bot.slack.outgoing.messages import Thread, author_of, names_in
from bot.slack.outgoing.posting import permalink
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms, rich_input
from bot.slack.surfaces.blocks import JSON, Block, shortened
from bot.slack.surfaces.drafts import FormExpired
from bot.slack.surfaces.interaction import FormSubmission
from bot.slack.text.to_service import FORMATS, Format, translate
from bot.slack.workspaces.slack_errors import SLACK_FAILED, reason

FIELD = "thread"
FILES, NAMES = 40, 1000
"""How many files of a thread are attached, and how long the list of the others' names may be."""
PROGRESS = "Reading the thread… You can close this form."
ENDING = 500  # bytes that are kept free for the link to the rest of a thread


class OfferedThread(BaseModel):
    """A thread that a form offers to include, `checked` at first.

    `parent` is the description that the form starts with, if it is the thread's first message.
    """

    model_config = ConfigDict(frozen=True)

    channel_id: str
    ts: str
    parent: str = ""
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

    async def offer(self, reply: Reply, message: JSON, description: str, *, checked: bool) -> str | None:
        """Save the message's thread for a form. Returns the ID; None if it has no thread.

        The form starts with the `description`.
        """
        ts, channel_id = str(message.get("thread_ts") or ""), reply.place.channel_id
        if not (ts and channel_id):
            return None
        parent = description if message["ts"] == ts else ""
        offered = OfferedThread(channel_id=channel_id, ts=ts, parent=parent, checked=checked)
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
                raise _not_included("You're no longer in this conversation. Ask to be added")
            await thread.read(self.delays.thread)
        except SLACK_FAILED as error:
            raise _not_included(_why_unread(error, offered.channel_id)) from None
        repeated = offered.ts in thread.messages and await _is_untouched(reply, offered.parent, description)
        return await written(reply, thread, "" if repeated else description)


async def _may_read(reply: Reply, channel_id: str) -> bool:
    """Whether the user can still read a conversation: a form may be submitted a day after it was opened."""
    public = (await conversation(reply.slack, channel_id)).public
    return public or await is_member(reply.slack, channel_id, reply.owner.user_id)


async def _is_untouched(reply: Reply, initial: str, submitted: str) -> bool:
    """Whether the user submitted the description as the form showed it."""
    text_format = reply.wording.text_format
    prefilled = await rich_input.prefilled(initial, text_format)
    return bool(initial) and rich_input.written(prefilled, text_format, str) == submitted


def _why_unread(error: BaseException, channel_id: str) -> str:
    """Why a thread can't be read, and what to do, in plain text without the last full stop."""
    match reason(error):
        case "missing_scope":
            needed = error.response.get("needed") if isinstance(error, SlackApiError) else None
            scope = needed or "channels:history"
            return f"I can't read the thread. Ask a workspace admin to grant me the `{scope}` scope"
        case "not_in_channel" | "channel_not_found" if channel_id.startswith("D"):
            return "I can't read direct messages between people. Copy what matters into the description"
        case "not_in_channel" | "channel_not_found":
            return "I can't read the thread. Invite me with `/invite @Issue Bot`"
        case "ratelimited":
            return "Slack limits how fast I can read threads. Try again in a minute"
    return "Slack didn't send the thread. Try again in a minute"


def _not_included(why: str) -> WrongField:
    """A thread was to be included and can't be read."""
    return WrongField(FIELD, UserError("{why}. You can also create the issue without the thread.", why=why))


def form_field(offered: OfferedThread) -> Block:
    box = forms.checkbox(FIELD, "Include the thread", checked=offered.checked)
    return forms.field(FIELD, "Thread", box, hint="Its messages, with their authors, times, and files")


async def written(reply: Reply, thread: Thread, description: str) -> Included:
    """Adds a thread to an issue's description, without the bot's own posts."""
    app = reply.interaction.payload.get("api_app_id")
    messages = [message for message in thread.messages.values() if not app or message.get("app_id") != app]
    if not messages:
        return Included(description, notes=("The thread has only my own posts, so I didn't include it.",))
    own_zone, to = (await reply.profile()).zone, FORMATS[reply.wording.text_format]
    zone = UTC if own_zone is NoZone.UNKNOWN else own_zone  # the text says which

    files = await _files(reply, messages)
    url = await permalink(reply.slack, reply.place, {"ts": thread.ts})
    name = to.link(url, "Thread in Slack") if url else "Thread in Slack"
    parts = [f"{name} (times are in {to.text(str(zone))}):"]
    room = DESCRIPTION_BYTES - ENDING - _size(f"{description}\n\n{parts[0]}")
    for message in messages:
        part = await _quoted(reply, message, files, zone, to)
        if (room := room - _size(f"\n\n{part}")) < 0:
            break
        parts.append(part)

    notes = []
    count = len(parts) - 1
    if count < len(messages) or not thread.complete:
        url = await permalink(reply.slack, reply.place, messages[min(count, len(messages) - 1)])
        parts.append("The thread continues in Slack" + (f": {to.link(url, '')}" if url else "."))
        total = max(len(messages), thread.total)
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


async def _quoted(reply: Reply, message: JSON, files: Mapping[str, JSON], zone: tzinfo, to: Format) -> str:
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
    every_file = chain.from_iterable(message.get("files") or () for message in messages)
    present = (file for file in every_file if file.get("id") and file.get("mode") != "tombstone")
    given = {str(file["id"]): file for file in present}
    looked_up = await asyncio.gather(*(look_up(reply.slack, file) for file in list(given.values())[:FILES]))
    complete = zip(given, looked_up, strict=False)
    return given | {file_id: details for file_id, details in complete if not isinstance(details, UserError)}


def _size(text: str) -> int:
    """How many bytes a text takes in the service, where line breaks are CRLF."""
    return len(text.encode(errors="replace")) + text.count("\n")
