"""A service with as much of everything as the largest installations have."""

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.data import CustomField, Issue, Project, User, put
from bot.sandbox.tracker.server import Tracker
from tests.support.prepared import demo_tracker

PROJECTS, MEMBERS, VERSIONS, FIELDS, ISSUES = 2_000, 1_000, 5_000, 300, 60
DESCRIPTION = 4_800
LADEN, ANSWER = 77_777, 15_000_000
PAGE = 100


def telling(number: int) -> str:
    """A word that no other number has."""
    return "w" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:06}")


def text_of_words(characters: int, first: int = 0) -> str:
    """A text in which each word occurs once."""
    return " ".join(telling(first + n) for n in range(characters // 8))


def laden() -> bytes:
    """A list of one issue, nearly as large as the bot's limit for an answer."""
    fields = ",".join(['{"id":1,"name":"a","value":"b"}'] * (ANSWER // 32))
    issue = f'{{"id":{LADEN},"subject":"Laden","custom_fields":[{fields}]}}'
    return f'{{"issues":[{issue}],"total_count":1,"offset":0,"limit":{PAGE}}}'.encode()


class LargeTracker(Tracker):
    """Lists members and versions, too, which the reference service doesn't, and the issue LADEN."""

    def app(self) -> web.Application:
        answer = laden()

        @web.middleware
        async def laden_issue(request: web.Request, handler: Handler) -> web.StreamResponse:
            if request.query.get("issue_id") != str(LADEN):
                return await handler(request)
            return web.Response(body=answer, content_type="application/json")

        app = super().app()
        app.middlewares.append(laden_issue)
        app.router.add_get("/projects/{id}/memberships.json", self._memberships)
        app.router.add_get("/projects/{id}/versions.json", self._versions)
        return app

    async def _memberships(self, request: web.Request) -> web.Response:
        offset, users = int(request.query["offset"]), list(self.data.users.values())[:MEMBERS]
        page = [
            {"id": user.id, "user": {"id": user.id, "name": user.name}}
            for user in users[offset : offset + PAGE]
        ]
        return web.json_response(
            {"memberships": page, "total_count": len(users), "offset": offset, "limit": PAGE}
        )

    async def _versions(self, _: web.Request) -> web.Response:
        names = (f"Release {n // 100}.{n % 100} of the warehouse application" for n in range(VERSIONS))
        rows = [{"id": n, "name": name, "status": "open"} for n, name in enumerate(names, 1)]
        return web.json_response({"versions": rows, "total_count": VERSIONS})


def large_tracker() -> LargeTracker:
    tracker = LargeTracker(demo_tracker().data, issue_updates=True)
    data = tracker.data
    for n in range(PROJECTS):
        put(data.projects, Project(10_000 + n, f"Warehouse {n} of the region", f"warehouse-{n}"))
    for n in range(MEMBERS - len(PEOPLE)):
        put(data.users, User(10_000 + n, f"user{n}", telling(n).title(), telling(n * 7).title(), "", f"k{n}"))
    webshop = next(project for project in data.projects.values() if project.identifier == "webshop")
    for n in range(FIELDS):
        name = f"{telling(n)} {telling(n * 3)}"
        put(data.custom_fields, CustomField(10_000 + n, name, tracker_ids=frozenset(webshop.tracker_ids[:1])))
    for n in range(ISSUES):
        kind = webshop.tracker_ids[0 if n % 5 == 0 else 1]  # only the first has custom fields
        issue = Issue(10_000 + n, webshop.id, kind, 1, 1, 1, f"{telling(0)} {telling(n)}")
        issue.description = text_of_words(DESCRIPTION, n)
        issue.custom = {10_000 + field: f"Value {field} {n}" for field in range(FIELDS)}
        put(data.issues, issue)
    return tracker
