"""GET /issues.json: filters, order, pages, JSON."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.sandbox.tracker.data import Attachment, Data, Issue, Relation, TimeEntry

if TYPE_CHECKING:
    from tests.sandbox.tracker.conftest import Api, Starter

pytestmark = pytest.mark.usefixtures("board")

OPEN = [1, 2, 3, 5, 6, 7, 8, 9, 10]
IN_SHOP = [1, 2, 3, 5, 6, 7, 10]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, OPEN),
        ({"status_id": "open"}, OPEN),
        ({"status_id": "closed"}, [4]),
        ({"status_id": "*"}, sorted([*OPEN, 4])),
        ({"status_id": "2|5"}, [4, 6]),
        ({"status_id": "!1"}, [4, 6]),
        ({"issue_id": "4"}, []),
        ({"issue_id": "4,5,77", "status_id": "*"}, [4, 5]),
        ({"issue_id": ">=8"}, [8, 9, 10]),
        ({"issue_id": "<=2"}, [1, 2]),
        ({"issue_id": "><2|5"}, [2, 3, 5]),
        ({"tracker_id": "2"}, [2]),
        ({"tracker_id": "!1|3"}, [2]),
        ({"priority_id": "1|4"}, [1, 7]),
        ({"author_id": "me"}, [2]),
        ({"author_id": "!4"}, [2]),
        ({"assigned_to_id": "me"}, [1, 3]),  # includes her group's
        ({"assigned_to_id": "2|9"}, [2, 3]),
        ({"assigned_to_id": "!*"}, [5, 6, 7, 8, 9, 10]),
        ({"assigned_to_id": "*"}, [1, 2, 3]),
        ({"category_id": "1"}, OPEN),  # needs a project
        ({"category_id": "1", "project_id": 1}, [1]),
        ({"category_id": "!*", "project_id": 1}, [2, 5, 6, 7, 10]),
        ({"fixed_version_id": "1"}, [1]),
        ({"parent_id": "1,5"}, [5, 6]),
        ({"parent_id": "~1"}, [5, 6]),
        ({"parent_id": "!*"}, [1, 2, 3, 7, 8, 9, 10]),
        ({"parent_id": "*"}, [5, 6]),
        ({"subject": "~paper PRINTER"}, [2]),
        ({"subject": "~cart | nothing"}, [3]),  # anything after a bar is ignored
        ({"subject": "Printer on fire"}, [1]),
        ({"subject": "printer"}, []),
        ({"subject": "!~printer", "project_id": 5}, []),
        ({"subject": "^in the"}, [7, 8, 9]),
        ({"subject": "$paper"}, [2]),
        ({"start_date": "2026-03-01"}, [3]),
        ({"start_date": "*"}, [3]),
        ({"due_date": ">=2026-03-20"}, [5]),
        ({"due_date": "><2026-03-01|2026-03-19"}, []),
        ({"created_on": "2026-03-10"}, [10]),  # still the 9th in UTC, the 10th in Madrid
        ({"created_on": "<=2026-03-09T23:30:00Z"}, [10]),
        ({"created_on": ">=2026-03-09T23:30:01Z", "issue_id": ">=9"}, [9]),
        ({"closed_on": "><2026-03-01|2026-03-06", "status_id": "*"}, [4]),
        ({"closed_on": "!*", "status_id": "*"}, OPEN),
        ({"updated_on": "<=2026-03-06", "status_id": "*"}, [4]),
        ({"project_id": 1}, IN_SHOP),
        ({"project_id": 1, "subproject_id": "!*"}, [1, 2, 3, 5, 6, 10]),
        ({"project_id": 1, "subproject_id": "*"}, IN_SHOP),
        ({"project_id": 1, "subproject_id": "2"}, IN_SHOP),
        ({"project_id": 1, "subproject_id": "!2"}, [1, 2, 3, 5, 6, 10]),
        ({"project_id": 5, "subproject_id": "2"}, []),
        ({"subproject_id": "!*"}, OPEN),
        ({"project_id": 4}, [9]),  # closed, but readable
        ({"cf_2": "K-17"}, [5]),
        ({"cf_2": "~k-1"}, [5]),
        ({"cf_1": "Major"}, [7]),
        ({"cf_1": "Major", "project_id": 5}, []),  # another project's field is unavailable
        ({"cf_1": "Major", "project_id": 2}, [7]),
        ({"cf_1": "!*", "project_id": 2}, []),
        ({"cf_3": "no filter"}, OPEN),
        ({"cf_99": "1", "colour": "red"}, OPEN),
        ({"query_id": 7, "tracker_id": "2"}, [1]),  # the saved query replaces the other filters
        ({"query_id": 7, "project_id": 2}, []),
    ],
)
async def test_filters(api: "Api", params: dict[str, str | int], expected: list[int]) -> None:
    assert sorted(await api.found(**params)) == expected


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"created_on": ">=2026-03-01T00:00:00+02:00"}, "Created is invalid"),
        ({"updated_on": ">=2026-03-01T00:00:00.5Z"}, "Updated is invalid"),
        ({"due_date": "tomorrow"}, "Due date is invalid"),
        ({"start_date": "2026-02-30"}, "Start date is invalid"),
        ({"issue_id": "x"}, "Issue is invalid"),
        ({"tracker_id": ""}, "Tracker cannot be blank"),
        ({"subject": "~"}, "Subject cannot be blank"),
    ],
)
async def test_malformed_filters_return_an_error(api: "Api", params: dict[str, str], sentence: str) -> None:
    assert (await api.get("/issues.json", **params)).errors == [sentence]


async def test_unknown_and_hidden_projects_and_queries(api: "Api") -> None:
    assert (await api.get("/issues.json", project_id=99)).status == 404
    assert (await api.get("/issues.json", project_id="shop")).status == 404  # only numbers are accepted
    assert (await api.get("/issues.json", "ben", project_id=3)).status == 403
    assert (await api.get("/issues.json", None, project_id=3)).status == 401
    assert (await api.get("/issues.json", query_id=99)).status == 404


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("", [10, 9, 8, 7, 6, 5, 3, 2, 1]),
        ("id", OPEN),
        ("nonsense,id", OPEN),
        ("priority:desc", [1, 10, 9, 8, 6, 5, 3, 2, 7]),
        ("nonsense,rubbish,hokum,id", [10, 9, 8, 7, 6, 5, 3, 2, 1]),  # only three keys count
        ("created_on,id", [10, 1, 2, 3, 5, 6, 7, 8, 9]),
        ("tracker:desc,id", [2, 1, 3, 5, 6, 7, 8, 9, 10]),
        ("assigned_to:desc,id", [2, 1, 3, 5, 6, 7, 8, 9, 10]),
        ("project,status:desc,subject", [9, 6, 5, 3, 10, 1, 2, 7, 8]),
    ],
)
async def test_order(api: "Api", sort: str, expected: list[int]) -> None:
    assert await api.found(sort=sort) == expected


@pytest.mark.parametrize(
    "key",
    [
        "parent", "category", "fixed_version", "author", "start_date", "due_date", "done_ratio",
        "estimated_hours", "spent_hours", "updated_on", "closed_on", "cf_2",
    ],
)  # fmt: skip
async def test_every_column_sorts_in_both_directions(api: "Api", key: str) -> None:
    assert sorted(await api.found(sort=key)) == OPEN
    assert sorted(await api.found(sort=f"{key}:desc")) == OPEN


async def test_page_size_is_capped_and_echoed(api: "Api", start: "Starter") -> None:
    answer = await api.get("/issues.json", limit=2, offset=3, sort="id")
    assert [i["id"] for i in answer.body["issues"]] == [5, 6]
    assert {k: v for k, v in answer.body.items() if k != "issues"} == {
        "total_count": 9,
        "offset": 3,
        "limit": 2,
    }
    for limit, echoed in ((500, 100), (0, 100), ("x", 100)):
        assert (await api.get("/issues.json", limit=limit)).body["limit"] == echoed
    assert (await api.get("/issues.json", offset=-4)).body["offset"] == 0
    capped = (await (await start(page_cap=4)).get("/issues.json", limit=100)).body
    assert (len(capped["issues"]), capped["limit"], capped["total_count"]) == (4, 4, 9)


async def test_missing_values_are_absent_or_null(api: "Api") -> None:
    bare = (await api.get("/issues.json", issue_id=8)).body["issues"][0]
    assert not {"assigned_to", "category", "fixed_version", "parent", "attachments", "children"} & set(bare)
    assert [bare[k] for k in ("due_date", "closed_on", "estimated_hours", "description")] == [None] * 4
    assert bare["status"] == {"id": 1, "name": "New", "is_closed": False}
    assert bare["custom_fields"][0] == {"id": 2, "name": "Customer", "value": None}
    group = (await api.get("/issues.json", issue_id=3)).body["issues"][0]
    assert group["assigned_to"] == {"id": 9, "name": "Supporters"}


async def test_hours_include_subtasks_and_require_permission(api: "Api", data: Data) -> None:
    day = datetime(2026, 3, 3, tzinfo=UTC).date()
    for number, issue_id in enumerate((1, 5, 6), 1):
        data.time_entries[number] = TimeEntry(number, 1, issue_id, 1, 1, 2, 20, day)
        data.issues[issue_id].estimated_hours = 1.5
    seen = (await api.get("/issues.json", issue_id=1)).body["issues"][0]
    assert (seen["spent_hours"], seen["total_spent_hours"]) == (0.33, 1.0)
    assert (seen["estimated_hours"], seen["total_estimated_hours"]) == (1.5, 4.5)
    assert "spent_hours" not in (await api.get("/issues.json", None, issue_id=1)).body["issues"][0]


async def test_attachments_and_relations_are_included_on_request(
    api: "Api", data: Data, issue: Callable[..., Issue]
) -> None:
    hidden = issue("Hidden", project_id=3)
    data.relations = {1: Relation(1, 1, 2, "precedes", 3), 2: Relation(2, 1, hidden.id)}
    moment = datetime(2026, 3, 1, 8, tzinfo=UTC)
    data.attachments[4] = Attachment(4, "über uns.png", b"png", "image/png", 2, moment, "Me", 1)
    include = "attachments,relations,children,nonsense"
    seen = (await api.get("/issues.json", "ben", issue_id=1, include=include)).body["issues"][0]
    assert "children" not in seen
    assert seen["relations"] == [
        {"id": 1, "issue_id": 1, "issue_to_id": 2, "relation_type": "precedes", "delay": 3}
    ]
    url = f"{api.tracker.url}/attachments/download/4/%C3%BCber%20uns.png"
    assert seen["attachments"] == [
        {
            "id": 4,
            "filename": "über uns.png",
            "filesize": 3,
            "content_type": "image/png",
            "description": "Me",
            "content_url": url,
            "thumbnail_url": url,
            "author": {"id": 2, "name": "Ben Test"},
            "created_on": "2026-03-01T08:00:00Z",
        }
    ]
