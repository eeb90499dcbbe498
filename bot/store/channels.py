"""The default projects of Slack channels."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import ChannelDefaultRow


@dataclass(frozen=True)
class Channel:
    """A Slack channel, which may have a default project."""

    team_id: str
    channel_id: str


@dataclass(frozen=True)
class ChannelDefault:
    """A channel's default project: its ID in the service, and its name when it was set."""

    project_id: int
    name: str


@dataclass(frozen=True)
class Channels:
    database: Database

    async def default_project(self, team_id: str, channel_id: str) -> ChannelDefault | None:
        found = select(ChannelDefaultRow.project_id, ChannelDefaultRow.name).filter_by(
            team_id=team_id, channel_id=channel_id
        )
        row = await self.database.one(found)
        return ChannelDefault(row.project_id, row.name) if row else None

    async def set_default(self, team_id: str, channel_id: str, project_id: int, name: str, by: Owner) -> None:
        setter = {f"set_by_{column}": value for column, value in by.columns.items()}
        values = {"project_id": project_id, "name": name, **setter, "set_at": datetime.now(UTC)}
        identity = {"team_id": team_id, "channel_id": channel_id}
        await self.database.execute(self.database.upsert(ChannelDefaultRow, identity, values))

    async def clear_default(self, team_id: str, channel_id: str) -> None:
        default = delete(ChannelDefaultRow).filter_by(team_id=team_id, channel_id=channel_id)
        await self.database.execute(default)
