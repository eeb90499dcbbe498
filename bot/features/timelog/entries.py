"""Finds the time that users logged with the bot, by its issue or its days."""

from dataclasses import dataclass
from datetime import date

from bot.errors import Offer, UserError
from bot.features.timelog.timelog import Timelog
from bot.store.activity import Entry
from bot.store.owner import Owner

LISTED = 10  # how many entries of a period are listed


@dataclass(frozen=True)
class LoggedIn:
    """The time of a period: its sum, and the latest entries."""

    minutes: int
    entries: tuple[Entry, ...]


async def last_on(timelog: Timelog, owner: Owner, issue: int) -> Entry:
    """The user's latest entry on an issue. Raises UserError."""
    kept = timelog.access.store.time_entries
    if entry := await kept.last_on(owner, issue):
        return entry
    for last in await kept.latest(owner, 1):
        raise UserError(
            "You have no entry on #{issue} that I know of. Your last one is on {on}.",
            issue=issue,
            on=f"#{last.issue_id}" if last.issue_id else last.title,
            offers=[Offer("Edit last entry", "edit")],
        )
    raise UserError(
        "You haven't logged any time yet. Log it on #{issue}?",
        issue=issue,
        offers=[Offer("Log time", str(issue))],
    )


async def logged_in(timelog: Timelog, owner: Owner, since: date, until: date) -> LoggedIn:
    """What the user logged from one day to another, inclusive."""
    kept = timelog.access.store.time_entries
    entries = await kept.within(owner, since, until, LISTED)
    return LoggedIn(await kept.minutes(owner, since, until), entries)
