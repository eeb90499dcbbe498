"""Changes an issue once, and reads what came of it.

The service may answer 200 and change nothing, or not answer a change that it made. So the issue is read again
after each change, and a change is never sent twice.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bot.errors import NotFound, OutcomeUnknown, Refused, ServiceError, UserError
from bot.features.accounts.accounts import Session
from bot.features.issues.issues import Issues
from bot.service.client import Client
from bot.service.inputs import IssueChanges
from bot.service.models import Issue
from bot.service.optional import UPDATE_ISSUE

Read = Callable[[Session, int], Awaitable[Issue]]
"""Reads an issue by its number."""
WITHOUT_UPDATES = frozenset({404, 405})
"""The issue was just read, so these mean that the endpoint is missing."""


class UpdatesUnsupported(UserError):
    """The service's API can't change issues."""

    number: int


class UpdateUnconfirmed(UserError):
    """The service didn't answer the change, and the issue doesn't show it."""

    number: int


@dataclass(frozen=True)
class Updates:
    """Changes issues with the requesting user's key."""

    client: Client
    issues: Issues
    looks: Sequence[float]

    async def apply(
        self,
        session: Session,
        before: Issue,
        changes: IssueChanges,
        arrived: Callable[[Issue], bool],
        *,
        read: Read | None = None,
    ) -> Issue:
        """Send `changes` once, and return the issue as read afterwards.

        It is sent even if the endpoint was missing a moment ago, since a proxy may have answered then.

        `before` is the issue as just read. `arrived` tells whether an issue shows the change, which is asked
        only if the service didn't answer. `read` reads more of the issue than its entry in the list.

        Raises UpdatesUnsupported, UpdateUnconfirmed, Refused and the other ServiceErrors; OutcomeUnknown when
        the issue can't be read afterwards.
        """
        optional = self.client.optional
        lost: OutcomeUnknown | None = None
        try:
            await optional.update_issue(session.key, before.id, changes)
        except (NotFound, Refused) as error:
            if error.status not in WITHOUT_UPDATES:
                raise
            optional.note_missing(UPDATE_ISSUE)
            raise UpdatesUnsupported(before.id) from None
        except OutcomeUnknown as error:
            lost = error
        seen = await self._look(session, before.id, arrived if lost else None, read or self.issues.one)
        if seen is None:
            raise lost or OutcomeUnknown("PUT", f"/issues/{before.id}.json", None, "could not be read again")
        if lost and not arrived(seen):
            raise UpdateUnconfirmed(before.id)
        return seen

    def check_supported(self, number: int) -> None:
        """Raise UpdatesUnsupported for issue `number` if the service is known not to change issues."""
        if self.client.optional.is_missing(UPDATE_ISSUE):
            raise UpdatesUnsupported(number)

    async def _look(
        self, session: Session, number: int, arrived: Callable[[Issue], bool] | None, read: Read
    ) -> Issue | None:
        """The issue after the change, None if it can't be read. With `arrived`, read until that is true."""
        seen: Issue | None = None
        for wait in (0.0, *self.looks):
            await asyncio.sleep(wait)
            with suppress(ServiceError, UserError):
                seen = await read(session, number)
                if arrived is None or arrived(seen):
                    break
        return seen
