"""Reads the names that a typed text may hold: once for a command, and only the lists that it may need."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from bot.access.name_matching import AmbiguousName, UnknownName
from bot.access.vocabulary import vocabulary
from bot.errors import UserError, WrongField
from bot.features.parts import Parts
from bot.service.models import Ref
from bot.slack.language.marks import Vocabulary
from bot.slack.language.options import Parsed
from bot.slack.language.phrases import Where
from bot.slack.language.reading import identifiers, needs, search, subject
from bot.slack.outgoing.replies import Reply

T = TypeVar("T")
MANY = 2_000  # how many names are searched in the event loop
EVERY_PROJECT = ("all", "any", "*")


async def vocabulary_for(
    parts: Parts, reply: Reply, parsed: Parsed, where: Where | None = None, project: str | None = None
) -> Vocabulary:
    """The names in the `project` or the one that the text names, or else in the channel's.

    Without `where`, only the custom fields that its keys may be.

    Raises NotLinked.
    """
    kinds = needs(parsed.words, where) if where else frozenset[str]()
    if not project and "project" in parsed.options:
        typed = parsed.options["project"][0].text
        project = "any" if typed.lower() in EVERY_PROJECT else typed
    kinds -= {"project"} if project else set()
    if not (kinds or parsed.unknown):
        return Vocabulary()
    about, names = (parts, reply.owner), {}
    if "project" in kinds:
        names = await vocabulary(*about, None, reply.channel, ["project"], typed=identifiers(parsed.words))
        today, read = (await reply.typist()).today, subject if where == "new" else search
        found = await read_with(Vocabulary(names), partial(read, parsed, Vocabulary(names), today))
        project = next((value.text for value in found.options.get("project", ())), None)
    more, (fields, problem) = await asyncio.gather(
        vocabulary(*about, project, reply.channel, kinds - {"project"}),
        _fields(parts, reply, project) if parsed.unknown else _none(),
    )
    return Vocabulary({**names, **more}, fields, problem)


async def read_with(vocabulary: Vocabulary, read: Callable[[], T]) -> T:
    """Return the result of `read`; in a thread if there are many names, so that nobody else waits."""
    many = sum(map(len, vocabulary.names.values())) > MANY
    return await asyncio.to_thread(read) if many else read()


async def _none() -> tuple[list[Ref], UserError | None]:
    return [], None


async def _fields(parts: Parts, reply: Reply, project: str | None) -> tuple[list[Ref], UserError | None]:
    try:
        async with parts.accounts.reading(reply.owner) as session:
            return await parts.catalogs.custom_fields_of(session, project, reply.channel), None
    except (AmbiguousName, UnknownName) as error:
        return [], WrongField("project", error)
