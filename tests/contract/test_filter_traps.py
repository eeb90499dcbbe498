"""Filters that a service ignores or misreads: the client never returns an unfiltered list."""

import pytest

from bot.errors import NotFound, Refused
from bot.service.client import Client
from bot.service.filters import IssueFilters
from tests.contract.oracle import Depot, Row, depot
from tests.contract.world import World
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of
from tests.support.wording import worded

ANA = "U0ANA0001"


@pytest.fixture
async def held(world: World) -> Depot:
    return await depot(world, "ana", "UTC")


def shelf(held: Depot) -> int:
    """The custom field that the service can't filter by."""
    return next(int(f["id"]) for f in held.rows[0]["custom_fields"] if f["name"] == "Shelf")


async def numbers(client: Client, world: World, filters: IssueFilters) -> set[int]:
    return {issue.id async for issue in client.iter_issues(world.key("ana"), filters)}


async def test_a_custom_field_that_is_not_filterable_is_rejected(
    client: Client, world: World, held: Depot
) -> None:
    for field in (shelf(held), world.custom_fields["Severity"]):
        filters = IssueFilters(project_id=held.project, custom_fields=((field, "S1"),))
        with pytest.raises(Refused, match="200") as refused:
            await client.list_issues(world.key("ana"), filters)
        assert "not possible here" in worded(refused.value)


async def test_a_custom_field_filters_across_its_projects(client: Client, world: World, held: Depot) -> None:
    filters = IssueFilters(status="any", custom_fields=((world.custom_fields["Colour"], "green"),))

    found = await numbers(client, world, filters)

    def green(row: Row) -> bool:
        return any(field["name"] == "Colour" and field["value"] == "green" for field in row["custom_fields"])

    assert found & {row["id"] for row in held.rows} == {row["id"] for row in held.rows if green(row)}


async def test_an_impossible_value_is_rejected_with_the_services_message(
    client: Client, world: World
) -> None:
    field = world.custom_fields["Attempts"]
    with pytest.raises(Refused, match="422") as refused:
        await client.list_issues(world.key("ana"), IssueFilters(custom_fields=((field, "many"),)))
    assert "Attempts is invalid" in worded(refused.value)


async def test_a_project_without_children_is_listed_alone(client: Client, world: World, held: Depot) -> None:
    filters = IssueFilters(project_id=held.cellar, subprojects="none", status="any")

    expected = {row["id"] for row in held.rows if row["project"]["id"] == held.cellar}
    assert await numbers(client, world, filters) == expected


async def test_status_defaults_to_open_but_issue_numbers_match_any(
    client: Client, world: World, held: Depot
) -> None:
    opened = {row["id"] for row in held.rows if not row["status"]["is_closed"]}
    every = {row["id"] for row in held.rows}

    assert await numbers(client, world, IssueFilters(project_id=held.project)) == opened
    assert await numbers(client, world, IssueFilters(issue_ids=tuple(every))) == every


async def test_a_saved_query_works_in_its_own_project(client: Client, world: World, held: Depot) -> None:
    late = {
        row["id"]
        for row in held.rows
        if not row["status"]["is_closed"] and row["due_date"] and row["due_date"] <= "2024-06-30"
    }
    urgent = {row["id"] for row in held.rows if row["priority"]["name"] == "Urgent"}

    def query(name: str, project: int | None = None) -> IssueFilters:
        return IssueFilters(query_id=world.queries[name], project_id=project)

    assert await numbers(client, world, query("late", held.project)) == late
    assert await numbers(client, world, query("urgent", held.project)) == urgent
    assert await numbers(client, world, query("urgent")) >= urgent
    for lost in (query("late"), query("late", held.cellar), IssueFilters(query_id=99_999)):
        with pytest.raises(NotFound):
            await client.list_issues(world.key("ana"), lost)


async def test_users_learn_what_a_search_cannot_do(office: Office, world: World, held: Depot) -> None:
    await office.link(ANA, world.keys["ana"])
    ana = Person(office, ANA)
    query = f"query:{world.queries['late']}"
    for typed, said in (
        ("category:inbound", "Add `project:`"),
        ("subproject:cellar", "Add `project:`"),
        ("project:depot subproject:webshop", "isn’t a subproject of Depot"),
        ("project:cellar subproject:depot", "isn’t a subproject of Cellar"),
        (f"project:depot {query} tracker:bug", "can only be combined with `project:` and `sort:`"),
        (f"project:depot {query} status:any", "can only be combined with `project:` and `sort:`"),
        (f"project:depot cf_{shelf(held)}:S1", "not possible here"),
        (f"project:depot {query} sort:id", "Saved query"),
        ("project:depot pallet jams at the north dock today", "contains “pallet jams at the north”"),
        ("project:depot a pallet", "contains “pallet”"),
    ):
        answer = text_of(await ana.ask(f"/issues {typed}"))
        assert said in answer.replace("'", "’"), f"{typed}: {answer}"
