"""What a use case works with; it knows neither Slack nor SQL."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from bot.access.accounts import Accounts
from bot.access.catalog import Catalogs
from bot.access.people import People
from bot.access.projects import Projects
from bot.service.client import Client
from bot.store.store import Store
from bot.timings import DEFAULT, Delays, Timings

T = TypeVar("T")


@dataclass(frozen=True)
class Access:
    """The service, the bot's database, and their caches; one for the whole process."""

    client: Client
    store: Store
    accounts: Accounts
    projects: Projects
    catalogs: Catalogs
    people: People
    delays: Delays
    timings: Timings
    _built: dict[Callable[..., object], Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def to(
        cls, client: Client, store: Store, timings: Timings = DEFAULT, delays: Delays | None = None
    ) -> "Access":
        delays = delays or Delays()
        accounts = Accounts(client, store, timings.keys)
        projects = Projects(client, store, accounts, delays.lookups, delays.cached)
        catalogs = Catalogs(client, projects, delays.cached)
        return cls(client, store, accounts, projects, catalogs, People(store, catalogs), delays, timings)

    def shared(self, kind: Callable[[Self], T]) -> T:
        """The process's only instance of a class that is built from this."""
        if kind not in self._built:
            self._built[kind] = kind(self)
        built: T = self._built[kind]
        return built
