"""The default projects of Slack channels, and the emoji that create issues there."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import ChannelDefaultRow, ChannelEmojiRow


@dataclass(frozen=True)
class Channel:
    """A Slack channel, which may have a default project."""

    team_id: str
    channel_id: str


@dataclass(frozen=True)
class Channels:
    database: Database

    async def default_project(self, channel: Channel) -> int | None:
        found = select(ChannelDefaultRow.project_id).filter_by(**vars(channel))
        return await self.database.read(lambda connection: connection.scalar(found))

    async def set_default(self, by: Owner, channel: Channel, project_id: int) -> None:
        values = by.columns | {"project_id": project_id, "set_at": datetime.now(UTC)}
        del values["team_id"]  # the channel's
        await self.database.execute(self.database.upsert(ChannelDefaultRow, vars(channel), values))

    async def clear_default(self, channel: Channel) -> None:
        await self.database.execute(delete(ChannelDefaultRow).filter_by(**vars(channel)))

    async def emoji(self, channel: Channel) -> str | None:
        """The name of the emoji that creates issues in a channel."""
        found = select(ChannelEmojiRow.emoji).filter_by(**vars(channel))
        return await self.database.read(lambda connection: connection.scalar(found))

    async def set_emoji(self, by: Owner, channel: Channel, emoji: str) -> None:
        values = by.columns | {"emoji": emoji, "set_at": datetime.now(UTC)}
        del values["team_id"]  # the channel's
        await self.database.execute(self.database.upsert(ChannelEmojiRow, vars(channel), values))

    async def clear_emoji(self, channel: Channel) -> None:
        await self.database.execute(delete(ChannelEmojiRow).filter_by(**vars(channel)))
