"""Answers and redirects go only to Slack, whatever URL a payload contains."""

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from bot.sandbox.workspace.response_urls import ResponseUrls
from tests.hostile.target import BEN, Target, pressed, through

ADDRESSES = [
    "http://127.0.0.1:{port}/x", "https://127.0.0.1:{port}/x", "//127.0.0.1:{port}/x",
    "http://hooks.slack.com@127.0.0.1:{port}/x", "https://hooks.slack.com@127.0.0.1:{port}/",
    "https://hooks.slack.com:x@127.0.0.1:{port}/", "http://hooks.slack.com:80@localhost:{port}/",
    "https://hooks.slack.com\\@127.0.0.1:{port}/", "https://127.0.0.1:{port}\\@hooks.slack.com/",
    "https://hooks.slack.com.127.0.0.1.nip.io:{port}/", "https://hooks.slack.com:{port}/", "http://[::1", "x",
    "https://hooks.slack.com:abc/", "http://localhost:{port}/", "http://127.1:{port}/", "http://①27.0.0.1:{port}/",
    "{api}@127.0.0.1:{port}/", "http://u:p@{host}/commands/x", "file:///etc/passwd", "javascript:x", "http://",
]  # fmt: skip


async def test_answers_go_only_to_slacks_own_hosts(target: Target) -> None:
    api = target.office.workspace.url.rstrip("/")
    host = api.removeprefix("http://")
    answered = []
    with capture_logs() as logged:
        for address in ADDRESSES:
            url = address.format(port=target.stranger.port, api=api, host=host)
            number = target.office.tracker.data.issues[1].id
            asked = pressed(target, BEN.user_id, "issue.show", str(number), in_form=False, url=url)
            [sent] = await through(target, [("interactive", asked)])
            answered.append(not sent.silent)

    assert target.stranger.heard == []
    assert all(answered)
    assert [entry for entry in logged if entry["log_level"] == "error"] == []


async def test_answers_follow_no_redirects_off_slack(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(*_: object) -> None:
        raise web.HTTPTemporaryRedirect(f"http://127.0.0.1:{target.stranger.port}/redirected")

    monkeypatch.setattr(ResponseUrls, "_respond", elsewhere)
    number = next(
        i.id for i in target.office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private
    )
    asked = pressed(target, BEN.user_id, "issue.show", str(number), in_form=False)

    [sent] = await through(target, [("interactive", asked)])

    assert target.stranger.heard == []
    assert [call.method for call in sent.calls] == ["chat.postEphemeral"]
