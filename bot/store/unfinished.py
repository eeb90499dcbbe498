"""What each process has at hand: where one dies, another tells those who wait for it."""

import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Connection, RowMapping, and_, delete, exists, func, insert, select, type_coerce

from bot.errors import StoredSecretError
from bot.store import upsert
from bot.store.engine import Database
from bot.store.owner import Owner
from bot.store.tables import ProcessRow, UnfinishedRow, UtcDateTime, table_of
from bot.store.vault import Vault

UNHEARD = timedelta(seconds=20)
"""A process that isn't heard of for so long is held to be dead."""
WORTH_TELLING = timedelta(minutes=30)
"""As long as Slack takes an answer at a `response_url`."""
AT_A_TIME = 50
_TABLE = table_of(UnfinishedRow)
_INSERT = insert(_TABLE)


@dataclass(frozen=True)
class Asked:
    """What somebody asked for: a payload of Slack's, as far as it is needed to answer it."""

    owner: Owner
    payload: dict[str, Any]


class Unfinished:
    """What was taken and isn't finished. It is sealed, as it holds what people typed."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault
        self._holder = secrets.token_hex(8)

    async def note(self, begun: Mapping[str, Asked], finished: Collection[str]) -> None:
        """Notes what this process has at hand, by deliveries, and forgets what it has finished."""
        now = datetime.now(UTC)
        rows = [self._row(delivery, asked, now) for delivery, asked in begun.items()]
        gone = delete(UnfinishedRow).where(UnfinishedRow.delivery.in_(finished))

        def work(connection: Connection) -> None:
            if rows:
                connection.execute(_INSERT, rows)
            if finished:
                connection.execute(gone)

        await self._database.write(work)

    def _row(self, delivery: str, asked: Asked, now: datetime) -> dict[str, Any]:
        content = SecretStr(json.dumps([delivery, asked.payload]))
        return {
            "delivery": delivery,
            "holder": self._holder,
            "enterprise_id": asked.owner.enterprise_id or "",
            "team_id": asked.owner.team_id,
            "user_id": asked.owner.user_id,
            "sealed": self._vault.seal(asked.owner, content),
            "begun_at": now,
        }

    async def live(self) -> None:
        """Notes that this process lives; to be said before it takes anything, and again and again."""
        await self._database.write(self._live)

    async def take_abandoned(self) -> tuple[Asked, ...]:
        """As `live`, and takes what dead processes had at hand: of several callers one gets it.

        What is too old to be told of, or can't be opened, is forgotten.
        """

        def work(connection: Connection) -> list[RowMapping]:
            now = self._live(connection)
            lives = and_(ProcessRow.holder == UnfinishedRow.holder, ProcessRow.seen_at > now - UNHEARD)
            some = select(UnfinishedRow.delivery).where(~exists().where(lives)).limit(AT_A_TIME)
            some = some.with_for_update(skip_locked=True)
            dead = delete(_TABLE).where(_TABLE.c.delivery.in_(some)).returning(*_TABLE.c)
            rows = connection.execute(dead).mappings()
            return [row for row in rows if row["begun_at"] > now - WORTH_TELLING]

        rows = await self._database.write(work)
        return tuple(asked for row in rows if (asked := self._opened(row)))

    def _live(self, connection: Connection) -> datetime:
        now = connection.execute(select(type_coerce(func.current_timestamp(), UtcDateTime))).scalar_one()
        row = upsert.insert(self._database.dialect, ProcessRow).values(holder=self._holder, seen_at=now)
        seen = row.on_conflict_do_update(index_elements=["holder"], set_={"seen_at": now})
        connection.execute(seen)
        return now

    async def leave(self) -> None:
        """Forgets this process, and what it had at hand: it has told of it."""

        def work(connection: Connection) -> None:
            connection.execute(delete(UnfinishedRow).where(UnfinishedRow.holder == self._holder))
            connection.execute(delete(ProcessRow).where(ProcessRow.holder == self._holder))

        await self._database.write(work)

    async def prune(self) -> None:
        """Forgets processes that haven't been heard of for long."""
        now = datetime.now(UTC)
        await self._database.forget(ProcessRow, ProcessRow.seen_at < now - WORTH_TELLING)

    def _opened(self, row: RowMapping) -> Asked | None:
        owner = Owner(row["enterprise_id"] or None, row["team_id"], row["user_id"])
        try:
            match json.loads(self._vault.open(owner, row["sealed"]).get_secret_value()):
                case [delivery, dict(payload)] if delivery == row["delivery"]:
                    return Asked(owner, payload)
        except (StoredSecretError, ValueError):
            pass
        return None
