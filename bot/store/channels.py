"""The default projects of Slack channels, and the emoji that create issues there."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import bindparam, select

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import ChannelRow

SETTINGS = select(ChannelRow.project_id, ChannelRow.emoji).where(
    ChannelRow.team_id == bindparam("team_id"), ChannelRow.channel_id == bindparam("channel_id")
)


@dataclass(frozen=True)
class Channel:
    """A Slack channel, which may have a default project."""

    team_id: str
    channel_id: str


@dataclass(frozen=True)
class Channels:
    """What users set for a channel; None for what nobody has."""

    database: Database

    async def default_project(self, channel: Channel) -> int | None:
        row = await self.database.one(SETTINGS, **vars(channel))
        return row.project_id if row else None

    async def set_default(self, by: Owner, channel: Channel, project_id: int | None) -> None:
        await self._set(by, channel, project_id=project_id)

    async def emoji(self, channel: Channel) -> str | None:
        """The name of the emoji that creates issues in a channel."""
        row = await self.database.one(SETTINGS, **vars(channel))
        return row.emoji if row else None

    async def set_emoji(self, by: Owner, channel: Channel, emoji: str | None) -> None:
        await self._set(by, channel, emoji=emoji)

    async def _set(self, by: Owner, channel: Channel, **setting: object) -> None:
        values = by.columns | {"changed_at": datetime.now(UTC)} | setting
        del values["team_id"]  # the channel's
        await self.database.execute(self.database.upsert(ChannelRow, vars(channel), values))
