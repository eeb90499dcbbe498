"""Decoding of the service's resources, including absent, null, and invalid values."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pydantic import SecretStr

from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.models import Issue
from tests.service.scripted import Service


async def listed(client: Client, service: Service, key: SecretStr, *rows: object) -> tuple[Issue, ...]:
    service.reply({"issues": rows, "total_count": len(rows), "offset": 0, "limit": 100})
    return (await client.list_issues(key, IssueFilters())).items


async def test_values_of_other_types_are_converted(client: Client, service: Service, key: SecretStr) -> None:
    row = {
        "id": 7,
        "updated_on": "2026-01-02T03:04:05+02:00",
        "estimated_hours": 0.1,
        "spent_hours": "2.5",
        "attachments": [{"id": 4, "filename": 12}],
        "custom_fields": [{"id": 1, "value": ["a", "b"]}, {"id": 2, "value": None}, {"id": 3, "value": 3}],
        "journals": [{"id": 9}, {"id": 3}],
        "plugin": {"votes": 3},
    }

    [issue] = await listed(client, service, key, row)

    assert issue.updated_on == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert (issue.estimated_hours, issue.spent_hours) == (Decimal("0.1"), Decimal("2.5"))
    assert issue.attachments[0].filename == "12"
    assert [field.value for field in issue.custom_fields] == [("a", "b"), None, "3"]
    assert [entry.id for entry in issue.journals] == [3, 9]  # the oldest first
    assert issue.model_extra == {"plugin": {"votes": 3}}


async def test_absent_null_and_invalid_values(client: Client, service: Service, key: SecretStr) -> None:
    file = {"id": 1, "created_on": "never", "filename": "kept"}
    invalid = {"due_date": "soon", "done_ratio": "most", "status": {"name": "no id"}, "subject": "kept"}
    hours = {"estimated_hours": "1/0", "spent_hours": "1/3"}
    null = {"id": 1, "closed_on": None, "relations": None, "priority": {"id": 2}}

    bare, odd = await listed(client, service, key, null, {"id": 2, **invalid, **hours, "attachments": [file]})

    assert "closed_on" in bare.model_fields_set
    assert "due_date" not in bare.model_fields_set
    assert (bare.closed_on, bare.due_date, bare.relations, bare.assigned_to) == (None, None, (), None)
    assert bare.priority is not None
    assert bare.priority.name == ""
    assert (odd.due_date, odd.done_ratio, odd.status, odd.subject) == (None, None, None, "kept")
    assert (odd.attachments[0].filename, odd.attachments[0].created_on) == ("kept", None)
    assert (odd.estimated_hours, odd.spent_hours) == (None, Decimal("0.33"))


async def test_an_issue_is_private_by_default(client: Client, service: Service, key: SecretStr) -> None:
    rows = ({"id": 1}, *({"id": 2, "is_private": value} for value in (None, "perhaps", False)))

    issues = await listed(client, service, key, *rows)

    assert [issue.is_private for issue in issues] == [True, True, True, False]


@pytest.mark.parametrize(
    "moment",
    [
        "0001-01-01T00:00:00+02:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-02:00",
    ],
)
async def test_a_time_that_some_zone_does_not_have_is_absent(
    client: Client, service: Service, key: SecretStr, moment: str
) -> None:
    named = {"id": 1, "created_on": moment, "updated_on": moment, "closed_on": moment}
    file, note = {"id": 2, "created_on": moment}, {"id": 3, "created_on": moment, "notes": "Kept"}

    [issue] = await listed(client, service, key, {**named, "attachments": [file], "journals": [note]})

    assert (issue.created_on, issue.updated_on, issue.closed_on) == (None, None, None)
    assert (issue.attachments[0].created_on, issue.journals[0].created_on) == (None, None)
    assert issue.journals[0].notes == "Kept"
