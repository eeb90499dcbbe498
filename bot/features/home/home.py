"""What concerns one person: their open issues, and what they made through the bot."""

from dataclasses import dataclass

from bot.features.accounts.accounts import Accounts
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue
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
class Remembered:
    """What the bot itself knows of a linked person."""

    link: Link
    created: tuple[CreatedIssue, ...]
    entries: tuple[Entry, ...]
    digests: tuple[Digest, ...]


@dataclass(frozen=True)
class Mine:
    """The first of the open issues that are assigned to a person or their groups, and how many there are."""

    issues: tuple[Issue, ...]
    total: int


class Home:
    """Reads what the Home tab shows, each with the rights of its owner."""

    def __init__(self, client: Client, store: Store, accounts: Accounts) -> None:
        self._client = client
        self._store = store
        self._accounts = accounts

    async def remembered(self, owner: Owner) -> Remembered | None:
        """What is known without asking the service; None of who isn't linked. Raises StoredSecretError."""
        link = await self._accounts.linked_as(owner)
        if link is None:
            return None
        created = await self._store.created_issues.latest(owner, CREATED)
        entries = await self._store.time_entries.latest(owner, ENTRIES)
        return Remembered(link, created, entries, await self._store.digests.of_owner(owner))

    async def mine(self, owner: Owner) -> Mine:
        """The person's open issues, the most important first. Raises NotLinked, KeyRejected, ServiceError."""
        sort = (Sort("priority", descending=True), Sort("updated_on", descending=True))
        filters = IssueFilters(assigned_to=("me",), status="open", sort=sort)
        async with self._accounts.reading(owner) as session:
            page = await self._client.list_issues(session.key, filters, limit=ISSUES)
        return Mine(page.items, page.total_count)
