"""The client of the service: one method per operation of the interface (service-interface.md, section 4).

Every method takes the key of the person it acts for, and raises the ServiceErrors of bot.errors: the client
itself knows no key. What it asks and how an answer is read is in `wire`, how it travels in `transport`.
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
from bot.service.optional import Beyond
from bot.service.transport import PROBE, Limits, OnAnswer, Probe, Source, Timeouts, Transport

__all__ = ["Client", "Limits", "Probe", "Timeouts"]

ISSUES = "/issues.json"
PROJECTS = "/projects.json"
DEFAULT_TIMEOUTS = Timeouts()
DEFAULT_LIMITS = Limits()
LONGEST_DESCRIPTION = 20_000
"""Characters of a description in a list: thousands of issues are in memory at once."""


class Client:
    """One service at one address. Close it, or use it as an async context manager.

    `base_url` may have a path; `key_header` carries the key; `on_answer` is told each answer's operation,
    status (None: no answer) and seconds. Raises ValueError for an address that can't be one.
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
        self.beyond = Beyond(self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    @property
    def base_url(self) -> str:
        """The address without a slash at its end; see conventions.issue_url and project_url for links."""
        return self._transport.base_url

    async def reachable(self) -> bool:
        """Whether the service answers at all, asked without a key and for a few seconds at most."""
        probe = await self.probe()
        return probe is not None and probe.status < HTTPStatus.INTERNAL_SERVER_ERROR

    async def probe(self, seconds: float = PROBE) -> Probe | None:
        """How the service answers without a key; None when there is no answer in time."""
        return await self._transport.probe(protocol.path("users", "current"), seconds)

    # Users

    async def create_user(self, key: SecretStr, user: NewUser) -> User:
        """Create a user, as an administrator; the answer may carry the new user's own key."""
        call = protocol.write("create_user", "POST", "/users.json", user)
        return await self._transport.send(key, call, protocol.one("user", User))

    async def get_user(
        self,
        key: SecretStr,
        user_id: int | Literal["current"] = "current",
        include: Collection[UserInclude] = (),
    ) -> User:
        """A user; `current` is whose key it is, and the only proof that a key is good."""
        call = protocol.read("get_user", protocol.path("users", user_id), tuple(include))
        return await self._transport.send(key, call, protocol.one("user", User))

    async def update_user(self, key: SecretStr, user_id: int, changes: UserChanges) -> None:
        """Change a user, as an administrator."""
        call = protocol.write("update_user", "PUT", protocol.path("users", user_id), changes)
        await self._transport.send(key, call, protocol.nothing)

    # Issues

    async def create_issue(self, key: SecretStr, issue: NewIssue) -> Issue:
        """Create an issue. What the person may not set is changed silently: compare the answer."""
        call = protocol.write("create_issue", "POST", ISSUES, issue)
        return await self._transport.send(key, call, protocol.one("issue", Issue))

    async def list_issues(
        self, key: SecretStr, filters: IssueFilters, *, offset: int = 0, limit: int = PAGE
    ) -> Page[Issue]:
        """One page of issues in the order that the filters ask for; of several, descriptions are cut.

        A page that is too large for one answer is read in parts, and may come out shorter. Raises Refused,
        with the status 200, when the answer shows that the service ignored a filter.
        """

        async def read(at: int, rows: int) -> Page[Issue]:
            return await self._issues(key, filters, at, rows, {})

        return await _whole_page(read, offset, limit)

    def iter_issues(self, key: SecretStr, filters: IssueFilters) -> AsyncGenerator[Issue, None]:
        """All issues in the order of ids, whatever order the filters ask for; see `paging`. Descriptions are
        cut.
        """

        async def read(some: IssueFilters, offset: int, limit: int, params: Mapping[str, str]) -> Page[Issue]:
            return await self._issues(key, some, offset, limit, params)

        return pagination.every_issue(read, filters, ISSUES)

    async def _issues(
        self, key: SecretStr, filters: IssueFilters, offset: int, limit: int, params: Mapping[str, str]
    ) -> Page[Issue]:
        everything = {**filters.to_params(), **params}
        call = protocol.read_page("list_issues", ISSUES, everything, offset=offset, limit=limit)
        page = await self._transport.send(key, call, protocol.page("issues", Issue))
        for issue in page.items:
            if ignored := filters.contradicted(issue):
                raise Refused("GET", ISSUES, 200, (f"filtering by {ignored} is not possible here",))
        return page if limit == 1 else replace(page, items=tuple(map(_cut, page.items)))

    # Projects

    async def create_project(self, key: SecretStr, project: NewProject) -> Project:
        """Create a project."""
        call = protocol.write("create_project", "POST", PROJECTS, project)
        return await self._transport.send(key, call, protocol.one("project", Project))

    async def get_project(
        self, key: SecretStr, project_id: int | str, include: Collection[ProjectInclude] = ()
    ) -> Project:
        """A project by its number or identifier. Raises ValueError for an empty identifier."""
        call = protocol.read("get_project", protocol.path("projects", project_id), tuple(include))
        return await self._transport.send(key, call, protocol.one("project", Project))

    async def list_projects(
        self, key: SecretStr, include: Collection[ProjectInclude] = (), *, offset: int = 0, limit: int = PAGE
    ) -> Page[Project]:
        """One page of the public projects and those that the person has access to."""
        params = {"include": ",".join(sorted(include))} if include else {}

        async def read(at: int, rows: int) -> Page[Project]:
            call = protocol.read_page("list_projects", PROJECTS, params, offset=at, limit=rows)
            return await self._transport.send(key, call, protocol.page("projects", Project))

        return await _whole_page(read, offset, limit)

    def iter_projects(
        self, key: SecretStr, include: Collection[ProjectInclude] = ()
    ) -> AsyncGenerator[Project, None]:
        """All projects in the service's own order; see `paging`."""
        known: set[int] = set()
        return pagination.every(
            lambda offset: self.list_projects(key, include, offset=offset), known, PROJECTS
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
        """Send a file in constant memory; the token that comes back attaches it to an issue, once.

        Raises ValueError when the content isn't of the size that was said, TimeoutError when its pieces
        don't come, and whatever `content` raises.
        """
        params = {} if filename is None else {"filename": filename}
        call = protocol.Call("upload_file", "POST", "/uploads.json", params)
        return await self._transport.send(key, call, protocol.one("upload", Upload), Source(content, size))

    async def update_attachment(self, key: SecretStr, attachment_id: int, changes: AttachmentChanges) -> None:
        """Change an attachment's name or description."""
        call = protocol.write(
            "update_attachment", "PATCH", protocol.path("attachments", attachment_id), changes
        )
        await self._transport.send(key, call, protocol.nothing)

    # Time entries

    async def create_time_entry(self, key: SecretStr, entry: NewTimeEntry) -> TimeEntry:
        """Log time on an issue or a project."""
        call = protocol.write("create_time_entry", "POST", "/time_entries.json", entry)
        return await self._transport.send(key, call, protocol.one("time_entry", TimeEntry))

    async def update_time_entry(self, key: SecretStr, entry_id: int, changes: TimeEntryChanges) -> None:
        """Change logged time."""
        call = protocol.write("update_time_entry", "PUT", protocol.path("time_entries", entry_id), changes)
        await self._transport.send(key, call, protocol.nothing)


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
