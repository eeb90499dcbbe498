"""Reads the issues behind posted links that everyone in a conversation may see."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from bot.features.accounts.accounts import Accounts
from bot.features.projects.projects import Projects
from bot.service.client import Client
from bot.service.conventions import issue_number
from bot.service.filters import IssueFilters
from bot.service.models import Issue
from bot.store.owner import Owner
from bot.store.store import Store


@dataclass(frozen=True)
class SharedLinks:
    """Reads the issues behind links with the key of the user who posted them."""

    client: Client
    store: Store
    accounts: Accounts
    projects: Projects

    def number(self, url: str) -> int | None:
        """The number of the issue that a link leads to, or None for any other link."""
        return issue_number(self.client.base_url, url)

    async def public_issues(self, owner: Owner, numbers: Collection[int]) -> tuple[Issue, ...]:
        """The issues that the user can see, in the order of `numbers`.

        Leaves out issues of private projects, private issues and issues that were meant to be private.
        Raises NotLinked, KeyRejected, ServiceError.
        """
        async with self.accounts.reading(owner) as session:
            filters = IssueFilters(issue_ids=tuple(numbers), status="any")
            page = await self.client.list_issues(session.key, filters, limit=len(numbers))
            requested_private = await self.store.created_issues.refused_privacy()
            public = {
                issue.id: issue
                for issue in page.items
                if issue.id not in requested_private and issue.is_private is False and issue.project
            }
            projects = await asyncio.gather(
                *(
                    self.projects.by_id(session, number)
                    for number in {issue.project.id for issue in public.values() if issue.project}
                )
            )
            open_projects = {project.id for project in projects if project.is_public is True}
            found = (public[number] for number in numbers if number in public)
            return tuple(issue for issue in found if issue.project and issue.project.id in open_projects)
