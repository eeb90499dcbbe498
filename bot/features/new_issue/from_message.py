"""Reads a message, and builds the draft of an issue from it."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.features.issues.fields import Draft
from bot.slack import forms, message_text
from bot.slack.blocks import JSON, shortened
from bot.slack.mentions import names_of
from bot.slack.posting import permalink
from bot.slack.replies import Reply
from bot.slack.text.formats import FORMATS
from bot.slack.text.outgoing import to_plain, translate

SUBJECT = 120
SHORTENED = " (shortened here)"


@dataclass(frozen=True)
class InWords:
    """A message for the service: its text and its author with a link to it, in the service's format, and its
    first line in plain text.
    """

    text: str
    source: str
    first_line: str


async def draft_from_message(reply: Reply, message: JSON) -> Draft:
    """A message as a draft: its first line is the subject, its text with author and link the description."""
    said = await in_words(reply, message)
    description = f"{said.text}\n\n– {said.source}".lstrip()
    return Draft(subject=shortened(said.first_line.rstrip("."), SUBJECT), values={"desc": description})


async def in_words(reply: Reply, message: JSON) -> InWords:
    """A message, shortened if it doesn't fit into a form."""
    text = message_text.text_of(message)
    author, name = await author_of(reply, message), await names_in(reply, text)
    link = await permalink(reply.slack, reply.place, message)
    to = FORMATS[reply.wording.text_format]
    source = re.sub(r"[^\w .-]", "", author) + " in Slack"
    if link:
        source = to.link(link, source)
    whole = await asyncio.to_thread(translate, text, name, to)
    body = shortened(whole, forms.TEXT - len(source) - len(SHORTENED) - 4)
    if body != whole:
        source = f"{source}{SHORTENED}"
    plain = await asyncio.to_thread(to_plain, text, name)
    first = next((line.strip() for line in plain.splitlines() if line.strip()), "")
    return InWords(body, source, first)


async def author_of(reply: Reply, message: JSON) -> str:
    """The name of the user or app that posted a message."""
    if name := message_text.author_of(message):
        return name
    return (await reply.profile_of(message["user"])).name if message.get("user") else "someone"


async def names_in(reply: Reply, text: str) -> Callable[[str], str]:
    """Looks up the users that a message's text mentions; the result returns a user's name by ID."""
    mentioned = dict.fromkeys(re.findall(r"<@([UW][A-Z0-9]+)", text))
    names = await names_of(reply, (("user", user) for user in mentioned))
    return lambda user: names.get(user, user)
