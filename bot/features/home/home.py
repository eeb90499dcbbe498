"""Reads a user's Home tab: their open issues, and what they created with the bot."""

from dataclasses import dataclass

from bot.features.accounts.accounts import Accounts
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Page
from bot.store.created_issues import CreatedIssue
from bot.store.digests import Digest
from bot.store.links import Link
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.time_entries import Entry

ISSUES = 10
CREATED = 5
ENTRIES = 5


@dataclass(frozen=True)
class StoredItems:
    """A linked user's link, issues, time entries and digests in the bot's database."""

    link: Link
    created: tuple[CreatedIssue, ...]
    entries: tuple[Entry, ...]
    digests: tuple[Digest, ...]
    told_when_assigned: bool


@dataclass(frozen=True)
class Home:
    """Reads the contents of the Home tab with its owner's key."""

    client: Client
    store: Store
    accounts: Accounts

    async def stored(self, owner: Owner) -> StoredItems | None:
        """The user's items in the bot's database. None if they aren't linked."""
        link = await self.accounts.linked_as(owner)
        if link is None:
            return None
        created = await self.store.created_issues.latest(owner, CREATED)
        entries = await self.store.time_entries.latest(owner, ENTRIES)
        digests = await self.store.digests.of_owner(owner)
        told = await self.store.assignment_messages.wanted(owner)
        return StoredItems(link, created, entries, digests, told)

    async def open_issues(self, owner: Owner) -> Page[Issue]:
        """The first open issues assigned to the user or their groups, highest priority first.

        Raises NotLinked, KeyRejected, ServiceError.
        """
        sort = (Sort("priority", descending=True), Sort("updated_on", descending=True))
        filters = IssueFilters(assigned_to=("me",), status="open", sort=sort)
        async with self.accounts.reading(owner) as session:
            return await self.client.list_issues(session.key, filters, limit=ISSUES)
