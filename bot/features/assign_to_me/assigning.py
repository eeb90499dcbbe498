"""Assigns an issue to the requesting user."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from bot.access.access import Access
from bot.errors import Refused
from bot.features.issues.issues import Issues, assigned_to, explained
from bot.service.inputs import IssueChanges
from bot.service.models import Issue, Ref
from bot.store.owner import Owner


class Outcome(Enum):
    DONE = "done"  # it is assigned to the user now
    ALREADY = "already"  # it was assigned to the user before
    NEEDS_CONFIRMATION = "asks"  # it is assigned to someone else, so nothing was done
    UNCHANGED = "left"  # the service accepted the change and kept the assignee


class Taken(NamedTuple):
    """An issue before and after it was to be assigned to the user, and what came of it."""

    before: Issue
    issue: Issue
    outcome: Outcome


@dataclass(frozen=True)
class Assigning:
    access: Access

    async def take(self, owner: Owner, number: int, *, agreed: int | None) -> Taken:
        """Assign an issue to the user; repeating it is safe.

        It is reassigned only from `agreed`, the assignee that the user confirmed. Raises UserError when the
        person can't see the issue, may not be its assignee, or the service can't change issues, NotLinked,
        IssueRefused and the other ServiceErrors; OutcomeUnknown when the issue can't be read afterwards.
        """
        issues = Issues(self.access)
        async with self.access.accounts.reading(owner) as session:
            issue = await issues.one(session, number)
        if assigned_to(session, issue):
            return Taken(issue, issue, Outcome.ALREADY)
        issues.check_supported(number)
        if issue.assigned_to and issue.assigned_to.id != agreed:
            return Taken(issue, issue, Outcome.NEEDS_CONFIRMATION)
        changes = IssueChanges(assigned_to_id=session.user_id)
        try:
            seen = await issues.update(session, issue, changes, lambda now: assigned_to(session, now))
        except Refused as error:
            project_id = issue.project.id if issue.project else None
            me = Ref(id=session.user_id, name=session.name)
            raise await explained(self.access, owner, error, project_id, me) from None
        return Taken(issue, seen, Outcome.DONE if assigned_to(session, seen) else Outcome.UNCHANGED)
