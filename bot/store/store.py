"""The bot's stored data, by kind, and how long it is kept."""

from datetime import datetime, timedelta

from sqlalchemy import Select, and_, not_

from bot.store import tables
from bot.store.activity import CreatedIssues, TimeEntries
from bot.store.channels import Channels
from bot.store.claims import Claims
from bot.store.database import Database
from bot.store.digests import StoredDigests
from bot.store.followed import StoredFollowed
from bot.store.installations import Installations
from bot.store.jobs import RETENTION, Jobs
from bot.store.links import Links
from bot.store.notices import Notices
from bot.store.processes import Processes
from bot.store.saved_input import LIFETIME, SavedInput
from bot.store.tables import NOW
from bot.store.templates import StoredTemplates
from bot.store.vault import EncryptedValues, Vault
from bot.timings import DEFAULT, Timings

PROCESS_RETENTION = timedelta(minutes=30)
ACTIVITY_RETENTION = timedelta(days=400)
"""For issues created and time logged with the bot: used by the Home tab, duplicates, and editing."""


class Store:
    """The stored data of an open database.

    `client_id` is the Slack app's client ID, which selects its installations. `clock` is the query for the
    time that all processes share.
    """

    def __init__(
        self,
        database: Database,
        vault: Vault,
        client_id: str = "",
        *,
        timings: Timings = DEFAULT,
        clock: Select[datetime] = NOW,
    ) -> None:
        self._database = database
        self.processes = Processes(database, timeout=timings.heartbeat_timeout, clock=clock)
        self.claims = Claims(database, self.processes)
        self.jobs = Jobs(database, vault, self.claims, self.processes)

        self.notices = Notices(database, self.jobs)
        self.digests = StoredDigests(database, self.jobs)
        self.followed = StoredFollowed(database, self.jobs)

        self.links = Links(database, vault, self.notices)
        self.channels = Channels(database)
        self.saved_input = SavedInput(database, vault)
        self.created_issues = CreatedIssues(database)
        self.time_entries = TimeEntries(database)
        self.templates = StoredTemplates(database)
        self.installations = Installations(database, vault, client_id)
        self.encrypted_values = EncryptedValues(database, vault)

    async def delete_expired(self) -> None:
        """Delete what isn't kept any longer. Every replica runs it."""
        now = await self.processes.now()
        for row, at, age in (
            (tables.ProcessRow, tables.ProcessRow.seen_at, PROCESS_RETENTION),
            (tables.ClaimRow, tables.ClaimRow.at, RETENTION),
            (tables.SavedInputRow, tables.SavedInputRow.created_at, LIFETIME),
            (tables.TimeEntryRow, tables.TimeEntryRow.created_at, ACTIVITY_RETENTION),
        ):
            await self._database.delete_in_batches(row, at < now - age)
        made = tables.CreatedIssueRow  # one that should be private stays unshared for good
        old = and_(made.created_at < now - ACTIVITY_RETENTION, not_(made.privacy_refused))
        await self._database.delete_in_batches(made, old)
        await self.jobs.prune(now)
        await self.digests.prune()
        await self.installations.states.prune()
