"""Possible duplicates: issues with a similar subject, and issues made from the same message."""

import asyncio

from bot.access.access import Access
from bot.access.accounts import Session
from bot.features.issues.creating import Source
from bot.features.issues.issues import IssueNotFound, Issues
from bot.features.related.related import telling_words, with_words
from bot.service.models import Issue

MAX_DUPLICATES = 3
SEARCHED = 3
CANDIDATES = 15
SIMILAR = 0.5


class Duplicates:
    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def find(
        self, session: Session, subject: str, project_id: int | None, source: Source | None
    ) -> tuple[tuple[Issue, ...], tuple[Issue, ...]]:
        """Issues created from the same message, and similar ones in the project."""
        made, similar = await asyncio.gather(
            self._of_message(session, source), self.similar(session, subject, project_id)
        )
        numbers = {issue.id for issue in made}
        return made, tuple(issue for issue in similar if issue.id not in numbers)

    async def _of_message(self, session: Session, source: Source | None) -> tuple[Issue, ...]:
        if source is None:
            return ()
        made = await self.access.store.created_issues.from_message(
            session.owner.team_id, source.channel_id, source.ts
        )
        issues = []
        for one in made:
            try:
                issues.append(await self.issues.one(session, one.issue_id))
            except IssueNotFound:  # someone else's private issue
                continue
        return tuple(issues)

    async def similar(self, session: Session, subject: str, project_id: int | None) -> tuple[Issue, ...]:
        """Open issues in the project with a similar subject, the most similar first."""
        words = telling_words(subject)[:SEARCHED]
        if not words or project_id is None:
            return ()
        pages = await with_words(
            self.access.client, session, words, project_id, status="open", most=CANDIDATES
        )
        candidates = {issue.id: issue for page in pages for issue in page.items}
        rated = [(similarity(subject, issue.subject), issue) for issue in candidates.values()]
        similar = [(rate, issue) for rate, issue in rated if rate >= SIMILAR]
        similar.sort(key=lambda pair: (-pair[0], -pair[1].id))
        return tuple(issue for _, issue in similar[:MAX_DUPLICATES])


def similarity(one: str, other: str) -> float:
    """How similar two subjects are, from 0 to 1: the share of telling words that they have in common."""
    ours, theirs = (set(telling_words(text)) for text in (one, other))
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours and theirs else 0.0
