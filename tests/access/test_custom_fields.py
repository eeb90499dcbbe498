"""List values that only older issues have."""

import pytest

from bot.sandbox.demo.harbor import BROWSERS, WEBSHOP
from bot.sandbox.tracker.defaults import BUG
from bot.sandbox.tracker.server import Tracker
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of
from tests.support.wire import Wire


@pytest.fixture
def service() -> Tracker:
    """One old issue has the value."""
    tracker = demo_tracker()
    tracker.data.custom_fields[BROWSERS].is_filter = True
    oldest, *others = (issue for issue in tracker.data.issues.values() if issue.project_id == WEBSHOP)
    assert len(others) > 50
    for issue in others:
        issue.custom[BROWSERS] = []
    oldest.tracker_id, oldest.custom[BROWSERS] = BUG, ["Safari"]
    return tracker


@pytest.mark.parametrize("option", [f"cf_{BROWSERS}", "browsers"])
async def test_values_are_learned_from_issues_that_have_one(wired: Person, wire: Wire, option: str) -> None:
    results = text_of(await wired.ask(f"/issues {option}:safari project:webshop status:any"))
    assert "1 issue" in results
    assert "Browsers: Safari" in results

    wire.heal()
    await wired.ask(f"/issue new In one browser project:webshop tracker:bug {option}:safari")
    await wired.office.idle()
    assert wired.office.newest_issue().custom[BROWSERS] == ["Safari"]
    assert wire.heal().count("GET /issues.json") <= 2  # the value's issues, and possible duplicates


async def test_a_forms_select_offers_learned_values(wired: Person) -> None:
    await wired.command("/issue")
    view = await wired.form("New issue")
    await wired.choose(view, "Project", "Web Shop")
    view = await wired.with_more_fields(await wired.form_saying("New issue", "More fields"))

    assert "Safari" in str(await wired.suggest(view, "Browsers", "saf"))
