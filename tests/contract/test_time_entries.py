from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.service.client import Client
from tests.contract.raw import Wire, an_issue, some_time, time
from tests.contract.world import World


async def test_project_time_uses_the_users_own_date(client: Client, world: World) -> None:
    zones = {"dora": ZoneInfo("Pacific/Tongatapu"), "chris": ZoneInfo("Etc/GMT+12")}
    new_entry = time(world, project_id=world.project("public"), hours=Decimal("1.5"))
    before = datetime.now(UTC)
    entries = {login: await client.create_time_entry(world.key(login), new_entry) for login in zones}
    after = datetime.now(UTC)

    for login, zone in zones.items():
        assert entries[login].spent_on in {moment.astimezone(zone).date() for moment in (before, after)}
        assert entries[login].issue is None
    assert entries["dora"].spent_on != entries["chris"].spent_on


async def test_hours_of_an_issue_include_its_subtasks(wire: Wire) -> None:
    numbers: list[int | None] = [None]
    for _ in range(3):  # each below the one before
        made = await an_issue(wire, parent_issue_id=numbers[-1], estimated_hours=1.5)
        numbers.append(made.json["issue"]["id"])
        await some_time(wire, issue_id=numbers[-1], hours=1 / 3)

    [issue] = (await wire("GET", "/issues.json", issue_id=str(numbers[1]))).json["issues"]

    assert (issue["estimated_hours"], issue["total_estimated_hours"]) == (1.5, 4.5)
    assert (round(issue["spent_hours"], 2), round(issue["total_spent_hours"], 2)) == (0.33, 1)
