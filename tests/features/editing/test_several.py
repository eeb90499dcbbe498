"""One change to several issues, made by a button."""

from datetime import UTC, datetime

import pytest

from bot.sandbox.tracker.defaults import CLOSED, IN_PROGRESS, NEW
from bot.sandbox.tracker.server import Tracker
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until_so
from tests.support.wire import Wire


@pytest.fixture
def service() -> Tracker:
    return demo_tracker(issue_reads=True)


async def test_changes_before_a_crash_are_not_repeated(wired: Person, wire: Wire) -> None:
    """The bot stops between two issues, and somebody changes the first one back."""
    office = wired.office
    first, second = office.public_issue(), office.public_issue(1)
    before = first.done_ratio
    asked = await wired.ask(f"/issue {first.id},{second.id} done:50%")
    wire.seconds = 60
    wire.fail("slow", f"PUT /issues/{second.id}.json")
    await wired.press(asked, "Change both")
    await until_so(lambda: wire.slowed)
    await office.bot.stop(0)
    wire.heal()
    assert first.done_ratio == 50
    first.done_ratio, first.updated_on = before, datetime.now(UTC).replace(microsecond=0)

    await office.start_bot()
    answer = await wired.after(wired.press(asked, "Change both"))

    assert (first.done_ratio, second.done_ratio) == (before, 50)
    assert "left it as it is" in text_of(answer)
    wire.released.set()


async def test_what_failed_can_be_tried_again(wired: Person, wire: Wire) -> None:
    first, second = wired.office.public_issue(), wired.office.public_issue(1)
    asked = await wired.ask(f"/issue {first.id},{second.id} done:50%")
    wire.fail("502 before it", f"PUT /issues/{first.id}.json")
    results = await wired.after(wired.press(asked, "Change both"))
    assert "“done:50%”" in text_of(results)
    wire.heal()

    answer = await wired.after(wired.press(results, "Try again"))

    assert (first.done_ratio, second.done_ratio) == (50, 50)
    assert text_of(answer).count("•") == 1


async def test_issues_that_cannot_be_deleted_can_be_closed(office: Office, ana: Person) -> None:
    first, second = office.public_issue(), office.public_issue(1)
    refusal = await ana.ask(f"/issue {first.id} and {second.id} delete")

    asked = await ana.after(ana.press(refusal, f"Close #{first.id} and #{second.id}"))
    await ana.after(ana.press(asked, "Change both"))

    assert {first.status_id, second.status_id} == {CLOSED}


async def test_work_on_several_issues_is_started(office: Office, ana: Person) -> None:
    first, second = office.public_issue(), office.public_issue(1)
    first.status_id = second.status_id = NEW
    for text in (f"start {first.id} and {second.id}", f"{first.id}, {second.id} start"):
        asked = await ana.ask(f"/issue {text}")
        assert "Change both" in text_of(asked)

    answer = await ana.after(ana.press(asked, "Change both"))

    assert (first.status_id, second.status_id) == (IN_PROGRESS, IN_PROGRESS)
    assert text_of(answer).count("In progress") == len((first, second))
