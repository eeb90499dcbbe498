"""Custom fields that a command calls by their names."""

from collections.abc import Callable, Collection
from typing import TypeVar

from bot.service.models import Ref
from bot.slack.grammar.options import UnknownOption
from bot.slack.turn import Turn

T = TypeVar("T")


async def understood(turn: Turn, parse: Callable[[Collection[Ref]], T]) -> T:
    """What `parse` makes of a command.

    Where a key isn't the command's own, the names of the project's custom fields are read and tried.
    Raises UserError, NotLinked, ServiceError.
    """
    try:
        return parse(())
    except UnknownOption as unknown:
        named = unknown.project
    projects = turn.parts.projects
    async with turn.parts.accounts.reading(turn.owner) as session:
        if named == "any":
            project = None
        elif named:
            project = await projects.find(session, named)
        else:
            project = await projects.default_in(session, turn.channel)
        catalog = await turn.parts.catalogs.of(session, project.id if project else None)
    return parse([Ref(id=field.id, name=field.name) for field in catalog.custom_fields])
