"""The reference service, in memory on loopback; docs/service.md describes its API."""

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Literal

from aiohttp import web

from bot.sandbox import SERVICE_NAME
from bot.sandbox.loopback import Handler, Listener, loopback_only
from bot.sandbox.tracker import files, issues, lists, pages, projects, time_entries, users
from bot.sandbox.tracker.call import JSON_LIMIT, SERVICE, Call, HttpError, Service, ValidationError
from bot.sandbox.tracker.data import Data
from bot.sandbox.tracker.defaults import fresh

MAX_UPLOAD = 5 * 1024 * 1024


def _now() -> datetime:
    return datetime.now(UTC)


class Tracker:
    """A service with the API's twelve operations, and web pages that show its data.

    `data` is open to tests; the default is a new installation. `login_required` False, the real default,
    treats a missing or invalid key as an anonymous visitor; without `rest_enabled` everyone is one.
    `empty_updates` 200 responds to updates like versions before 4.1. `max_upload` limits a file's bytes,
    `page_cap` a page's size. `issue_updates` enables changes to existing issues, `issue_reads` reading a
    single one, `roles` reading a role's permissions, `time_deletes` deleting time entries, `listing` listing
    statuses, priorities, activities, trackers, versions and members.
    """

    def __init__(
        self,
        data: Data | None = None,
        *,
        key_header: str = "X-Service-API-Key",
        login_required: bool = False,
        rest_enabled: bool = True,
        empty_updates: Literal[200, 204] = 204,
        max_upload: int = MAX_UPLOAD,
        page_cap: int = 100,
        issue_updates: bool = False,
        issue_reads: bool = False,
        roles: bool = False,
        time_deletes: bool = False,
        listing: bool = False,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self.data = fresh() if data is None else data
        self._service = Service(
            self.data, key_header, login_required, rest_enabled, empty_updates, max_upload, page_cap, clock
        )
        issue, entry = r"/issues/{id:[0-9]{1,18}}.json", r"/time_entries/{id:[0-9]{1,18}}.json"
        optional = (
            (issue_updates, web.put(issue, issues.update_issue)),
            (issue_reads, web.get(issue, issues.show_issue)),
            (roles, web.get(r"/roles/{id:[0-9]{1,18}}.json", users.get_role)),
            (time_deletes, web.delete(entry, time_entries.delete_time_entry)),
        )
        self._optional = [route for enabled, route in optional if enabled]
        self._optional += lists.routes() if listing else []
        self._listener = Listener()
        self._url = ""

    def app(self) -> web.Application:
        """Return the service as a new application; all of them share the same data."""
        app = web.Application(middlewares=[loopback_only, _answers], client_max_size=JSON_LIMIT)
        app[SERVICE] = self._service
        app.add_routes(
            [
                web.post("/users.json", users.create_user),
                web.get(r"/users/{id:[0-9]{1,18}|current}.json", users.get_user),
                web.put(r"/users/{id:[0-9]{1,18}}.json", users.update_user),
                web.get("/issues.json", issues.list_issues),
                web.post("/issues.json", issues.create_issue),
                web.get("/projects.json", projects.list_projects),
                web.post("/projects.json", projects.create_project),
                web.get(r"/projects/{id:[a-zA-Z0-9_-]{1,100}}.json", projects.get_project),
                web.post("/uploads.json", files.upload),
                web.patch(r"/attachments/{id:[0-9]{1,18}}.json", files.update_attachment),
                web.post("/time_entries.json", time_entries.create_time_entry),
                web.put(r"/time_entries/{id:[0-9]{1,18}}.json", time_entries.update_time_entry),
                *self._optional,
                *pages.routes(),
            ]
        )
        return app

    @property
    def url(self) -> str:
        """The root URL, without a trailing slash; raises RuntimeError before `start`."""
        if not self._url:
            raise RuntimeError("the reference service has not been started")
        return self._url

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Start listening, as `Listener.start` does."""
        self._url = await self._listener.start(self.app(), host, port)

    async def stop(self) -> None:
        self._url = ""
        await self._listener.stop()


@web.middleware
async def _answers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn exceptions into the service's error responses; only the twelve operations respond with JSON."""
    is_json = request.path.endswith(".json")
    try:
        return await handler(request)
    except HttpError as stop:
        return _stopped(request, stop)
    except ValidationError as invalid:
        return web.json_response({"errors": invalid.errors}, status=422)
    except (web.HTTPNotFound, web.HTTPMethodNotAllowed):
        if not is_json:
            return pages.missing()
        return web.Response(status=_unknown(request))


def _stopped(request: web.Request, stop: HttpError) -> web.Response:
    if stop.status != HTTPStatus.UNAUTHORIZED:
        return web.Response(status=stop.status)
    if not request.app[SERVICE].rest_enabled:
        return web.Response(status=403)
    return web.Response(status=401, headers={"WWW-Authenticate": f'Basic realm="{SERVICE_NAME} API"'})


def _unknown(request: web.Request) -> int:
    """Return 404 for anything that isn't an operation, or 401 when a login is missing."""
    try:
        Call(request)
    except HttpError as stop:
        return stop.status
    return 404
