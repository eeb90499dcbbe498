from collections.abc import AsyncIterator

import pytest

from bot.errors import Forbidden, NotFound, Refused, TooLarge
from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.models import Attachment, Issue
from bot.service.writes import AttachmentChanges, NewIssue, UploadInput
from tests.contract.world import World


async def content(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def issue_with(client: Client, world: World, *uploads: UploadInput) -> Issue:
    return await client.create_issue(
        world.key("ana"),
        NewIssue(project_id=world.project("child"), subject="With files", uploads=uploads),
    )


async def attachments(client: Client, world: World, number: int) -> tuple[Attachment, ...]:
    filters = IssueFilters(issue_ids=(number,), include=frozenset({"attachments"}))
    return (await client.list_issues(world.key("ana"), filters)).items[0].attachments


async def test_files_are_uploaded_and_attached_to_a_new_issue(client: Client, world: World) -> None:
    log = await client.upload_file(
        world.key("ana"), content(b"first\n", b"second\n"), filename="büro log.txt"
    )
    empty = await client.upload_file(world.key("ana"), content(), filename="empty.bin", size=0)

    made = await issue_with(
        client,
        world,
        UploadInput(
            token=log.token, filename="büro log.txt", content_type="text/plain", description="The log"
        ),
        UploadInput(token=empty.token, filename="empty.bin"),
    )

    first, second = sorted(await attachments(client, world, made.id), key=lambda file: file.id)
    assert (first.id, first.filename, first.filesize, first.content_type, first.description) == (
        log.id,
        "büro log.txt",
        13,
        "text/plain",
        "The log",
    )
    assert first.author is not None
    assert first.author.id == world.users["ana"]
    assert first.content_url is not None
    assert first.content_url.startswith("http")
    assert (second.filename, second.filesize) == ("empty.bin", 0)


async def test_a_token_is_used_once(client: Client, world: World) -> None:
    upload = await client.upload_file(world.key("ana"), content(b"once"), filename="once.txt")
    await issue_with(client, world, UploadInput(token=upload.token, filename="once.txt"))

    with pytest.raises(Refused):
        await issue_with(client, world, UploadInput(token=upload.token, filename="once.txt"))


async def test_too_large_a_file_is_refused_with_a_sentence(client: Client, world: World) -> None:
    size = world.max_upload + 1

    with pytest.raises((Refused, TooLarge)) as caught:
        await client.upload_file(world.key("ana"), content(b"x" * size), filename="large.bin", size=size)

    said = caught.value.sentence("Tracker")
    assert "64 KB" in said or str(world.max_upload) in said


async def test_an_attachment_is_renamed_and_described(client: Client, world: World) -> None:
    upload = await client.upload_file(world.key("ana"), content(b"a,b"), filename="a.csv")
    made = await issue_with(client, world, UploadInput(token=upload.token, filename="a.csv"))

    await client.update_attachment(
        world.key("ana"), upload.id, AttachmentChanges(filename="b.csv", description="Renamed")
    )

    [file] = await attachments(client, world, made.id)
    assert (file.filename, file.description) == ("b.csv", "Renamed")


async def test_anothers_file_that_hangs_nowhere_cannot_be_touched(client: Client, world: World) -> None:
    upload = await client.upload_file(world.key("ana"), content(b"mine"), filename="mine.txt")

    with pytest.raises((Forbidden, NotFound)):
        await client.update_attachment(world.key("ben"), upload.id, AttachmentChanges(description="Ours"))
