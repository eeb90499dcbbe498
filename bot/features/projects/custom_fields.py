"""Parses commands whose options may be custom field names."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

from bot.features.accounts.accounts import Accounts
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import Projects
from bot.service.models import Ref
from bot.slack.grammar.errors import UnknownField
from bot.slack.replies import Reply

T = TypeVar("T")


@dataclass(frozen=True)
class CommandParser:
    """Parses a command, reading the project's custom fields only if it has an unknown option."""

    accounts: Accounts
    projects: Projects
    catalogs: Catalogs

    async def parse(self, reply: Reply, parse: Callable[[Collection[Ref]], T]) -> T:
        """Call `parse` with no custom fields, then with the project's if it raises UnknownField."""
        try:
            return parse(())
        except UnknownField as unknown:
            project_name = unknown.project
        return parse(await self.custom_fields(reply, project_name))

    async def custom_fields(self, reply: Reply, project_name: str | None) -> list[Ref]:
        """The custom fields of the named project, by default the channel's; of all projects for `any`."""
        async with self.accounts.reading(reply.owner) as session:
            if project_name == "any":
                project = None
            elif project_name:
                project = await self.projects.find(session, project_name)
            else:
                project = await self.projects.default_in(session, reply.channel)
            catalog = await self.catalogs.of(session, project.id if project else None, ["custom_fields"])
        return [Ref(id=field.id, name=field.name) for field in catalog.custom_fields]
