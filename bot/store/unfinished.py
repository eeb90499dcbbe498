"""What each process has at hand: where one dies, another tells those who wait for it."""

import json
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Connection, Row, and_, bindparam, delete, exists, select, update

from bot.errors import StoredSecretError
from bot.store.engine import Database, explained
from bot.store.owner import Owner
from bot.store.tables import NOW, DeliveryRow, ProcessRow, table_of
from bot.store.upsert import insert
from bot.store.vault import Vault

UNHEARD = timedelta(seconds=20)
"""A process that isn't heard of for so long is held to be dead."""
WORTH_TELLING = timedelta(minutes=30)
"""As long as Slack takes an answer at a `response_url`."""
AT_A_TIME = 50
_TABLE = table_of(DeliveryRow)
_FINISH = update(_TABLE).values(holder=None, sealed=None).where(_TABLE.c.key == bindparam("delivery"))
_TAKE = update(_TABLE).values(holder=bindparam("by")).where(_TABLE.c.key == bindparam("delivery"))


@dataclass(frozen=True)
class Asked:
    """What somebody asked for: a payload of Slack's, as far as it is needed to answer it, and whose
    installation it came to, by enterprise and team: somebody from another company has other ids.
    """

    owner: Owner
    installed: tuple[str | None, str | None]
    payload: dict[str, Any]


class Unfinished:
    """What was taken and isn't finished. It is sealed, as it holds what people typed."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault
        self._holder = secrets.token_hex(8)
        self._heard_at = self._heard_since = float("-inf")

    def columns(self, delivery: str, asked: Asked) -> dict[str, str]:
        """What a delivery's row has besides while this process has it at hand."""
        owner = asked.owner
        whose = [owner.enterprise_id, owner.team_id, owner.user_id]
        content = json.dumps([whose, asked.installed, asked.payload])
        return {"holder": self._holder, "sealed": self._vault.seal(_bound(delivery), SecretStr(content))}

    async def finish(self, deliveries: Collection[str]) -> None:
        """Forgets what is finished."""
        rows = [{"delivery": delivery} for delivery in deliveries]
        await self._database.write(lambda connection: connection.execute(_FINISH, rows))

    async def live(self) -> None:
        """Notes that this process lives, before it takes anything. Raises DatabaseUnavailableError."""
        with explained():
            await self._database.write(self._live)

    async def take_abandoned(self) -> dict[str, Asked | None]:
        """As `live`, and has this process hold what dead ones had at hand: of several callers one gets it.

        By delivery, each to be finished when it is told; None for what is too old for that, or can't be
        opened. Who wasn't heard of for long itself, as when the database was away, takes nothing until all
        others had the time to be heard of again.
        """

        def work(connection: Connection) -> list[Row[*tuple[Any, ...]]]:
            now = self._live(connection)
            if self._heard_at - self._heard_since < UNHEARD.total_seconds():
                return []
            lives = and_(ProcessRow.holder == _TABLE.c.holder, ProcessRow.seen_at > now - UNHEARD)
            dead = (
                select(_TABLE.c.key, _TABLE.c.sealed, _TABLE.c.claimed_at)
                .where(_TABLE.c.holder.is_not(None), ~exists().where(lives))
                .limit(AT_A_TIME)
                .with_for_update(skip_locked=True)
            )
            rows = list(connection.execute(dead))
            if rows:
                taken = [{"delivery": row.key, "by": self._holder} for row in rows]
                connection.execute(_TAKE, taken)
            return rows

        latest = datetime.now(UTC) - WORTH_TELLING
        return {
            row.key: self._opened(row.key, row.sealed) if row.claimed_at > latest else None
            for row in await self._database.write(work)
        }

    async def leave(self, finished: Collection[str]) -> None:
        """Forgets this process, and what it has finished; the rest is another one's to tell of."""
        if finished:
            await self.finish(finished)
        gone = delete(ProcessRow).where(ProcessRow.holder == self._holder)
        await self._database.write(lambda connection: connection.execute(gone))

    async def prune(self) -> None:
        """Forgets processes that haven't been heard of for long."""

        def work(connection: Connection) -> None:
            now = connection.execute(NOW).scalar_one()
            connection.execute(delete(ProcessRow).where(ProcessRow.seen_at < now - WORTH_TELLING))

        await self._database.write(work)

    def _live(self, connection: Connection) -> datetime:
        now = connection.execute(NOW).scalar_one()
        row = insert(self._database.dialect, ProcessRow).values(holder=self._holder, seen_at=now)
        connection.execute(row.on_conflict_do_update(index_elements=["holder"], set_={"seen_at": now}))
        before, self._heard_at = self._heard_at, time.monotonic()
        if self._heard_at - before >= UNHEARD.total_seconds() / 2:
            self._heard_since = self._heard_at
        return now

    def _opened(self, delivery: str, sealed: str) -> Asked | None:
        try:
            match json.loads(self._vault.open(_bound(delivery), sealed).get_secret_value()):
                case [[enterprise_id, str(team_id), str(user_id)], [at_enterprise, at_team], dict(payload)]:
                    owner = Owner(enterprise_id, team_id, user_id)
                    return Asked(owner, (at_enterprise, at_team), payload)
        except (StoredSecretError, ValueError):
            pass
        return None


def _bound(delivery: str) -> Owner:
    """For whom it is sealed: the delivery stands where a person's id does, which it never equals."""
    return Owner(None, "", delivery)
