"""Everything that the bot remembers, in one place."""

from collections.abc import AsyncIterator

from bot.store.channels import Channels
from bot.store.continuations import Continuations
from bot.store.created_issues import CreatedIssues
from bot.store.deliveries import Deliveries
from bot.store.digest_runs import DigestRuns
from bot.store.digests import Digests
from bot.store.engine import Database
from bot.store.installations import Installations
from bot.store.links import Links, Rotation
from bot.store.time_entries import TimeEntries
from bot.store.vault import Vault


class Store:
    """What the bot remembers, in a database that is open; `client_id` is the Slack app's whose installations
    it works with.
    """

    def __init__(self, database: Database, vault: Vault, client_id: str = "") -> None:
        self.links = Links(database, vault)
        self.channels = Channels(database)
        self.deliveries = Deliveries(database)
        self.continuations = Continuations(database)
        self.created_issues = CreatedIssues(database)
        self.time_entries = TimeEntries(database)
        self.digests = Digests(database)
        self.digest_runs = DigestRuns(database)
        self.installations = Installations(database, vault, client_id)

    async def rotate(self) -> AsyncIterator[Rotation]:
        """Encrypts every stored secret anew with the first encryption key; see `Links.rotate`."""
        progress = Rotation()
        async for progress in self.links.rotate():
            yield progress
        async for further in self.installations.rotate(progress):
            yield further

    async def unreadable(self) -> int:
        """How many stored secrets no encryption key opens."""
        return await self.links.unreadable() + await self.installations.unreadable()
