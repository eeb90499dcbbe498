"""The issues that digests have covered and won't list again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.followed import AT_ONCE
from bot.store.job import Statement
from bot.store.tables import DigestIssueRow


@dataclass(frozen=True)
class Covered:
    """An issue that a digest has listed, and when it was opened or closed."""

    issue_id: int
    at: datetime


async def covered_by(database: Database, digests: Collection[int]) -> Mapping[int, Mapping[int, datetime]]:
    """Return the issues covered by these digests, and when each was opened or closed, by digest ID."""
    statement = sa.select(DigestIssueRow).where(DigestIssueRow.digest_id.in_(digests))
    found: dict[int, dict[int, datetime]] = {digest: {} for digest in digests}
    for row in await database.rows(statement):
        found[row.digest_id][row.issue_id] = row.created_on
    return found


def covering(database: Database, digest_id: int, covered: Sequence[Covered]) -> list[Statement]:
    """The statements that add issues to those that a digest has covered."""
    statements: list[Statement] = []
    for start in range(0, len(covered), AT_ONCE):  # one that was closed again replaces its earlier row
        some = covered[start : start + AT_ONCE]
        rows = [{"digest_id": digest_id, "issue_id": one.issue_id, "created_on": one.at} for one in some]
        new = database.insert(DigestIssueRow).values(rows)
        again = {"created_on": new.excluded.created_on}
        statements.append(new.on_conflict_do_update(index_elements=["digest_id", "issue_id"], set_=again))
    return statements
