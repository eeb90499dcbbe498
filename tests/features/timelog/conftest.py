"""An issue to log time on."""

import pytest

from bot.sandbox.tracker.data import Issue
from tests.support.office import Office


@pytest.fixture
def issue(office: Office) -> Issue:
    """A public issue."""
    return next(i for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
