"""Templates for new issues: a project's, and a channel's for one project."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Connection, Row, and_, delete, insert, select, update

from bot.store.channels import Channel
from bot.store.choice import Choice
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import TemplateRow


@dataclass(frozen=True)
class TemplateContent:
    """What a template fills in. `description` is in the service's format."""

    prefix: str = ""
    description: str = ""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    """The issue's fields that have a choice, by option key."""
    required: tuple[str, ...] = ()
    """The headings of the description under which something must be written."""


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
            select(TemplateRow.__table__)
            .where(
                TemplateRow.team_id == team_id,
                TemplateRow.project_id == project_id,
                TemplateRow.channel_id.in_(channels),
            )
            .order_by(TemplateRow.name_key, TemplateRow.id)
        )
        return tuple(map(_template, await self.database.rows(statement)))

    async def get(self, team_id: str, template_id: int) -> Template | None:
        statement = select(TemplateRow.__table__).where(
            TemplateRow.team_id == team_id, TemplateRow.id == template_id
        )
        row = await self.database.one(statement)
        return _template(row) if row else None

    async def put(self, owner: Owner, template: Template) -> bool:
        """Add a template, or change the one with its ID, as `owner`.

        Return whether it was stored: the project or the channel may have another one with that name.
        """
        where = {
            "team_id": owner.team_id,
            "project_id": template.project_id,
            "channel_id": template.channel_id,
            "name_key": template.name.casefold(),
        }
        same = and_(*(getattr(TemplateRow, name) == value for name, value in where.items()))
        values = {
            **owner.columns,
            **where,
            "name": template.name,
            "content": asdict(template.content),
            "changed_at": datetime.now(UTC),
        }

        def work(connection: Connection) -> bool:
            if connection.scalar(select(TemplateRow.id).where(same, TemplateRow.id != template.id)):
                return False
            if not template.id:
                connection.execute(insert(TemplateRow).values(**values))
                return True
            this = and_(TemplateRow.team_id == owner.team_id, TemplateRow.id == template.id)
            connection.execute(update(TemplateRow).where(this).values(**values))
            return True

        return await self.database.write(work)

    async def remove(self, team_id: str, template_id: int) -> None:
        this = and_(TemplateRow.team_id == team_id, TemplateRow.id == template_id)
        await self.database.execute(delete(TemplateRow).where(this))


def _template(row: Row[tuple[object, ...]]) -> Template:
    content = row.content
    choices = {key: Choice(**choice) for key, choice in content["choices"].items()}
    return Template(
        id=row.id,
        project_id=row.project_id,
        channel_id=row.channel_id,
        name=row.name,
        content=TemplateContent(
            content["prefix"], content["description"], choices, tuple(content["required"])
        ),
    )
