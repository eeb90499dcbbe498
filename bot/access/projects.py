"""Finds, lists, shows and creates projects, and sets a channel's default project."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Self

from pydantic import SecretStr

from bot.access.accounts import Accounts, Session
from bot.access.name_matching import UnclearName, listed, pick
from bot.errors import Forbidden, NotFound, OutcomeUnknown, ServiceError, UserError
from bot.service.client import Client
from bot.service.conventions import CLOCK_SKEW, ProjectInclude, poll_until_found
from bot.service.inputs import NewProject
from bot.service.models import Project, Ref
from bot.store.channels import Channel
from bot.store.owner import Owner
from bot.store.store import Store
from bot.ttl_cache import TtlCache

DETAILS: tuple[ProjectInclude, ...] = (
    "time_entry_activities",
    "trackers",
    "issue_categories",
    "issue_custom_fields",
)
MAX_CACHED = 20_000  # how many projects of all users are cached, and how many choices in them


class NoVisibleProject(UserError):
    says = "You can't see any projects in {service}. Ask a {service} administrator to add you to one."


class ProjectNotChosen(UserError):
    """The user named no project, and neither the channel nor what they see settles it."""

    says = (
        "Which project? Add `project:` with {names}, or set one for this channel with "
        "`{/tracker} default <project>`."
    )
    projects: Sequence[Ref]

    @property
    def names(self) -> str:
        return listed(self.projects)


@dataclass(frozen=True, slots=True)
class KnownProject:
    """The cache entry of a project. `seemed_public` is up to a minute old and never decides about a post."""

    id: int
    name: str
    identifier: str
    parent: Ref | None
    status: int | None
    seemed_public: bool | None

    @classmethod
    def of(cls, project: Project) -> Self:
        same = {name: getattr(project, name) for name in cls.__dataclass_fields__ if name != "seemed_public"}
        return cls(**same, seemed_public=project.is_public)


@dataclass(frozen=True, slots=True)
class DetailedProject(KnownProject):
    """A project with the choices in it that every service lists."""

    time_entry_activities: tuple[Ref, ...]
    trackers: tuple[Ref, ...]
    issue_categories: tuple[Ref, ...]
    issue_custom_fields: tuple[Ref, ...]

    @property
    def weight(self) -> int:
        choices = (self.time_entry_activities, self.trackers, self.issue_categories, self.issue_custom_fields)
        return 1 + sum(map(len, choices))


class Projects:
    def __init__(
        self, client: Client, store: Store, accounts: Accounts, looks: Sequence[float], cached: float
    ) -> None:
        """`cached` is for how many seconds projects are cached."""
        self._looks = looks
        self._client = client
        self._store = store
        self._accounts = accounts

        self._listed: TtlCache[tuple[Owner, SecretStr], tuple[KnownProject, ...]]
        self._listed = TtlCache(cached, MAX_CACHED, len)
        self._detailed: TtlCache[tuple[Owner, SecretStr, int], DetailedProject]
        self._detailed = TtlCache(cached, MAX_CACHED, lambda project: project.weight)
        self._activities: TtlCache[tuple[Owner, SecretStr], tuple[Ref, ...]]
        self._activities = TtlCache(cached, MAX_CACHED, len)

    async def visible(self, session: Session) -> tuple[KnownProject, ...]:
        """The open projects that the user can see, by name. Cached."""

        async def read() -> tuple[KnownProject, ...]:
            projects = [KnownProject.of(project) async for project in self._client.iter_projects(session.key)]
            return tuple(sorted(projects, key=lambda project: project.name.casefold()))

        return await self._listed.get((session.owner, session.key), read)

    async def find(self, session: Session, text: str) -> KnownProject:
        """The project with that name, identifier or ID. Raises UnclearName."""
        projects = await self.visible(session)
        query = text.strip().casefold().lstrip("#")
        for project in projects:
            if query in (project.identifier.casefold(), str(project.id)):
                return project
        try:
            ref = pick("project", text.strip(), _refs(projects))
        except UnclearName:
            by_identifier = [p for p in projects if p.identifier.casefold().startswith(query)]
            if len(by_identifier) == 1:
                return by_identifier[0]
            unlisted = await self._unlisted(session, query)
            if unlisted is not None:
                return unlisted
            raise
        return await self.by_id(session, ref.id)

    async def by_id(self, session: Session, project_id: int) -> KnownProject:
        """One project, from the cached list or the service. Cached."""
        for project in self._listed.peek((session.owner, session.key)) or ():
            if project.id == project_id:
                return project
        return await self.detailed(session, project_id)

    async def detailed(self, session: Session, project_id: int) -> DetailedProject:
        """One project with the choices in it. Cached."""

        async def read() -> DetailedProject:
            return DetailedProject.of(await self._client.get_project(session.key, project_id, DETAILS))

        return await self._detailed.get((session.owner, session.key, project_id), read)

    async def activities(self, session: Session) -> tuple[Ref, ...]:
        """The activities of all projects, if the service lists them. Cached."""

        async def read() -> tuple[Ref, ...]:
            return await self._client.optional.time_entry_activities(session.key) or ()

        return await self._activities.get((session.owner, session.key), read)

    async def _unlisted(self, session: Session, identifier: str) -> KnownProject | None:
        """The project with that identifier, or None. Finds closed projects, which lists leave out."""
        identifier = "-".join(identifier.split())
        if not identifier.replace("-", "").replace("_", "").isalnum():
            return None
        try:
            return KnownProject.of(await self._client.get_project(session.key, identifier))
        except (NotFound, Forbidden):
            return None

    async def search(self, owner: Owner, text: str) -> tuple[KnownProject, ...]:
        """The user's projects whose name or identifier contains `text`."""
        async with self._accounts.reading(owner) as session:
            query = text.strip().casefold()
            return tuple(
                p
                for p in await self.visible(session)
                if query in p.name.casefold() or query in p.identifier.casefold()
            )

    async def show(self, owner: Owner, name: str) -> Project:
        async with self._accounts.reading(owner) as session:
            project = await self.find(session, name)
            return await self._client.get_project(session.key, project.id, DETAILS)

    async def create(self, owner: Owner, new: NewProject, tried_at: datetime | None = None) -> Project:
        """Create the project once. Raises OutcomeUnknown only if it can't be found either.

        `tried_at` is when an earlier attempt began whose outcome is unknown: the project is then
        looked up first, by its unique identifier.
        """
        session = await self._accounts.writing(owner)
        if tried_at:
            if existing := await self._created_since(session, new, tried_at):
                return existing
            session = await self._accounts.reverified(session)
        started = datetime.now(UTC)
        try:
            project = await self._client.create_project(session.key, new)
        except Forbidden:
            raise UserError(
                "You can't create projects in {service}. Ask a {service} administrator for permission."
            ) from None
        except OutcomeUnknown:
            existing = await poll_until_found(
                partial(self._created_since, session, new, started), self._looks
            )
            if existing is None:
                raise
            project = existing
        self._listed.discard((session.owner, session.key))
        return project

    async def _created_since(self, session: Session, new: NewProject, since: datetime) -> Project | None:
        try:
            project = await self._client.get_project(session.key, new.identifier)
        except ServiceError:
            return None
        recent = project.created_on is not None and project.created_on >= since - CLOCK_SKEW
        return project if recent and project.name == new.name else None

    async def set_default(self, owner: Owner, channel: Channel, name: str) -> KnownProject:
        async with self._accounts.reading(owner) as session:
            project = await self.find(session, name)
        await self._store.channels.set_default(owner, channel, project.id)
        return project

    async def clear_default(self, owner: Owner, channel: Channel) -> None:
        await self._accounts.whoami(owner)
        await self._store.channels.set_default(owner, channel, None)

    async def default_in(self, session: Session, channel: Channel | None) -> KnownProject | None:
        """The channel's project if it has one that the user can see."""
        if channel is None:
            return None
        default = await self._store.channels.default_project(channel)
        if default is None:
            return None
        try:
            return await self.by_id(session, default)
        except (NotFound, Forbidden):
            return None

    async def chosen(self, session: Session, name: str | None, channel: Channel | None) -> KnownProject:
        """The named project, the channel's, or the user's only one. Raises UserError if there is none."""
        if name is not None:
            return await self.find(session, name)
        if (default := await self.default_in(session, channel)) is not None:
            return default
        projects = await self.visible(session)
        if len(projects) == 1:
            return projects[0]
        if not projects:
            raise NoVisibleProject
        raise ProjectNotChosen(_refs(projects))


def _refs(projects: Iterable[KnownProject]) -> list[Ref]:
    return [Ref(id=project.id, name=project.name) for project in projects]
