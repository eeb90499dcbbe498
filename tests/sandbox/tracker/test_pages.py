"""The service's web pages."""

import re
from datetime import UTC, datetime

import pytest

from bot.sandbox.demo import demo_data
from bot.sandbox.tracker.data import Data
from tests.contract.raw import OCTETS, Wire

FORM = "application/x-www-form-urlencoded"
EVIL = "<script>alert('x')</script>"


class TestWithDemoData:
    @pytest.fixture
    def data(self) -> Data:
        return demo_data(datetime(2026, 3, 10, 15, tzinfo=UTC))

    async def test_every_page_and_link_works(self, wire: Wire, data: Data) -> None:
        picture = next(a for a in data.attachments.values() if a.filename.endswith(".png"))
        waiting, kinds = [f"/issues/{picture.issue_id}", "/", "/issues?status_id=*", "/time_entries"], set()
        for path in waiting:
            answer = await wire("GET", path, None)
            assert answer.status == 200, path
            kind = re.sub(r"\d+|=[^&]*", "N", path)
            if answer.headers["Content-Type"].startswith("text/html") and kind not in kinds:
                links = {
                    link.replace("&amp;", "&") for link in re.findall(r'(?:href|src)="([^"]+)"', answer.text)
                }
                waiting += [link for link in sorted(links) if link.startswith("/") and link not in waiting]
            kinds.add(kind)
        assert "/attachments/download/N/screenshot.png" in kinds

    async def test_pages_state_admin_view_and_load_nothing_external(self, wire: Wire) -> None:
        answer = await wire("GET", "/projects/security", None)
        assert "including private projects and issues" in answer.text
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert not re.search(r'(?:src|<link[^>]+href)="https?:', answer.text)


async def test_user_content_is_escaped(wire: Wire, data: Data) -> None:
    data.projects[1].name = data.projects[1].description = EVIL
    data.users[wire.world.users["ana"]].lastname = EVIL
    data.issues[1].subject = data.issues[1].description = EVIL
    data.issues[1].custom = {2: EVIL}
    uploaded = {"filename": "page.html", "content_type": "text/html"}
    await wire("POST", "/uploads.json", body=EVIL, kind=OCTETS, **uploaded)
    data.attachments[1].issue_id, data.attachments[1].description = 1, EVIL
    for path in ("/", "/issues", "/issues/1", "/projects/1", "/time_entries"):
        assert "<script" not in (await wire("GET", path, None)).text
    file = await wire("GET", "/attachments/download/1/page.html", None)
    assert file.text == EVIL
    assert file.headers["Content-Type"] == "application/octet-stream"
    assert file.headers["Content-Disposition"].startswith("attachment")


async def test_unknown_pages_show_not_found_and_issues_are_read_only_without_updates(wire: Wire) -> None:
    for path in ("/issues/9999", "/projects/none", "/attachments/download/9/a", "/elsewhere", "/issues/x"):
        answer = await wire("GET", path, None)
        assert (answer.status, "Page not found" in answer.text) == (404, True)
    for path in ("/issues", "/issues/1"):
        assert (await wire("POST", path, "chris", body=b"as=1", kind=FORM)).status == 404
