"""Where telling somebody what others do to their issues starts: in the service's own time."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import SecretStr

from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort, TimeRange
from bot.store.notices import EVER

AHEAD = timedelta(days=1)  # how far ahead the service's clock may be
SECOND = timedelta(seconds=1)


def changed_since(since: datetime | None, *, reported: bool) -> Sequence[IssueFilters]:
    """Return the filters for a user's issues, or those that changed since then, the latest first: assigned to
    them or their groups, and those that they `reported`.
    """
    changed = TimeRange(since=since.replace(microsecond=0)) if since else None
    latest = (Sort("updated_on", descending=True), Sort("id"))
    assigned = IssueFilters(assigned_to=("me",), status="any", updated_on=changed, sort=latest)
    own = IssueFilters(author=("me",), status="any", updated_on=changed, sort=latest)
    return (assigned, own) if reported else (assigned,)


async def changes_end(client: Client, key: SecretStr, now: datetime, *, reported: bool = False) -> datetime:
    """When the last change of the user's issues was, a second later."""
    at = EVER
    for filters in changed_since(None, reported=reported):
        newest = (await client.list_issues(key, filters, limit=1)).items
        at = max([at, *(issue.updated_on for issue in newest if issue.updated_on)])
    return min(at, now + AHEAD) + SECOND
