"""Where telling somebody of the issues that others assign to them starts: in the service's own time."""

from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort, TimeRange

EVER = datetime(1970, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=1)  # how far ahead the service's clock may be
SECOND = timedelta(seconds=1)


def assigned_since(since: datetime | None) -> IssueFilters:
    """The issues of the user and of their groups, or those that changed since then, the latest first."""
    return IssueFilters(
        assigned_to=("me",),
        status="any",
        updated_on=TimeRange(since=since.replace(microsecond=0)) if since else None,
        sort=(Sort("updated_on", descending=True), Sort("id")),
    )


async def assignments_end(client: Client, key: SecretStr, now: datetime) -> datetime:
    """When the last change of the user's issues was, a second later. Raises ServiceError."""
    newest = (await client.list_issues(key, assigned_since(None), limit=1)).items
    at = max((issue.updated_on for issue in newest if issue.updated_on), default=EVER)
    return min(at, now + AHEAD) + SECOND
