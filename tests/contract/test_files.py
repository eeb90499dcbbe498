from collections.abc import AsyncIterator

import pytest

from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.inputs import NewIssue, UploadInput
from tests.contract.raw import OCTETS, Wire, a_token, an_issue, made
from tests.contract.world import World


async def content(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_files_are_uploaded_and_attached_to_a_new_issue(client: Client, world: World) -> None:
    log = await client.upload_file(
        world.key("ana"), content(b"first\n", b"second\n"), filename="büro log.txt"
    )
    empty = await client.upload_file(world.key("ana"), content(), filename="empty.bin", size=0)

    uploads = (
        UploadInput(
            token=log.token, filename="büro log.txt", content_type="text/plain", description="The log"
        ),
        UploadInput(token=empty.token, filename="empty.bin"),
    )
    new_issue = NewIssue(project_id=world.project("child"), subject="With files", uploads=uploads)
    made = await client.create_issue(world.key("ana"), new_issue)

    filters = IssueFilters(issue_ids=(made.id,), include=frozenset({"attachments"}))
    [issue] = (await client.list_issues(world.key("ana"), filters)).items
    first, second = sorted(issue.attachments, key=lambda file: file.id)
    assert (first.id, first.filename, first.filesize) == (log.id, "büro log.txt", 13)
    assert (first.content_type, first.description) == ("text/plain", "The log")
    assert first.author is not None
    assert first.author.id == world.users["ana"]
    assert first.content_url is not None
    assert first.content_url.startswith("http")
    assert (second.filename, second.filesize) == ("empty.bin", 0)


@pytest.mark.parametrize("name", ["setup.exe", "RUN.BAT"])
async def test_a_forbidden_file_type_is_rejected_with_a_message(wire: Wire, name: str) -> None:
    answer = await wire("POST", "/uploads.json", body=b"x", kind=OCTETS, filename=name)

    extension = name.rpartition(".")[2]
    assert answer.status == 422
    assert f"Attachment extension .{extension} is not allowed" in answer.json["errors"]


NAMES = {
    "../../etc/passwd": "passwd",
    "C:\\Users\\ana\\notes.txt": "notes.txt",
    "a:b*c?d.txt": "a_b_c_d.txt",
    "<i>\"a'|b%.txt": "_i_a_b_.txt",
    "two\nlines.txt": "two_lines.txt",
    "büro 🙂 ﷽.txt": "büro 🙂 ﷽.txt",
    "e\u0301 and \u00e9.txt": "e\u0301 and \u00e9.txt",
    "\u202egnp.txt": "\u202egnp.txt",
    ".hidden": ".hidden",
    "x" * 251 + ".txt": "x" * 251 + ".txt",
}


async def test_file_names_are_sanitized(wire: Wire) -> None:
    tokens = {name: await a_token(wire, name.encode(), name) for name in NAMES}

    uploads = [{"token": token, "filename": name} for name, token in tokens.items()]
    issue = (await an_issue(wire, uploads=uploads)).json["issue"]

    listed = await wire("GET", "/issues.json", issue_id=str(issue["id"]), include="attachments")
    files = {str(file["id"]): file["filename"] for file in listed.json["issues"][0]["attachments"]}
    assert {name: files[token.partition(".")[0]] for name, token in tokens.items()} == NAMES


async def test_overlong_file_names_are_rejected(wire: Wire) -> None:
    answer = await wire("POST", "/uploads.json", body=b"x", kind=OCTETS, filename="x" * 256)

    assert answer.status == 422
    assert "is too long (maximum is 255 characters)" in answer.json["errors"][0]


async def test_an_upload_token_works_once_for_any_user(wire: Wire) -> None:
    token = await a_token(wire)
    uploads = [{"token": token, "filename": "a.txt"}]
    given = {"project_id": wire.world.project("child"), "subject": "With a token", "uploads": uploads}

    invalid = await made(wire, "issue", "ben", **given | {"subject": ""})
    first = await made(wire, "issue", "ben", **given)
    second = await an_issue(wire, uploads=uploads)
    invented = await an_issue(wire, uploads=[{"token": "1.abc", "filename": "a.txt"}])

    assert (invalid.status, first.status) == (422, 201)  # a rejected issue leaves its token valid
    for refused in (second, invented):
        assert (refused.status, refused.json["errors"]) == (422, ["1 file(s) could not be saved."])
