"""The details of an issue that one person sees beside a link, and what they may change there."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.catalog import with_me
from bot.access.people import has_permission
from bot.errors import BotError, ServiceError
from bot.features.issues.fields import FIELDS
from bot.features.issues.issues import Issues, assigned_to
from bot.service.conventions import ADDS_NOTES, EDITS_ISSUES, EDITS_OWN_ISSUES, IssueDetailInclude
from bot.service.models import Issue, Journal, Ref
from bot.slack_limits import MAX_SELECT_OPTIONS
from bot.store.owner import Owner

EDITABLE = {
    "status": FIELDS["status"],
    "priority": FIELDS["priority"],
    "assignee": FIELDS["to"],
    "due_date": FIELDS["due"],
}
"""The fields that can be edited in the details, by Slack's names."""
DETAILS: tuple[IssueDetailInclude, ...] = ("journals", "allowed_statuses")


@dataclass(frozen=True)
class EntityDetails:
    """`choices` are those of the fields that the user may edit, by Slack's names; a date has none."""

    issue: Issue
    choices: Mapping[str, tuple[Ref, ...]]
    mine: bool = False  # whether the issue is assigned to the user


class LinkDetails:
    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def read(self, owner: Owner, number: int) -> EntityDetails:
        """Raises IssueNotFound, NotLinked, ServiceError."""
        async with self.access.accounts.reading(owner) as session:
            issue = await self.issues.detailed(session, number, DETAILS)
            choices: Mapping[str, tuple[Ref, ...]] = {}
            with suppress(ServiceError):  # then nothing can be edited
                choices = await self._choices(session, issue)
            return EntityDetails(issue, choices, assigned_to(session, issue))

    async def comments(self, owner: Owner, number: int) -> tuple[Journal, ...] | None:
        """An issue's public comments, None if they can't be read, or the service doesn't tell them."""
        with suppress(BotError):
            async with self.access.accounts.reading(owner) as session:
                return (await self.issues.detailed(session, number, DETAILS[:1])).public_comments
        return None

    async def commentable(self, owner: Owner, number: int) -> tuple[tuple[Journal, ...] | None, bool]:
        """Return `comments`, and whether the user can add one; with an unknown permission, they can try.

        Raises what `read` raises.
        """
        async with self.access.accounts.reading(owner) as session:
            issue = await self.issues.detailed(session, number, DETAILS[:1])
            may = self.access.client.optional.updates_issues
            if may and issue.project:
                known = await has_permission(self.access.client, session, issue.project, ADDS_NOTES)
                may = known is not False
            return issue.public_comments, may

    async def _choices(self, session: Session, issue: Issue) -> dict[str, tuple[Ref, ...]]:
        """The choices of what the user may edit. If the service doesn't tell permissions, having a choice of
        statuses counts as one, where it tells that.
        """
        project, statuses = issue.project, issue.allowed_statuses
        no_choice = len(statuses) <= 1 and "allowed_statuses" in issue.model_fields_set
        if project is None or not self.access.client.optional.updates_issues:
            return {}

        own = issue.author is not None and issue.author.id == session.user_id
        permission = EDITS_ISSUES | (EDITS_OWN_ISSUES if own else frozenset())
        may, catalog = await asyncio.gather(
            has_permission(self.access.client, session, project, permission),
            self.access.catalogs.of(session, project.id, ("priorities", "assignees")),
        )
        if may is False or (may is None and no_choice):
            return {}
        offered = {
            "status": _with(issue.status, statuses) if len(statuses) > 1 else (),
            "priority": _with(issue.priority, catalog.lists["priorities"]),
            "assignee": _with(issue.assigned_to, with_me(catalog.lists["assignees"], session.user_id)),
        }
        offered = {key: choices for key, choices in offered.items() if choices}
        return offered | {"due_date": ()} if offered else {}


def _with(current: Ref | None, choices: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """The choices with the one that the issue has, as many as a select takes."""
    listed = {ref.id for ref in choices[: MAX_SELECT_OPTIONS - 1]}
    unlisted = (current,) if current and current.id not in listed else ()
    return (*unlisted, *choices)[:MAX_SELECT_OPTIONS]
