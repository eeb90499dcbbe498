"""Looks up what a text about time is about: a project that a comment names without a keyword, an activity
beside a day, and entries that the user logged with the bot.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.people import has_permission
from bot.access.projects import KnownProject
from bot.errors import Offer, ServiceError, UserError
from bot.features.timelog.drafts import TimeDraft
from bot.features.timelog.timelog import Timelog
from bot.service.conventions import LOGS_TIME
from bot.service.models import Ref
from bot.store.activity import Entry
from bot.store.channels import Channel
from bot.store.owner import Owner

MAX_LISTED = 10  # how many entries of a period are listed
T = TypeVar("T")


@dataclass(frozen=True)
class LoggedIn:
    """The time of a period: its sum, and the latest entries."""

    minutes: int
    entries: tuple[Entry, ...]


class Guesses:
    def __init__(self, access: Access, timelog: Timelog) -> None:
        self.access, self.timelog = access, timelog

    async def meant(
        self,
        owner: Owner,
        channel: Channel | None,
        draft: TimeDraft,
        names: Iterable[str],
        read: Callable[[str, int], T],
    ) -> T | TimeDraft:
        """The draft with what its comment can only mean: `read` takes the words that name a project, and its
        ID. The draft as it is if its form can't wait for that.
        """
        with suppress(ServiceError, TimeoutError):
            async with (
                asyncio.timeout(self.access.delays.options),
                self.access.accounts.reading(owner) as session,
            ):
                visible = await self.access.projects.visible(session)
                for words in names:
                    if fitting := _fitting(words.casefold(), visible):
                        if len(fitting) == 1 and await self._only(session, words.casefold(), fitting[0]):
                            return read(words, fitting[0].id)
                        break
                if draft.other and visible:
                    known = await self.access.projects.default_in(session, channel) or visible[0]
                    return draft.with_dated_activity(await self._activities(session, known))
        return draft

    async def _only(self, session: Session, words: str, project: KnownProject) -> bool:
        """Whether words that fit this project begin its name and no activity's, and the user may log time."""
        called = (project.identifier.casefold(), project.name.casefold())
        if not any(f"{name} ".startswith(f"{words} ") for name in called):
            return False
        known = await self._activities(session, project)
        if any(f" {words} " in f" {one.name.casefold()} " for one in known):
            return False
        return await has_permission(self.access.client, session, project, LOGS_TIME) is not False

    async def _activities(self, session: Session, project: KnownProject) -> Sequence[Ref]:
        return await self.timelog.activities(
            session, await self.access.projects.detailed(session, project.id)
        )


def _fitting(words: str, projects: Iterable[KnownProject]) -> list[KnownProject]:
    """The projects that the words name, or else those with the words in their names."""
    exact = [one for one in projects if words in (one.name.casefold(), one.identifier.casefold())]
    return exact or [one for one in projects if f" {words} " in f" {one.name.casefold()} "]


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
    entries = await kept.within(owner, since, until, MAX_LISTED)
    return LoggedIn(await kept.minutes(owner, since, until), entries)
