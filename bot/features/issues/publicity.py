"""Decides about posts: whether everyone can see the issue in the service, and who agreed to show more.

Reads the responses that decide about a post for it, and never takes them from a cache. If the service doesn't
say, or doesn't respond, an issue counts as private.
"""

import asyncio
import math
import time
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

import structlog

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.projects import KnownProject
from bot.errors import Forbidden, NotFound, ServiceError, UserError
from bot.features.issues.issues import Issues
from bot.service.client import Client
from bot.service.models import Issue, Project
from bot.slack.outgoing.outcomes import PostOutcome
from bot.store.owner import Owner

log = structlog.get_logger(__name__)


def is_public(project: Project | None) -> bool:
    """Whether everyone can see what isn't private in a project."""
    return project is not None and project.is_public is True


def seemed_public(issue: Issue, project: KnownProject | None) -> bool:
    """Whether everyone could see the issue a minute ago: for what one person sees, never for a post."""
    return not issue.is_private and project is not None and project.seemed_public is True


async def visible_project(client: Client, session: Session, number: int) -> Project | None:
    """Return a project's current state; None if the user can't see it.

    One of several servers may refuse everything for a while, so a refusal counts only if the list of projects
    lacks the project, too.
    """
    try:
        return await client.get_project(session.key, number)
    except (Forbidden, NotFound):
        async with aclosing(client.iter_projects(session.key)) as listed:
            async for project in listed:
                if project.id == number:
                    raise
    return None


@dataclass(frozen=True)
class Exposure:
    """Who can see an issue, or for None what isn't about one, in a project.

    `project` is None if the user can't see it, or it is `unread` because the service failed. `issue_at` and
    `read_at` are the monotonic times when the issue and the project were read. `agreed_project` is the ID of
    the project that a user agreed to show although it isn't public.
    """

    issue: Issue | None
    project_id: int | None
    project: Project | None = None
    issue_at: float = math.inf
    read_at: float = -math.inf
    unread: bool = False
    agreed_project: int | None = None

    @property
    def private(self) -> bool:
        """Whether no channel may be shown it, whatever its project is."""
        return self.project_id is None or (self.issue is not None and self.issue.is_private)

    @property
    def may_show(self) -> bool:
        """Whether a channel may be shown it."""
        return not self.private and (self.project_id == self.agreed_project or is_public(self.project))

    @property
    def asks(self) -> bool:
        """Whether the user has to be asked, or asked again, before others see it."""
        return self.project_id is not None and not self.may_show

    @property
    def why_not_show(self) -> PostOutcome | None:
        """Why a channel may not be shown it; None if it may."""
        if self.may_show:
            return None
        return PostOutcome.PUBLICITY_UNREAD if self.unread else PostOutcome.HIDDEN

    @property
    def hidden(self) -> PostOutcome | None:
        """Why it isn't public, as far as its project was read; None if it is, or wasn't."""
        return self.why_not_show if self.read_at > -math.inf else None

    def about(self, issue: Issue) -> "Exposure":
        """Return the exposure of an issue that was just read or created; keeps its project if it was read."""
        now = exposure_of(issue, self.agreed_project)
        if now.project_id != self.project_id:
            return now
        return replace(now, project=self.project, read_at=self.read_at, unread=self.unread)


def exposure_of(issue: Issue, agreed_project: int | None = None) -> Exposure:
    """The exposure of an issue that was just read or made; its project is read before it is posted."""
    project_id = issue.project.id if issue.project else None
    return Exposure(issue, project_id, issue_at=time.monotonic(), agreed_project=agreed_project)


class Publicity:
    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def of(self, owner: Owner, number: int, agreed_project: int | None = None) -> Exposure:
        """An issue's exposure. Raises IssueNotFound, NotLinked, ServiceError."""
        async with self.access.accounts.reading(owner) as session:
            issue = await self.issues.detailed(session, number)
            return await self.read(session, exposure_of(issue, agreed_project))

    async def now(self, owner: Owner, exposure: Exposure) -> Exposure:
        """The same with its project as it is now."""
        async with self.access.accounts.reading(owner) as session:
            return await self.read(session, exposure)

    async def read(self, session: Session, exposure: Exposure) -> Exposure:
        """The same with its project as it is now."""
        read_at, project = time.monotonic(), None
        if exposure.project_id is not None:
            project = await visible_project(self.access.client, session, exposure.project_id)
        return replace(exposure, project=project, read_at=read_at)

    async def why_not_show(self, owner: Owner, exposure: Exposure) -> PostOutcome | None:
        """Why a channel may not be shown it, called right before the post; None if it may. Reads again
        whatever is too old.
        """
        oldest = time.monotonic() - self.access.timings.fresh
        if min(exposure.issue_at, exposure.read_at) >= oldest or exposure.private:
            return exposure.why_not_show

        try:
            session = await self.access.accounts.unverified(owner)
            if exposure.issue is None or exposure.issue_at >= oldest:
                return (await self.read(session, exposure)).why_not_show
            return (await self._again(session, exposure, exposure.issue.id)).why_not_show
        except (ServiceError, UserError) as error:
            log.info("publicity not read", action="publicity.not_read", error=type(error).__name__)
        except Exception:  # the work is done by now, only its announcement isn't
            log.exception("publicity not read", action="publicity.not_read")
        return PostOutcome.PUBLICITY_UNREAD

    async def _again(self, session: Session, exposure: Exposure, number: int) -> Exposure:
        """Return its current issue and project, read concurrently: the post's turn has come."""
        reading = self.issues.detailed(session, number)
        issue, now = await asyncio.gather(reading, self.read(session, exposure))
        again = now.about(issue)
        return again if again.project_id == now.project_id else await self.read(session, again)

    async def privacy_refused(self, number: int) -> bool:
        """Whether an issue that the service shows to others was to be private: it isn't announced."""
        return number in await self.access.store.created_issues.privacy_refused()

    async def public(self, owner: Owner, numbers: Sequence[int]) -> list[Exposure]:
        """Those of a few issues that may be announced.

        Raises NotLinked, KeyRejected, ServiceError.
        """
        async with self.access.accounts.reading(owner) as session:
            visible = await self.issues.several(session, numbers)
            refused = await self.access.store.created_issues.privacy_refused()
            exposures = [exposure_of(visible[n]) for n in numbers if n in visible and n not in refused]
            read = await asyncio.gather(*(self.read_or_hidden(session, each) for each in exposures))
        return [each for each in read if each.may_show]

    async def read_or_hidden(self, session: Session, exposure: Exposure) -> Exposure:
        """Return the result of `read`, or an exposure that shows nothing if the service fails."""
        with suppress(ServiceError):
            return await self.read(session, exposure)
        return replace(exposure, project=None, read_at=time.monotonic(), unread=True)
