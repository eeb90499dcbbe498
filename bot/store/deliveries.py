"""Claims on Slack's deliveries, so that repeated ones are handled once across all replicas.

A delivery's row also holds its request while that is in flight, encrypted because it contains what the user
typed. If a process crashes, another one notifies the users whose requests were lost.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import SecretStr
from sqlalchemy import and_, update

from bot.errors import StoredSecretError
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.tables import DeliveryRow
from bot.store.vault import Vault

ANSWERABLE_FOR = timedelta(minutes=30)  # how long Slack accepts answers at a `response_url`
BATCH = 50


@dataclass(frozen=True)
class UnfinishedRequest:
    """A request in flight: the parts of Slack's payload that are needed to answer it.

    `installed` is the enterprise and team of the installation it came to, which differ from the owner's for
    users from another company.
    """

    owner: Owner
    installed: tuple[str | None, str | None]
    payload: dict[str, Any]


@dataclass(frozen=True)
class Deliveries:
    """Claimed deliveries. The caller derives the key from what is the same in repeated deliveries."""

    database: Database
    vault: Vault
    processes: Processes

    async def claim(self, key: str, asked: UnfinishedRequest | None = None) -> bool:
        """Claim a delivery; returns True for exactly one caller across all processes.

        With `asked`, the request is recorded as in flight in this process until it's finished.
        """
        row: dict[str, Any] = {"key": key, "claimed_at": self.processes.clock.scalar_subquery()}
        if asked:
            owner = asked.owner
            whose = [owner.enterprise_id, owner.team_id, owner.user_id]
            content = SecretStr(json.dumps([whose, asked.installed, asked.payload]))
            row |= {"holder": self.processes.name, "encrypted": self.vault.encrypt(_bound(key), content)}
        added = self.database.insert(DeliveryRow).values(row)
        return await self.database.changes(added.on_conflict_do_nothing().returning(DeliveryRow.key))

    async def finish(self, keys: Collection[str]) -> None:
        done = update(DeliveryRow).where(DeliveryRow.key.in_(keys)).values(holder=None, encrypted=None)
        await self.database.execute(done)

    async def take_abandoned(self) -> dict[str, UnfinishedRequest | None]:
        """Take over the in-flight requests of dead processes; only one caller gets each.

        Returns the requests by delivery. The caller notifies the user and then calls `finish`. None stands
        for a request that is too old to answer or can't be decrypted.
        """
        now = await self.processes.now()
        dead = and_(DeliveryRow.holder.is_not(None), self.processes.dead(DeliveryRow.holder, now))
        taken = await self.database.take(DeliveryRow, dead, BATCH, holder=self.processes.name)
        latest = now - ANSWERABLE_FOR
        return {
            row.key: self._opened(row.key, row.encrypted) if row.claimed_at > latest else None
            for row in taken
        }

    def _opened(self, key: str, encrypted: str) -> UnfinishedRequest | None:
        try:
            match json.loads(self.vault.decrypt(_bound(key), encrypted).get_secret_value()):
                case [[enterprise_id, str(team_id), str(user_id)], [at_enterprise, at_team], dict(payload)]:
                    owner = Owner(enterprise_id, team_id, user_id)
                    return UnfinishedRequest(owner, (at_enterprise, at_team), payload)
        except (StoredSecretError, ValueError):
            pass
        return None


def _bound(key: str) -> Owner:
    """Return the owner that a request is encrypted for, with the delivery's key as the user ID."""
    return Owner(None, "", key)
