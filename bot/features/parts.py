"""What the listeners work with, built once by the composition root."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bot import telemetry
from bot.features.accounts.accounts import Accounts
from bot.features.digests.digests import Digests
from bot.features.digests.poster import SlackPoster
from bot.features.digests.rows import DigestRows
from bot.features.digests.runs import DigestRuns
from bot.features.files.attach import Files
from bot.features.home.home import Home
from bot.features.issues.assign import Assigning
from bot.features.issues.duplicates import Duplicates
from bot.features.issues.issues import Issues
from bot.features.links.links import SharedLinks
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import Projects
from bot.features.search.search import Search
from bot.features.timelog.timelog import Timelog
from bot.features.users.people import People
from bot.features.users.users import Users
from bot.service.client import Client
from bot.slack.audience import Audiences
from bot.slack.completed_deliveries import Finished
from bot.slack.debounce import Pauses
from bot.slack.directory import Profiles
from bot.slack.in_flight import InFlight
from bot.slack.wording import Wording
from bot.slack.workspaces import Workspaces
from bot.store.store import Store
from bot.timings import Timings


@dataclass(frozen=True)
class Parts:
    """The bot's parts, and the settings that its words depend on.

    `workspaces` have the clients for what is done without anybody asking at that moment.
    """

    client: Client
    workspaces: Workspaces
    store: Store
    service_name: str
    text_format: Literal["markdown", "textile"]
    prefix: str
    file_hosts: frozenset[str]
    in_flight: InFlight
    timings: Timings

    @cached_property
    def finished(self) -> Finished:
        """What nobody waits for any more."""
        return Finished(self.store.unfinished)

    @cached_property
    def profiles(self) -> Profiles:
        """What Slack knows of people."""
        return Profiles()

    @cached_property
    def audiences(self) -> Audiences:
        """Who reads along where."""
        return Audiences()

    @cached_property
    def pauses(self) -> Pauses:
        """Where people pause while they type into forms."""
        return Pauses()

    @cached_property
    def accounts(self) -> Accounts:
        """Links between Slack users and keys."""
        return Accounts(self.client, self.store)

    @cached_property
    def projects(self) -> Projects:
        """Projects, and channels' own."""
        return Projects(self.client, self.store, self.accounts)

    @cached_property
    def catalogs(self) -> Catalogs:
        """What can be chosen in a project."""
        return Catalogs(self.client)

    @cached_property
    def people(self) -> People:
        """People as others name them."""
        return People(self.store)

    @cached_property
    def users(self) -> Users:
        """The service's users."""
        return Users(self.client, self.store, self.accounts, self.people)

    @cached_property
    def issues(self) -> Issues:
        """Creating and showing issues."""
        return Issues(
            self.client,
            self.store,
            self.accounts,
            self.projects,
            catalogs=self.catalogs,
            people=self.people,
        )

    @cached_property
    def assigning(self) -> Assigning:
        """Taking issues."""
        return Assigning(self.client, self.accounts, self.issues)

    @cached_property
    def duplicates(self) -> Duplicates:
        """What is there already."""
        return Duplicates(self.client, self.store, self.issues)

    @cached_property
    def shared_links(self) -> SharedLinks:
        """Links to issues that people share."""
        return SharedLinks(self.client, self.store, self.accounts, self.projects)

    @cached_property
    def home(self) -> Home:
        """What concerns one person."""
        return Home(self.client, self.store, self.accounts)

    @cached_property
    def search(self) -> Search:
        """Searching issues."""
        return Search(self.client, self.accounts, self.projects, self.catalogs, self.people)

    @cached_property
    def timelog(self) -> Timelog:
        """Logging time."""
        return Timelog(self.client, self.store, self.accounts, self.projects, self.issues)

    @cached_property
    def files(self) -> Files:
        """Attaching files."""
        return Files(self.client, self.accounts, self.issues, self.store)

    @cached_property
    def digests(self) -> Digests:
        """Digests as people handle them."""
        return Digests(self.client, self.store, self.accounts, self.projects, self.catalogs)

    @cached_property
    def poster(self) -> SlackPoster:
        """What posts digests."""
        return SlackPoster(self.workspaces, self.style, self.command)

    @cached_property
    def digest_runs(self) -> DigestRuns:
        """The digests' engine."""
        return DigestRuns(
            self.client,
            self.store,
            self.accounts,
            poster=self.poster,
            on_finished=telemetry.digest_finished,
            timings=self.timings,
        )

    @cached_property
    def digest_rows(self) -> DigestRows:
        """The rows of posted digests."""
        return DigestRows()

    @property
    def style(self) -> Wording:
        """What the views' words depend on."""
        return Wording(self.client.base_url, self.service_name, self.text_format)

    def command(self, name: str) -> str:
        """A slash command as people type it here: `/` + prefix + name."""
        return f"/{self.prefix}{name}"
