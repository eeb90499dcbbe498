"""The periods between due times: which ones a run covers, and how many issues came up in each."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.errors import UserError
from bot.features.digests import kinds
from bot.features.digests.posts import Edition
from bot.features.digests.schedules import Schedule, due_times, next_times, parse, previous_times
from bot.service.models import Issue
from bot.store.digest_runs import Claim, Run
from bot.store.digests import Digest

PERIODS = 8
"""How many periods the chart shows."""
LATE = timedelta(minutes=15)
"""How late a digest has to be to say so."""
NEVER = timedelta(days=36_500)
INSTANT = timedelta(microseconds=1)


def due_period(digest: Digest, now: datetime) -> Claim:
    """What to claim for a digest that is due: all the due times that it missed become one, the last."""
    schedule, zone = parse(digest.plan.schedule), digest.plan.zone
    since = digest.next_due or now
    times = due_times(schedule, zone, since, now)
    due_at = max((since, *previous_times(schedule, zone, now + INSTANT, 1)))
    (after,) = next_times(schedule, zone, now, 1) or (now + NEVER,)
    return Claim(digest=digest, due_at=due_at, missed=max(0, len(times) - 1), next_due=after)


def readable(digest: Digest) -> bool:
    """Whether its schedule and time zone are valid: a system update can remove a zone."""
    try:
        parse(digest.plan.schedule)
        ZoneInfo(digest.plan.zone)
    except (UserError, KeyError, ValueError):
        return False
    return True


def sooner(digest: Digest, now: datetime) -> datetime | None:
    """The next due time, if the one that is set is later than that; else None."""
    if not readable(digest):  # claiming it stops it
        return None
    (coming,) = next_times(parse(digest.plan.schedule), digest.plan.zone, now, 1) or (None,)
    later = coming is not None and digest.next_due is not None and digest.next_due > coming
    return coming if later else None


def edition(run: Run, issues: tuple[Issue, ...], now: datetime, *, more: bool = False) -> Edition:
    """What a run posts at `now` if these issues are new."""
    digest = run.digest
    schedule, zone = parse(digest.plan.schedule), digest.plan.zone
    moments = [at for issue in issues if (at := kinds.happened(digest.plan.kind, issue))]
    counts = dict(history(digest, moments, now))
    ends = (*previous_times(schedule, zone, run.due_at, PERIODS - 1), run.due_at)
    late = now - run.due_at
    counted_once = digest.plan.kind in kinds.HAPPENED
    comparable = counted_once and not run.asked and not run.missed and set(ends) <= counts.keys()
    return Edition(
        digest=digest,
        due_at=run.due_at,
        issues=issues,
        more=more,
        now=now,
        missed=run.missed,
        late=late if late >= LATE else timedelta(0),
        periods=tuple(counts[end] for end in ends) if comparable else (),
        asked=run.asked,
    )


def history(digest: Digest, opened: Iterable[datetime], now: datetime) -> list[tuple[datetime, int]]:
    """The digest's history plus these issues, each counted in the period in which it was opened."""
    ends = ends_around(parse(digest.plan.schedule), digest.plan.zone, now)
    known = min((end for end, _ in digest.history), default=digest.period_from)
    return counted(ends, digest.history, opened, since=known)


def counted(
    ends: Sequence[datetime],
    before: Iterable[tuple[datetime, int]],
    opened: Iterable[datetime],
    *,
    since: datetime,
) -> list[tuple[datetime, int]]:
    """The number of issues in each period that ends at `since` or later, by the period's end: the counts in
    `before` plus the `opened` ones.
    """
    known_ends = [end for end in ends[1:] if end >= since]
    counts = dict.fromkeys(known_ends, 0) | {end: n for end, n in before if end in known_ends}
    for moment in opened:
        place = bisect_left(ends, moment)
        if 0 < place < len(ends) and ends[place] in counts:
            counts[ends[place]] += 1
    return sorted(counts.items())


def ends_around(schedule: Schedule, zone: str, now: datetime) -> tuple[datetime, ...]:
    """When periods end: the start of the first one, then the ends of the past ones and the current one."""
    return (*previous_times(schedule, zone, now + INSTANT, PERIODS + 1), *next_times(schedule, zone, now, 1))
