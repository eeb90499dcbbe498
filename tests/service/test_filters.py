"""The issue list's filters: their query parameters, and values the service would misread."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.errors import Refused
from bot.service.client import Client
from bot.service.conventions import SortField
from bot.service.filters import DateRange, Except, IssueFilters, Sort, TimeRange, searchable
from tests.service.scripted import Service
from tests.support.wording import worded


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


def test_times_are_rounded_inward_to_whole_seconds() -> None:
    late = datetime(2026, 3, 1, 1, 2, 59, 999999, tzinfo=UTC)

    assert (
        TimeRange(late, late + timedelta(hours=1)).to_param() == "><2026-03-01T01:03:00Z|2026-03-01T02:02:59Z"
    )


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
    IssueFilters(assigned_to=Except((5,))),
    IssueFilters(project_id=1, category_ids=Except((3,))),
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
    assert "can't filter by" in worded(caught.value)


async def test_filters_by_me_are_not_checked(client: Client, service: Service, key: SecretStr) -> None:
    service.reply({"issues": [FITTING], "total_count": 1})
    mine = IssueFilters(assigned_to=("me",), author=("me",), custom_fields=((1, "me"),))

    assert (await client.list_issues(key, mine)).total_count == 1
