"""The service's client: one method per operation of its interface (docs/service.md, Operations).

Every method takes the API key of the user it acts for and raises the ServiceErrors of `bot.errors`. The
client stores no key. `protocol` builds requests and decodes responses; `transport` sends them.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from types import TracebackType
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, SecretStr

from bot.errors import FilterIgnored, Forbidden, NotFound, Refused
from bot.service import conventions, inputs, models, pagination
from bot.service.conventions import PAGE_SIZE, IssueDetailInclude, ProjectInclude, UserInclude
from bot.service.filters import IssueFilters
from bot.service.protocol import Answer, Call, done, project_path, read_page, write
from bot.service.transport import Limits, OnAnswer, Probe, Transport, UploadContent, watched_reads
from bot.timings import Timeouts

__all__ = ["Client", "Limits", "Probe", "watched_reads"]

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

ISSUES = "/issues.json"
PROJECTS = "/projects.json"
DEFAULT_TIMEOUTS = Timeouts()
DEFAULT_LIMITS = Limits()
LONGEST_DESCRIPTION = 20_000
"""Characters kept of each description in a list, as thousands of issues can be in memory at once."""


UPDATE_ISSUE, DELETE_TIME = "update_issue", "delete_time_entry"
REMEMBERED_SECONDS = 600.0
PROBE_SECONDS = 3.0
MAX_PAGES = 20
NOT_HERE = frozenset({403, 404, 405, 406})
NEVER_HERE = frozenset({405, 406})  # a 404 may mean that this one resource is missing
ABOUT_THE_ENDPOINT = NEVER_HERE | {404}  # for a list of everything; a 403 is about the user
Exists = Callable[[], Awaitable[bool]]


class Client:
    """A client for one service, whose `base_url` may have a path. Raises ValueError for an invalid one.

    `on_answer` is called with each request's operation, status (None without a response), and seconds.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key_header: str = conventions.KEY_HEADER,
        timeout: Timeouts = DEFAULT_TIMEOUTS,
        limits: Limits = DEFAULT_LIMITS,
        on_answer: OnAnswer | None = None,
    ) -> None:
        self._transport = Transport(base_url, key_header, timeout, limits, on_answer)
        self.optional = OptionalOperations(self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._transport.aclose()

    @property
    def base_url(self) -> str:
        return self._transport.base_url

    async def reachable(self) -> bool:
        """Return whether the service responds, without a key and within a few seconds."""
        probe = await self.probe(PROBE_SECONDS)
        return probe is not None and probe.status < HTTPStatus.INTERNAL_SERVER_ERROR

    async def probe(self, seconds: float) -> Probe | None:
        return await self._transport.probe("/users/current.json", seconds)

    # Users

    async def create_user(self, key: SecretStr, user: inputs.NewUser) -> models.User:
        """Create a user; requires an administrator's key. The response may include the new user's key."""
        call = write("create_user", "POST", "/users.json", user)
        return await self._transport.send(key, call, lambda answer: answer.one("user", models.User))

    async def get_user(
        self,
        key: SecretStr,
        user_id: int | Literal["current"] = "current",
        include: Collection[UserInclude] = (),
    ) -> models.User:
        """Return a user. `current` is the owner of the key; success proves that the key works."""
        call = Call("get_user", "GET", f"/users/{user_id}.json", {"include": ",".join(sorted(include))})
        return await self._transport.send(key, call, lambda answer: answer.one("user", models.User))

    async def update_user(self, key: SecretStr, user_id: int, changes: inputs.UserChanges) -> None:
        await self._transport.send(key, write("update_user", "PUT", f"/users/{user_id}.json", changes), done)

    # Issues

    async def create_issue(self, key: SecretStr, issue: inputs.NewIssue) -> models.Issue:
        """Create an issue. The service silently ignores fields the user can't set: compare the response."""
        call = write("create_issue", "POST", ISSUES, issue)
        return await self._transport.send(key, call, lambda answer: answer.one("issue", models.Issue))

    async def list_issues(
        self, key: SecretStr, filters: IssueFilters, offset: int = 0, limit: int = PAGE_SIZE
    ) -> models.Page[models.Issue]:
        """Return one page of issues, sorted as the filters say. Truncates descriptions unless `limit` is 1.

        Raises FilterIgnored.
        """
        call = read_page("list_issues", ISSUES, filters.to_params(), offset, limit)
        page = await self._transport.send(key, call, lambda answer: answer.page("issues", models.Issue))
        for issue in page.items:
            if ignored := filters.mismatch(issue):
                raise FilterIgnored("GET", ISSUES, ignored)
        if limit == 1:
            return page

        cut = [
            issue.model_copy(update={"description": issue.description[:LONGEST_DESCRIPTION]})
            if issue.description and len(issue.description) > LONGEST_DESCRIPTION
            else issue
            for issue in page.items
        ]
        return replace(page, items=tuple(cut))

    def iter_issues(self, key: SecretStr, filters: IssueFilters) -> AsyncGenerator[models.Issue, None]:
        """Yield all issues in the order of their IDs, ignoring the filters' sort order; see `pagination`.

        Truncates descriptions.
        """
        return pagination.iterate_issues(partial(self.list_issues, key), filters, ISSUES)

    # Projects

    async def create_project(self, key: SecretStr, project: inputs.NewProject) -> models.Project:
        call = write("create_project", "POST", PROJECTS, project)
        return await self._transport.send(key, call, lambda answer: answer.one("project", models.Project))

    async def get_project(
        self, key: SecretStr, project_id: int | str, include: Collection[ProjectInclude] = ()
    ) -> models.Project:
        """Return a project by ID or identifier. Raises ValueError for an empty identifier."""
        params = {"include": ",".join(sorted(include))}
        call = Call("get_project", "GET", project_path(project_id), params)
        return await self._transport.send(key, call, lambda answer: answer.one("project", models.Project))

    async def list_projects(
        self,
        key: SecretStr,
        offset: int = 0,
        limit: int = PAGE_SIZE,
    ) -> models.Page[models.Project]:
        call = read_page("list_projects", PROJECTS, {}, offset, limit)
        return await self._transport.send(key, call, lambda answer: answer.page("projects", models.Project))

    def iter_projects(self, key: SecretStr) -> AsyncGenerator[models.Project, None]:
        return pagination.iterate(partial(self.list_projects, key), set(), PROJECTS)

    # Uploads and attachments

    async def upload_file(
        self,
        key: SecretStr,
        content: AsyncIterable[bytes],
        *,
        filename: str | None = None,
        size: int | None = None,
    ) -> models.Upload:
        """Upload a file in constant memory. The returned token attaches it to an issue, once.

        Raises ValueError if the content doesn't match `size`, TimeoutError if `content` stalls, and any error
        of `content`.
        """
        call = Call("upload_file", "POST", "/uploads.json", {"filename": filename or ""})
        return await self._transport.send(
            key, call, lambda answer: answer.one("upload", models.Upload), UploadContent(content, size)
        )

    async def update_attachment(
        self, key: SecretStr, attachment_id: int, changes: inputs.AttachmentChanges
    ) -> None:
        call = write("update_attachment", "PATCH", f"/attachments/{attachment_id}.json", changes)
        await self._transport.send(key, call, done)

    # Time entries

    async def create_time_entry(self, key: SecretStr, entry: inputs.NewTimeEntry) -> models.TimeEntry:
        call = write("create_time_entry", "POST", "/time_entries.json", entry)
        return await self._transport.send(
            key, call, lambda answer: answer.one("time_entry", models.TimeEntry)
        )

    async def update_time_entry(
        self, key: SecretStr, entry_id: int, changes: inputs.TimeEntryChanges
    ) -> None:
        call = write("update_time_entry", "PUT", f"/time_entries/{entry_id}.json", changes)
        await self._transport.send(key, call, done)


class OptionalOperations:
    """Operations that a service may not have (docs/service.md, Optional operations).

    A read returns None if the endpoint is missing. That is remembered for some minutes, or until it responds,
    if it is certain that the endpoint is missing, and not just this resource or this user's permission. It is
    asked twice before, because a proxy may have refused one request.

    A change returns False if the endpoint is missing: if it responds with 404, `exists` says whether the
    resource is there. If it isn't, the change raises NotFound.
    """

    def __init__(self, transport: Transport, remembered: float = REMEMBERED_SECONDS) -> None:
        self._transport = transport
        self._remembered = remembered
        self._missing: dict[str, float] = {}

    def note_missing(self, operation: str) -> None:
        """Treat the endpoint as missing for some minutes; for callers who know that the resource exists.

        Then it is called again, however often a caller noted it meanwhile: it may only have failed once.
        """
        if not self.is_missing(operation):
            self._missing[operation] = time.monotonic() + self._remembered

    @property
    def updates_issues(self) -> bool:
        """Whether the service updates issues, as far as is known."""
        return not self.is_missing(UPDATE_ISSUE)

    def is_missing(self, operation: str) -> bool:
        return self._missing.get(operation, 0.0) > time.monotonic()

    async def get_issue(
        self, key: SecretStr, issue_id: int, include: Collection[IssueDetailInclude] = ()
    ) -> models.Issue | None:
        """Return an issue with its details; None if the issue isn't visible or the endpoint is missing."""
        call = Call("get_issue", "GET", f"/issues/{issue_id}.json", {"include": ",".join(sorted(include))})
        return await self._ask(key, call, NEVER_HERE, lambda answer: answer.one("issue", models.Issue))

    async def update_issue(
        self, key: SecretStr, issue_id: int, changes: inputs.IssueChanges, exists: Exists
    ) -> bool:
        """Change an issue, add a note, attach uploads."""
        call = write(UPDATE_ISSUE, "PUT", f"/issues/{issue_id}.json", changes)
        return await self._change(key, call, exists)

    async def issue_statuses(self, key: SecretStr) -> tuple[models.IssueStatus, ...] | None:
        return await self._list(
            key, Call("issue_statuses", "GET", "/issue_statuses.json"), models.IssueStatus
        )

    async def issue_priorities(self, key: SecretStr) -> tuple[models.Ref, ...] | None:
        call = Call("issue_priorities", "GET", "/enumerations/issue_priorities.json")
        refs = await self._list(key, call, models.Ref)
        return refs and models.active(refs)

    async def time_entry_activities(self, key: SecretStr) -> tuple[models.Ref, ...] | None:
        call = Call("time_entry_activities", "GET", "/enumerations/time_entry_activities.json")
        refs = await self._list(key, call, models.Ref)
        return refs and models.active(refs)

    async def trackers(self, key: SecretStr) -> tuple[models.Ref, ...] | None:
        return await self._list(key, Call("trackers", "GET", "/trackers.json"), models.Ref)

    async def latest_time(self, key: SecretStr, project_id: int) -> tuple[models.TimeEntry, ...] | None:
        """Return the user's own latest time entries in a project and its subprojects."""
        params = {"user_id": "me", "project_id": str(project_id), "sort": "spent_on:desc", "limit": "25"}
        return await self._list(
            key, Call("time_entries", "GET", "/time_entries.json", params), models.TimeEntry
        )

    async def delete_time_entry(self, key: SecretStr, entry_id: int, exists: Exists) -> bool:
        return await self._change(key, Call(DELETE_TIME, "DELETE", f"/time_entries/{entry_id}.json"), exists)

    async def versions(self, key: SecretStr, project_id: int | str) -> tuple[models.Version, ...] | None:
        call = Call("versions", "GET", project_path(project_id, "/versions"))
        return await self._list(key, call, models.Version, NEVER_HERE)

    async def memberships(self, key: SecretStr, project_id: int | str) -> list[models.Membership] | None:
        """Return a project's members and their roles, as many as MAX_PAGES have."""
        where = project_path(project_id, "/memberships")
        memberships: dict[int, models.Membership] = {}
        offset = 0
        for _ in range(MAX_PAGES):
            call = read_page("memberships", where, {}, offset, PAGE_SIZE)
            page = await self._ask(
                key, call, NEVER_HERE, lambda answer: answer.page("memberships", models.Membership)
            )
            if page is None:
                return None
            memberships |= {membership.id: membership for membership in page.items}
            offset += len(page.items)
            if not page.items or offset >= page.total_count:
                break
        return list(memberships.values())

    async def role(self, key: SecretStr, role_id: int) -> models.RoleRights | None:
        call = Call("role", "GET", f"/roles/{role_id}.json")
        return await self._ask(key, call, NEVER_HERE, lambda answer: answer.one("role", models.RoleRights))

    async def _list(
        self, key: SecretStr, call: Call, model: type[M], lasting: frozenset[int] = ABOUT_THE_ENDPOINT
    ) -> tuple[M, ...] | None:
        """Return the rows of a list whose operation is named like its wrapper."""
        return await self._ask(key, call, lasting, lambda answer: answer.rows(call.operation, model))

    async def _ask(
        self, key: SecretStr, call: Call, lasting: frozenset[int], read: Callable[[Answer], T]
    ) -> T | None:
        """Return the result of `read`; None for a status in NOT_HERE, remembered if it's in `lasting`."""
        if self.is_missing(call.operation):
            return None
        for _ in range(2):
            try:
                return await self._send(key, call, read)
            except (Forbidden, NotFound, Refused) as error:
                if error.status not in NOT_HERE:
                    raise
                if error.status not in lasting:
                    return None
        self.note_missing(call.operation)
        return None

    async def _change(self, key: SecretStr, call: Call, exists: Exists) -> bool:
        try:
            await self._send(key, call, done)
        except NotFound:
            if not await exists():
                raise
        else:
            return True
        with suppress(NotFound):
            await self._send(key, call, done)
            return True
        self.note_missing(call.operation)
        return False

    async def _send(self, key: SecretStr, call: Call, read: Callable[[Answer], T]) -> T:
        result = await self._transport.send(key, call, read)
        self._missing.pop(call.operation, None)
        return result
