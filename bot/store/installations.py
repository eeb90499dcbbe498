"""Where the bot is installed, with its tokens: slack_sdk's tables, with the tokens encrypted.

A token is bound to its enterprise, team and column, so that rows can't be swapped. Tokens of people and
incoming webhooks are never asked for, and never kept. A team's id is unique in all of Slack, so it tells an
installation by itself: a team may join an enterprise later, and what somebody from another company sends
names theirs.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from pydantic import SecretStr
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.installation_store.sqlalchemy import (
    AsyncSQLAlchemyInstallationStore,
    SQLAlchemyInstallationStore,
)
from slack_sdk.oauth.state_store.sqlalchemy import AsyncSQLAlchemyOAuthStateStore
from sqlalchemy import ColumnElement, RowMapping, and_, delete, false, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from bot.store.engine import Database
from bot.store.owner import Owner
from bot.store.tables import (
    INSTALLATIONS,
    OAUTH_STATES,
    SEALED_TOKENS,
    ChannelDefaultRow,
    ContinuationRow,
    CreatedIssueRow,
    DigestRow,
    LinkRow,
    TimeEntryRow,
)
from bot.store.vault import Vault

STATE_SECONDS = 600
OWNED = (LinkRow, ContinuationRow, CreatedIssueRow, TimeEntryRow, DigestRow)
_ROW = INSTALLATIONS.c
Column = InstrumentedAttribute[str]


class Installations(AsyncInstallationStore):
    """The installations of one Slack app; a team's own goes before its organization's."""

    def __init__(self, database: Database, vault: Vault, client_id: str) -> None:
        self._database = database
        self._vault = vault
        self._client_id = client_id
        self._kept = AsyncSQLAlchemyInstallationStore(client_id, database.for_writing)
        self.states = States(STATE_SECONDS, database.for_writing)

    async def async_save(self, installation: Installation) -> None:
        """Keeps an installation in the place of any earlier one there."""
        bot = self._sealed(installation.to_bot())
        await self._kept.async_save_bot(bot)
        installed_at = datetime.fromtimestamp(bot.installed_at, UTC).replace(tzinfo=None)
        earlier = and_(self._there(bot.enterprise_id, bot.team_id), _ROW.installed_at < installed_at)
        async with self._database.session() as session:
            await session.execute(delete(INSTALLATIONS).where(earlier))

    async def find(self, enterprise_id: str | None, team_id: str | None) -> Bot | None:
        """The installation for a team, or with no team an organization's; None where there is none.

        Its row's id is the custom value `id`. Raises StoredSecretError when its tokens can't be opened.
        """
        own = self._there(None, team_id) if team_id else false()
        organizations = self._there(enterprise_id, None) if enterprise_id else false()
        statement = (
            select(INSTALLATIONS)
            .where(or_(own, organizations))
            .order_by(_ROW.team_id.is_(None), _ROW.installed_at.desc(), _ROW.id.desc())
            .limit(1)
        )
        async with self._database.reading() as session:
            row = (await session.execute(statement)).mappings().first()
        return self._opened(row) if row else None

    async def latest(self, limit: int) -> tuple[int, list[Bot]]:
        """How many there are, and the latest of them, as `find` gives them."""
        mine = _ROW.client_id == self._client_id
        statement = select(INSTALLATIONS).where(mine).order_by(_ROW.installed_at.desc())
        async with self._database.reading() as session:
            rows = (await session.execute(statement)).mappings().all()
        return len(rows), [self._opened(row) for row in rows[:limit]]

    async def renew(self, bot: Bot) -> None:
        """Keeps the renewed tokens of what `find` gave, if it is there still."""
        sealed = self._sealed(bot)
        expires_at = bot.bot_token_expires_at
        values = {name: getattr(sealed, name) for name in SEALED_TOKENS} | {
            "bot_token_expires_at": expires_at
            and datetime.fromtimestamp(expires_at, UTC).replace(tzinfo=None),
        }
        statement = update(INSTALLATIONS).where(_ROW.id == bot.get_custom_value("id")).values(values)
        async with self._database.session() as session:
            await session.execute(statement)

    async def remove(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Forgets an installation and all that is there because of it: a team's, or with no team an
        organization's, less what belongs to its teams with an installation of their own.

        What an organization's installation still serves stays.
        """
        async with self._database.session() as session:
            await session.execute(delete(INSTALLATIONS).where(self._there(enterprise_id, team_id)))
            if team_id is None:
                await _forget(session, lambda team, enterprise: self._served(enterprise_id, team, enterprise))
                return
            organization = select(_ROW.id).where(self._there(enterprise_id, None)).limit(1)
            if enterprise_id is None or await session.scalar(organization) is None:
                await _forget(session, lambda team, _: team == team_id)

    def _there(self, enterprise_id: str | None, team_id: str | None) -> ColumnElement[bool]:
        mine = _ROW.client_id == self._client_id
        if team_id is not None:
            return and_(mine, _ROW.team_id == team_id)
        return and_(mine, _ROW.enterprise_id == enterprise_id, _ROW.team_id.is_(None))

    def _served(self, enterprise_id: str | None, team: Column, enterprise: Column) -> ColumnElement[bool]:
        """What an organization's installation serves: its teams without one of their own."""
        own = select(_ROW.team_id).where(_ROW.client_id == self._client_id, _ROW.team_id.is_not(None))
        return and_(enterprise == enterprise_id, team.not_in(own))

    def _sealed(self, bot: Bot) -> Bot:
        sealed = Bot(**bot.to_dict_for_copying())
        for name in SEALED_TOKENS:
            if token := getattr(bot, name):
                setattr(sealed, name, self._vault.seal(_bound(bot, name), SecretStr(token)))
        return sealed

    def _opened(self, row: RowMapping) -> Bot:
        bot = SQLAlchemyInstallationStore.build_bot_entity(row)
        for name in SEALED_TOKENS:
            if sealed := getattr(bot, name):
                setattr(bot, name, self._vault.open(_bound(bot, name), sealed).get_secret_value())
        bot.set_custom_value("id", row["id"])
        return bot


class States(AsyncSQLAlchemyOAuthStateStore):
    """What tells the installations that were begun here: each is good once, and for ten minutes."""

    async def async_consume(self, state: str) -> bool:
        """Whether it was begun here; of several callers one is told so. slack_sdk's own may tell two."""
        column = OAUTH_STATES.c
        statement = delete(OAUTH_STATES).where(column.state == state, column.expire_at > _now())
        async with self.engine.begin() as connection:
            return (await connection.execute(statement)).rowcount > 0

    async def prune(self) -> None:
        """Forgets those whose time is over."""
        async with self.engine.begin() as connection:
            await connection.execute(delete(OAUTH_STATES).where(OAUTH_STATES.c.expire_at <= _now()))


async def _forget(session: AsyncSession, belongs: Callable[[Column, Column], ColumnElement[bool]]) -> None:
    for table in OWNED:
        await session.execute(delete(table).where(belongs(table.team_id, table.enterprise_id)))
    channels = belongs(ChannelDefaultRow.team_id, ChannelDefaultRow.set_by_enterprise_id)
    await session.execute(delete(ChannelDefaultRow).where(channels))


def _bound(bot: Bot, column: str) -> Owner:
    """Whom a token is sealed for: its column stands where a person's id does, which it never equals."""
    return Owner(bot.enterprise_id, bot.team_id or "", column)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)  # slack_sdk's columns have no zone
