"""Installations of the Slack app, in slack_sdk's tables with encrypted tokens.

A token is bound to its enterprise, team, and column, so that rows can't be swapped. User tokens and incoming
webhooks are never requested or stored. Team IDs are unique across Slack, so a team is found by its ID alone:
it may join an enterprise later, and users from other companies have another enterprise ID.
"""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pydantic import SecretStr
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from sqlalchemy import ColumnElement, Connection, Row, and_, delete, insert, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import ENCRYPTED_TOKENS, INSTALLATIONS, OAUTH_STATES, Owned, Table
from bot.store.vault import Vault

STATE_SECONDS = 600
_ROW = INSTALLATIONS.c
Column = InstrumentedAttribute[str]


class Installations(AsyncInstallationStore):
    """The installations of one Slack app. A team's own takes precedence over its organization's."""

    def __init__(self, database: Database, vault: Vault, client_id: str) -> None:
        self._database = database
        self._vault = vault
        self._client_id = client_id
        self.states = OAuthStates(database)

    async def async_save(self, installation: Installation) -> None:
        """Store an installation in place of earlier ones."""
        bot = self._encrypted(installation.to_bot())
        values = bot.to_dict() | {
            "client_id": self._client_id,
            "installed_at": _moment(bot.installed_at),
            "bot_token_expires_at": _moment(bot.bot_token_expires_at),
        }
        there = self._there(bot.enterprise_id, bot.team_id)
        earlier = and_(there, _ROW.installed_at <= values["installed_at"])
        await self._database.execute(
            delete(INSTALLATIONS).where(earlier), insert(INSTALLATIONS).values(values)
        )

    async def find(self, enterprise_id: str | None, team_id: str | None) -> Bot | None:
        """Return the installation of a team, or None.

        Without a `team_id`, returns the organization's. The row's ID is the custom value `id`. Raises
        StoredSecretError if the tokens can't be decrypted.
        """
        organizations = and_(_ROW.enterprise_id == (enterprise_id or ""), _ROW.team_id.is_(None))
        statement = (
            select(INSTALLATIONS)
            .where(_ROW.client_id == self._client_id, or_(_ROW.team_id == (team_id or ""), organizations))
            .order_by(_ROW.team_id.is_(None), _ROW.installed_at.desc(), _ROW.id.desc())
            .limit(1)
        )
        row = await self._database.one(statement)
        return self._opened(row) if row else None

    async def latest(self, limit: int) -> tuple[int, list[Bot]]:
        """Return the number of installations, and the latest `limit` of them, as from `find`."""
        mine = _ROW.client_id == self._client_id
        statement = select(INSTALLATIONS).where(mine).order_by(_ROW.installed_at.desc())
        rows = await self._database.rows(statement)
        return len(rows), [self._opened(row) for row in rows[:limit]]

    async def renew(self, bot: Bot) -> None:
        """Store the renewed tokens of an installation from `find`, if it still exists."""
        encrypted = self._encrypted(bot)
        values = {name: getattr(encrypted, name) for name in ENCRYPTED_TOKENS}
        values["bot_token_expires_at"] = _moment(bot.bot_token_expires_at)
        statement = update(INSTALLATIONS).where(_ROW.id == bot.get_custom_value("id")).values(values)
        await self._database.execute(statement)

    async def remove(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Delete the installation of a team, or of an organization if `team_id` is None, with all its data.

        Keeps the data of teams that are still covered: by their organization's installation, or by their own.
        """

        def work(connection: Connection) -> None:
            connection.execute(delete(INSTALLATIONS).where(self._there(enterprise_id, team_id)))
            if team_id is None:
                _forget(connection, lambda team, enterprise: self._served(enterprise_id, team, enterprise))
                return
            organization = select(_ROW.id).where(self._there(enterprise_id, None)).limit(1)
            if enterprise_id is None or connection.scalar(organization) is None:
                _forget(connection, lambda team, _: team == team_id)

        await self._database.write(work)

    async def forget_team(self, team_id: str) -> None:
        """Delete the data of a team that its organization's installation no longer covers.

        Keeps it if the team has an installation of its own.
        """
        own = select(_ROW.id).where(self._there(None, team_id)).limit(1)

        def work(connection: Connection) -> None:
            if connection.scalar(own) is None:
                _forget(connection, lambda team, _: team == team_id)

        await self._database.write(work)

    def _there(self, enterprise_id: str | None, team_id: str | None) -> ColumnElement[bool]:
        mine = _ROW.client_id == self._client_id
        if team_id is not None:
            return and_(mine, _ROW.team_id == team_id)
        return and_(mine, _ROW.enterprise_id == enterprise_id, _ROW.team_id.is_(None))

    def _served(self, enterprise_id: str | None, team: Column, enterprise: Column) -> ColumnElement[bool]:
        """Match the teams that an organization's installation covers: those without their own."""
        own = select(_ROW.team_id).where(_ROW.client_id == self._client_id, _ROW.team_id.is_not(None))
        return and_(enterprise == enterprise_id, team.not_in(own))

    def _encrypted(self, bot: Bot) -> Bot:
        encrypted = Bot(**bot.to_dict_for_copying())
        for name in ENCRYPTED_TOKENS:
            if token := getattr(bot, name):
                setattr(encrypted, name, self._vault.encrypt(_bound(bot, name), SecretStr(token)))
        return encrypted

    def _opened(self, row: Row[Any]) -> Bot:
        bot = SQLAlchemyInstallationStore.build_bot_entity(row._mapping)  # noqa: SLF001 - SQLAlchemy's own name for it
        for name in ENCRYPTED_TOKENS:
            if encrypted := getattr(bot, name):
                setattr(bot, name, self._vault.decrypt(_bound(bot, name), encrypted).get_secret_value())
        bot.set_custom_value("id", row.id)
        return bot


class OAuthStates(AsyncOAuthStateStore):
    """OAuth states of installations that were started here. Each is valid once, for ten minutes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def async_issue(self, *_: object, **__: object) -> str:
        state = secrets.token_urlsafe(24)
        expire_at = _moment(time.time() + STATE_SECONDS)
        await self._database.execute(insert(OAUTH_STATES).values(state=state, expire_at=expire_at))
        return state

    async def async_consume(self, state: str) -> bool:
        """Return whether the state is valid, and consume it: True for one caller only.

        slack_sdk's own version can return True twice.
        """
        column = OAUTH_STATES.c
        theirs = and_(column.state == state, column.expire_at > _moment(time.time()))
        return await self._database.changes(delete(OAUTH_STATES).where(theirs).returning(column.id))

    async def prune(self) -> None:
        expired = OAUTH_STATES.c.expire_at <= _moment(time.time())
        await self._database.execute(delete(OAUTH_STATES).where(expired))


def _forget(connection: Connection, belongs: Callable[[Column, Column], ColumnElement[bool]]) -> None:
    for row in Table.__subclasses__():
        if issubclass(row, Owned):
            connection.execute(delete(row).where(belongs(row.team_id, row.enterprise_id)))


def _bound(bot: Bot, column: str) -> Owner:
    """Return the owner that a token is encrypted for, with the column's name as the user ID."""
    return Owner(bot.enterprise_id, bot.team_id or "", column)


def _moment(seconds: float | None) -> datetime | None:
    """A moment in slack_sdk's columns, which have no zone."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
