"""What each process has at hand: where one dies, another tells those who wait for it."""

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

    def __init__(self, database: Database, vault: Vault, processes: Processes) -> None:
        self._database = database
        self._vault = vault
        self._processes = processes

    def columns(self, delivery: str, asked: Asked) -> dict[str, str]:
        """What a delivery's row has besides while this process has it at hand."""
        owner = asked.owner
        whose = [owner.enterprise_id, owner.team_id, owner.user_id]
        content = json.dumps([whose, asked.installed, asked.payload])
        return {
            "holder": self._processes.name,
            "sealed": self._vault.seal(_bound(delivery), SecretStr(content)),
        }

    async def finish(self, deliveries: Collection[str]) -> None:
        """Forgets what is finished."""
        rows = [{"delivery": delivery} for delivery in deliveries]
        await self._database.write(lambda connection: connection.execute(_FINISH, rows))

    async def take_abandoned(self) -> dict[str, Asked | None]:
        """Takes over what dead processes had at hand: of several callers one gets it.

        By delivery, each to be finished when it is told; None for what is too old for that, or can't be
        opened.
        """
        dead = self._processes.dead(_TABLE.c.holder, await self._processes.now())
        abandoned = (
            select(_TABLE.c.key, _TABLE.c.sealed, _TABLE.c.claimed_at)
            .where(_TABLE.c.holder.is_not(None), dead)
            .limit(AT_A_TIME)
            .with_for_update(skip_locked=True)
        )

        def work(connection: Connection) -> list[Row[*tuple[Any, ...]]]:
            rows = list(connection.execute(abandoned))
            if rows:
                taken = [{"delivery": row.key, "by": self._processes.name} for row in rows]
                connection.execute(_TAKE, taken)
            return rows

        latest = datetime.now(UTC) - WORTH_TELLING
        return {
            row.key: self._opened(row.key, row.sealed) if row.claimed_at > latest else None
            for row in await self._database.write(work)
        }

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
