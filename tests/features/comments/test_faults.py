"""Comments while requests or answers of the service are lost."""

import pytest

from bot.sandbox.tracker.server import Tracker
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import TIMEOUT_SECONDS, text_of, until_so
from tests.support.wire import Wire

NUMBER, TEXT = 12, "Same here in Safari"
ANOTHER = 20


@pytest.fixture(params=["history"])
def service(request: pytest.FixtureRequest) -> Tracker:
    tracker = demo_tracker(issue_reads=request.param == "history")
    for number in (NUMBER, ANOTHER):  # which issues everyone can see depends on the day
        tracker.data.issues[number].is_private, tracker.data.issues[number].project_id = False, 1
    return tracker


def written(service: Tracker) -> list[str]:
    return [note.text for note in service.data.issues[NUMBER].notes if TEXT in note.text]


@pytest.mark.parametrize("service", ["no history"], indirect=True)
async def test_a_lost_comment_is_left_to_the_user(wired: Person, wire: Wire, service: Tracker) -> None:
    wire.faults = ["lose the answer"]

    text = text_of(await wired.ask(f"/issue {NUMBER} comment {TEXT}"))

    assert "has been updated since then. Check whether your comment is there." in text
    assert written(service) == [TEXT]


@pytest.mark.parametrize("arrived", [False, True])
async def test_an_unconfirmed_comment_is_looked_for_before_it_is_sent_again(
    wired: Person,
    wire: Wire,
    service: Tracker,
    arrived: bool,  # noqa: FBT001 - parametrized
) -> None:
    if arrived:  # and nothing can be read after it
        wire.fail("lose the answer", at=2, lasting=True)
    else:
        wire.faults = ["lose the request"]
    answer = await wired.ask(f"/issue {NUMBER} comment {TEXT}")
    assert ("may not have been saved. Try again" if arrived else "doesn't show the comment") in text_of(
        answer
    )
    assert len(written(service)) == arrived
    wire.heal()

    await wired.press(answer, "Open form")
    form = await wired.form("Comment")
    assert TEXT in str(form)
    reply = await wired.after(wired.submit(form, {}))

    assert "Commented on" in text_of(reply)
    assert written(service) == [TEXT]
    assert [a for a in wire.asked if a.startswith("PUT")] == ["PUT /issues/12.json"] * (not arrived)


async def test_a_form_reopened_after_a_stop_adds_its_comment_once(
    wired: Person, wire: Wire, service: Tracker
) -> None:
    form = await wired.form_after(wired.command(f"/issue {NUMBER} comment"), "Comment")
    wired.office.wait(form=0.1)
    wire.faults, wire.too_late = ["late"], TIMEOUT_SECONDS
    await wired.submit(form, {"Comment": TEXT})

    await wired.close(
        await wired.view(lambda view: written(service) and view["title"]["text"] == "One moment")
    )
    answer = await wired.after(wired.office.bot.stop(0.3))
    await wired.office.start_bot()
    await wired.press(answer, "Reopen form")
    await wired.submit(await wired.form("Comment", lambda view: "restarted" in text_of(view)), {})
    await wired.office.idle()

    assert written(service) == [TEXT]


OTHER = f"/issue {ANOTHER} comment {TEXT}"
CANT_CHANGE = "doesn't let me change issues"


async def test_a_404_to_a_change_is_checked_again(wired: Person, wire: Wire, service: Tracker) -> None:
    wire.faults = ["404"]

    assert "Commented on" in text_of(await wired.ask(f"/issue {NUMBER} comment {TEXT}"))
    assert written(service) == [TEXT]
    assert "Commented on" in text_of(await wired.ask(OTHER))


async def test_a_deleted_issue_stops_no_other_change(wired: Person, wire: Wire, service: Tracker) -> None:
    await hold_up(wired, wire)
    service.data.issues.pop(NUMBER)

    assert f"There's no issue #{NUMBER}" in text_of(await wired.after(let_go(wire)))
    assert "Commented on" in text_of(await wired.ask(OTHER))


async def test_a_success_ends_that_changes_are_missing(wired: Person, wire: Wire) -> None:
    await hold_up(wired, wire)
    wire.faults = ["404", "404"]
    for _ in range(2):
        assert CANT_CHANGE in text_of(await wired.ask(OTHER))
    assert wire.faults == []

    assert "Commented on" in text_of(await wired.after(let_go(wire)))
    assert "Commented on" in text_of(await wired.ask(OTHER))


async def hold_up(person: Person, wire: Wire) -> None:
    """Comments on the issue, and returns when that is on its way to the service."""
    wire.seconds = TIMEOUT_SECONDS
    wire.fail("slow", "PUT /issues")
    await person.command(f"/issue {NUMBER} comment {TEXT}")

    await until_so(lambda: wire.slowed == 1)
    wire.heal()


async def let_go(wire: Wire) -> None:
    wire.released.set()


async def test_a_dropped_comment_is_not_reported_as_added(wired: Person, service: Tracker) -> None:
    for role in service.data.roles.values():  # Ana may change issues, and the service ignores her notes
        role.rights = role.rights - {"add_issue_notes"}

    text = text_of(await wired.ask(f"/issue {NUMBER} comment {TEXT}"))

    assert f"Tracker didn't add the comment to #{NUMBER}." in text
    assert "Open form" in text


async def test_an_older_equal_comment_is_not_it(wired: Person, wire: Wire, service: Tracker) -> None:
    command = f"/issue {NUMBER} comment {TEXT}"
    await wired.ask(command)
    wire.faults = ["lose the request"]

    answer = await wired.ask(command)

    assert "doesn't show the comment" in text_of(answer)
    await wired.press(answer, "Open form")
    await wired.after(wired.submit(await wired.form("Comment"), {}))
    assert written(service) == [TEXT, TEXT]


@pytest.mark.parametrize("service", ["no history"], indirect=True)
async def test_asks_before_repeating_uncertain_work(wired: Person, wire: Wire, service: Tracker) -> None:
    message = await wired.say(f"{TEXT} #{NUMBER}")
    await wired.shortcut("comment_from_message", message)
    form = await wired.form("Comment")
    wired.office.wait(form=0.1)
    wire.faults, wire.too_late = ["late"], TIMEOUT_SECONDS  # the service does it, and nobody gets the answer
    await wired.submit(form, {})
    await until_so(lambda: written(service))
    await wired.office.bot.stop(0.3)
    await wired.close(await wired.form("Comment"))
    await wired.office.start_bot()

    await wired.shortcut("comment_from_message", message)
    await wired.submit(await wired.form("Comment"), {})
    asked = await wired.form("Not confirmed")
    assert len(written(service)) == 1
    await wired.press_in_form(asked, "Open form")
    await wired.submit(await wired.form("Comment"), {})
    await until_so(lambda: len(written(service)) > 1)
    await wired.office.idle()

    assert len(written(service)) == 2
