from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import aiohttp
import pytest

from bot.errors import Forbidden, NotFound
from bot.service.client import Client
from bot.service.conventions import issues_url
from bot.service.filters import DateRange, IssueFilters, Sort, TimeRange
from tests.contract.world import World

Filters = Callable[[World], IssueFilters]


async def names(client: Client, world: World, filters: IssueFilters, login: str = "ana") -> set[str]:
    """Which of the world's own issues the filters find, by their names there."""
    found = {issue.id async for issue in client.iter_issues(world.key(login), filters)}
    return {name for name, number in world.issues.items() if number in found}


NOW = datetime.now(UTC)
CASES: dict[str, tuple[Filters, set[str]]] = {
    "open by default": (
        lambda w: IssueFilters(project_id=w.project("public")),
        {"parent", "child", "private", "in_child"},
    ),
    "closed": (lambda _: IssueFilters(status="closed"), {"closed"}),
    "any status, no subprojects": (
        lambda w: IssueFilters(project_id=w.project("public"), subprojects="none", status="any"),
        {"parent", "child", "private", "closed"},
    ),
    "one subproject": (
        lambda w: IssueFilters(project_id=w.project("public"), subprojects=(w.project("child"),)),
        {"parent", "child", "private", "in_child"},
    ),
    "a status by id": (lambda w: IssueFilters(status=(w.statuses["Closed"],)), {"closed"}),
    "ids, whatever the status": (
        lambda w: IssueFilters(issue_ids=(w.issues["closed"], w.issues["child"])),
        {"closed", "child"},
    ),
    "several trackers": (
        lambda w: IssueFilters(
            tracker_ids=(w.trackers["Bug"], w.trackers["Support"]), status="any", subject="fails"
        ),
        {"parent"},
    ),
    "priority": (lambda w: IssueFilters(priority_ids=(w.priorities["Low"], w.priorities["High"])), set()),
    "category": (
        lambda w: IssueFilters(project_id=w.project("public"), category_ids=(w.categories["Checkout"],)),
        {"parent"},
    ),
    "no category": (
        lambda w: IssueFilters(project_id=w.project("public"), category_ids="none", subject="rounding"),
        {"child"},
    ),
    "version": (
        lambda w: IssueFilters(project_id=w.project("public"), fixed_version_ids=(w.versions["1.0"],)),
        {"parent"},
    ),
    "any version": (
        lambda w: IssueFilters(project_id=w.project("public"), fixed_version_ids="any"),
        {"parent"},
    ),
    "parent": (lambda w: IssueFilters(parent_ids=(w.issues["parent"],)), {"child"}),
    "mine": (lambda _: IssueFilters(assigned_to=("me",)), {"parent"}),
    "somebody's": (lambda _: IssueFilters(assigned_to="anybody"), {"parent"}),
    "nobody's": (
        lambda w: IssueFilters(assigned_to="nobody", project_id=w.project("private")),
        {"vault"},
    ),
    "by me or Ben": (
        lambda w: IssueFilters(author=("me", w.users["ben"]), project_id=w.project("child"), status="any"),
        {"in_child"},
    ),
    "words in any order": (lambda _: IssueFilters(subject="discount checkout"), {"parent"}),
    "text like an operator": (lambda _: IssueFilters(subject="*"), set()),
    "per cent is itself": (lambda _: IssueFilters(subject="100% discount"), {"parent"}),
    "start in May": (
        lambda _: IssueFilters(start_date=DateRange(since=date(2024, 5, 1), until=date(2024, 5, 30))),
        {"in_child"},
    ),
    "due since May": (lambda _: IssueFilters(due_date=DateRange(since=date(2024, 5, 31))), {"in_child"}),
    "due until April": (lambda _: IssueFilters(due_date=DateRange(until=date(2024, 4, 30))), set()),
    "created this hour": (
        lambda w: IssueFilters(
            created_on=TimeRange(since=NOW - timedelta(minutes=30)), project_id=w.project("child")
        ),
        {"in_child"},
    ),
    "updated long ago": (
        lambda _: IssueFilters(updated_on=TimeRange(until=NOW - timedelta(days=300))),
        set(),
    ),
    "closed between": (
        lambda _: IssueFilters(
            status="any",
            closed_on=TimeRange(since=NOW - timedelta(minutes=30), until=NOW + timedelta(hours=1)),
        ),
        {"closed"},
    ),
    "a list field": (
        lambda w: IssueFilters(
            project_id=w.project("public"), custom_fields=((w.custom_fields["Severity"], "major"),)
        ),
        {"parent"},
    ),
    "a text field": (
        lambda w: IssueFilters(custom_fields=((w.custom_fields["Environment"], "staging"),)),
        {"parent"},
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_filter_finds_what_it_says(client: Client, world: World, case: str) -> None:
    filters, expected = CASES[case]

    assert await names(client, world, filters(world)) == expected


async def test_a_list_is_read_to_its_end_in_order(client: Client, world: World) -> None:
    filters = IssueFilters(project_id=world.project("public"), subject="Question customer")

    found = [issue.id async for issue in client.iter_issues(world.key("ana"), filters)]

    assert len(found) == world.bulk
    assert found == sorted(set(found))


async def test_more_ids_than_a_page_holds_are_all_found(client: Client, world: World) -> None:
    first = max(world.issues.values()) + 1
    wanted = tuple(range(first, first + 150))

    found = [i.id async for i in client.iter_issues(world.key("ana"), IssueFilters(issue_ids=wanted))]

    assert found == list(wanted)


async def test_a_page_is_sorted_as_asked_and_echoes_its_place(client: Client, world: World) -> None:
    filters = IssueFilters(
        project_id=world.project("public"),
        subject="Question customer",
        sort=(Sort("created_on"), Sort("id", descending=True)),
    )

    page = await client.list_issues(world.key("ana"), filters, offset=5, limit=3)

    assert (page.offset, page.limit, page.total_count) == (5, 3, world.bulk)
    assert [issue.subject for issue in page.items] == [
        f"Question {n:03} from a customer" for n in (200, 199, 198)
    ]


async def test_relations_and_attachments_come_when_asked_for(client: Client, world: World) -> None:
    wanted = (world.issues["parent"],)

    plain = await client.list_issues(world.key("ana"), IssueFilters(issue_ids=wanted))
    full = await client.list_issues(
        world.key("ana"),
        IssueFilters(issue_ids=wanted, include=frozenset({"relations", "attachments"})),
    )

    assert "relations" not in plain.items[0].model_fields_set
    [relation] = full.items[0].relations
    assert (relation.issue_id, relation.issue_to_id, relation.relation_type, relation.delay) == (
        world.issues["parent"],
        world.issues["child"],
        "relates",
        None,
    )
    assert full.items[0].attachments == ()


async def test_a_link_to_a_list_leads_people_to_what_its_filters_find(client: Client, world: World) -> None:
    async def linked(since: datetime, until: datetime) -> set[str]:
        filters = IssueFilters(
            project_id=world.project("public"),
            subprojects="none",
            status="any",
            created_on=TimeRange(since, until),
            category_ids=(world.categories["Checkout"],),
        )
        async with session.get(issues_url(client.base_url, filters.to_params())) as answer:
            page = await answer.text()
        return {name for name, number in world.issues.items() if f'/issues/{number}"' in page}

    async with aiohttp.ClientSession() as session:
        assert await linked(NOW - timedelta(days=3650), NOW + timedelta(days=1)) == {"parent"}
        assert await linked(NOW - timedelta(days=3651), NOW - timedelta(days=3650)) == set()


async def test_an_unknown_or_hidden_project_is_an_error_rather_than_everything(
    client: Client, world: World
) -> None:
    with pytest.raises(NotFound):
        await client.list_issues(world.key("ben"), IssueFilters(project_id=99_999))
    with pytest.raises(Forbidden):
        await client.list_issues(world.key("ben"), IssueFilters(project_id=world.project("private")))
