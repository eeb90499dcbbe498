"""All rows of a list, each once and none lost, while the data changes and pages are read ahead in parallel.

Rows that come and go shift the offsets of those behind them, so a plain walk by offset skips and repeats.
Here each page begins with the last row of the page before it. When it does begin with a row that was given
out already, everything behind that row is seamless, whatever was inserted or removed meanwhile and in
whichever order the pages were read. When it doesn't, rows moved forward, and the walk goes back until a
page begins with a known row again, reading ahead less while rows keep moving. The next page is always
counted from the rows received: a service may cap its pages. Only pages of a single row can't overlap: a
list of issues goes on by id then.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from bot.errors import ServiceBroken
from bot.service import conventions
from bot.service.conventions import PAGE
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Page, Project

AHEAD = 8
FRUITLESS = 20  # pages without a new row, beside those walked again, before a list is held to have no end

R = TypeVar("R", Issue, Project)
ReadPage: TypeAlias = Callable[[int], Coroutine[Any, Any, Page[R]]]
ReadIssues: TypeAlias = Callable[[IssueFilters, int, Mapping[str, str]], Coroutine[Any, Any, Page[Issue]]]


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

    async def ordered(some: IssueFilters, offset: int, params: Mapping[str, str]) -> Page[Issue]:
        page = await read(some, offset, params)
        if any(one.id >= other.id for one, other in pairwise(page.items)):
            raise ServiceBroken("GET", path, None, "the list is not in the order asked for")
        return page

    if filters.issue_ids:
        rows = _by_number(ordered, filters)
    else:
        first = await ordered(filters, 0, {})
        if len(first.items) == 1 < first.total_count and filters.query_id is None:
            rows = _by_cursor(ordered, filters, path)
        else:
            rows = every(lambda offset: ordered(filters, offset, {}), Below(), path, first)
    async with aclosing(rows):
        async for issue in rows:
            yield issue


async def _by_number(read: ReadIssues, filters: IssueFilters) -> AsyncGenerator[Issue, None]:
    """Issues by their numbers, a page's worth at a time; what a capped page left out is asked again."""
    wanted = sorted(set(filters.issue_ids))
    while wanted:
        some, wanted = wanted[:PAGE], wanted[PAGE:]
        page = await read(replace(filters, issue_ids=tuple(some)), 0, {})
        for issue in page.items:
            yield issue
        if page.items and len(page.items) < page.total_count:
            wanted = [number for number in some if number > page.items[-1].id] + wanted


async def _by_cursor(read: ReadIssues, filters: IssueFilters, path: str) -> AsyncGenerator[Issue, None]:
    """Issues from the last id on; a service that ignores the filter answers with ids below it."""
    last = 0
    while True:
        page = await read(filters, 0, {"issue_id": f"{conventions.SINCE}{last + 1}"})
        if not page.items:
            return
        if page.items[0].id <= last:
            raise ServiceBroken("GET", path, None, "pages of one row can't be walked here")
        for issue in page.items:
            last = issue.id
            yield issue
