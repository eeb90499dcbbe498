"""The reference service, in memory on loopback; docs/service.md describes its API."""

from dataclasses import dataclass, field
from http import HTTPStatus

from aiohttp import web

from bot.sandbox import SERVICE_NAME
from bot.sandbox.loopback import Handler, Listener, loopback_only
from bot.sandbox.tracker import files, issues, pages, projects, time_entries, users
from bot.sandbox.tracker.call import JSON_LIMIT, SERVICE, Call, HttpError, Operation, Service, ValidationError

ID = "{id:[0-9]{1,18}}"
PROJECT = "/projects/{id:[a-zA-Z0-9_-]{1,100}}"


@dataclass(eq=False)
class Tracker(Service):
    """A service with the API's twelve operations, and web pages that show its data.

    `data` is open to tests; the default is a new installation.
    """

    url: str = field(default="", init=False)
    """The root URL, without a trailing slash, once it is started."""
    _listener: Listener = field(default_factory=Listener, init=False)

    def app(self) -> web.Application:
        """Return the service as a new application; all of them share the same data."""
        app = web.Application(middlewares=[loopback_only, _answers], client_max_size=JSON_LIMIT)
        app[SERVICE] = self
        issue, entry = f"/issues/{ID}.json", f"/time_entries/{ID}.json"
        for enabled, method, path, operation in (
            (True, "POST", "/users.json", users.create_user),
            (True, "GET", r"/users/{id:[0-9]{1,18}|current}.json", users.get_user),
            (True, "PUT", f"/users/{ID}.json", users.update_user),
            (True, "GET", "/issues.json", issues.list_issues),
            (True, "POST", "/issues.json", issues.create_issue),
            (True, "GET", "/projects.json", projects.list_projects),
            (True, "POST", "/projects.json", projects.create_project),
            (True, "GET", f"{PROJECT}.json", projects.get_project),
            (True, "POST", "/uploads.json", files.upload),
            (True, "PATCH", f"/attachments/{ID}.json", files.update_attachment),
            (True, "POST", "/time_entries.json", time_entries.create_time_entry),
            (True, "PUT", entry, time_entries.update_time_entry),
            (self.issue_updates, "PUT", issue, issues.update_issue),
            (self.issue_reads, "GET", issue, issues.show_issue),
            (self.roles, "GET", f"/roles/{ID}.json", users.get_role),
            (self.time_deletes, "DELETE", entry, time_entries.delete_time_entry),
            (self.listing, "GET", "/issue_statuses.json", projects.statuses),
            (self.listing, "GET", "/enumerations/issue_priorities.json", projects.priorities),
            (self.listing, "GET", "/enumerations/time_entry_activities.json", projects.activities),
            (self.listing, "GET", "/trackers.json", projects.trackers),
            (self.listing, "GET", f"{PROJECT}/versions.json", projects.versions),
            (self.listing, "GET", f"{PROJECT}/memberships.json", projects.memberships),
        ):
            if enabled:
                app.router.add_route(method, path, _handler(operation))
        app.add_routes(pages.routes())
        return app

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Start listening, as `Listener.start` does."""
        self.url = await self._listener.start(self.app(), host, port)

    async def stop(self) -> None:
        await self._listener.stop()


def _handler(operation: Operation) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        return await operation(Call(request))

    return handle


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
