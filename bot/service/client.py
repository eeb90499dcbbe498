"""The service's client: one method per operation of its interface (docs/service.md, Operations).

Every method takes the API key of the user it acts for and raises the ServiceErrors of `bot.errors`. The
client stores no key. `protocol` builds requests and decodes answers; `transport` sends them.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Collection, Mapping
from dataclasses import replace
from http import HTTPStatus
from types import TracebackType
from typing import Literal, Self

from pydantic import SecretStr

from bot.errors import AnswerTooLarge, Refused
from bot.service import conventions, pagination, protocol
from bot.service.conventions import PAGE, ProjectInclude, UserInclude
from bot.service.filters import IssueFilters
from bot.service.inputs import (
    AttachmentChanges,
    NewIssue,
    NewProject,
    NewTimeEntry,
    NewUser,
    TimeEntryChanges,
    UserChanges,
)
from bot.service.models import Issue, Page, Project, TimeEntry, Upload, User
from bot.service.optional import OptionalOperations
from bot.service.transport import PROBE, Limits, OnAnswer, Probe, Source, Timeouts, Transport, watched_reads

__all__ = ["Client", "Limits", "Probe", "Timeouts", "watched_reads"]

ISSUES = "/issues.json"
PROJECTS = "/projects.json"
DEFAULT_TIMEOUTS = Timeouts()
DEFAULT_LIMITS = Limits()
LONGEST_DESCRIPTION = 20_000
"""Characters kept of each description in a list, as thousands of issues can be in memory at once."""


class Client:
    """A client for one service, whose `base_url` may have a path. Raises ValueError for an invalid one.

    `on_answer` is called with each request's operation, status (None without an answer), and seconds.
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
        """The service's address without a trailing slash; for links see `conventions`."""
        return self._transport.base_url

    async def reachable(self) -> bool:
        """Return whether the service answers, without a key and within a few seconds."""
        probe = await self.probe()
        return probe is not None and probe.status < HTTPStatus.INTERNAL_SERVER_ERROR

    async def probe(self, seconds: float = PROBE) -> Probe | None:
        return await self._transport.probe(protocol.path("users", "current"), seconds)

    # Users

    async def create_user(self, key: SecretStr, user: NewUser) -> User:
        """Create a user; requires an administrator's key. The answer may include the new user's key."""
        call = protocol.write("create_user", "POST", "/users.json", user)
        return await self._transport.send(key, call, protocol.resource("user", User))

    async def get_user(
        self,
        key: SecretStr,
        user_id: int | Literal["current"] = "current",
        include: Collection[UserInclude] = (),
    ) -> User:
        """Return a user. `current` is the owner of the key; a successful answer proves that the key works."""
        call = protocol.read("get_user", protocol.path("users", user_id), tuple(include))
        return await self._transport.send(key, call, protocol.resource("user", User))

    async def update_user(self, key: SecretStr, user_id: int, changes: UserChanges) -> None:
        call = protocol.write("update_user", "PUT", protocol.path("users", user_id), changes)
        await self._transport.send(key, call, protocol.no_content)

    # Issues

    async def create_issue(self, key: SecretStr, issue: NewIssue) -> Issue:
        """Create an issue. The service silently ignores fields the user may not set: compare the answer."""
        call = protocol.write("create_issue", "POST", ISSUES, issue)
        return await self._transport.send(key, call, protocol.resource("issue", Issue))

    async def list_issues(
        self, key: SecretStr, filters: IssueFilters, *, offset: int = 0, limit: int = PAGE
    ) -> Page[Issue]:
        """Return one page of issues, sorted as the filters say. Truncates descriptions unless `limit` is 1.

        Reads a page that exceeds the size limit in parts; it may then be shorter than `limit`. Raises Refused
        with status 200 if the service ignored a filter.
        """

        async def read(at: int, rows: int) -> Page[Issue]:
            return await self._issues(key, filters, at, rows, {})

        return await _whole_page(read, offset, limit)

    def iter_issues(self, key: SecretStr, filters: IssueFilters) -> AsyncGenerator[Issue, None]:
        """Yield all issues in the order of their IDs, ignoring the filters' sort order; see `pagination`.

        Truncates descriptions.
        """

        async def read(some: IssueFilters, offset: int, limit: int, params: Mapping[str, str]) -> Page[Issue]:
            return await self._issues(key, some, offset, limit, params)

        return pagination.iterate_issues(read, filters, ISSUES)

    async def _issues(
        self, key: SecretStr, filters: IssueFilters, offset: int, limit: int, params: Mapping[str, str]
    ) -> Page[Issue]:
        everything = {**filters.to_params(), **params}
        call = protocol.read_page("list_issues", ISSUES, everything, offset=offset, limit=limit)
        page = await self._transport.send(key, call, protocol.page("issues", Issue))
        for issue in page.items:
            if ignored := filters.mismatch(issue):
                raise Refused("GET", ISSUES, 200, (f"filtering by {ignored} is not possible here",))
        return page if limit == 1 else replace(page, items=tuple(map(_cut, page.items)))

    # Projects

    async def create_project(self, key: SecretStr, project: NewProject) -> Project:
        call = protocol.write("create_project", "POST", PROJECTS, project)
        return await self._transport.send(key, call, protocol.resource("project", Project))

    async def get_project(
        self, key: SecretStr, project_id: int | str, include: Collection[ProjectInclude] = ()
    ) -> Project:
        """Return a project by ID or identifier. Raises ValueError for an empty identifier."""
        call = protocol.read("get_project", protocol.path("projects", project_id), tuple(include))
        return await self._transport.send(key, call, protocol.resource("project", Project))

    async def list_projects(
        self, key: SecretStr, include: Collection[ProjectInclude] = (), *, offset: int = 0, limit: int = PAGE
    ) -> Page[Project]:
        params = {"include": ",".join(sorted(include))} if include else {}

        async def read(at: int, rows: int) -> Page[Project]:
            call = protocol.read_page("list_projects", PROJECTS, params, offset=at, limit=rows)
            return await self._transport.send(key, call, protocol.page("projects", Project))

        return await _whole_page(read, offset, limit)

    def iter_projects(
        self, key: SecretStr, include: Collection[ProjectInclude] = ()
    ) -> AsyncGenerator[Project, None]:
        """Yield all projects in the service's own order; see `pagination`."""
        return pagination.iterate(
            lambda offset: self.list_projects(key, include, offset=offset), set(), PROJECTS
        )

    # Uploads and attachments

    async def upload_file(
        self,
        key: SecretStr,
        content: AsyncIterable[bytes],
        *,
        filename: str | None = None,
        size: int | None = None,
    ) -> Upload:
        """Upload a file in constant memory. The returned token attaches it to an issue, once.

        Raises ValueError if the content doesn't match `size`, TimeoutError if `content` stalls, and any error
        of `content`.
        """
        params = {} if filename is None else {"filename": filename}
        call = protocol.Call("upload_file", "POST", "/uploads.json", params)
        return await self._transport.send(
            key, call, protocol.resource("upload", Upload), Source(content, size)
        )

    async def update_attachment(self, key: SecretStr, attachment_id: int, changes: AttachmentChanges) -> None:
        call = protocol.write(
            "update_attachment", "PATCH", protocol.path("attachments", attachment_id), changes
        )
        await self._transport.send(key, call, protocol.no_content)

    # Time entries

    async def create_time_entry(self, key: SecretStr, entry: NewTimeEntry) -> TimeEntry:
        call = protocol.write("create_time_entry", "POST", "/time_entries.json", entry)
        return await self._transport.send(key, call, protocol.resource("time_entry", TimeEntry))

    async def update_time_entry(self, key: SecretStr, entry_id: int, changes: TimeEntryChanges) -> None:
        call = protocol.write("update_time_entry", "PUT", protocol.path("time_entries", entry_id), changes)
        await self._transport.send(key, call, protocol.no_content)


async def _whole_page(read: pagination.ReadPart[pagination.R], offset: int, limit: int) -> Page[pagination.R]:
    try:
        return await read(offset, limit)
    except AnswerTooLarge:
        if limit == 1:
            raise
    return await pagination.in_parts(read, offset, limit)


def _cut(issue: Issue) -> Issue:
    if issue.description is None or len(issue.description) <= LONGEST_DESCRIPTION:
        return issue
    return issue.model_copy(update={"description": issue.description[:LONGEST_DESCRIPTION]})
