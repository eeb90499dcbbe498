from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.service.client import Client
from bot.service.inputs import NewTimeEntry
from tests.contract.world import World


async def test_time_is_logged_under_the_users_own_name(client: Client, world: World) -> None:
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


async def test_project_time_uses_the_users_own_date(client: Client, world: World) -> None:
    zones = {"dora": ZoneInfo("Pacific/Tongatapu"), "chris": ZoneInfo("Etc/GMT+12")}
    wanted = NewTimeEntry(
        project_id=world.project("public"), hours=Decimal("1.5"), activity_id=world.activities["Design"]
    )
    before = datetime.now(UTC)
    entries = {login: await client.create_time_entry(world.key(login), wanted) for login in zones}
    after = datetime.now(UTC)

    for login, zone in zones.items():
        assert entries[login].spent_on in {moment.astimezone(zone).date() for moment in (before, after)}
        assert entries[login].issue is None
    assert entries["dora"].spent_on != entries["chris"].spent_on
