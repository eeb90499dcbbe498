"""Requests and answers of the interface's operations, beyond what `tests/contract` shows of each."""

import pytest
from pydantic import SecretStr

from bot.service.client import Client
from bot.service.conventions import issue_number, issue_url, project_url
from bot.service.filters import IssueFilters
from bot.service.inputs import (
    NewUser,
    TimeEntryChanges,
    UserChanges,
)
from tests.service.scripted import Service


async def test_create_user(client: Client, service: Service, key: SecretStr) -> None:
    service.reply({"user": {"id": 5, "login": "ada", "api_key": "new-key"}}, 201)

    user = await client.create_user(
        key,
        NewUser(
            login="ada",
            firstname="Ada",
            lastname="L",
            mail="a@example.org",
            password="pass",
            send_information=True,
        ),
    )

    assert (service.last.method, service.last.path) == ("POST", "/prefix/users.json")
    assert service.last.headers["X-Service-API-Key"] == key.get_secret_value()
    assert service.last.headers["Content-Type"] == "application/json"
    assert service.last.json == {
        "user": {
            "login": "ada",
            "firstname": "Ada",
            "lastname": "L",
            "mail": "a@example.org",
            "password": "pass",
        },
        "send_information": True,
    }
    assert user.api_key is not None
    assert user.api_key.get_secret_value() == "new-key"
    assert "new-key" not in repr(user)


async def test_update_user_sends_only_the_fields_that_were_set(
    client: Client, service: Service, key: SecretStr
) -> None:
    service.reply(status=204)

    await client.update_user(key, 5, UserChanges(mail="b@example.org", language=None))

    assert (service.last.method, service.last.path) == ("PUT", "/prefix/users/5.json")
    assert service.last.json == {"user": {"mail": "b@example.org", "language": None}}


@pytest.mark.parametrize(("offset", "limit"), [(-1, 100), (0, 0), (0, 101)])
async def test_invalid_page_bounds_raise_value_error(
    client: Client, key: SecretStr, offset: int, limit: int
) -> None:
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


@pytest.mark.parametrize(
    ("status", "body"), [(200, b""), (200, b"  \n"), (204, b""), (201, b""), (200, b"{}")]
)
async def test_an_update_accepts_any_2xx_without_content(
    client: Client, service: Service, key: SecretStr, status: int, body: bytes
) -> None:
    service.reply(body, status)

    await client.update_time_entry(key, 4, TimeEntryChanges(comments=None))

    assert (service.last.method, service.last.path) == ("PUT", "/prefix/time_entries/4.json")
    assert service.last.json == {"time_entry": {"comments": None}}


async def test_the_key_is_sent_in_the_configured_header(service: Service, key: SecretStr) -> None:
    service.reply({"user": {"id": 1}})
    told: list[tuple[str, int | None]] = []

    async with Client(
        service.url,
        key_header="X-Redmine-API-Key",
        on_answer=lambda name, status, _: told.append((name, status)),
    ) as client:
        await client.get_user(key, 1)

    assert service.last.headers["X-Redmine-API-Key"] == key.get_secret_value()
    assert "X-Service-API-Key" not in service.last.headers
    assert told == [("get_user", 200)]


@pytest.mark.parametrize(("status", "reachable"), [(200, True), (401, True), (302, True), (503, False)])
async def test_reachable_sends_no_key(
    client: Client, service: Service, status: int, *, reachable: bool
) -> None:
    service.reply(status=status)

    assert await client.reachable() is reachable
    assert "X-Service-API-Key" not in service.last.headers
    async with Client("http://127.0.0.1:1") as nowhere:
        assert not await nowhere.reachable()


def test_issue_and_project_urls(key: SecretStr) -> None:
    client = Client("https://tracker.example.org/redmine/")

    assert issue_url(client.base_url, 42) == "https://tracker.example.org/redmine/issues/42"
    assert project_url(client.base_url, "a b") == "https://tracker.example.org/redmine/projects/a%20b"
    assert key.get_secret_value() not in repr(
        NewUser(login="", firstname="", lastname="", mail="", password=key)
    )


@pytest.mark.parametrize(
    "address",
    [
        "",
        "tracker.example.org",
        "ftp://example.org",
        "https://",
        "http://[::1",
        "https://u:p@example.org",
        "https://example.org/?a=b",
    ],
)
def test_invalid_base_urls_are_refused(address: str) -> None:
    with pytest.raises(ValueError, match="address") as caught:
        Client(address)
    assert "u:p" not in str(caught.value)


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
