from datetime import UTC, datetime, timedelta

import aiohttp

from bot.service.client import Client
from bot.service.conventions import issues_url
from bot.service.filters import IssueFilters, Sort, TimeRange
from tests.contract.world import World

NOW = datetime.now(UTC)


async def test_a_list_is_read_completely_in_order(client: Client, world: World) -> None:
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


async def test_relations_and_attachments_are_included_on_request(client: Client, world: World) -> None:
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


async def test_a_list_link_opens_the_same_issues(client: Client, world: World) -> None:
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
