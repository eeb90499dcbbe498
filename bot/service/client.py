"""The service's client: one method per operation of its interface (docs/service.md, Operations).

Every method takes the API key of the user it acts for and raises the ServiceErrors of `bot.errors`. The
client stores no key. `protocol` builds requests and decodes answers; `transport` sends them.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Collection
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from types import TracebackType
from typing import Literal, Self

from pydantic import SecretStr

from bot.errors import AnswerTooLarge, Refused
from bot.service import conventions, pagination
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
from bot.service.protocol import Call, item_path, read_page, write
from bot.service.transport import (
    PROBE,
    Limits,
    OnAnswer,
    Probe,
    Timeouts,
    Transport,
    UploadContent,
    watched_reads,
)

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
        return await self._transport.probe("/users/current.json", seconds)

    # Users

    async def create_user(self, key: SecretStr, user: NewUser) -> User:
        """Create a user; requires an administrator's key. The answer may include the new user's key."""
        answer = await self._transport.send(key, write("create_user", "POST", "/users.json", user))
        return answer.one("user", User)

    async def get_user(
        self,
        key: SecretStr,
        user_id: int | Literal["current"] = "current",
        include: Collection[UserInclude] = (),
    ) -> User:
        """Return a user. `current` is the owner of the key; a successful answer proves that the key works."""
        call = Call("get_user", "GET", f"/users/{user_id}.json", {"include": ",".join(sorted(include))})
        return (await self._transport.send(key, call)).one("user", User)

    async def update_user(self, key: SecretStr, user_id: int, changes: UserChanges) -> None:
        await self._transport.send(key, write("update_user", "PUT", f"/users/{user_id}.json", changes))

    # Issues

    async def create_issue(self, key: SecretStr, issue: NewIssue) -> Issue:
        """Create an issue. The service silently ignores fields the user may not set: compare the answer."""
        answer = await self._transport.send(key, write("create_issue", "POST", ISSUES, issue))
        return answer.one("issue", Issue)

    async def list_issues(
        self,
        key: SecretStr,
        filters: IssueFilters,
        offset: int = 0,
        limit: int = PAGE,
        *,
        in_parts: bool = True,
    ) -> Page[Issue]:
        """Return one page of issues, sorted as the filters say. Truncates descriptions unless `limit` is 1.

        A page that exceeds the size limit is read `in_parts`, and may then be shorter than `limit`, or else
        raises AnswerTooLarge. Raises Refused with status 200 if the service ignored a filter.
        """
        call = read_page("list_issues", ISSUES, filters.to_params(), offset, limit)
        try:
            page = (await self._transport.send(key, call)).page("issues", Issue)
        except AnswerTooLarge:
            if limit == 1 or not in_parts:
                raise
            read = partial(self.list_issues, key, filters, in_parts=False)
            return await pagination.in_parts(read, offset, limit)
        for issue in page.items:
            if ignored := filters.mismatch(issue):
                raise Refused("GET", ISSUES, 200, (f"filtering by {ignored} is not possible here",))
        if limit == 1:
            return page
        cut = [
            issue.model_copy(update={"description": issue.description[:LONGEST_DESCRIPTION]})
            if issue.description and len(issue.description) > LONGEST_DESCRIPTION
            else issue
            for issue in page.items
        ]
        return replace(page, items=tuple(cut))

    def iter_issues(self, key: SecretStr, filters: IssueFilters) -> AsyncGenerator[Issue, None]:
        """Yield all issues in the order of their IDs, ignoring the filters' sort order; see `pagination`.

        Truncates descriptions.
        """
        return pagination.iterate_issues(partial(self.list_issues, key, in_parts=False), filters, ISSUES)

    # Projects

    async def create_project(self, key: SecretStr, project: NewProject) -> Project:
        answer = await self._transport.send(key, write("create_project", "POST", PROJECTS, project))
        return answer.one("project", Project)

    async def get_project(
        self, key: SecretStr, project_id: int | str, include: Collection[ProjectInclude] = ()
    ) -> Project:
        """Return a project by ID or identifier. Raises ValueError for an empty identifier."""
        params = {"include": ",".join(sorted(include))}
        call = Call("get_project", "GET", item_path("projects", project_id), params)
        return (await self._transport.send(key, call)).one("project", Project)

    async def list_projects(
        self,
        key: SecretStr,
        include: Collection[ProjectInclude] = (),
        offset: int = 0,
        limit: int = PAGE,
        *,
        in_parts: bool = True,
    ) -> Page[Project]:
        """Return one page of projects; `in_parts` as in `list_issues`."""
        params = {"include": ",".join(sorted(include))}
        call = read_page("list_projects", PROJECTS, params, offset, limit)
        try:
            return (await self._transport.send(key, call)).page("projects", Project)
        except AnswerTooLarge:
            if limit == 1 or not in_parts:
                raise
            read = partial(self.list_projects, key, include, in_parts=False)
            return await pagination.in_parts(read, offset, limit)

    def iter_projects(
        self, key: SecretStr, include: Collection[ProjectInclude] = ()
    ) -> AsyncGenerator[Project, None]:
        """Yield all projects in the service's own order; see `pagination`."""
        return pagination.iterate(partial(self.list_projects, key, include), set(), PROJECTS)

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
        call = Call("upload_file", "POST", "/uploads.json", {"filename": filename or ""})
        return (await self._transport.send(key, call, UploadContent(content, size))).one("upload", Upload)

    async def update_attachment(self, key: SecretStr, attachment_id: int, changes: AttachmentChanges) -> None:
        call = write("update_attachment", "PATCH", f"/attachments/{attachment_id}.json", changes)
        await self._transport.send(key, call)

    # Time entries

    async def create_time_entry(self, key: SecretStr, entry: NewTimeEntry) -> TimeEntry:
        answer = await self._transport.send(
            key, write("create_time_entry", "POST", "/time_entries.json", entry)
        )
        return answer.one("time_entry", TimeEntry)

    async def update_time_entry(self, key: SecretStr, entry_id: int, changes: TimeEntryChanges) -> None:
        call = write("update_time_entry", "PUT", f"/time_entries/{entry_id}.json", changes)
        await self._transport.send(key, call)
