"""Templates for new issues: a project's, and a channel's for one project."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from bot.store.channels import Channel
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.plans import TemplateContent
from bot.store.tables import TemplateRow, columns_of, from_row


@dataclass(frozen=True)
class Template:
    """A template of a project, or of `channel_id` for that project. `id` is 0 until it is stored."""

    id: int
    project_id: int
    channel_id: str
    name: str
    content: TemplateContent


@dataclass(frozen=True)
class StoredTemplates:
    database: Database

    async def of_project(
        self, team_id: str, project_id: int, channel: Channel | None
    ) -> tuple[Template, ...]:
        """Return the project's templates, and the channel's for it, by name."""
        channels = ["", channel.channel_id] if channel else [""]
        statement = (
            select(TemplateRow)
            .where(
                TemplateRow.team_id == team_id,
                TemplateRow.project_id == project_id,
                TemplateRow.channel_id.in_(channels),
            )
            .order_by(TemplateRow.name_key, TemplateRow.id)
        )
        return tuple(map(partial(from_row, Template), await self.database.rows(statement)))

    async def get(self, team_id: str, template_id: int) -> Template | None:
        row = await self.database.one(select(TemplateRow).where(_is(team_id, template_id)))
        return from_row(Template, row) if row else None

    async def put(self, owner: Owner, template: Template) -> bool:
        """Add a template, or change the one with its ID, for `owner`.

        Return whether it was stored: the project or the channel may have another one with that name.
        """
        values = {**columns_of(template, "id"), **owner.columns}
        values |= {"name_key": template.name.casefold(), "changed_at": datetime.now(UTC)}
        unique = ("team_id", "project_id", "channel_id", "name_key")
        same = and_(*(getattr(TemplateRow, name) == values[name] for name in unique))

        def work(connection: Connection) -> bool:
            if connection.scalar(select(TemplateRow.id).where(same, TemplateRow.id != template.id)):
                return False
            if not template.id:
                connection.execute(insert(TemplateRow).values(**values))
                return True
            connection.execute(update(TemplateRow).where(_is(owner.team_id, template.id)).values(**values))
            return True

        return await self.database.write(work)

    async def remove(self, team_id: str, template_id: int) -> None:
        await self.database.execute(delete(TemplateRow).where(_is(team_id, template_id)))


def _is(team_id: str, template_id: int) -> ColumnElement[bool]:
    return and_(TemplateRow.team_id == team_id, TemplateRow.id == template_id)
