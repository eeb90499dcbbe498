"""What a person typed before they were linked, kept for a day to be carried out once they are."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, select

from bot.store.engine import Database
from bot.store.owner import Owner
from bot.store.tables import ContinuationRow

LIFETIME = timedelta(days=1)


class Continuations:
    """What waits to be carried out, under random ids; each is given to its owner only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, owner: Owner, payload: dict[str, Any]) -> str:
        """Keeps a JSON object; its id. What is too old, of anybody, is forgotten along the way."""
        now = datetime.now(UTC)
        row = ContinuationRow(
            id=secrets.token_urlsafe(24),
            enterprise_id=owner.enterprise_id or "",
            team_id=owner.team_id,
            user_id=owner.user_id,
            payload=payload,
            created_at=now,
        )
        async with self._database.session() as session:
            await session.execute(delete(ContinuationRow).where(ContinuationRow.created_at <= now - LIFETIME))
            session.add(row)
        return row.id

    async def get(self, owner: Owner, continuation_id: str) -> dict[str, Any] | None:
        """What this owner left there within a day, or None."""
        async with self._database.reading() as session:
            return await session.scalar(select(ContinuationRow.payload).where(_is(owner, continuation_id)))

    async def take(self, owner: Owner, continuation_id: str) -> dict[str, Any] | None:
        """As `get`, and forgets it: of several callers one gets it."""
        statement = (
            delete(ContinuationRow).where(_is(owner, continuation_id)).returning(ContinuationRow.payload)
        )
        async with self._database.session() as session:
            return await session.scalar(statement)


def _is(owner: Owner, continuation_id: str) -> ColumnElement[bool]:
    return and_(
        ContinuationRow.id == continuation_id,
        ContinuationRow.enterprise_id == (owner.enterprise_id or ""),
        ContinuationRow.team_id == owner.team_id,
        ContinuationRow.user_id == owner.user_id,
        ContinuationRow.created_at > datetime.now(UTC) - LIFETIME,
    )
