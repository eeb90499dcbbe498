"""Finds out how the status or the assignee of issues changed since the last post of a digest of changes."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from bot.access.access import Access
from bot.access.accounts import Session
from bot.features.digests.reading import NEVER, PAGES_AT_ONCE, Content, ReportedChanges
from bot.features.issues.changes import ASSIGNEE, names_of
from bot.features.issues.fields import FIELDS
from bot.features.issues.issues import IssueNotFound, Issues
from bot.service.conventions import PAGE, IssueDetailInclude
from bot.service.models import Change, Issue

REPORTED = frozenset({("attr", FIELDS["status"].sent), ("attr", ASSIGNEE.sent)})
HISTORY: tuple[IssueDetailInclude, ...] = ("journals",)


async def with_changes(
    access: Access,
    session: Session,
    content: Content,
    covered: Mapping[int, datetime],
    since: datetime | None = None,
) -> Content:
    """The content with only the issues whose status or assignee changed, and how, of the last PAGE ones.

    `covered` is up to when changes of issues were posted, and `since` the same for the others. Issues whose
    history the service doesn't show stay.
    """
    few = asyncio.Semaphore(PAGES_AT_ONCE)  # people's own requests need connections, too

    async def changed(row: Issue) -> ReportedChanges | None:
        async with few:
            try:
                issue = await access.shared(Issues).detailed(session, row.id, HISTORY)
            except IssueNotFound:
                return None
            if issue.public_comments is None:
                return ReportedChanges((), {})
            changes = _between(issue, covered.get(row.id, since or NEVER))
            if not changes:
                return None
            return ReportedChanges(changes, await names_of(access, session, issue, changes))

    rows = content.issues[-PAGE:]
    found = await asyncio.gather(*map(changed, rows))
    changes = {row.id: each for row, each in zip(rows, found, strict=True) if each}
    more = content.more or len(rows) < len(content.issues)
    listed = tuple(row for row in rows if row.id in changes)
    return replace(content, issues=listed, changes=changes, more=more)


def _between(issue: Issue, after: datetime) -> tuple[Change, ...]:
    """From what to what the status and the assignee changed after that."""
    found: dict[str, Change] = {}
    for entry in issue.public_history:
        for change in entry.details if entry.created_on and entry.created_on > after else ():
            if (change.property, change.name) in REPORTED:
                first = found.get(change.name, change)
                found[change.name] = change.model_copy(update={"old_value": first.old_value})
    return tuple(change for change in found.values() if change.old_value != change.new_value)
