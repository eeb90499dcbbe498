"""One API call: the requester, the request's content, and the error responses."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, date, datetime
from http import HTTPStatus
from typing import Any, Literal
from zoneinfo import ZoneInfo

from aiohttp import web

from bot.sandbox.tracker.access import Viewer
from bot.sandbox.tracker.data import ACTIVE_USER, ARCHIVED_PROJECT, Data, Project, RowT, User
from bot.sandbox.tracker.defaults import fresh

JSON_LIMIT = 2 * 1024 * 1024
MAX_ROWS = 100
_DIGITS = re.compile(r"[0-9]{1,18}")
_BLANK = re.compile(r"[^\S\x1c-\x1f]*")  # only Python treats these four as whitespace
_LINE_END = re.compile(r"\r\n|\r|\n")


class HttpError(Exception):
    """Respond with this status and an empty body, as the service does for 401, 403, 404, 406 and 500."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ValidationError(Exception):
    """Respond with 422 and these error messages."""

    def __init__(self, *errors: str) -> None:
        super().__init__(*errors)
        self.errors = list(errors)


@dataclass(eq=False)
class Service:
    """The service's data and settings.

    `login_required` False, the real default, treats a missing or invalid key as an anonymous visitor; without
    `rest_enabled` everyone is one. `empty_updates` 200 responds to updates like versions before 4.1.
    `max_upload` limits a file's bytes, `page_cap` a page's size. `issue_updates` enables changes to existing
    issues, `issue_reads` reading a single one, `roles` reading a role's permissions, `time_deletes` deleting
    time entries, `listing` listing statuses, priorities, activities, trackers, versions and members.
    """

    data: Data = field(default_factory=fresh)
    _: KW_ONLY
    key_header: str = "X-Service-API-Key"
    login_required: bool = False
    rest_enabled: bool = True
    empty_updates: Literal[200, 204] = 204
    max_upload: int = 5 * 1024 * 1024
    page_cap: int = 100
    issue_updates: bool = False
    issue_reads: bool = False
    roles: bool = False
    time_deletes: bool = False
    listing: bool = False
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def user_with(self, key: str | None) -> User | None:
        """Return the active user with this key; a locked user's key is the same as an invalid one."""
        if not key or not self.rest_enabled:
            return None
        owners = (u for u in self.data.users.values() if u.api_key == key and u.status == ACTIVE_USER)
        return next(owners, None)


SERVICE = web.AppKey("service", Service)


class Body(dict[str, Any]):
    """What a request sends of one kind of resource."""

    def text(self, name: str) -> str:
        """A text field; null is empty."""
        return "" if self.get(name) is None else str(self[name])

    def number(self, name: str) -> int | None:
        return as_int(self.get(name))

    def row(self, name: str, table: Mapping[int, RowT]) -> RowT | None:
        """The row whose ID is sent."""
        return table.get(self.number(name) or 0)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean: true, 1, "1" or "true"."""
        return self.get(name, default) in (True, 1, "1", "true")

    def filled(self, name: str) -> bool:
        return self.get(name) not in (None, "")

    def cleared(self, name: str) -> bool:
        return name in self and not self.filled(name)


class Call:
    """A request and its requester: `user`, or whose key it carries.

    Raises HttpError(401) when a login is required and missing. When the REST API is off, keys are ignored and
    the status is 403 instead of 401.
    """

    def __init__(self, request: web.Request, user: User | None = None) -> None:
        self.request = request
        self.service = request.app[SERVICE]
        self.data = self.service.data
        user = user or self.service.user_with(request.headers.get(self.service.key_header))
        if user is None and self.service.login_required:
            raise HttpError(401)
        self.viewer = Viewer(self.data, user)
        self.params = dict(request.query.items())
        self.origin = str(request.url.origin())
        self.now = self.service.clock().astimezone(UTC).replace(microsecond=0)

    @property
    def user(self) -> User:
        """The requester; raises HttpError(401) for an anonymous visitor."""
        if self.viewer.user is None:
            raise HttpError(401)
        return self.viewer.user

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.viewer.user.tz if self.viewer.user else "UTC")

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    def includes(self) -> frozenset[str]:
        """Return the values of `include`; unknown ones are ignored."""
        return frozenset(v.strip() for v in self.params.get("include", "").split(","))

    def require(self, allowed: bool) -> None:  # noqa: FBT001 - reads as a sentence
        """Raise HttpError(403), or HttpError(401) for an anonymous visitor, unless allowed."""
        if not allowed:
            raise HttpError(401 if self.viewer.user is None else 403)

    def require_seen(self, project: Project) -> None:
        """Require a project the requester can see; an archived one raises HttpError(403)."""
        if project.status >= ARCHIVED_PROJECT:
            raise HttpError(403)
        self.require(self.viewer.sees_project(project))

    def path_row(self, table: Mapping[int, RowT]) -> RowT:
        """Return the row that the path names; raises HttpError(404) when there is none."""
        row = table.get(int(self.request.match_info["id"]))
        if row is None:
            raise HttpError(404)
        return row

    def project(self) -> Project:
        """Return the project that the path names; raises HttpError(404), or 403 or 401 for a hidden one."""
        project = self.data.project(self.request.match_info["id"])
        if project is None:
            raise HttpError(404)
        self.require_seen(project)
        return project

    def listed(
        self, kind: str, rows: Sequence[RowT], shape: Callable[[RowT], dict[str, Any]]
    ) -> web.Response:
        """Return one page of a list: invalid limits get the default, large ones the maximum."""
        limit = min(as_int(self.params.get("limit")) or MAX_ROWS, MAX_ROWS, self.service.page_cap)
        offset = as_int(self.params.get("offset")) or 0
        page = [shape(row) for row in rows[offset : offset + limit]]
        return web.json_response({kind: page, "total_count": len(rows), "offset": offset, "limit": limit})

    async def body(self, kind: str) -> Body:
        """Return the object under `kind`; empty for another content type, which the service doesn't parse.

        Raises HttpError(400) for malformed JSON and unpaired surrogates; aiohttp itself responds 413 above
        JSON_LIMIT.
        """
        if self.request.content_type != "application/json":
            return Body()
        try:
            sent = json.loads(await self.request.read() or b"{}")
            json.dumps(sent, ensure_ascii=False).encode()
        except ValueError:
            raise HttpError(400) from None
        content = sent.get(kind) if isinstance(sent, dict) else None
        return Body(content) if isinstance(content, dict) else Body()

    def created(self, kind: str, shape: dict[str, Any], path: str | None = None) -> web.Response:
        """Return 201 with the resource under its kind, and a Location on the request's host."""
        headers = {} if path is None else {"Location": self.origin + path}
        return web.json_response({kind: shape}, status=201, headers=headers)

    def updated(self) -> web.Response:
        """Return 204, or before version 4.1 a 200 whose body is one space."""
        if self.service.empty_updates == HTTPStatus.NO_CONTENT.value:
            return web.Response(status=204)
        return web.Response(status=200, body=b" ", content_type="application/json")


Operation = Callable[[Call], Awaitable[web.Response]]


def too_long(label: str, text: str, maximum: int) -> list[str]:
    return [f"{label} is too long (maximum is {maximum} characters)"] if len(text) > maximum else []


def as_int(value: object) -> int | None:
    """Return an ID from a number or its digits; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else None


def is_blank(text: str) -> bool:
    """Return whether the service treats the text as empty: nothing but whitespace."""
    return _BLANK.fullmatch(text) is not None


def crlf(text: str) -> str:
    """Return the text with line endings as the service stores and returns them."""
    return _LINE_END.sub("\r\n", text)
