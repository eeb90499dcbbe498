"""Decides whom to tell that an issue was assigned to them, and reads the issue with their own key."""

from dataclasses import dataclass, replace

from bot.errors import KeySuspended, NotLinked
from bot.features.accounts.accounts import Accounts
from bot.features.issues.issues import IssueNotFound, Issues
from bot.service.models import Issue
from bot.store.claims import Claim
from bot.store.owner import Owner
from bot.store.store import Store


@dataclass(frozen=True)
class Assignments:
    """Finds out who has to be told about an assignment."""

    store: Store
    accounts: Accounts
    issues: Issues

    async def assignee_of(self, by: Owner, issue: Issue) -> Owner | None:
        """The issue's assignee, unless they aren't linked, don't want to be told, or are the user `by`."""
        user_id = await self.issues.assignee_to_mention(by, issue)
        if user_id is None:
            return None
        assignee = replace(by, user_id=user_id)
        return assignee if await self.store.assignment_messages.wanted(assignee) else None

    async def as_seen_by(self, assignee: Owner, number: int) -> Issue | None:
        """The issue, read with the assignee's key; None if that's refused, they can't see the issue, or it
        isn't theirs anymore. Raises ServiceError.
        """
        try:
            async with self.accounts.reading(assignee, background=True) as session:
                issue = await self.issues.one(session, number)
        except (IssueNotFound, KeySuspended, NotLinked):
            return None
        return issue if issue.assigned_to and issue.assigned_to.id == session.user_id else None

    async def claim(self, assignee: Owner, issue: Issue) -> Claim:
        """The claim on telling the assignee about this version of the issue."""
        version = issue.updated_on.isoformat() if issue.updated_on else ""
        key = f"assigned:{assignee.team_id}:{assignee.user_id}:{issue.id}:{version}"
        return await self.store.claims.take(key)
