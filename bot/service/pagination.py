"""Reads all rows of a list exactly once, with parallel prefetching, even if the list changes meanwhile.

Inserted and deleted rows shift the offsets of later rows, so plain pagination by offset skips and repeats
rows. Here each page overlaps the previous one by one row. If a page starts with a row that was already
yielded, no row is missing between the two. If it doesn't, rows have moved forward, and reading steps back
until a page starts with a known row, with less prefetching while rows keep moving. Offsets are computed from
the rows received, because a service may cap its pages. Pages of a single row can't overlap and are refused.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from bot.errors import ServiceBroken
from bot.service.conventions import PAGE_SIZE
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Page, Project

PAGES_AHEAD = 8
MAX_FRUITLESS = 20  # pages without a new row, besides repeated ones, before a list counts as endless

R = TypeVar("R", Issue, Project)
ReadPage: TypeAlias = Callable[[int], Coroutine[Any, Any, Page[R]]]
ReadIssues: TypeAlias = Callable[[IssueFilters, int, int], Coroutine[Any, Any, Page[Issue]]]


class Known(Protocol):
    """The IDs that were already yielded; a set, or `Below` for a list sorted by ID."""

    def __contains__(self, number: object, /) -> bool: ...

    def add(self, number: int, /) -> None: ...


class Below:
    """The IDs up to the last one, for a list sorted by ID."""

    def __init__(self) -> None:
        self.last = 0

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number <= self.last

    def add(self, number: int) -> None:
        self.last = number


class ReadAhead(Generic[R]):
    """Prefetches pages at regular offsets in parallel."""

    def __init__(self, read: ReadPage[R]) -> None:
        self._read: ReadPage[R] = read
        self._coming: deque[tuple[int, asyncio.Task[Page[R]]]] = deque()

    async def page(self, offset: int, step: int, total: int, width: int) -> Page[R]:
        """Return the page at `offset`, and prefetch up to `width` pages, `step` rows apart, up to `total`."""
        if self._coming and self._coming[0][0] != offset:
            await self.drop()
        following = self._coming[-1][0] + step if self._coming else offset
        while not self._coming or (len(self._coming) < width and following + 1 < total):
            self._coming.append((following, asyncio.create_task(self._read(following))))
            following += step
        _, task = self._coming.popleft()
        return await task

    async def drop(self) -> None:
        tasks = [task for _, task in self._coming]
        self._coming.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def iterate(read: ReadPage[R], known: Known, path: str) -> AsyncGenerator[R, None]:
    """Yield every row of a list, by offset.

    `known` must be empty. `path` identifies the list in errors. Raises ServiceBroken if the list doesn't end,
    and any error of `read`.
    """
    ahead = ReadAhead(read)
    offset, back, fruitless, width, furthest = 0, PAGE_SIZE, 0, PAGES_AHEAD, 0
    page = await read(offset)
    try:
        while True:
            rows = page.items
            seamless = offset == 0 or (bool(rows) and rows[0].id in known)
            fruitless += 1
            for row in rows if seamless else ():
                if row.id not in known:
                    known.add(row.id)
                    fruitless, back = 0, PAGE_SIZE
                    yield row
            if seamless and (not rows or offset + len(rows) >= page.total_count):
                return

            # After a step back, as many rows may be read again, one per page.
            furthest = max(furthest, offset)
            if fruitless > MAX_FRUITLESS + furthest:
                raise ServiceBroken("GET", path, None, "the list has no end")

            step = len(rows) - 1
            if not seamless:
                offset, back, width = max(0, offset - back), back * 2, 1
                page = await read(offset)
            elif step:
                offset += step
                page = await ahead.page(offset, step, page.total_count, width)
                width = min(PAGES_AHEAD, width * 2)
            else:
                page = await read(offset)
    finally:
        await ahead.drop()


def iterate_issues(read: ReadIssues, filters: IssueFilters, path: str) -> AsyncGenerator[Issue, None]:
    """Return every issue that matches the filters, in the order of IDs, ignoring their sort order."""
    filters = replace(filters, sort=(Sort("id"),))

    async def ordered(some: IssueFilters, offset: int = 0, limit: int = PAGE_SIZE) -> Page[Issue]:
        page = await read(some, offset, limit)
        if any(one.id >= other.id for one, other in pairwise(page.items)):
            raise ServiceBroken("GET", path, None, "the list is not in the order asked for")
        return page

    if filters.issue_ids:
        return _by_ids(ordered, filters)
    return iterate(partial(ordered, filters), Below(), path)


async def _by_ids(read: ReadIssues, filters: IssueFilters) -> AsyncGenerator[Issue, None]:
    """Yield issues by their IDs, one page at a time, and ask again for IDs that a capped page left out."""
    missing = sorted(set(filters.issue_ids))
    while missing:
        some, missing = missing[:PAGE_SIZE], missing[PAGE_SIZE:]
        page = await read(replace(filters, issue_ids=tuple(some)), 0, PAGE_SIZE)
        for issue in page.items:
            yield issue
        if page.items and len(page.items) < page.total_count:
            missing = [number for number in some if number > page.items[-1].id] + missing
