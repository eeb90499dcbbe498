"""Assigns an issue to the requesting user.

The service may answer 200 and change nothing, so the issue is read again after the change, and the
result of that read is reported.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from bot.errors import NotFound, OutcomeUnknown, Refused, ServiceError, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.issues.issues import Issues
from bot.service.client import Client
from bot.service.inputs import IssueChanges
from bot.service.models import Issue
from bot.store.owner import Owner

UPDATE = "update_issue"
WITHOUT_UPDATES = frozenset({404, 405})
"""The issue was just read, so these mean that the endpoint is missing."""
FRESH = 60.0
"""Seconds for which the digest in a button press is current. It isn't if the user had to link first."""


class TakeUnconfirmed(UserError):
    """The service didn't answer the change, and the issue isn't assigned to the user."""

    number: int


class Outcome(Enum):
    """How assigning an issue ended."""

    DONE = "done"
    """It is assigned to the user now."""
    ALREADY = "already"
    """It was assigned to the user before."""
    NEEDS_CONFIRMATION = "asks"
    """It is assigned to someone else, so nothing was done."""
    UNCHANGED = "left"
    """The service accepted the change and kept the assignee."""
    UNSUPPORTED = "unable"
    """The service's API can't change issues."""


@dataclass(frozen=True)
class AssignResult:
    """The issue as it is now, and how assigning it ended."""

    issue: Issue
    outcome: Outcome


class Assigning:
    """Assigns issues to the requesting user, with their key."""

    def __init__(self, client: Client, accounts: Accounts, issues: Issues, looks: Sequence[float]) -> None:
        self._looks = looks
        self._client = client
        self._accounts = accounts
        self._issues = issues

    async def take(self, owner: Owner, number: int, *, agreed: int | None) -> AssignResult:
        """Assign an issue to the user; repeating it is safe.

        It is reassigned only from `agreed`, the assignee that the user confirmed. Raises UserError when the
        person can't see the issue or the change was lost, NotLinked, Refused and the other ServiceErrors;
        OutcomeUnknown when the issue can't be read afterwards.
        """
        async with self._accounts.reading(owner) as session:
            issue = await self._issues.one(session, number)
        holder = issue.assigned_to.id if issue.assigned_to else None
        if holder == session.user_id:
            return AssignResult(issue, Outcome.ALREADY)
        if self._client.optional.is_missing(UPDATE):
            return AssignResult(issue, Outcome.UNSUPPORTED)
        if holder not in (None, agreed):
            return AssignResult(issue, Outcome.NEEDS_CONFIRMATION)
        return await self._assign(session, issue)

    async def _assign(self, session: Session, issue: Issue) -> AssignResult:
        lost: OutcomeUnknown | None = None
        try:
            changes = IssueChanges(assigned_to_id=session.user_id)
            await self._client.optional.update_issue(session.key, issue.id, changes)
        except (NotFound, Refused) as error:
            if error.status not in WITHOUT_UPDATES:
                raise
            self._client.optional.note_missing(UPDATE)
            return AssignResult(issue, Outcome.UNSUPPORTED)
        except OutcomeUnknown as error:
            lost = error
        seen = await self._look(session, issue.id, certain=lost is None)
        if seen is None:
            raise lost or OutcomeUnknown("PUT", f"/issues/{issue.id}.json", None, "could not be read again")
        if _is_own(session, seen):
            return AssignResult(seen, Outcome.DONE)
        if lost:
            raise TakeUnconfirmed(issue.id)
        return AssignResult(seen, Outcome.UNCHANGED)

    async def _look(self, session: Session, number: int, *, certain: bool) -> Issue | None:
        """The issue after the change, None if it can't be read. Unless the service has answered (`certain`),
        it is read until it is assigned to the user.
        """
        seen: Issue | None = None
        for wait in (0.0, *self._looks):
            await asyncio.sleep(wait)
            with suppress(ServiceError, UserError):
                seen = await self._issues.one(session, number)
                if certain or _is_own(session, seen):
                    break
        return seen


def _is_own(session: Session, issue: Issue) -> bool:
    return issue.assigned_to is not None and issue.assigned_to.id == session.user_id
