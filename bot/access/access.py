"""What a use case works with; it knows neither Slack nor SQL."""

from dataclasses import dataclass

from bot.access.accounts import Accounts
from bot.access.catalog import Catalogs
from bot.access.people import People
from bot.access.projects import Projects
from bot.service.client import Client
from bot.store.store import Store
from bot.timings import DEFAULT, Delays, Timings


@dataclass(frozen=True)
class Access:
    """The service and the bot's database, and what is cached of them; one for the whole process."""

    client: Client
    store: Store
    accounts: Accounts
    projects: Projects
    catalogs: Catalogs
    people: People
    delays: Delays
    timings: Timings

    @classmethod
    def to(
        cls, client: Client, store: Store, timings: Timings = DEFAULT, delays: Delays | None = None
    ) -> "Access":
        delays = delays or Delays()
        accounts = Accounts(client, store, timings.keys)
        projects = Projects(client, store, accounts, delays.lookups, delays.cached)
        catalogs = Catalogs(client, projects, delays.cached)
        return cls(client, store, accounts, projects, catalogs, People(store, catalogs), delays, timings)
