"""Optional operations, which a service may not have (docs/service.md, Optional operations).

A read returns None if the endpoint is missing. The result is cached for some minutes if it is certain that
the endpoint is missing, and not just this resource or this user's permission.
"""

import time
from collections.abc import Collection
from typing import TypeVar

from pydantic import BaseModel, SecretStr

from bot.errors import Forbidden, NotFound, Refused
from bot.service import protocol
from bot.service.conventions import IssueDetailInclude
from bot.service.inputs import IssueChanges
from bot.service.models import Issue, IssueStatus, Membership, Ref, RoleRights, TimeEntry, Version, active
from bot.service.protocol import Call, Decoder
from bot.service.transport import Transport

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

UPDATE_ISSUE = "update_issue"
"""The operation's name for `note_missing` and `is_missing`."""
REMEMBERED = 600.0
MOST_PAGES = 20
NOT_HERE = frozenset({403, 404, 405, 406})
NEVER_HERE = frozenset({405, 406})  # a 404 may mean that this one resource is missing
ABOUT_THE_ENDPOINT = NEVER_HERE | {404}  # for a list without parameters; a 403 is about the user


class OptionalOperations:
    """The optional operations. Methods raise the same ServiceErrors as the client's.

    `remembered`: for how many seconds a missing endpoint isn't called.
    """

    def __init__(self, transport: Transport, remembered: float = REMEMBERED) -> None:
        self._transport = transport
        self.remembered = remembered
        self._missing: dict[str, float] = {}

    def note_missing(self, operation: str) -> None:
        """Treat the endpoint as missing for some minutes; for callers who know that the resource exists.

        Then it is called again, however often a caller noted it meanwhile: it may only have failed once.
        """
        if not self.is_missing(operation):
            self._missing[operation] = time.monotonic() + self.remembered

    def is_missing(self, operation: str) -> bool:
        """Return whether the endpoint was recently found missing."""
        return self._missing.get(operation, 0.0) > time.monotonic()

    async def get_issue(
        self, key: SecretStr, issue_id: int, include: Collection[IssueDetailInclude] = ()
    ) -> Issue | None:
        """Return an issue with its details; None if the issue isn't visible or the endpoint is missing."""
        call = protocol.read("get_issue", protocol.path("issues", issue_id), tuple(include))
        return await self._ask(key, call, protocol.resource("issue", Issue), NEVER_HERE)

    async def update_issue(self, key: SecretStr, issue_id: int, changes: IssueChanges) -> None:
        """Change an issue, add a note, attach uploads. Raises NotFound if the endpoint is missing, too."""
        call = protocol.write(UPDATE_ISSUE, "PUT", protocol.path("issues", issue_id), changes)
        await self._transport.send(key, call, protocol.no_content)

    async def issue_statuses(self, key: SecretStr) -> list[IssueStatus] | None:
        return await self._list(key, "issue_statuses", "/issue_statuses.json", IssueStatus)

    async def issue_priorities(self, key: SecretStr) -> list[Ref] | None:
        refs = await self._list(key, "issue_priorities", "/enumerations/issue_priorities.json", Ref)
        return None if refs is None else active(refs)

    async def time_entry_activities(self, key: SecretStr) -> list[Ref] | None:
        refs = await self._list(key, "time_entry_activities", "/enumerations/time_entry_activities.json", Ref)
        return None if refs is None else active(refs)

    async def trackers(self, key: SecretStr) -> list[Ref] | None:
        return await self._list(key, "trackers", "/trackers.json", Ref)

    async def latest_time(self, key: SecretStr, project_id: int) -> list[TimeEntry] | None:
        """Return the user's own latest time entries in a project and its subprojects."""
        call = protocol.read(
            "time_entries",
            "/time_entries.json",
            user_id="me",
            project_id=str(project_id),
            sort="spent_on:desc",
            limit="25",
        )
        return await self._ask(key, call, protocol.unpaged("time_entries", TimeEntry), ABOUT_THE_ENDPOINT)

    async def delete_time_entry(self, key: SecretStr, entry_id: int) -> None:
        """Delete a time entry. Raises NotFound if the endpoint is missing, too."""
        call = Call("delete_time_entry", "DELETE", protocol.path("time_entries", entry_id))
        await self._transport.send(key, call, protocol.no_content)

    async def versions(self, key: SecretStr, project_id: int | str) -> list[Version] | None:
        """Return the versions available to a project's issues."""
        call = protocol.read("versions", protocol.path("projects", project_id, "/versions"))
        return await self._ask(key, call, protocol.unpaged("versions", Version), NEVER_HERE)

    async def memberships(self, key: SecretStr, project_id: int | str) -> list[Membership] | None:
        where = protocol.path("projects", project_id, "/memberships")
        decode = protocol.page("memberships", Membership)
        found: dict[int, Membership] = {}
        offset = 0
        for _ in range(MOST_PAGES):
            call = protocol.read_page("memberships", where, {}, offset=offset)
            page = await self._ask(key, call, decode, NEVER_HERE)
            if page is None:
                return None
            found |= {membership.id: membership for membership in page.items}
            offset += len(page.items)
            if not page.items or offset >= page.total_count:
                break
        return list(found.values())

    async def role(self, key: SecretStr, role_id: int) -> RoleRights | None:
        call = protocol.read("role", protocol.path("roles", role_id))
        return await self._ask(key, call, protocol.resource("role", RoleRights), NEVER_HERE)

    async def _list(self, key: SecretStr, wrapper: str, where: str, model: type[M]) -> list[M] | None:
        return await self._ask(
            key, protocol.read(wrapper, where), protocol.unpaged(wrapper, model), ABOUT_THE_ENDPOINT
        )

    async def _ask(self, key: SecretStr, call: Call, decode: Decoder[T], lasting: frozenset[int]) -> T | None:
        """Return the answer, or None for a status in NOT_HERE; caches it for a status in `lasting`."""
        if self.is_missing(call.operation):
            return None
        try:
            return await self._transport.send(key, call, decode)
        except (Forbidden, NotFound, Refused) as error:
            if error.status not in NOT_HERE:
                raise
            if error.status in lasting:
                self.note_missing(call.operation)
            return None
