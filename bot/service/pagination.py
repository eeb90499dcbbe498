"""All rows of a list, each once and none lost, while the data changes and pages are read ahead in parallel.

Rows that come and go shift the offsets of those behind them, so a plain walk by offset skips and repeats.
Here each page begins with the last row of the page before it. When it does begin with a row that was given
out already, everything behind that row is seamless, whatever was inserted or removed meanwhile and in
whichever order the pages were read. When it doesn't, rows moved forward, and the walk goes back until a
page begins with a known row again, reading ahead less while rows keep moving. The next page is always
counted from the rows received: a service may cap its pages. Only pages of a single row can't overlap: a
list of issues goes on by id then.

A page may be larger than the limit of an answer. It is then read in smaller parts, and a list of issues goes
on by id, with as many rows a page as fit. A single row that is larger than the limit is left out.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from bot.errors import AnswerTooLarge, ServiceBroken
from bot.service import conventions
from bot.service.conventions import PAGE
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Page, Project

AHEAD = 8
SMALLER = 4
"""How many times fewer rows are asked for after an answer that was too large."""
MOST_PARTS = 30
FRUITLESS = 20  # pages without a new row, beside those walked again, before a list is held to have no end

R = TypeVar("R", Issue, Project)
ReadPage: TypeAlias = Callable[[int], Coroutine[Any, Any, Page[R]]]
ReadPart: TypeAlias = Callable[[int, int], Coroutine[Any, Any, Page[R]]]
"""Reads from this offset on this many rows."""
ReadIssues: TypeAlias = Callable[
    [IssueFilters, int, int, Mapping[str, str]], Coroutine[Any, Any, Page[Issue]]
]
"""Reads by these filters from this offset on this many rows, with these parameters besides."""


class Known(Protocol):
    """The ids that were given out; a plain set will do where the order isn't that of ids."""

    def __contains__(self, number: object, /) -> bool: ...

    def add(self, number: int, /) -> None:
        """Remember that this one was given out."""


class Below:
    """All ids up to the last one: enough for a list in the order of ids, and nothing comes out of order."""

    def __init__(self) -> None:
        self.last = 0

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number <= self.last

    def add(self, number: int) -> None:
        """Remember that everything up to this one was given out."""
        self.last = number


class ReadAhead(Generic[R]):
    """Pages at regular offsets, read in parallel and handed over in order."""

    def __init__(self, read: ReadPage[R]) -> None:
        self._read: ReadPage[R] = read
        self._coming: deque[tuple[int, asyncio.Task[Page[R]]]] = deque()

    async def page(self, offset: int, step: int, total: int, width: int) -> Page[R]:
        """The page at this offset; `width` pages at this step are under way then, up to a list's total."""
        if self._coming and self._coming[0][0] != offset:
            await self.drop()
        following = self._coming[-1][0] + step if self._coming else offset
        while not self._coming or (len(self._coming) < width and following + 1 < total):
            self._coming.append((following, asyncio.create_task(self._read(following))))
            following += step
        _, task = self._coming.popleft()
        return await task

    async def drop(self) -> None:
        """End what is under way."""
        tasks = [task for _, task in self._coming]
        self._coming.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def in_parts(read: ReadPart[R], offset: int, limit: int) -> Page[R]:
    """A page that is too large for one answer, from several smaller ones. It is shorter than asked for when
    MOST_PARTS weren't enough.

    Raises AnswerTooLarge when nothing could be read, and what `read` raises.
    """
    page: Page[R] | None = None
    rows: list[R] = []
    at, end, size = offset, offset + limit, max(1, limit // SMALLER)
    for part in range(1, MOST_PARTS + 1):
        size = min(size, end - at)
        try:
            page = await read(at, size)
        except AnswerTooLarge:
            if part == MOST_PARTS and page is None:
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


async def every(
    read: ReadPage[R], known: Known, path: str, first: Page[R] | None = None
) -> AsyncGenerator[R, None]:
    """Every row of a list, by offset. `known` is empty; `path` names the list in an error.

    `first` is the page at offset 0 where it was read already.

    Raises ServiceBroken when the list has no end, and what `read` raises.
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
            furthest = max(
                furthest, offset
            )  # after a step back, so many rows may be walked again, one a page
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


async def every_issue(read: ReadIssues, filters: IssueFilters, path: str) -> AsyncGenerator[Issue, None]:
    """Every issue that the filters let through, in the order of ids, whatever order they ask for."""
    filters = replace(filters, sort=(Sort("id"),))

    async def ordered(some: IssueFilters, offset: int, limit: int, params: Mapping[str, str]) -> Page[Issue]:
        page = await read(some, offset, limit, params)
        if any(one.id >= other.id for one, other in pairwise(page.items)):
            raise ServiceBroken("GET", path, None, "the list is not in the order asked for")
        return page

    last = 0
    try:
        if filters.issue_ids:
            rows = _by_number(ordered, filters)
        else:
            first = await ordered(filters, 0, PAGE, {})
            if len(first.items) == 1 < first.total_count and filters.query_id is None:
                rows = _by_cursor(ordered, filters, path, last)
            else:
                rows = every(lambda offset: ordered(filters, offset, PAGE, {}), Below(), path, first)
        async with aclosing(rows):
            async for issue in rows:
                last = issue.id
                yield issue
    except AnswerTooLarge:
        if filters.issue_ids or filters.query_id is not None:  # which leave no room for the cursor
            raise
        async with aclosing(_by_cursor(ordered, filters, path, last)) as rest:
            async for issue in rest:
                yield issue


async def _by_number(read: ReadIssues, filters: IssueFilters) -> AsyncGenerator[Issue, None]:
    """Issues by their numbers, a page's worth at a time; what a capped page left out is asked again."""
    wanted = sorted(set(filters.issue_ids))
    while wanted:
        some, wanted = wanted[:PAGE], wanted[PAGE:]
        page = await read(replace(filters, issue_ids=tuple(some)), 0, PAGE, {})
        for issue in page.items:
            yield issue
        if page.items and len(page.items) < page.total_count:
            wanted = [number for number in some if number > page.items[-1].id] + wanted


async def _by_cursor(
    read: ReadIssues, filters: IssueFilters, path: str, last: int
) -> AsyncGenerator[Issue, None]:
    """Issues after the id `last`; a service that ignores the filter answers with ids below it."""
    left_out, size = 0, PAGE
    while True:
        try:
            page = await read(filters, left_out, size, {"issue_id": f"{conventions.SINCE}{last + 1}"})
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
