"""Where a digest starts: it lists nothing from before, and its chart shows the past."""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.features.accounts.accounts import Session
from bot.features.digests import kinds
from bot.features.digests.periods import counted, ends_around
from bot.features.digests.reading import own_issues, since, updates
from bot.features.digests.schedules import parse
from bot.service.client import Client
from bot.service.filters import TimeRange
from bot.store.digest_plans import Plan
from bot.store.digests import Covered, Start

MOST_COUNTED = 2000
"""If the history needs more issues than this, it starts empty."""
AHEAD = timedelta(days=1)
"""How far ahead the service's clock may be. The bound leaves out closed issues without a time."""


async def start_of(client: Client, session: Session, plan: Plan, now: datetime) -> Start:
    """Where a digest that is added `now` starts, in the service's time. Raises ServiceError."""
    if plan.kind == "personal":
        mine, more = await own_issues(client, session)
        return Start(seen=updates(mine, more=more))
    if plan.kind not in kinds.HAPPENED:
        return Start()
    history = await history_of(client, session, plan, now)
    anything = replace(plan, filters={})
    with_time = TimeRange(until=now + AHEAD) if plan.kind == "closed" else None
    known = kinds.filters_of(anything, now, with_time)
    latest = replace(known, project_id=None, subprojects=None, sort=kinds.LATEST[plan.kind])
    page = await client.list_issues(session.key, latest, limit=1)
    newest = max((at for row in page.items if (at := kinds.happened(plan.kind, row))), default=None)
    if newest is None:
        return Start(history=history)
    covered_to = min(newest, now)
    before = kinds.filters_of(anything, now, since(covered_to))
    times = [
        (row.id, kinds.happened(plan.kind, row)) async for row in client.iter_issues(session.key, before)
    ]
    covered = [Covered(number, at) for number, at in times if at]
    return Start(covered_to=covered_to, covered=covered, history=history)


async def history_of(
    client: Client, session: Session, plan: Plan, now: datetime
) -> list[tuple[datetime, int]]:
    """How many issues were opened or closed in each of the last periods. Raises ServiceError."""
    ends = ends_around(parse(plan.schedule), plan.zone, now)
    if not ends[:-1] or plan.kind not in kinds.HAPPENED:
        return []
    filters = kinds.filters_of(plan, now, TimeRange(since=ends[0]))
    if (await client.list_issues(session.key, filters, limit=1)).total_count > MOST_COUNTED:
        return []
    rows = [row async for row in client.iter_issues(session.key, filters) if kinds.passes(plan, row)]
    times = [at for row in rows if (at := kinds.happened(plan.kind, row))]
    return counted(ends, (), times, since=ends[0])
