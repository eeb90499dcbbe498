"""Optional operations, which a service may not have (docs/service.md, Optional operations).

A read returns None if the endpoint is missing. The result is cached for some minutes if it is certain that
the endpoint is missing, and not just this resource or this user's permission.
"""

import time
from collections.abc import Collection
from typing import TypeVar

from pydantic import BaseModel, SecretStr

from bot.errors import Forbidden, NotFound, Refused
from bot.service.conventions import PAGE, IssueDetailInclude
from bot.service.inputs import IssueChanges
from bot.service.models import Issue, IssueStatus, Membership, Ref, RoleRights, TimeEntry, Version, active
from bot.service.protocol import Answer, Call, item_path, read_page, write
from bot.service.transport import Transport

M = TypeVar("M", bound=BaseModel)

UPDATE_ISSUE = "update_issue"
"""The operation's name for `note_missing` and `is_missing`."""
REMEMBERED = 600.0
MAX_PAGES = 20
NOT_HERE = frozenset({403, 404, 405, 406})
NEVER_HERE = frozenset({405, 406})  # a 404 may mean that this one resource is missing
ABOUT_THE_ENDPOINT = NEVER_HERE | {404}  # for a list of everything; a 403 is about the user


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
        call = Call("get_issue", "GET", f"/issues/{issue_id}.json", {"include": ",".join(sorted(include))})
        answer = await self._ask(key, call, NEVER_HERE)
        return None if answer is None else answer.one("issue", Issue)

    async def update_issue(self, key: SecretStr, issue_id: int, changes: IssueChanges) -> None:
        """Change an issue, add a note, attach uploads. Raises NotFound if the endpoint is missing, too."""
        await self._transport.send(key, write(UPDATE_ISSUE, "PUT", f"/issues/{issue_id}.json", changes))

    async def issue_statuses(self, key: SecretStr) -> tuple[IssueStatus, ...] | None:
        return await self._list(key, Call("issue_statuses", "GET", "/issue_statuses.json"), IssueStatus)

    async def issue_priorities(self, key: SecretStr) -> tuple[Ref, ...] | None:
        call = Call("issue_priorities", "GET", "/enumerations/issue_priorities.json")
        refs = await self._list(key, call, Ref)
        return refs and active(refs)

    async def time_entry_activities(self, key: SecretStr) -> tuple[Ref, ...] | None:
        call = Call("time_entry_activities", "GET", "/enumerations/time_entry_activities.json")
        refs = await self._list(key, call, Ref)
        return refs and active(refs)

    async def trackers(self, key: SecretStr) -> tuple[Ref, ...] | None:
        return await self._list(key, Call("trackers", "GET", "/trackers.json"), Ref)

    async def latest_time(self, key: SecretStr, project_id: int) -> tuple[TimeEntry, ...] | None:
        """Return the user's own latest time entries in a project and its subprojects."""
        wanted = {"user_id": "me", "project_id": str(project_id), "sort": "spent_on:desc", "limit": "25"}
        return await self._list(key, Call("time_entries", "GET", "/time_entries.json", wanted), TimeEntry)

    async def delete_time_entry(self, key: SecretStr, entry_id: int) -> None:
        """Delete a time entry. Raises NotFound if the endpoint is missing, too."""
        call = Call("delete_time_entry", "DELETE", f"/time_entries/{entry_id}.json")
        await self._transport.send(key, call)

    async def versions(self, key: SecretStr, project_id: int | str) -> tuple[Version, ...] | None:
        """Return the versions available to a project's issues."""
        call = Call("versions", "GET", item_path("projects", project_id, "/versions"))
        return await self._list(key, call, Version, NEVER_HERE)

    async def memberships(self, key: SecretStr, project_id: int | str) -> list[Membership] | None:
        """Return a project's members and their roles, as many as MAX_PAGES have."""
        where = item_path("projects", project_id, "/memberships")
        found: dict[int, Membership] = {}
        offset = 0
        for _ in range(MAX_PAGES):
            answer = await self._ask(key, read_page("memberships", where, {}, offset, PAGE), NEVER_HERE)
            if answer is None:
                return None
            page = answer.page("memberships", Membership)
            found |= {membership.id: membership for membership in page.items}
            offset += len(page.items)
            if not page.items or offset >= page.total_count:
                break
        return list(found.values())

    async def role(self, key: SecretStr, role_id: int) -> RoleRights | None:
        answer = await self._ask(key, Call("role", "GET", f"/roles/{role_id}.json"), NEVER_HERE)
        return None if answer is None else answer.one("role", RoleRights)

    async def _list(
        self, key: SecretStr, call: Call, model: type[M], lasting: frozenset[int] = ABOUT_THE_ENDPOINT
    ) -> tuple[M, ...] | None:
        """Return the rows of a list whose operation is named like its wrapper."""
        answer = await self._ask(key, call, lasting)
        return None if answer is None else answer.rows(call.operation, model)

    async def _ask(self, key: SecretStr, call: Call, lasting: frozenset[int]) -> Answer | None:
        """Return the answer, or None for a status in NOT_HERE; remembers it for a status in `lasting`."""
        if self.is_missing(call.operation):
            return None
        try:
            return await self._transport.send(key, call)
        except (Forbidden, NotFound, Refused) as error:
            if error.status not in NOT_HERE:
                raise
            if error.status in lasting:
                self.note_missing(call.operation)
            return None
