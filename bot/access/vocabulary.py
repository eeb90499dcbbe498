"""The names that a person may use, for reading what they type."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.catalog import Part
from bot.access.name_matching import AmbiguousName, UnknownName
from bot.access.projects import KnownProject
from bot.errors import Forbidden, NotFound, Unauthorized
from bot.store.channels import Channel
from bot.store.owner import Owner

PARTS: Mapping[str, Part] = {
    "tracker": "trackers",
    "status": "statuses",
    "priority": "priorities",
    "category": "categories",
    "version": "every_version",
    "person": "people",
}
"""What a catalog calls them, by what a phrase does."""


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
    link = await access.store.links.required(owner)
    # The caller's next request verifies the key.
    session = Session(owner, link.key, link.user_id, link.name)
    found: dict[str, tuple[str, ...]] = {}

    async def projects() -> None:
        with suppress(Forbidden, NotFound):
            known = [*await access.projects.visible(session)]
            for one in typed:
                with suppress(UnknownName, AmbiguousName):
                    known.append(await access.projects.find(session, one))
            found["project"] = tuple(name for one in known for name in (one.name, one.identifier))

    async def names() -> None:
        with suppress(Forbidden, NotFound, UnknownName, AmbiguousName):
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
