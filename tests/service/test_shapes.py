"""Decoding of the service's resources, including absent, null, and invalid values."""

from datetime import UTC, datetime
from decimal import Decimal

from pydantic import SecretStr

from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.models import Issue
from tests.service.scripted import Service


async def test_an_issue_with_all_fields(client: Client, service: Service, key: SecretStr) -> None:
    service.reply({"issues": [WHOLE], "total_count": 1, "offset": 0, "limit": 100})

    (issue,) = (await client.list_issues(key, IssueFilters())).items

    assert issue.status is not None
    assert (issue.status.name, issue.status.is_closed) == ("New", False)
    assert issue.created_on == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert issue.updated_on == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert (issue.estimated_hours, issue.spent_hours) == (Decimal("0.1"), Decimal("2.5"))
    assert issue.children[0].children[0].subject == "grandchild"
    assert issue.attachments[0].author is None
    assert issue.relations[0].relation_type == "blocks"
    assert issue.attachments[0].filename == "12"
    assert [field.value for field in issue.custom_fields] == [("a", "b"), None, "3"]
    assert issue.model_extra == {"plugin": {"votes": 3}}


async def test_absent_null_and_invalid_values(client: Client, service: Service, key: SecretStr) -> None:
    rows = [
        {"id": 1, "closed_on": None, "relations": None, "priority": {"id": 2}},
        {"id": 2, "due_date": "soon", "done_ratio": "most", "status": {"name": "no id"}, "subject": "kept"},
        {
            "id": 3,
            "attachments": [{"id": 1, "created_on": "never", "filename": "kept"}],
            "estimated_hours": "1/0",
            "spent_hours": "1/3",
        },
    ]
    service.reply({"issues": rows, "total_count": 3, "offset": 0, "limit": 100})

    bare, odd, nested = (await client.list_issues(key, IssueFilters())).items

    assert "closed_on" in bare.model_fields_set
    assert "due_date" not in bare.model_fields_set
    assert (bare.closed_on, bare.due_date, bare.relations, bare.assigned_to) == (None, None, (), None)
    assert bare.priority is not None
    assert bare.priority.name == ""
    assert (odd.due_date, odd.done_ratio, odd.status, odd.subject) == (None, None, None, "kept")
    file = nested.attachments[0]
    assert (file.filename, file.created_on) == ("kept", None)
    assert (nested.estimated_hours, nested.spent_hours) == (None, Decimal("0.33"))


def test_an_issues_history_is_oldest_first() -> None:
    issue = Issue.model_validate({"id": 1, "journals": [{"id": 9}, {"id": 3}]})

    assert [entry.id for entry in issue.journals] == [3, 9]


async def test_an_issue_is_private_unless_the_service_says_otherwise(
    client: Client, service: Service, key: SecretStr
) -> None:
    rows: list[dict[str, object]] = [
        {"id": 1},
        {"id": 2, "is_private": None},
        {"id": 3, "is_private": "perhaps"},
        {"id": 4, "is_private": False},
    ]
    service.reply({"issues": rows, "total_count": 4, "offset": 0, "limit": 100})

    found = (await client.list_issues(key, IssueFilters())).items

    assert [issue.is_private for issue in found] == [True, True, True, False]


WHOLE: dict[str, object] = {
    "id": 7,
    "project": {"id": 1, "name": "Site"},
    "status": {"id": 1, "name": "New", "is_closed": False},
    "subject": "One",
    "description": "a\r\nb",
    "done_ratio": 0,
    "parent": {"id": 3},
    "start_date": "2026-01-02",
    "due_date": None,
    "estimated_hours": 0.1,
    "spent_hours": "2.5",
    "custom_fields": [
        {"id": 1, "name": "Many", "multiple": True, "value": ["a", "b"]},
        {"id": 2, "name": "None", "value": None},
        {"id": 3, "name": "Number", "value": 3},
    ],
    "created_on": "2026-01-02T03:04:05Z",
    "updated_on": "2026-01-02T03:04:05+02:00",
    "closed_on": None,
    "children": [{"id": 8, "subject": "child", "children": [{"id": 9, "subject": "grandchild"}]}],
    "attachments": [{"id": 4, "filename": 12, "filesize": 3, "description": None}],
    "relations": [{"id": 1, "issue_id": 7, "issue_to_id": 8, "relation_type": "blocks", "delay": None}],
    "plugin": {"votes": 3},
}
