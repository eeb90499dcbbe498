"""An issue to log time on."""

import pytest

from bot.sandbox.tracker.data import Issue
from tests.support.person import Person


@pytest.fixture
def issue(ana: Person) -> Issue:
    """A public issue."""
    issues = ana.office.tracker.data.issues.values()
    return next(i for i in issues if i.project_id == 1 and not i.is_private)
