"""The bot's stored data, by kind."""

from datetime import datetime

from sqlalchemy import Select

from bot.store.assignment_messages import AssignmentMessages
from bot.store.channels import Channels
from bot.store.claims import Claims
from bot.store.created_issues import CreatedIssues
from bot.store.database import Database
from bot.store.deliveries import Deliveries
from bot.store.digest_runs import StoredRuns
from bot.store.digests import StoredDigests
from bot.store.followed import StoredFollowed
from bot.store.installations import Installations
from bot.store.key_rotation import EncryptedValues
from bot.store.links import Links
from bot.store.processes import Processes
from bot.store.saved_input import SavedInput
from bot.store.tables import NOW
from bot.store.templates import StoredTemplates
from bot.store.time_entries import TimeEntries
from bot.store.vault import Vault
from bot.timings import DEFAULT, Timings


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
        self.processes = Processes(database, timeout=timings.heartbeat_timeout, clock=clock)
        self.links = Links(database, vault)
        self.channels = Channels(database)
        self.claims = Claims(database, self.processes)
        self.deliveries = Deliveries(database, vault, self.processes)
        self.saved_input = SavedInput(database, vault)
        self.created_issues = CreatedIssues(database)
        self.time_entries = TimeEntries(database)
        self.assignment_messages = AssignmentMessages(database, self.processes)
        self.templates = StoredTemplates(database)
        self.digests = StoredDigests(database, self.processes)
        self.digest_runs = StoredRuns(database, self.processes)
        self.followed = StoredFollowed(database, self.processes)
        self.installations = Installations(database, vault, client_id)
        self.encrypted_values = EncryptedValues(database, vault)
