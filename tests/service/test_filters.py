"""The issue list's filters: their query parameters, and values the service would misread."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.errors import Refused
from bot.service.client import Client
from bot.service.conventions import SortField
from bot.service.filters import DateRange, IssueFilters, Sort, TimeRange, searchable
from tests.service.scripted import Service
from tests.support.wording import worded

PARIS = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (IssueFilters(), {}),
        (IssueFilters(issue_ids=(3, 4)), {"issue_id": "3,4", "status_id": "*"}),
        (IssueFilters(issue_ids=(3,), status="closed"), {"issue_id": "3", "status_id": "closed"}),
        (IssueFilters(assigned_to=("me", 5)), {"assigned_to_id": "me|5"}),
        (IssueFilters(custom_fields=((7, "!blue"),)), {"cf_7": "=!blue"}),
        (
            IssueFilters(query_id=4, project_id=1, sort=(Sort("updated_on", descending=True), Sort("id"))),
            {"query_id": "4", "project_id": "1", "sort": "updated_on:desc,id"},
        ),
        (IssueFilters(include=frozenset({"relations", "attachments"})), {"include": "attachments,relations"}),
    ],
)
def test_filters_become_query_parameters(filters: IssueFilters, expected: dict[str, str]) -> None:
    assert filters.to_params() == expected


@given(st.text(min_size=1))
@example('say "no way"')
@example("ab|cd |a")
@example(">=2026 !* ~~x")
def test_text_never_becomes_an_operator(text: str) -> None:
    counting = searchable(text)
    if not counting:
        assert not re.sub('[|"]', " ", text).split()
        return
    sent = IssueFilters(subject=counting).to_params()["subject"]
    assert sent == f"~{counting}"
    assert not set('|"') & set(sent)
    assert set(counting.split()) <= set(re.sub('[|"]', " ", text).split())
    assert searchable(counting) == counting


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (TimeRange(since=datetime(2026, 3, 1, 1, 30, tzinfo=PARIS)), ">=2026-02-28T23:30:00Z"),
        (TimeRange(until=datetime(2026, 3, 1, 1, 2, 3, 999999, tzinfo=UTC)), "<=2026-03-01T01:02:03Z"),
        (TimeRange(since=datetime(2026, 3, 1, 1, 2, 59, 1, tzinfo=UTC)), ">=2026-03-01T01:03:00Z"),
        (
            TimeRange(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)),
            "><2026-03-01T00:00:00Z|2026-03-02T00:00:00Z",
        ),
    ],
)
def test_times_are_sent_in_utc_with_whole_seconds(limits: TimeRange, expected: str) -> None:
    filters = IssueFilters(created_on=limits, updated_on=limits, closed_on=limits)

    assert filters.to_params() == {"created_on": expected, "updated_on": expected, "closed_on": expected}


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (DateRange(since=date(2026, 3, 1)), ">=2026-02-28T10:30:00Z"),
        (DateRange(until=date(2026, 3, 1)), "<=2026-03-01T10:30:00Z"),
        (DateRange(date(2026, 3, 1), date(2026, 3, 1)), "><2026-02-28T10:30:00Z|2026-03-01T10:30:00Z"),
    ],
)
def test_days_are_sent_as_times_safe_in_every_zone(limits: DateRange, expected: str) -> None:
    filters = IssueFilters(start_date=limits, due_date=limits)

    assert filters.to_params() == {"start_date": expected, "due_date": expected}


@pytest.mark.parametrize(
    "trap",
    [
        lambda: IssueFilters(category_ids=(1,)),
        lambda: IssueFilters(subprojects="none"),
        lambda: IssueFilters(project_id=1, subprojects=()),
        lambda: IssueFilters(status=()),
        lambda: IssueFilters(sort=(Sort("id"), Sort("status"), Sort("author"), Sort("subject"))),
        lambda: IssueFilters(sort=(Sort(cast("SortField", "colour")),)),
        lambda: IssueFilters(subject=" | "),
        lambda: IssueFilters(subject="one two three four five six"),
        lambda: IssueFilters(subject="plan b"),
        lambda: IssueFilters(query_id=1, status="any"),
        lambda: IssueFilters(query_id=1, subject="x"),
        lambda: IssueFilters(issue_ids=(0,)),
        lambda: IssueFilters(project_id=-1),
        lambda: IssueFilters(assigned_to=("me", 0)),
        lambda: IssueFilters(custom_fields=((1, ""),)),
        lambda: IssueFilters(custom_fields=((1, "a|b"),)),
        lambda: IssueFilters(custom_fields=((0, "a"),)),
        TimeRange,
        lambda: TimeRange(since=datetime.fromisoformat("2026-01-01")),
        lambda: TimeRange(datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
        DateRange,
        lambda: DateRange(since=datetime(2026, 1, 1, tzinfo=UTC)),
        lambda: DateRange(date(2026, 1, 2), date(2026, 1, 1)),
    ],
)
def test_filters_the_service_would_ignore_raise_value_error(trap: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"^[a-z]"):
        trap()


FITTING: dict[str, object] = {
    "id": 7,
    "tracker": {"id": 1},
    "priority": {"id": 2},
    "category": {"id": 3},
    "fixed_version": {"id": 4},
    "assigned_to": {"id": 5},
    "author": {"id": 6},
    "parent": {"id": 8},
    "project": {"id": 1},
    "start_date": "2026-03-01",
    "due_date": "2026-03-31",
    "custom_fields": [
        {"id": 9, "value": ["red", "Blue"]},
        {"id": 10, "value": "1.50"},
        {"id": 11, "value": "NaN"},
    ],
}
APPLIED = [
    IssueFilters(tracker_ids=(1, 9)),
    IssueFilters(priority_ids=(2,)),
    IssueFilters(project_id=1, category_ids=(3,)),
    IssueFilters(project_id=1, category_ids="any"),
    IssueFilters(fixed_version_ids=(4,)),
    IssueFilters(assigned_to=(5,)),
    IssueFilters(assigned_to="anybody"),
    IssueFilters(author=(6,)),
    IssueFilters(parent_ids=(8,)),
    IssueFilters(issue_ids=(7,)),
    IssueFilters(project_id=1, subprojects="none"),
    IssueFilters(project_id=9, subprojects=(1, 2)),
    IssueFilters(start_date=DateRange(until=date(2026, 3, 1))),
    IssueFilters(due_date=DateRange(date(2026, 3, 31), date(2026, 4, 1))),
    IssueFilters(custom_fields=((9, "blue"), (10, "1.5"), (11, "nan"))),
]


UNSET = [
    IssueFilters(project_id=1, category_ids="none"),
    IssueFilters(fixed_version_ids="none"),
    IssueFilters(assigned_to="nobody"),
]


@pytest.mark.parametrize("filters", [*APPLIED, *UNSET])
async def test_an_ignored_filter_is_detected(
    client: Client, service: Service, key: SecretStr, filters: IssueFilters
) -> None:
    fitting, other = ({"id": 1}, FITTING) if filters in UNSET else (FITTING, {"id": 1})
    service.reply({"issues": [fitting], "total_count": 1})
    service.reply({"issues": [fitting, other], "total_count": 2})

    assert (await client.list_issues(key, filters)).total_count == 1
    with pytest.raises(Refused, match="200") as caught:
        await client.list_issues(key, filters)
    assert "not possible here" in worded(caught.value)


async def test_filters_by_me_are_not_checked(client: Client, service: Service, key: SecretStr) -> None:
    service.reply({"issues": [FITTING], "total_count": 1})
    mine = IssueFilters(assigned_to=("me",), author=("me",), custom_fields=((1, "me"),))

    assert (await client.list_issues(key, mine)).total_count == 1
