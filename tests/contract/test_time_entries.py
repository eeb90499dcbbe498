from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.service.client import Client
from bot.service.inputs import NewTimeEntry
from tests.contract.world import World


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
