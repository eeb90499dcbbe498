"""Writes a thread for an issue's description: who said what and when, with quotes and the names of files."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from bot.features.files.errors import LostFile
from bot.features.files.slack_files import look_up, name_of
from bot.features.new_issue.from_message import author_of, names_in
from bot.service.conventions import DESCRIPTION_BYTES
from bot.slack.blocks import JSON, shortened
from bot.slack.posting import permalink
from bot.slack.replies import Reply
from bot.slack.text.formats import FORMATS
from bot.slack.text.outgoing import Format, translate
from bot.slack.threads import MOST, Thread

FILES, NAMES = 40, 1000
"""How many files of a thread are attached, and how long the list of the others' names may be."""
ENDING = 500
"""Bytes that are kept free for the link to the rest of a thread."""


@dataclass(frozen=True)
class Included:
    """An issue's description with a thread, the thread's files as Slack's objects, and notes for the user."""

    description: str
    files: tuple[JSON, ...] = ()
    notes: tuple[str, ...] = ()


async def written(reply: Reply, thread: Thread, description: str) -> Included:
    """Adds a thread to an issue's description, without the bot's own posts."""
    app = reply.interaction.payload.get("api_app_id")
    said = [message for message in thread.messages.values() if not app or message.get("app_id") != app]
    if not said:
        return Included(description, notes=("The thread has only my own posts, so I didn't include it.",))
    zone, to = (await reply.profile()).zone, FORMATS[reply.wording.text_format]
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
        total, why = max(len(said), thread.total), "Slack limits how fast I can read"
        if count < len(said):
            why = "a description can't be longer"
        elif len(thread.messages) >= MOST:
            why = "I can't include more"
        notes.append(
            f"The issue has the first {count} of the thread's {total} messages and a link to the rest, "
            f"because {why}."
        )
    attached = tuple(files.values())
    if others := ", ".join(map(name_of, attached[FILES:])):
        notes.append(
            f"I attach up to {FILES} files from a thread. To attach the others, use “Attach files to an "
            f"issue” on their messages: {shortened(others, NAMES)}"
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
    return given | {file_id: found for file_id, found in looked_up if not isinstance(found, LostFile)}


def _size(text: str) -> int:
    """How many bytes a text takes in the service, where line breaks are CRLF."""
    return len(text.encode(errors="replace")) + text.count("\n")
