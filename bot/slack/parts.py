"""What the listeners work with, built once by the composition root."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bot import telemetry
from bot.service.client import Client
from bot.slack.audiences import Audiences
from bot.slack.digest_posts import SlackPoster
from bot.slack.digest_rows import DigestRows
from bot.slack.finished import Finished
from bot.slack.inflight import InFlight
from bot.slack.pauses import Pauses
from bot.slack.profiles import Profiles
from bot.slack.views.issues import Style
from bot.slack.workspaces import Workspaces
from bot.store.store import Store
from bot.timings import Timings
from bot.usecases.accounts import Accounts
from bot.usecases.assigning import Assigning
from bot.usecases.catalog import Catalogs
from bot.usecases.digest_runs import DigestRuns
from bot.usecases.digests import Digests
from bot.usecases.duplicates import Duplicates
from bot.usecases.files import Files
from bot.usecases.home import Home
from bot.usecases.issues import Issues
from bot.usecases.people import People
from bot.usecases.projects import Projects
from bot.usecases.search import Search
from bot.usecases.shared_links import SharedLinks
from bot.usecases.timelog import Timelog
from bot.usecases.users import Users


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
    def style(self) -> Style:
        """What the views' words depend on."""
        return Style(self.client.base_url, self.service_name, self.text_format)

    def command(self, name: str) -> str:
        """A slash command as people type it here: `/` + prefix + name."""
        return f"/{self.prefix}{name}"
