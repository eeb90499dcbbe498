"""A project's activities, and the one that a user logs time with."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from bot.errors import ServiceError
from bot.features.accounts.accounts import Session
from bot.features.projects.projects import DetailedProject, Projects
from bot.service.client import Client
from bot.service.models import Ref
from bot.store.time_entries import TimeEntries

LATEST = 20
"""How many of a user's latest entries decide which activities come first."""


@dataclass(frozen=True)
class Activities:
    """Reads activities with the user's key, and the user's own entries."""

    client: Client
    entries: TimeEntries
    projects: Projects

    async def prefetch(self, session: Session) -> None:
        """Read the service's list beside something else; if that fails, it is read again where needed."""
        with suppress(ServiceError):
            await self.projects.activities(session)

    async def of(self, session: Session, project: DetailedProject) -> tuple[Ref, ...]:
        """The project's activities, those that the user logged last in it first."""
        known = project.time_entry_activities or await self.projects.activities(session)
        latest = await self.entries.latest(session.owner, LATEST)
        here_first = sorted(latest, key=lambda entry: entry.project_id != project.id)
        # by name, as a project may have activities of its own under the same names
        used = {name: n for n, name in reversed(list(enumerate(entry.activity for entry in here_first)))}
        return tuple(sorted(known, key=lambda ref: used.get(ref.name, LATEST)))

    async def last_used(self, session: Session, project: DetailedProject, known: Sequence[Ref]) -> Ref | None:
        """The activity that the user last logged in the project, through the bot or else in the service."""
        entry = await self.entries.last_in(session.owner, project.id)
        name = entry.activity if entry else await self._last_in_service(session, project)
        return next((ref for ref in known if ref.name == name), None)

    async def default_is_missing(self, session: Session) -> bool:
        """Whether the service is known to have no default activity."""
        offered = await self.projects.activities(session)
        return bool(offered) and not any((ref.model_extra or {}).get("is_default") for ref in offered)

    async def _last_in_service(self, session: Session, project: DetailedProject) -> str | None:
        with suppress(ServiceError):
            for entry in await self.client.optional.latest_time(session.key, project.id) or ():
                if entry.activity and entry.project and entry.project.id == project.id:
                    return entry.activity.name
        return None
