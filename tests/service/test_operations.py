"""Requests and answers of the interface's operations, beyond what `tests/contract` shows of each."""

import pytest
from pydantic import SecretStr

from bot.service.client import Client
from bot.service.conventions import issue_number
from bot.service.filters import IssueFilters
from tests.service.scripted import Service


@pytest.mark.parametrize(("offset", "limit"), [(-1, 100), (0, 0), (0, 101)])
async def test_invalid_pages_raise_an_error(client: Client, key: SecretStr, offset: int, limit: int) -> None:
    with pytest.raises(ValueError, match="limit"):
        await client.list_issues(key, IssueFilters(), offset=offset, limit=limit)


async def test_get_project_quotes_the_identifier(client: Client, service: Service, key: SecretStr) -> None:
    service.reply({"project": {"id": 2, "enabled_modules": [{"id": 1, "name": "wiki"}]}})

    project = await client.get_project(key, "../users/1?x=#y", include=["enabled_modules"])

    assert service.last.path == "/prefix/projects/..%2Fusers%2F1%3Fx%3D%23y.json"
    assert service.last.query == {"include": "enabled_modules"}
    assert project.enabled_modules[0].name == "wiki"
    with pytest.raises(ValueError, match="empty"):
        await client.get_project(key, "")


@pytest.mark.parametrize(("status", "reachable"), [(200, True), (401, True), (302, True), (503, False)])
async def test_reachable_sends_no_key(
    client: Client, service: Service, status: int, *, reachable: bool
) -> None:
    service.reply(status=status)

    assert await client.reachable() is reachable
    assert "X-Service-API-Key" not in service.last.headers
    async with Client("http://127.0.0.1:1") as nowhere:
        assert not await nowhere.reachable()


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("https://tracker.example.org/redmine/issues/42", 42),
        ("http://Tracker.example.org/redmine/issues/42/?tab=notes#note-3", 42),
        ("https://tracker.example.org/issues/42", None),
        ("https://tracker.example.org/redmine/issues/42/edit", None),
        ("https://tracker.example.org.evil.example/redmine/issues/42", None),
        ("https://tracker.example.org@evil.example/redmine/issues/42", None),
        ("https://tracker.example.org/redmine/issues/0", None),
        ("ftp://tracker.example.org/redmine/issues/42", None),
    ],
)
def test_issue_number_accepts_only_this_services_issue_links(url: str, number: int | None) -> None:
    assert issue_number("https://tracker.example.org/redmine", url) == number
