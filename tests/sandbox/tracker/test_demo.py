"""The demo data is plausible, complete and deterministic."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bot.sandbox.demo import demo_data
from bot.sandbox.demo.history import go_on_reporting
from bot.sandbox.tracker.data import CLOSED_PROJECT, Data, Issue

NOW = datetime(2026, 3, 10, 15, tzinfo=UTC)


@pytest.fixture
def data() -> Data:
    return demo_data(NOW)


@pytest.mark.parametrize("hour", [0, 12])
def test_timestamps_are_in_order_and_not_in_the_future(hour: int) -> None:
    for day in range(7):
        now = NOW.replace(hour=hour) + timedelta(days=day)
        issues = list(demo_data(now).issues.values())
        for issue in issues:
            assert issue.created_on <= issue.updated_on <= now
            assert issue.closed_on is None or issue.created_on <= issue.closed_on <= now
        assert now - max(i.created_on for i in issues) < timedelta(days=3)


def test_demo_data_covers_every_feature_and_is_deterministic(data: Data) -> None:
    assert demo_data(NOW) == data
    assert [p.name for p in data.projects.values() if not p.is_public] == ["Security"]
    assert [p.name for p in data.projects.values() if p.status == CLOSED_PROJECT] == ["Old Shop"]
    assert len(data.issues) > 300
    assert len({i.subject for i in data.issues.values()}) == len(data.issues)
    assert {i.status_id for i in data.issues.values()} == set(data.statuses)
    assert {i.priority_id for i in data.issues.values()} == set(data.priorities)
    children = data.children()
    assert any(child.id in children for row in children.values() for child in row)
    assert min(len(data.relations), len(data.attachments), len(data.time_entries)) > 20
    assert any(i.is_private for i in data.issues.values())


def test_issues_named_in_examples_have_rich_content(data: Data) -> None:
    for number in (12, 42):
        issue = data.issues[number]
        assert data.projects[issue.project_id].name == "Web Shop"
        assert (issue.is_private, issue.closed_on, bool(issue.description)) == (False, None, True)
        assert data.users[issue.assigned_to_id or 0].login == "ana"
    assert [c.id for c in data.children()[42]] == [43, 44]
    assert {42, 12} == {data.relations[1].issue_id, data.relations[1].issue_to_id}
    assert any(a.issue_id == 42 for a in data.attachments.values())
    assert data.minutes()[42] > 0


async def reported(data: Data, project: int, seconds: float) -> list[Issue]:
    """Return sixty issues that simulated colleagues report."""
    before = len(data.issues)
    reporting = asyncio.create_task(go_on_reporting(data, project, seconds))
    while len(data.issues) < before + 60:
        await asyncio.sleep(0)
    reporting.cancel()
    await asyncio.wait({reporting})
    return list(data.issues.values())[before:]


async def test_simulated_colleagues_report_plausible_issues_until_stopped(data: Data) -> None:
    subjects, began = {issue.subject for issue in data.issues.values()}, datetime.now(UTC)

    fresh = await reported(data, 1, 0.001)

    assert subjects.isdisjoint(issue.subject for issue in fresh)
    assert len({issue.subject for issue in fresh}) == len(fresh)
    assert {(issue.project_id, issue.is_private, issue.status_id) for issue in fresh} == {(1, False, 1)}
    assert min(issue.created_on for issue in fresh) >= began.replace(microsecond=0)
    assert max(issue.created_on for issue in fresh) <= datetime.now(UTC)
    assert all(issue.updated_on == issue.created_on for issue in fresh)
    for field in ("tracker_id", "priority_id", "author_id", "assigned_to_id", "category_id"):
        assert len({getattr(issue, field) for issue in fresh}) >= 4
    again = {issue.subject for issue in await reported(data, 4, 0)}
    assert 20 < len(again) < 60  # all topics were reported
