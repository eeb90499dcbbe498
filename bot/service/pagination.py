"""Reads all rows of a list exactly once, with parallel prefetching, even if the list changes meanwhile.

Inserted and deleted rows shift the offsets of later rows, so plain pagination by offset skips and repeats
rows. Here each page overlaps the previous one by one row. If a page starts with a row that was already
yielded, no row is missing between the two. If it doesn't, rows have moved forward, and reading steps back
until a page starts with a known row, with less prefetching while rows keep moving. Offsets are computed from
the rows received, because a service may cap its pages. Pages of a single row can't overlap, so an issue list
then continues by ID.

If a page exceeds the size limit of an answer, it is read in smaller parts, and an issue list continues by ID
with smaller pages. A single row that exceeds the limit is skipped.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from bot.errors import AnswerTooLarge, ServiceBroken
from bot.service.conventions import PAGE
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Page, Project

AHEAD = 8
SMALLER = 4
"""The factor by which pages shrink after an answer that was too large."""
MAX_PARTS = 30
FRUITLESS = 20  # pages without a new row, besides repeated ones, before a list counts as endless

R = TypeVar("R", Issue, Project)
ReadPage: TypeAlias = Callable[[int], Coroutine[Any, Any, Page[R]]]
ReadPart: TypeAlias = Callable[[int, int], Coroutine[Any, Any, Page[R]]]
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


async def in_parts(read: ReadPart[R], offset: int, limit: int) -> Page[R]:
    """Read a page in several smaller requests. Returns a shorter page if MAX_PARTS requests aren't enough.

    Raises AnswerTooLarge if no row could be read, and any error of `read`.
    """
    page: Page[R] | None = None
    rows: list[R] = []
    at, end, size = offset, offset + limit, max(1, limit // SMALLER)
    for part in range(1, MAX_PARTS + 1):
        size = min(size, end - at)
        try:
            page = await read(at, size)
        except AnswerTooLarge:
            if part == MAX_PARTS and page is None:
                raise
            at += size == 1
            size = max(1, size // SMALLER)
        else:
            rows += page.items
            at += len(page.items)
            size *= 2
            if not page.items or at >= page.total_count:
                break
        if at >= end:
            break
    total = page.total_count if page else end
    return Page(tuple(rows), total, offset, limit)


async def iterate(
    read: ReadPage[R], known: Known, path: str, first: Page[R] | None = None
) -> AsyncGenerator[R, None]:
    """Yield every row of a list, by offset.

    `known` must be empty. `path` identifies the list in errors. `first` is the page at offset 0, if it was
    already read. Raises ServiceBroken if the list doesn't end, and any error of `read`.
    """
    ahead = ReadAhead(read)
    offset, back, fruitless, width, furthest = 0, PAGE, 0, AHEAD, 0
    page = first or await read(offset)
    try:
        while True:
            rows = page.items
            seamless = offset == 0 or (bool(rows) and rows[0].id in known)
            fruitless += 1
            for row in rows if seamless else ():
                if row.id not in known:
                    known.add(row.id)
                    fruitless, back = 0, PAGE
                    yield row
            if seamless and (not rows or offset + len(rows) >= page.total_count):
                return
            # After a step back, as many rows may be read again, one per page.
            furthest = max(furthest, offset)
            if fruitless > FRUITLESS + furthest:
                raise ServiceBroken("GET", path, None, "the list has no end")
            step = len(rows) - 1
            if not seamless:
                offset, back, width = max(0, offset - back), back * 2, 1
                page = await read(offset)
            elif step:
                offset += step
                page = await ahead.page(offset, step, page.total_count, width)
                width = min(AHEAD, width * 2)
            else:
                page = await read(offset)
    finally:
        await ahead.drop()


async def iterate_issues(read: ReadIssues, filters: IssueFilters, path: str) -> AsyncGenerator[Issue, None]:
    """Yield every issue that matches the filters, in the order of IDs, ignoring their sort order."""
    filters = replace(filters, sort=(Sort("id"),))

    async def ordered(some: IssueFilters, offset: int = 0, limit: int = PAGE) -> Page[Issue]:
        page = await read(some, offset, limit)
        if any(one.id >= other.id for one, other in pairwise(page.items)):
            raise ServiceBroken("GET", path, None, "the list is not in the order asked for")
        return page

    last = 0
    try:
        if filters.issue_ids:
            rows = _by_ids(ordered, filters)
        else:
            first = await ordered(filters)
            if len(first.items) == 1 < first.total_count and filters.query_id is None:
                rows = _by_cursor(ordered, filters, path, last)
            else:
                rows = iterate(partial(ordered, filters), Below(), path, first)
        async with aclosing(rows):
            async for issue in rows:
                last = issue.id
                yield issue
    except AnswerTooLarge:
        if filters.issue_ids or filters.query_id is not None:  # the cursor can't be combined with these
            raise
        async with aclosing(_by_cursor(ordered, filters, path, last)) as rest:
            async for issue in rest:
                yield issue


async def _by_ids(read: ReadIssues, filters: IssueFilters) -> AsyncGenerator[Issue, None]:
    """Yield issues by their IDs, one page at a time, and ask again for IDs that a capped page left out."""
    wanted = sorted(set(filters.issue_ids))
    while wanted:
        some, wanted = wanted[:PAGE], wanted[PAGE:]
        page = await read(replace(filters, issue_ids=tuple(some)), 0, PAGE)
        for issue in page.items:
            yield issue
        if page.items and len(page.items) < page.total_count:
            wanted = [number for number in some if number > page.items[-1].id] + wanted


async def _by_cursor(
    read: ReadIssues, filters: IssueFilters, path: str, last: int
) -> AsyncGenerator[Issue, None]:
    """Yield issues after the ID `last`. Raises ServiceBroken if the service ignores the ID filter."""
    left_out, size = 0, PAGE
    while True:
        try:
            page = await read(replace(filters, from_id=last + 1), left_out, size)
        except AnswerTooLarge:
            left_out += size == 1
            size = max(1, size // SMALLER)
            continue
        if not page.items:
            return
        if page.items[0].id <= last:
            raise ServiceBroken("GET", path, None, "pages of one row can't be walked here")
        for issue in page.items:
            last = issue.id
            yield issue
        left_out, size = 0, min(PAGE, size * 2)
