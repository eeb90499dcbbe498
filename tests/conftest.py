"""What tests of several parts need: a real Redmine, started once, when a test first asks for it."""

import os
from collections.abc import Iterator

import pytest

from tests.contract.redmine import missing, running
from tests.contract.world import World


@pytest.fixture(scope="session")
def redmine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Skips where Redmine is not installed, unless ISSUEBOT_REQUIRE names it: then that is a failure."""
    absent = missing()
    if absent and "redmine" in os.environ.get("ISSUEBOT_REQUIRE", "").split(","):
        pytest.fail(absent)
    if absent:
        pytest.skip(absent)
    with running(tmp_path_factory.mktemp("redmine")) as world:
        yield World(**world)
