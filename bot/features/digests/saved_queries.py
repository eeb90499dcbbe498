"""Finds out which issues are in a saved query, with which the service combines no other filter."""

from collections.abc import Sequence
from typing import Protocol

from bot.access.accounts import Session
from bot.features.digests import plans
from bot.service.client import Client
from bot.service.conventions import PAGE
from bot.service.models import Issue
from bot.store.plans import Plan

MAX_PAGES = 10


class FetchedList(Protocol):
    """The part of a list that was read; there may be `more`."""

    @property
    def issues(self) -> tuple[Issue, ...]: ...

    @property
    def more(self) -> bool: ...


def too_large(read: FetchedList) -> bool:
    """Whether nothing is listed only because there was more than could be read."""
    return read.more and not read.issues


async def in_query(
    client: Client, session: Session, plan: Plan, rows: Sequence[Issue]
) -> tuple[list[Issue], bool]:
    """Those of the rows that are in the plan's saved query, if it has one, and whether there may be more.

    The query's issues are read in the order of the plan's kind, from about where the first row would be,
    until all rows are found or passed. Raises Forbidden and NotFound for a query that the user can't see, and
    the other ServiceErrors.
    """
    if plan.query is None:
        return [*rows], False
    found, at, cut, empty_first = set[int](), 0, True, False
    numbers, query = {row.id for row in rows}, plans.in_query(plan)
    value, descending = plans.ORDER[plan.kind], plan.kind in plans.HAPPENED
    values = sorted(on for row in rows if (on := value(row)))

    def place(issue: Issue) -> int:
        """-1 for an issue that the query lists before all rows, 1 for one after them."""
        on = value(issue)
        if not values:
            return 0
        if on is None:
            return -1 if empty_first else 1
        return ((on > values[-1]) - (on < values[0])) * (-1 if descending else 1)

    async def skip(low: int, high: int) -> int:
        """Where the first issue is that isn't before all rows, or up to a page before that."""
        while high - low > PAGE:
            middle = (low + high) // 2
            page = await client.list_issues(session.key, query, offset=middle, limit=1)
            low, high = (middle, high) if any(place(issue) < 0 for issue in page.items) else (low, middle)
        return low

    for _ in range(MAX_PAGES):
        page = await client.list_issues(session.key, query, offset=at)
        empty_first = empty_first or (at == 0 and bool(page.items) and value(page.items[0]) is None)
        found |= numbers.intersection(row.id for row in page.items)
        at += len(page.items)
        cut = found < numbers and 0 < at < page.total_count and place(page.items[-1]) <= 0
        if not cut:
            break
        if place(page.items[-1]) < 0:
            at = await skip(at, page.total_count)
    return [row for row in rows if row.id in found], cut
