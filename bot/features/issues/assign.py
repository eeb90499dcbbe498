"""Assigns an issue to the requesting user."""

from dataclasses import dataclass
from enum import Enum

from bot.errors import Refused
from bot.features.accounts.accounts import Accounts, Session
from bot.features.issues.issues import Issues
from bot.features.issues.refusals import Refusals
from bot.features.issues.updates import Updates
from bot.service.inputs import IssueChanges
from bot.service.models import Issue, Ref
from bot.store.owner import Owner

FRESH = 60.0
"""Seconds for which the digest in a button press is current. It isn't if the user had to link first."""


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


@dataclass(frozen=True)
class AssignResult:
    """The issue as it is now, and how assigning it ended."""

    issue: Issue
    outcome: Outcome


@dataclass(frozen=True)
class Assigning:
    """Assigns issues to the requesting user, with their key."""

    accounts: Accounts
    issues: Issues
    updates: Updates
    refusals: Refusals

    async def take(self, owner: Owner, number: int, *, agreed: int | None) -> AssignResult:
        """Assign an issue to the user; repeating it is safe.

        It is reassigned only from `agreed`, the assignee that the user confirmed. Raises UserError when the
        person can't see the issue, may not be its assignee, or the service can't change issues, NotLinked,
        IssueRefused and the other ServiceErrors; OutcomeUnknown when the issue can't be read afterwards.
        """
        async with self.accounts.reading(owner) as session:
            issue = await self.issues.one(session, number)
        if _is_own(session, issue):
            return AssignResult(issue, Outcome.ALREADY)
        self.updates.check_supported(number)
        if issue.assigned_to and issue.assigned_to.id != agreed:
            return AssignResult(issue, Outcome.NEEDS_CONFIRMATION)
        changes = IssueChanges(assigned_to_id=session.user_id)
        try:
            seen = await self.updates.apply(session, issue, changes, lambda now: _is_own(session, now))
        except Refused as error:
            project_id = issue.project.id if issue.project else None
            me = Ref(id=session.user_id, name=session.name)
            raise await self.refusals.explained(owner, error, project_id, me) from None
        return AssignResult(seen, Outcome.DONE if _is_own(session, seen) else Outcome.UNCHANGED)


def _is_own(session: Session, issue: Issue) -> bool:
    return issue.assigned_to is not None and issue.assigned_to.id == session.user_id
