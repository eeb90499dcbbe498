"""The service of the comparisons, in its own process: `python -m tests.benchmarks.service PORT`.

The reference service with the demo data. `/near` and `/far` serve 5,000 precomputed issues at almost no cost,
and each request to `/far` takes 50 ms. Uploads are counted, and all of them share one copy of the content.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from unittest import mock

from aiohttp import web

from bot.sandbox.demo import demo_data
from bot.sandbox.tracker import files
from bot.sandbox.tracker.server import Tracker

ISSUES = 5000
LATENCY = 0.05
LARGEST = 1024**3
MAX = 100  # rows in a response, however many were requested

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


NAMED = ("project", "tracker", "priority", "author", "assigned_to", "category", "fixed_version")


def issue(number: int) -> str:
    """Returns an issue as it appears in the interface's list."""
    refs = {name: {"id": 1, "name": f"The {name} of this issue"} for name in NAMED}
    text = {
        "subject": f"Number {number} of the things that are to be done about the checkout",
        "description": "The page stays blank after the card was accepted.\r\n\r\n* open\r\n* pay\r\n" * 4,
    }
    times = {"created_on": "2026-03-02T08:15:00Z", "updated_on": "2026-03-09T16:40:12Z", "closed_on": None}
    plan = {"start_date": "2026-03-02", "due_date": None, "done_ratio": 30, "estimated_hours": 2.5}
    custom = {"custom_fields": [{"id": 1, "name": "Browser", "value": "Firefox"}], "is_private": False}
    status = {"status": {"id": 1, "name": "New", "is_closed": False}}
    return json.dumps({"id": number} | refs | status | text | plan | custom | times)


class Service:
    """The application and a record of the requests to it."""

    def __init__(self) -> None:
        self._issues = [issue(number) for number in range(1, ISSUES + 1)]
        self._seen: list[tuple[str, float, float]] = []
        self._latency = 0.0
        self._uploaded_at = 0.0
        self._content = b""

    def app(self) -> web.Application:
        """Returns the reference service with these additions."""
        app = Tracker(demo_data(datetime.now(UTC)), max_upload=LARGEST, issue_updates=True).app()
        app.middlewares.insert(0, self._noting)
        app.router.add_get("/{where:near|far}/issues.json", self._list)
        app.router.add_get("/seen", self._tell)
        return app

    @web.middleware
    async def _noting(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path == "/seen":
            return await handler(request)
        began = time.monotonic()
        try:
            if self._latency:
                await asyncio.sleep(self._latency)
            return await handler(request)
        finally:
            self._seen.append((request.path_qs, began, time.monotonic()))

    async def _list(self, request: web.Request) -> web.Response:
        if request.match_info["where"] == "far":
            await asyncio.sleep(LATENCY)
        offset, limit = int(request.query.get("offset", 0)), min(MAX, int(request.query.get("limit", 25)))
        rows = ",".join(self._issues[offset : offset + limit])
        counts = f'"total_count":{ISSUES},"offset":{offset},"limit":{limit}'
        return web.Response(text=f'{{"issues":[{rows}],{counts}}}', content_type="application/json")

    async def _tell(self, request: web.Request) -> web.Response:
        """Returns the requests since the last call, and when the last upload was complete.

        `latency` is the delay in seconds of every request from now on.
        """
        self._latency = float(request.query.get("latency", self._latency))
        requests, self._seen = self._seen, []
        return web.json_response({"seen": requests, "uploaded_at": self._uploaded_at})

    async def swallow(self, request: web.Request, _most: int) -> bytes:
        """Reads an upload to its end."""
        size = 0
        async for piece in request.content.iter_any():
            size += len(piece)
        self._uploaded_at = time.monotonic()
        if len(self._content) != size:
            self._content = bytes(size)
        return self._content


def main() -> None:
    """Serves until it is stopped."""
    service = Service()
    with mock.patch.object(files, "_content", service.swallow):
        web.run_app(service.app(), host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)


if __name__ == "__main__":
    main()
