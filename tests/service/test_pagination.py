"""Pagination returns each row exactly once, even if the list changes meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.errors import Forbidden, ServiceBroken
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Page
from bot.service.pagination import iterate_issues
from tests.service.scripted import Asked, Reply, Service

BY_ID = IssueFilters(sort=(Sort("id"),))


class Tracker:
    """An issue list served by the scripted service. It can cap its pages and change between requests."""

    def __init__(self, service: Service, ids: range, cap: int = 100) -> None:
        self.ids = list(ids)
        self.cap = cap
        self.meanwhile: Callable[[int], None] = lambda _: None
        self.delay = 0.0
        self.requests = self.answered = self.in_flight = self.most = 0
        self.size = 0
        service.handle = self.answer

    async def answer(self, asked: Asked) -> Reply:
        self.requests += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        await asyncio.sleep(self.delay)
        reply = Reply(body=self.page(asked.query))
        self.answered += 1
        self.meanwhile(self.answered)
        self.in_flight -= 1
        return reply

    def page(self, query: Mapping[str, str]) -> dict[str, object]:
        rows = self.ids if query.get("sort") in ("id", None) else self.ids[::-1]
        listed_ids = query.get("issue_id", "")
        if listed_ids:
            numbers = set(map(int, listed_ids.split(",")))
            rows = [row for row in rows if row in numbers]
        offset, limit = int(query["offset"]), min(int(query["limit"]), self.cap)
        some = [self.row(row) for row in rows[offset : offset + limit]]
        name = "projects" if "sort" not in query else "issues"
        return {name: some, "total_count": len(rows), "offset": offset, "limit": limit}

    def row(self, number: int) -> dict[str, object]:
        return {"id": number, "description": "x" * self.size} if self.size else {"id": number}


@pytest.fixture
async def client(service: Service) -> AsyncIterator[Client]:
    """A client with the default timeouts."""
    async with Client(service.url + "/prefix/") as client:
        yield client


async def all_ids(client: Client, key: SecretStr, filters: IssueFilters | None = None) -> list[int]:
    return [issue.id async for issue in client.iter_issues(key, filters or IssueFilters())]


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 199, 200, 750])
@pytest.mark.parametrize("cap", [100, 25])
async def test_every_issue_appears_once_in_the_order_of_ids(
    client: Client, service: Service, key: SecretStr, count: int, cap: int
) -> None:
    tracker = Tracker(service, range(1, 1 + count), cap)

    assert await all_ids(client, key, IssueFilters(sort=(Sort("subject"),))) == tracker.ids
    assert {asked.query["sort"] for asked in service.asked} == {"id"}


@pytest.mark.parametrize(
    ("problem", "total", "ids"), [("no end", 8, [1]), ("no end", 500, [*range(1, 51)]), ("order", 2, [2, 1])]
)
async def test_a_list_that_cannot_be_walked_raises_an_error(
    client: Client, service: Service, key: SecretStr, *, problem: str, total: int, ids: list[int]
) -> None:
    async def answer(asked: Asked) -> Reply:
        rows = ids if len(ids) == 1 else ids[int(asked.query["offset"]) :]
        return Reply(body={"issues": [{"id": number} for number in rows], "total_count": total})

    service.handle = answer
    with pytest.raises(ServiceBroken, match=problem):
        await all_ids(client, key)


async def test_long_descriptions_are_cut_in_lists(client: Client, service: Service, key: SecretStr) -> None:
    Tracker(service, range(1, 3)).size = 50_000

    for issue in (await client.list_issues(key, BY_ID)).items:
        assert len(issue.description or "") == 20_000
    [one] = (await client.list_issues(key, replace(BY_ID, issue_ids=(1,)), limit=1)).items
    assert len(one.description or "") == 50_000


@pytest.mark.parametrize("cap", [100, 40])
async def test_issues_by_id(client: Client, service: Service, key: SecretStr, cap: int) -> None:
    Tracker(service, range(1, 400, 2), cap)
    ids = tuple(range(300, 0, -1))

    assert await all_ids(client, key, IssueFilters(issue_ids=ids)) == list(range(1, 300, 2))
    assert all(asked.query["status_id"] == "*" for asked in service.asked)


async def test_pages_are_read_ahead_up_to_a_limit(client: Client, service: Service, key: SecretStr) -> None:
    tracker = Tracker(service, range(1, 3001))
    tracker.delay = 0.05

    assert await all_ids(client, key) == tracker.ids
    assert 4 <= tracker.most <= 8


async def test_stopping_early_cancels_prefetching(client: Client, service: Service, key: SecretStr) -> None:
    tracker = Tracker(service, range(1, 3001))
    async with aclosing(client.iter_issues(key, IssueFilters())) as issues:
        first = [(await anext(issues)).id for _ in range(150)]

    assert first == list(range(1, 151))
    assert tracker.requests <= 12
    assert [task for task in asyncio.all_tasks() if "ordered" in repr(task.get_coro())] == []


async def test_an_error_on_a_later_page_is_raised(client: Client, service: Service, key: SecretStr) -> None:
    tracker = Tracker(service, range(1, 3001))

    async def forbidden_later(asked: Asked) -> Reply:
        return Reply(403) if int(asked.query["offset"]) > 500 else await tracker.answer(asked)

    service.handle = forbidden_later
    with pytest.raises(Forbidden):
        await all_ids(client, key)


async def test_projects_are_listed_once_in_order(client: Client, service: Service, key: SecretStr) -> None:
    tracker = Tracker(service, range(1, 260))
    tracker.ids.reverse()
    expected = list(tracker.ids)
    tracker.meanwhile = lambda request: tracker.ids.__delitem__(slice(3 if request == 1 else 0))

    assert [project.id async for project in client.iter_projects(key)] == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60), st.booleans()), max_size=30),
    st.integers(2, 100),
    st.integers(0, 400),
)
@example(changes=[(0, 0, False)] * 15 + [(0, 1, False), (0, 5, True)], cap=2, count=18)
def test_rows_that_stay_are_found_once(changes: list[tuple[int, int, bool]], cap: int, count: int) -> None:
    ids = list(range(1, 2 * count, 2))
    stayed = set(ids)
    pending = iter(changes)

    async def read(_: IssueFilters, offset: int, __: int) -> Page[Issue]:
        page = Page(tuple(Issue(id=number) for number in ids[offset : offset + cap]), len(ids), offset, cap)
        where, how_many, comes = next(pending, (0, 0, True))
        if comes:
            ids[:] = sorted({*ids, *range(2 * where, 2 * where + 2 * how_many, 2)})
        else:
            stayed.difference_update(ids[where : where + how_many])
            del ids[where : where + how_many]
        await asyncio.sleep(0)
        return page

    async def collect() -> list[int]:
        return [issue.id async for issue in iterate_issues(read, IssueFilters(), "/issues.json")]

    collected = asyncio.run(collect())
    assert collected == sorted(set(collected))
    assert stayed <= set(collected)
