"""Reads the names that a typed text may hold: once for a command, and only the lists that it may need."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TypeVar

from bot.access.access import Access
from bot.access.catalog import Part
from bot.access.name_matching import UnclearName
from bot.access.projects import KnownProject
from bot.errors import Forbidden, NotFound, NotLinked, ServiceError, Unauthorized, UserError, WrongField
from bot.features.parts import Parts
from bot.service.models import Ref
from bot.slack.language.marks import Vocabulary
from bot.slack.language.options import Parsed
from bot.slack.language.phrases import Where
from bot.slack.language.reading import HalfPhrase, identifiers, is_search, needs, search, subject
from bot.slack.language.tokens import UnclosedQuote, words
from bot.slack.outgoing.replies import Reply
from bot.store.channels import Channel
from bot.store.owner import Owner

T = TypeVar("T")
FEW_WORDS = 12  # how many words a search has that needs no verb
MANY_NAMES = 2_000  # how many names are searched in the event loop
PARTS: Mapping[str, Part] = {
    "tracker": "trackers",
    "status": "statuses",
    "priority": "priorities",
    "category": "categories",
    "version": "every_version",
    "person": "people",
}
"""What a catalog calls them, by what a phrase does."""
EVERY_PROJECT = ("all", "any", "*")


async def vocabulary(
    access: Access,
    owner: Owner,
    project: str | None,
    channel: Channel | None,
    kinds: Collection[str],
    *,
    typed: Collection[str] = (),
) -> dict[str, tuple[str, ...]]:
    """Return the names of these kinds, `PARTS` or `project`, in the named project or the channel's.

    `typed` can name closed projects, which aren't listed. Lists that the service doesn't have, or that the
    user may not see, are missing. Raises NotLinked, and ServiceError, since a text would be misread without
    its names.
    """
    if not kinds:
        return {}
    session = await access.accounts.unverified(owner)
    found: dict[str, tuple[str, ...]] = {}

    async def projects() -> None:
        with suppress(Forbidden, NotFound):
            known = [*await access.projects.visible(session)]
            for one in typed:
                with suppress(UnclearName):
                    known.append(await access.projects.find(session, one))
            found["project"] = tuple(chain.from_iterable((one.name, one.identifier) for one in known))

    async def names() -> None:
        with suppress(Forbidden, NotFound, UnclearName):
            here: KnownProject | None = None
            if project and project != "any":
                here = await access.projects.find(session, project)
            elif not project:
                here = await access.projects.default_in(session, channel)

            parts = {kind: part for kind, part in PARTS.items() if kind in kinds}
            if here is None:
                parts.pop("category", None)
            catalog = await access.catalogs.of(session, here.id if here else None, parts.values())
            found.update({k: tuple(ref.name for ref in catalog.lists[p]) for k, p in parts.items()})

    reads = [projects()] if "project" in kinds else []
    try:
        await asyncio.gather(*reads, *([names()] if PARTS.keys() & set(kinds) else []))
    except Unauthorized:
        await access.accounts.whoami(owner)
        raise
    return found


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
        with suppress(HalfPhrase):  # other names may make it whole
            found = await read_with(Vocabulary(names), partial(read, parsed, Vocabulary(names), today))
            project = next((value.text for value in found.options.get("project", ())), None)
    more, (fields, problem) = await asyncio.gather(
        vocabulary(*about, project, reply.channel, kinds - {"project"}),
        _fields(parts, reply, parsed, project),
    )
    return Vocabulary({**names, **more}, fields, problem)


async def is_search_phrase(parts: Parts, reply: Reply, text: str) -> bool:
    """Whether a short text is nothing but phrases of a search, with the names that the user may use."""
    with suppress(NotLinked, ServiceError, UnclosedQuote, HalfPhrase):
        parsed = Parsed(words(text), {})
        if len(parsed.words) <= FEW_WORDS:
            known = await vocabulary_for(parts, reply, parsed, "search")
            today = (await reply.typist()).today
            return await read_with(known, partial(is_search, parsed, today, known))
    return False


async def read_with(vocabulary: Vocabulary, read: Callable[[], T]) -> T:
    """Return the result of `read`; in a thread if there are many names, so that nobody else waits."""
    many = sum(map(len, vocabulary.names.values())) > MANY_NAMES
    return await asyncio.to_thread(read) if many else read()


async def _fields(
    parts: Parts, reply: Reply, parsed: Parsed, project: str | None
) -> tuple[list[Ref], UserError | None]:
    """The custom fields that unknown keys may be, or why they can't be read."""
    if not parsed.unknown:
        return [], None
    try:
        async with parts.accounts.reading(reply.owner) as session:
            return await parts.catalogs.custom_fields_of(session, project, reply.channel), None
    except UnclearName as error:
        return [], WrongField("project", error)
