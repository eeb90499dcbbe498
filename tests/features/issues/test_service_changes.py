"""Differences between the requested and the created issue."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from bot.access.projects import KnownProject
from bot.features.issues import views
from bot.features.issues.creating import Created
from bot.features.issues.fields import ResolvedValue
from bot.features.issues.issues import service_changes
from bot.service.inputs import CustomFieldInput
from bot.service.models import Issue, Project, Ref
from bot.slack.outgoing.outcomes import PostOutcome
from tests.support.reading import JSON
from tests.support.wording import WORDING

CLOSED = Ref(id=5, name="Closed")
BROWSERS = {"id": 1, "name": "Browsers", "multiple": True, "value": ["Safari"]}


def token(day: int) -> str:
    """Slack's date token for a day in January 2030."""
    at = int(datetime(2030, 1, day, 10, 30, tzinfo=UTC).timestamp())
    return f"<!date^{at}^{{date_short_pretty}}|Jan {day}, 2030>"


def sentences(meant: dict[str, ResolvedValue], custom: list[CustomFieldInput], got: JSON) -> list[str]:
    """What the confirmation of a created issue says about its values."""
    issue = Issue.model_validate({"id": 7, "subject": "One", "is_private": False, **got})
    made = Created(
        issue, KnownProject.of(Project(id=1, is_public=True)), service_changes(meant, custom, issue)
    )
    *blocks, note, _ = views.created(made, WORDING, PostOutcome.YES, notes=["Cut short."]).blocks
    assert note["elements"][0]["text"] == "Cut short."
    texts = [block["text"]["text"] for block in blocks[1:]]
    return [line.removeprefix("• ") for text in texts for line in text.splitlines()[1:]]


@pytest.mark.parametrize(
    ("key", "entered", "got", "sentence"),
    [
        ("parent", 3, {"parent": {"id": 5}}, "Parent issue is #5, not #3."),
        ("parent", 3, {}, "Parent issue #3 wasn't saved."),
        ("status", CLOSED, {"status": {"id": 1, "name": "New"}}, "Status is New, not Closed."),
        ("to", Ref(id=2, name="Ben"), {}, "Assignee Ben wasn't saved."),
        ("estimate", Decimal("1.5"), {"estimated_hours": 8}, "Estimated hours is 8h, not 1h 30m."),
        ("estimate", Decimal("0.3333"), {"estimated_hours": 0.33}, None),
        ("due", date(2030, 1, 2), {"due_date": "2030-01-03"}, f"Due date is {token(3)}, not {token(2)}."),
    ],
)
def test_replaced_values_are_named(key: str, entered: ResolvedValue, got: JSON, sentence: str | None) -> None:
    assert sentences({key: entered}, [], got) == ([sentence] if sentence else [])


@pytest.mark.parametrize(
    ("entered", "got", "sentence"),
    [
        (("Safari", "Firefox"), [BROWSERS], "Browsers is Safari, not Safari, Firefox."),
        ("Safari", [BROWSERS], None),
        ("Safari", [], "cf_1 wasn't saved."),
    ],
)
def test_changed_fields_are_named(
    entered: str | tuple[str, ...], got: list[JSON], sentence: str | None
) -> None:
    custom = [CustomFieldInput(id=1, value=entered)]

    assert sentences({}, custom, {"custom_fields": got}) == ([sentence] if sentence else [])
