from datetime import date
from decimal import Decimal

import pytest

from bot.errors import Forbidden, Refused
from bot.service.client import Client
from bot.service.writes import NewTimeEntry, TimeEntryChanges
from tests.contract.world import World


async def test_time_is_logged_on_an_issue_in_ones_own_name(client: Client, world: World) -> None:
    entry = await client.create_time_entry(
        world.key("ana"),
        NewTimeEntry(
            issue_id=world.issues["child"],
            hours=Decimal(1) / Decimal(3),
            activity_id=world.activities["Development"],
            spent_on=date(2024, 5, 2),
            comments="Rounding, “half even”",
        ),
    )

    assert entry.issue is not None
    assert entry.issue.id == world.issues["child"]
    assert [ref and ref.name for ref in (entry.project, entry.user, entry.activity)] == [
        "Web Shop",
        "Ana Ruiz",
        "Development",
    ]
    assert (entry.hours, entry.spent_on) == (Decimal("0.33"), date(2024, 5, 2))
    assert entry.comments == "Rounding, “half even”"


async def test_time_is_logged_on_a_project_today_by_default(client: Client, world: World) -> None:
    entry = await client.create_time_entry(
        world.key("ana"),
        NewTimeEntry(
            project_id=world.project("public"), hours=Decimal("1.5"), activity_id=world.activities["Design"]
        ),
    )

    assert entry.issue is None
    assert entry.hours == Decimal("1.5")
    assert entry.spent_on is not None
    assert entry.spent_on.year >= 2025


async def test_an_entry_is_changed_by_its_owner_only(client: Client, world: World) -> None:
    entry = await client.create_time_entry(
        world.key("ben"),
        NewTimeEntry(
            issue_id=world.issues["child"], hours=Decimal(2), activity_id=world.activities["Development"]
        ),
    )

    await client.update_time_entry(
        world.key("ben"), entry.id, TimeEntryChanges(hours=Decimal("0.75"), comments="Less")
    )
    with pytest.raises(Forbidden):
        await client.update_time_entry(
            world.key("ben"), await anas_entry(client, world), TimeEntryChanges(hours=Decimal(9))
        )


async def anas_entry(client: Client, world: World) -> int:
    wanted = NewTimeEntry(
        issue_id=world.issues["parent"], hours=Decimal(1), activity_id=world.activities["Design"]
    )
    return (await client.create_time_entry(world.key("ana"), wanted)).id


async def test_time_without_a_place_or_activity_is_refused(client: Client, world: World) -> None:
    with pytest.raises((Refused, Forbidden)):
        await client.create_time_entry(
            world.key("ana"), NewTimeEntry(issue_id=99_999, hours=Decimal(1), activity_id=1)
        )
    with pytest.raises(Refused) as caught:
        await client.create_time_entry(
            world.key("ana"),
            NewTimeEntry(issue_id=world.issues["child"], hours=Decimal(1), activity_id=99_999),
        )
    assert any(error.startswith("Activity") for error in caught.value.errors)


async def test_time_on_a_hidden_issue_is_refused(client: Client, world: World) -> None:
    with pytest.raises((Refused, Forbidden)):
        await client.create_time_entry(
            world.key("ben"),
            NewTimeEntry(
                issue_id=world.issues["vault"], hours=Decimal(1), activity_id=world.activities["Design"]
            ),
        )
