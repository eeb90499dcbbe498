"""POST /uploads.json, tokens, PATCH /attachments/{id}.json."""

from collections.abc import AsyncIterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from bot.sandbox.tracker.defaults import REPORTER

if TYPE_CHECKING:
    from tests.sandbox.tracker.conftest import Api, Starter


async def test_token_attaches_its_file_once(api: "Api") -> None:
    upload = (await api.upload(b"hello", filename="C:\\tmp\\a:b?.txt")).body["upload"]
    assert upload == {"id": 1, "token": f"1.{sha256(b'hello').hexdigest()}"}
    row = {"token": upload["token"], "description": "A greeting", "content_type": "text/plain"}
    issue = {"project_id": 1, "subject": "x", "uploads": [row]}
    answer = await api("POST", "/issues.json", json={"issue": issue}, params={"include": "attachments"})
    (file,) = answer.body["issue"]["attachments"]
    assert (file["filename"], file["filesize"], file["description"]) == ("a_b_.txt", 5, "A greeting")
    again = await api("POST", "/issues.json", json={"issue": issue})
    assert again.errors == ["1 file(s) could not be saved."]
    assert len(api.data.issues) == 1


async def test_any_user_can_use_a_token(api: "Api") -> None:
    token = (await api.upload(filename="a.txt")).body["upload"]["token"]
    answer = await api.create("issue", "ben", project_id=1, subject="x", uploads=[{"token": token}])
    assert answer.status == 201


async def test_rejected_issue_leaves_its_token_valid(api: "Api") -> None:
    token = (await api.upload(filename="a.txt")).body["upload"]["token"]
    assert (await api.create("issue", project_id=1, subject="", uploads=[{"token": token}])).status == 422
    assert (await api.create("issue", project_id=1, subject="x", uploads=[{"token": token}])).status == 201


async def test_upload_accepts_only_raw_bytes_within_the_limit(start: "Starter") -> None:
    api = await start(max_upload=2048)

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield b"x" * 4096

    assert (await api("POST", "/uploads.json", json={"upload": {}})).status == 406
    assert (await api.upload(b"", filename="empty.txt")).status == 201
    assert (await api.upload(b"x" * 2048)).status == 201
    headers = {"Content-Type": "application/octet-stream"}
    large = await api("POST", "/uploads.json", data=chunks(), headers=headers)
    assert large.errors == [
        "This file cannot be uploaded because it exceeds the maximum allowed file size (2 KB)"
    ]
    assert (await api.upload(filename="virus.exe")).errors == ["Attachment extension .exe is not allowed"]
    assert "File is too long" in (await api.upload(filename="n" * 300)).errors[0]


@pytest.mark.parametrize(("empty_updates", "body"), [(204, ""), (200, " ")])
async def test_uploader_can_rename_a_file(start: "Starter", empty_updates: int, body: str) -> None:
    api = await start(empty_updates=empty_updates)
    await api.upload(filename="a.txt")
    changes = {"attachment": {"filename": "b/c.txt", "description": "Better"}}
    answer = await api("PATCH", "/attachments/1.json", json=changes)
    assert (answer.status, answer.text) == (empty_updates, body)
    assert (api.data.attachments[1].filename, api.data.attachments[1].description) == ("c.txt", "Better")


async def test_changing_a_file_requires_permission_and_valid_values(api: "Api") -> None:
    token = (await api.upload(b"hi", "ben", filename="a.txt")).body["upload"]["token"]
    change: dict[str, Any] = {"json": {"attachment": {"description": "Better"}}}
    assert (await api("PATCH", "/attachments/9.json", **change)).status == 404
    assert (await api("PATCH", "/attachments/1.json", "ana", **change)).status == 403  # not attached yet
    assert (await api("PATCH", "/attachments/1.json", None, **change)).status == 401
    await api.create("issue", "ben", project_id=1, subject="x", uploads=[{"token": token}])
    assert (await api("PATCH", "/attachments/1.json", "ana", **change)).status == 204  # may edit issues
    blank = await api("PATCH", "/attachments/1.json", "ben", json={"attachment": {"filename": ""}})
    assert blank.errors == ["File cannot be blank"]
    long = await api("PATCH", "/attachments/1.json", "ben", json={"attachment": {"description": "x" * 256}})
    assert long.errors == ["Description is too long (maximum is 255 characters)"]


async def test_update_adds_files_and_a_note_when_enabled(start: "Starter", board: None) -> None:
    del board
    api = await start(issue_updates=True)
    token = (await api.upload(b"hi", filename="a.txt")).body["upload"]["token"]
    sent = {"issue": {"uploads": [{"token": token, "description": "Seen"}], "notes": "One\nmore"}}

    assert (await api("PUT", "/issues/1.json", "ben", json=sent)).status == 403
    assert (await api("PUT", "/issues/99.json", json=sent)).status == 404
    assert (await api("PUT", "/issues/1.json", json=sent)).status == 204
    again = await api("PUT", "/issues/1.json", json=sent)

    assert again.errors == ["1 file(s) could not be saved."]
    file = api.data.attachments[1]
    assert (file.issue_id, file.filename, file.description) == (1, "a.txt", "Seen")
    assert [note.text for note in api.data.issues[1].notes] == ["One\r\nmore"]


async def test_update_sets_assignee_only_with_edit_permission(start: "Starter", board: None) -> None:
    del board
    api = await start(issue_updates=True)
    issue = api.data.issues[1]

    async def assign(who: str, to: int | str | None) -> tuple[int, int | None]:
        answer = await api("PUT", "/issues/1.json", who, json={"issue": {"assigned_to_id": to}})
        return answer.status, issue.assigned_to_id

    assert await assign("ana", 2) == (204, 2)
    assert await assign("mia", "me") == (204, 4)
    assert await assign("ana", None) == (204, 4)
    assert await assign("ana", "") == (204, None)
    assert await assign("chris", "me") == (422, None)  # an administrator, but not a member
    assert await assign("ben", "me") == (403, None)
    api.data.roles[REPORTER].rights |= {"add_notes"}
    assert await assign("ben", "me") == (204, None)


async def test_update_is_unavailable_when_disabled(api: "Api", board: None) -> None:
    del board
    assert (await api("PUT", "/issues/1.json", json={"issue": {"notes": "x"}})).status == 404
