"""Differences between the requested and the created issue."""

import pytest

from bot.features.issues.service_changes import service_changes
from bot.service.inputs import NewIssue
from bot.service.models import Issue


@pytest.mark.parametrize(
    ("asked", "got", "said"),
    [
        ({"parent_issue_id": 3}, {"parent": {"id": 5}}, "Parent issue is #5, not #3."),
        ({"parent_issue_id": 3}, {}, "Parent issue #3 was not taken."),
        ({"estimated_hours": "1.5"}, {"estimated_hours": 8}, "Estimated hours is 8, not 1.5."),
        ({"estimated_hours": "0.3333"}, {"estimated_hours": 0.33}, ""),
        ({"done_ratio": 50}, {"done_ratio": 0}, "% Done is 0, not 50."),
        ({"due_date": "2030-01-02"}, {"due_date": "2030-01-03"}, "Due date is 2030-01-03, not 2030-01-02."),
        (
            {"custom_fields": [{"id": 1, "value": ("Safari", "Firefox")}]},
            {"custom_fields": [{"id": 1, "name": "Browsers", "multiple": True, "value": ["Safari"]}]},
            "Browsers is Safari, not Safari, Firefox.",
        ),
        (
            {"custom_fields": [{"id": 1, "value": "Safari"}]},
            {"custom_fields": [{"id": 1, "name": "Browsers", "multiple": True, "value": ["Safari"]}]},
            "",
        ),
    ],
)
def test_names_each_value_the_service_replaced_or_dropped(
    asked: dict[str, object], got: dict[str, object], said: str
) -> None:
    new = NewIssue.model_validate({"project_id": 1, "subject": "One", **asked})
    issue = Issue.model_validate({"id": 7, "subject": "One", **got})

    assert " ".join(service_changes(new, {}, issue)) == said
