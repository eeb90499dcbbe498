"""Finds the issues that a message may be about, with the requesting user's key.

The service finds only subjects with all words of a query, so the bot searches for each of the message's most
distinctive words separately and concurrently. The fewer issues have a word, the more it counts.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.projects import KnownProject
from bot.features.issues.issues import Issues
from bot.features.related.words import stems, telling_words
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Page
from bot.store.channels import Channel
from bot.store.owner import Owner

ASKED = 6  # words that are searched for; further words only rank what these find
MAX_NAMED = 5  # issues that the message names and that are read
CANDIDATES = 50  # issues that are read for each word, the most recently updated ones
MAX_RESULTS = 10
NEAR = 0.5  # issues that fit less well than this share of the best one aren't shown


@dataclass(frozen=True)
class RelatedMatches:
    """Issues that a message may be about: those that it names, then open ones, then closed ones, each the
    nearest first. `project` is the one that was searched, None for all.
    """

    issues: tuple[Issue, ...]
    project: KnownProject | None


class RelatedIssues:
    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def find(
        self,
        owner: Owner,
        text: str,
        numbers: Sequence[int],
        channel: Channel | None,
        *,
        everywhere: bool = False,
    ) -> RelatedMatches:
        """The issues that a message in plain text may be about; `numbers` are those that it names.

        Searches the channel's project, and all projects if it has none, nothing is found, or `everywhere` is
        set. Raises NotLinked, KeyRejected, ServiceError.
        """
        words = await asyncio.to_thread(telling_words, text)
        async with self.access.accounts.reading(owner) as session:
            project = None if everywhere else await self.access.projects.default_in(session, channel)
            named, near = await asyncio.gather(
                self.issues.several(session, numbers[:MAX_NAMED]), self._nearest(session, words, project)
            )
            if not near and project:
                project, near = None, await self._nearest(session, words, None)
        first = [named[number] for number in numbers[:MAX_NAMED] if number in named]
        others = (issue for issue in near if issue.id not in named)
        return RelatedMatches((*first, *others)[:MAX_RESULTS], project)

    async def _nearest(
        self, session: Session, words: Sequence[str], project: KnownProject | None
    ) -> tuple[Issue, ...]:
        asked, project_id = words[:ASKED], project.id if project else None
        pages = await with_words(
            self.access.client, session, asked, project_id, status="any", most=CANDIDATES
        )
        found = {issue.id: issue for page in pages for issue in page.items}
        totals = {word: page.total_count for word, page in zip(words, pages, strict=False)}
        return await asyncio.to_thread(nearest, words, tuple(found.values()), totals)


async def with_words(
    client: Client,
    session: Session,
    words: Sequence[str],
    project_id: int | None,
    *,
    status: Literal["any", "open"],
    most: int,
) -> list[Page[Issue]]:
    """For each word, the most recently updated issues that have it in their subject."""
    latest = (Sort("updated_on", descending=True),)
    searches = (
        IssueFilters(project_id=project_id, subject=word, status=status, sort=latest) for word in words
    )
    return await asyncio.gather(*(client.list_issues(session.key, each, limit=most) for each in searches))


def nearest(words: Sequence[str], issues: Sequence[Issue], totals: Mapping[str, int]) -> tuple[Issue, ...]:
    """The issues that fit the words, open ones first and then the nearest first.

    `totals` says how many issues have a word; for other words, the given issues are counted.
    """
    sought = frozenset(words)
    found = [(stems(issue.subject, issue.description or "", sought), issue) for issue in issues]
    having = Counter(word for stemmed, _ in found for word in stemmed.everywhere)
    weights = {word: 1 / (1 + math.log2(1 + (totals.get(word) or having[word]))) for word in words}
    rated = [(stemmed.fit(weights), issue) for stemmed, issue in found]
    enough = NEAR * max((rate for rate, _ in rated), default=0)
    near = [(rate, issue) for rate, issue in rated if rate > enough]
    near.sort(key=lambda pair: (not pair[1].is_open, -pair[0], -pair[1].id))
    return tuple(issue for _, issue in near)
