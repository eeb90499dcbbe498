"""Commands and helpers shared by the tests of digests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from bot.features.digests.plans import PlanDraft, Typed
from bot.features.digests.schedules import parse
from bot.store.digests import Digest
from bot.store.owner import Owner
from bot.store.plans import Plan
from tests.support.office import TEAM, Office
from tests.support.reading import JSON

AT = f"{datetime.now(UTC) - timedelta(hours=6):%H}:00"
"""A time of day that doesn't come up while the tests run, in any of the users' time zones."""
EVERY_DAY = parse(f"daily {AT}").in_words()
WEB = f"/digest add webshop daily {AT}"
ANA = Owner(None, TEAM, "U0ANA0001")
HIDDEN = f"/digest add security daily {AT}"


def requested_plan(
    project: str | None = None,
    schedule: str = "hourly",
    zone: str = "UTC",
    filters: Typed | None = None,
    excluded: Typed | None = None,
    **plan: Any,
) -> PlanDraft:
    """What a user asks for; the schedule as they type it."""
    known = Plan(schedule=parse(schedule).text, zone=zone, **plan)
    return PlanDraft(plan=known, project=project, filters=filters or {}, excluded=excluded or {})


async def stored(office: Office, number: int = 1) -> Digest:
    digest = await office.bot.store.digests.get(TEAM, number)
    assert digest is not None
    return digest


def buttons(message: JSON) -> list[str]:
    rows = (b["elements"] for b in message["blocks"] if b["type"] == "actions")
    return [element["text"]["text"] for row in rows for element in row]
