"""The service's web pages."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.sandbox.demo import demo_data
from bot.sandbox.tracker.data import Data

if TYPE_CHECKING:
    from tests.sandbox.tracker.conftest import Api

EVIL = "<script>alert('x')</script>"


class TestWithDemoData:
    @pytest.fixture
    def data(self) -> Data:
        return demo_data(datetime(2026, 3, 10, 15, tzinfo=UTC))

    async def test_every_page_and_link_works(self, api: "Api") -> None:
        picture = next(a for a in api.data.attachments.values() if a.filename.endswith(".png"))
        waiting, seen = [f"/issues/{picture.issue_id}", "/", "/issues?status=any", "/time_entries"], set()
        for path in waiting:
            answer = await api("GET", path, None)
            assert answer.status == 200, path
            kind = re.sub(r"\d+|=[^&]*", "N", path)
            if answer.headers["Content-Type"].startswith("text/html") and kind not in seen:
                links = {
                    link.replace("&amp;", "&") for link in re.findall(r'(?:href|src)="([^"]+)"', answer.text)
                }
                waiting += [link for link in sorted(links) if link.startswith("/") and link not in waiting]
            seen.add(kind)
        assert "/attachments/download/N/screenshot.png" in seen

    async def test_pages_state_admin_view_and_load_nothing_external(self, api: "Api") -> None:
        answer = await api("GET", "/projects/security", None)
        assert "including private projects and issues" in answer.text
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert not re.search(r'(?:src|<link[^>]+href)="https?:', answer.text)


@pytest.mark.usefixtures("board")
async def test_user_content_is_escaped(api: "Api") -> None:
    api.data.projects[1].name = api.data.projects[1].description = EVIL
    api.data.users[1].lastname = api.data.issues[1].subject = api.data.issues[1].description = EVIL
    api.data.issues[1].custom = {2: EVIL}
    await api.upload(EVIL.encode(), filename="page.html", content_type="text/html")
    api.data.attachments[1].issue_id, api.data.attachments[1].description = 1, EVIL
    for path in ("/", "/issues", "/issues/1", "/projects/1", "/time_entries"):
        assert "<script" not in (await api("GET", path, None)).text
    file = await api("GET", "/attachments/download/1/page.html", None)
    assert file.text == EVIL
    assert file.headers["Content-Type"] == "application/octet-stream"
    assert file.headers["Content-Disposition"].startswith("attachment")


@pytest.mark.usefixtures("board")
async def test_subtasks_are_shown_as_a_tree(api: "Api") -> None:
    text = (await api("GET", "/issues/1", None)).text
    assert text.index("Subtasks") < text.index("#5 Below the first") < text.index("#6 Below the fifth")


@pytest.mark.parametrize(
    "path", ["/issues/99", "/projects/none", "/attachments/download/9/a", "/elsewhere", "/issues/x"]
)
async def test_unknown_pages_show_not_found(api: "Api", path: str) -> None:
    answer = await api("GET", path, None)
    assert answer.status == 404
    assert "Page not found" in answer.text


@pytest.mark.usefixtures("board")
async def test_page_accepts_issue_list_filters(api: "Api") -> None:
    link = "/issues?set_filter=1&project_id=1&subproject_id=%21%2A&status_id=%2A&tracker_id=1&created_on="

    found = await api("GET", link + "%3E%3C2026-03-09T23%3A00%3A00Z%7C2026-03-09T23%3A59%3A00Z", None)
    wrong = await api("GET", link + "%3E%3Csoon", None)

    assert "1 issue in Shop matching this link" in found.text
    assert "Late on the tenth" in found.text
    assert "Printer" not in found.text
    assert "Created is invalid" in wrong.text


async def test_pages_are_read_only(api: "Api") -> None:
    assert (await api("POST", "/issues", "chris")).status == 404
