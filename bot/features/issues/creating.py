"""Creates an issue once, although the service may not answer."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import structlog

from bot.errors import OutcomeUnknown, ServiceError, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.lost_writes import CLOCK_SKEW, looked_for
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.inputs import NewIssue, UploadInput
from bot.service.models import Issue
from bot.store.store import Store

log = structlog.get_logger(__name__)

Upload = Callable[[Session], Awaitable[tuple[UploadInput, ...]]]
"""Sends the files that an issue is created with."""


@dataclass(frozen=True)
class Creating:
    """Creates issues with the requesting user's key."""

    client: Client
    store: Store
    accounts: Accounts
    looks: Sequence[float]

    async def once(
        self, session: Session, new: NewIssue, attempted_at: datetime | None, upload: Upload | None
    ) -> Issue:
        """Create the issue; `attempted_at` and `upload` as in `Issues.create`.

        If the answer is lost, look for the issue. Raises ServiceErrors; OutcomeUnknown if it isn't found.
        """
        if attempted_at:
            if found := await self._find_own(session, new, attempted_at):
                return found
            session = await self.accounts.reverified(session)
        if upload and (uploads := await upload(session)):
            new = new.model_copy(update={"uploads": uploads})
            session = await self.accounts.reverified(session)  # uploads may take minutes
        started = datetime.now(UTC)
        try:
            return await self.client.create_issue(session.key, new)
        except OutcomeUnknown:
            found = await looked_for(partial(self._find_own, session, new, started), self.looks)
            if found is None and new.uploads:
                found = await self._repeat(session, new, started)
            if found is None:
                raise
            return found

    async def _repeat(self, session: Session, new: NewIssue, since: datetime) -> Issue | None:
        """Repeat the create: upload tokens work once, so it can't create a second issue."""
        with suppress(ServiceError, UserError):
            session = await self.accounts.reverified(session)
            return await self.client.create_issue(session.key, new)
        with suppress(ServiceError):
            return await self._find_own(session, new, since)
        return None

    async def _find_own(self, session: Session, new: NewIssue, since: datetime) -> Issue | None:
        """The user's own issue with this subject, created since `since`."""
        filters = IssueFilters(
            project_id=int(new.project_id), author=("me",), status="any", sort=(Sort("id", descending=True),)
        )
        for issue in (await self.client.list_issues(session.key, filters, limit=25)).items:
            recent = issue.created_on is not None and issue.created_on >= since - CLOCK_SKEW
            mine = issue.author is not None and issue.author.id == session.user_id
            same = issue.subject == new.subject
            if recent and mine and same and not await self._is_older(issue, since):
                return issue
        return None

    async def _is_older(self, issue: Issue, since: datetime) -> bool:
        """Whether the bot created it before `since`, by its own clock; True if that can't be looked up."""
        try:
            return await self.store.created_issues.is_older(issue.id, issue.subject, since)
        except Exception:
            log.exception("created issue not looked up", action="issue.not_looked_up", issue=issue.id)
            return True
