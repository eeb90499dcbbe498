from typing import Final
from uuid import uuid4

import pytest

from bot.errors import Refused
from bot.service.client import Client
from tests.contract.raw import JSON, Wire, made, project
from tests.contract.world import World

PARTS: Final = (
    *("trackers", "issue_categories", "time_entry_activities"),
    *("enabled_modules", "issue_custom_fields"),
)


@pytest.mark.parametrize(
    ("login", "expected"),
    [("ana", {"public", "child", "private", "lab"}), ("nils", {"public", "child", "lab"})],
)
async def test_the_list_contains_visible_open_projects(
    client: Client, world: World, login: str, expected: set[str]
) -> None:
    project_ids = {one.id async for one in client.iter_projects(world.key(login))}

    assert {kind for kind in world.projects if world.project(kind) in project_ids} == expected


async def test_a_project_is_found_by_number_and_by_identifier(client: Client, world: World) -> None:
    by_number, by_name = [
        await client.get_project(world.key("ana"), which, include=PARTS)
        for which in (world.project("public"), "webshop")
    ]

    assert by_number == by_name
    basics = (by_name.name, by_name.identifier, by_name.status, by_name.is_public)
    assert basics == ("Web Shop", "webshop", 1, True)
    assert by_name.description == "Web Shop, for the tests."
    assert {"Bug", "Feature", "Support"} <= {tracker.name for tracker in by_name.trackers}
    assert {category.name for category in by_name.issue_categories} == {"Catalogue", "Checkout"}
    assert {activity.id for activity in by_name.time_entry_activities} == set(world.activities.values())
    assert {"issue_tracking", "time_tracking"} <= {module.name for module in by_name.enabled_modules}
    # Redmine leaves out fields that are for all projects.
    assert {"Severity"} <= {field.name for field in by_name.issue_custom_fields} <= set(world.custom_fields)
    child = await client.get_project(world.key("ben"), "webshop-search")
    assert child.parent is not None
    assert (child.parent.id, child.parent.name) == (by_number.id, "Web Shop")
    assert (await client.get_project(world.key("ben"), "museum")).status == 5


async def test_a_project_is_created_once(client: Client, world: World) -> None:
    new_project = project(description="By a test")

    made = await client.create_project(world.key("chris"), new_project)

    sent = (new_project.name, new_project.identifier, new_project.description, False)
    assert (made.name, made.identifier, made.description, made.is_public) == sent
    with pytest.raises(Refused) as caught:
        await client.create_project(world.key("chris"), new_project)
    assert "Identifier has already been taken" in caught.value.errors


async def test_only_inherited_roles_are_marked_as_inherited(wire: Wire) -> None:
    above = wire.world.project("public")
    fields: JSON = {
        "name": "Heir",
        "identifier": f"heir-{uuid4().hex[:8]}",
        "parent_id": above,
        "inherit_members": True,
        "is_public": False,
    }
    heir = (await made(wire, "project", **fields)).json["project"]

    ana = (await wire("GET", "/users/current.json", include="memberships")).json["user"]

    roles = {row["project"]["id"]: row["roles"] for row in ana["memberships"]}
    assert all("inherited" not in role for role in roles[above])
    assert True in [role.get("inherited") for role in roles[heir["id"]]]
