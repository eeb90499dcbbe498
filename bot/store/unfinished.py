"""Requests in flight. If a process crashes, another one notifies the users whose requests were lost."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Connection, Row, bindparam, select, update

from bot.errors import StoredSecretError
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.tables import DeliveryRow, table_of
from bot.store.vault import Vault

ANSWERABLE_FOR = timedelta(minutes=30)
"""How long Slack accepts answers at a `response_url`."""
BATCH = 50
_TABLE = table_of(DeliveryRow)
_FINISH = update(_TABLE).values(holder=None, sealed=None).where(_TABLE.c.key == bindparam("delivery"))
_TAKE = update(_TABLE).values(holder=bindparam("by")).where(_TABLE.c.key == bindparam("delivery"))


@dataclass(frozen=True)
class UnfinishedRequest:
    """A request in flight: the parts of Slack's payload that are needed to answer it.

    `installed` is the enterprise and team of the installation it came to, which differ from the owner's for
    users from another company.
    """

    owner: Owner
    installed: tuple[str | None, str | None]
    payload: dict[str, Any]


class Unfinished:
    """Requests that are in flight, encrypted because they contain what users typed."""

    def __init__(self, database: Database, vault: Vault, processes: Processes) -> None:
        self._database = database
        self._vault = vault
        self._processes = processes

    def columns(self, delivery: str, asked: UnfinishedRequest) -> dict[str, str]:
        """Return the columns that mark a delivery as in flight in this process."""
        owner = asked.owner
        whose = [owner.enterprise_id, owner.team_id, owner.user_id]
        content = json.dumps([whose, asked.installed, asked.payload])
        return {
            "holder": self._processes.name,
            "sealed": self._vault.seal(_bound(delivery), SecretStr(content)),
        }

    async def finish(self, deliveries: Collection[str]) -> None:
        """Mark deliveries as finished, and delete their requests."""
        rows = [{"delivery": delivery} for delivery in deliveries]
        await self._database.execute(_FINISH, rows)

    async def take_abandoned(self) -> dict[str, UnfinishedRequest | None]:
        """Take over the in-flight requests of dead processes; only one caller gets each.

        Returns the requests by delivery. The caller notifies the user and then calls `finish`. None stands
        for a request that is too old to answer or can't be decrypted.
        """
        dead = self._processes.dead(_TABLE.c.holder, await self._processes.now())
        abandoned = (
            select(_TABLE.c.key, _TABLE.c.sealed, _TABLE.c.claimed_at)
            .where(_TABLE.c.holder.is_not(None), dead)
            .limit(BATCH)
            .with_for_update(skip_locked=True)
        )

        def work(connection: Connection) -> list[Row[*tuple[Any, ...]]]:
            rows = list(connection.execute(abandoned))
            if rows:
                taken = [{"delivery": row.key, "by": self._processes.name} for row in rows]
                connection.execute(_TAKE, taken)
            return rows

        latest = datetime.now(UTC) - ANSWERABLE_FOR
        return {
            row.key: self._opened(row.key, row.sealed) if row.claimed_at > latest else None
            for row in await self._database.write(work)
        }

    def _opened(self, delivery: str, sealed: str) -> UnfinishedRequest | None:
        try:
            match json.loads(self._vault.open(_bound(delivery), sealed).get_secret_value()):
                case [[enterprise_id, str(team_id), str(user_id)], [at_enterprise, at_team], dict(payload)]:
                    owner = Owner(enterprise_id, team_id, user_id)
                    return UnfinishedRequest(owner, (at_enterprise, at_team), payload)
        except (StoredSecretError, ValueError):
            pass
        return None


def _bound(delivery: str) -> Owner:
    """Return the owner that a request is sealed for, with the delivery as the user ID."""
    return Owner(None, "", delivery)
