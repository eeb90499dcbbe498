"""What a comment names without a keyword: a project beside the duration, or a day beside an activity."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TypeVar

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.people import has_permission
from bot.access.projects import KnownProject
from bot.errors import ServiceError
from bot.features.timelog.timelog import TimeDraft, Timelog
from bot.service.conventions import LOGS_TIME
from bot.service.models import Ref
from bot.store.channels import Channel
from bot.store.owner import Owner

T = TypeVar("T")


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
                if draft.or_on and visible:
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
