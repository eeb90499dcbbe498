"""What each process has at hand: where one dies, another tells those who wait for it."""

import json
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Connection, and_, bindparam, delete, exists, func, select, type_coerce, update

from bot.errors import StoredSecretError
from bot.store.engine import Database
from bot.store.owner import Owner
from bot.store.tables import DeliveryRow, ProcessRow, UtcDateTime, table_of
from bot.store.upsert import insert
from bot.store.vault import Vault

UNHEARD = timedelta(seconds=20)
"""A process that isn't heard of for so long is held to be dead."""
WORTH_TELLING = timedelta(minutes=30)
"""As long as Slack takes an answer at a `response_url`."""
AT_A_TIME = 50
_TABLE = table_of(DeliveryRow)
_FREE = update(_TABLE).values(holder=None, sealed=None)
_FINISH = _FREE.where(_TABLE.c.key == bindparam("delivery"))


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

    def columns(self, delivery: str, asked: Asked) -> dict[str, str]:
        """What a delivery's row has besides while this process has it at hand."""
        owner = asked.owner
        content = json.dumps([owner.enterprise_id, owner.team_id, owner.user_id, asked.payload])
        return {"holder": self._holder, "sealed": self._vault.seal(_bound(delivery), SecretStr(content))}

    async def finish(self, deliveries: Collection[str]) -> None:
        """Forgets what is finished."""
        rows = [{"delivery": delivery} for delivery in deliveries]
        await self._database.write(lambda connection: connection.execute(_FINISH, rows))

    async def live(self) -> None:
        """Notes that this process lives; to be said before it takes anything, and again and again."""
        await self._database.write(self._live)

    async def take_abandoned(self) -> tuple[Asked, ...]:
        """As `live`, and takes what dead processes had at hand: of several callers one gets it.

        What is too old to be told of, or can't be opened, is forgotten.
        """

        def work(connection: Connection) -> list[tuple[str, str]]:
            now = self._live(connection)
            lives = and_(ProcessRow.holder == _TABLE.c.holder, ProcessRow.seen_at > now - UNHEARD)
            dead = (
                select(_TABLE.c.key, _TABLE.c.sealed, _TABLE.c.claimed_at)
                .where(_TABLE.c.holder.is_not(None), ~exists().where(lives))
                .limit(AT_A_TIME)
                .with_for_update(skip_locked=True)
            )
            rows = connection.execute(dead).all()
            if rows:
                connection.execute(_FINISH, [{"delivery": row.key} for row in rows])
            return [(row.key, row.sealed) for row in rows if row.claimed_at > now - WORTH_TELLING]

        abandoned = await self._database.write(work)
        return tuple(asked for row in abandoned if (asked := self._opened(*row)))

    async def leave(self) -> None:
        """Forgets this process, and what it had at hand: it has told of it."""

        def work(connection: Connection) -> None:
            connection.execute(_FREE.where(_TABLE.c.holder == self._holder))
            connection.execute(delete(ProcessRow).where(ProcessRow.holder == self._holder))

        await self._database.write(work)

    async def prune(self) -> None:
        """Forgets processes that haven't been heard of for long."""
        now = datetime.now(UTC)
        await self._database.forget(ProcessRow, ProcessRow.seen_at < now - WORTH_TELLING)

    def _live(self, connection: Connection) -> datetime:
        now = connection.execute(select(type_coerce(func.current_timestamp(), UtcDateTime))).scalar_one()
        row = insert(self._database.dialect, ProcessRow).values(holder=self._holder, seen_at=now)
        connection.execute(row.on_conflict_do_update(index_elements=["holder"], set_={"seen_at": now}))
        return now

    def _opened(self, delivery: str, sealed: str) -> Asked | None:
        try:
            match json.loads(self._vault.open(_bound(delivery), sealed).get_secret_value()):
                case [enterprise_id, str(team_id), str(user_id), dict(payload)]:
                    return Asked(Owner(enterprise_id, team_id, user_id), payload)
        except (StoredSecretError, ValueError):
            pass
        return None


def _bound(delivery: str) -> Owner:
    """For whom it is sealed: the delivery stands where a person's id does, which it never equals."""
    return Owner(None, "", delivery)
