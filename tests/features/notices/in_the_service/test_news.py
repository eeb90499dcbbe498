"""Direct messages about what others do to issues that a user reported or that are assigned to them."""

from datetime import date, timedelta

import pytest

from bot.sandbox.tracker.data import Issue
from bot.slack.outgoing.stored import MAY_BE_REPEATED
from tests.features.notices.in_the_service.turns import ANA, BEN, TURN, Turns
from tests.features.notices.test_choosing import ticked
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.reading import JSON, text_of, until
from tests.support.wire import Wire

CHRIS = 3
NEW, IN_PROGRESS, RESOLVED = 1, 2, 3
HISTORY = "conversations.history"


@pytest.fixture
def mine(office: Office) -> Issue:
    """An issue that is assigned to Ben, and that Ana reported."""
    issue = office.public_issue()
    issue.author_id, issue.assigned_to_id, issue.status_id = ANA, BEN, NEW
    return issue


async def notices(person: Person) -> list[JSON]:
    await person.office.idle()
    return [message for message in await person.direct() if "Mute this issue" in text_of(message)]


async def turn_on(person: Person, *topics: str) -> None:
    for topic in topics:
        assert "Tell me about" in text_of(await person.ask(f"/tracker notify {topic} on"))


async def test_a_new_comment_is_told_once_it_is_turned_on(
    turns: Turns, ben: Person, ana: Person, mine: Issue
) -> None:
    turns.change(mine, ANA, "Before it was turned on.")
    await turns.next()
    assert await notices(ben) == []

    await turn_on(ben, "comments")
    turns.change(mine, ANA, "Any news? " + "x" * 400)
    turns.change(mine, BEN, "My own comment.")
    turns.change(mine, CHRIS, priority_id=mine.priority_id + 1)
    for _ in range(3):
        await turns.next()

    [message] = await notices(ben)
    said = text_of(message)
    assert said.startswith(f"Ana Ruiz commented on #{mine.id}:")
    assert "Any news? " + "x" * 289 + "…" in said
    assert not any(other in said for other in ("Before it", "My own", "changed"))
    assert "Comment" in said
    assert "Open in Tracker" in said
    assert await notices(ana) == []


async def test_changes_are_told_with_what_was_before(turns: Turns, ben: Person, mine: Issue) -> None:
    await turn_on(ben, "changes")
    mine.author_id, mine.due_date = BEN, None
    turns.change(mine, ANA, status_id=IN_PROGRESS, due_date=date(2030, 11, 3))
    turns.change(mine, ANA, "A comment, which is off.", status_id=RESOLVED)
    turns.change(mine, CHRIS, assigned_to_id=ANA, subject="Another subject")
    turns.change(mine, BEN, priority_id=mine.priority_id + 1)
    await turns.next()

    [message] = await notices(ben)
    said = text_of(message)
    assert said.startswith(f"Ana Ruiz changed #{mine.id}:\nStatus: New → Resolved\nDue date: none → ")
    assert f"Chris Lindqvist changed #{mine.id}:\nAssignee: you → Ana Ruiz" in said
    assert not any(other in said for other in ("Priority:", "Subject", "A comment"))


async def test_what_is_changed_back_is_not_told(turns: Turns, ben: Person, mine: Issue) -> None:
    await turn_on(ben, "changes")
    turns.change(mine, ANA, status_id=IN_PROGRESS)
    turns.change(mine, ANA, status_id=NEW)
    await turns.next()

    assert await notices(ben) == []


async def test_one_message_tells_the_assignment_and_everything_after_it(
    turns: Turns, ben: Person, mine: Issue
) -> None:
    await turn_on(ben, "comments", "changes")
    mine.assigned_to_id = ANA
    turns.change(mine, CHRIS, "While it was Ana's.", status_id=IN_PROGRESS)
    turns.change(mine, ANA, "Can you look?", assigned_to_id=BEN)
    turns.change(mine, CHRIS, "Thanks!", status_id=RESOLVED)
    await turns.next()

    [message] = await notices(ben)
    said = text_of(message)
    parts = ("Ana Ruiz assigned", "Status: In progress → Resolved", "Can you look?", "Thanks!")
    assert [said.find(part) for part in parts] == sorted(said.find(part) for part in parts)
    assert all(part in said for part in parts)
    assert "While it was Ana's" not in said
    assert "Assignee" not in said


@pytest.mark.parametrize("sees_them", [True, False])
async def test_a_private_comment_is_told_only_to_those_who_may_see_it(
    office: Office, turns: Turns, ben: Person, mine: Issue, *, sees_them: bool
) -> None:
    for role in office.tracker.data.roles.values():
        shown = {"view_private_notes"}
        role.rights = role.rights | shown if sees_them else role.rights - shown
    await turn_on(ben, "comments")
    turns.change(mine, ANA, "Between us.")
    mine.notes[-1].is_private = True
    await turns.next()

    messages = await notices(ben)
    assert len(messages) == sees_them
    assert all("in a private note" in text_of(message) for message in messages)


@pytest.mark.parametrize("where", ["the message", "the list of muted issues", "a command"])
async def test_a_muted_issue_is_not_told_until_it_is_unmuted(
    office: Office, turns: Turns, ben: Person, mine: Issue, where: str
) -> None:
    await turn_on(ben, "comments")
    turns.change(mine, ANA, "First.")
    await turns.next()
    [message] = await notices(ben)
    await ben.press(message, "Mute this issue")
    message = await ben.sees(lambda m: m["ts"] == message["ts"] and "Unmute" in text_of(m), DM)
    turns.change(mine, ANA, "While it is muted.")
    await turns.next()
    assert await notices(ben) == []
    listed = await ben.ask("/tracker notify")
    assert f"Muted: <{office.link_to(mine)}|#{mine.id}>" in text_of(listed)

    if where == "a command":
        await ben.ask(f"/issue {mine.id} unmute")
    else:
        await ben.press(message if where == "the message" else listed, "Unmute")
    await office.idle()
    assert len(await notices(ben)) == 1
    turns.change(mine, ANA, "Second.")
    await turns.next()

    assert ["Second." in text_of(message) for message in await notices(ben)] == [False, True]
    assert "While it is muted." not in str(await ben.direct())


async def test_a_muted_issue_that_is_gone_is_unmuted(
    office: Office, turns: Turns, ben: Person, mine: Issue
) -> None:
    await turn_on(ben, "comments")
    turns.change(mine, ANA, "First.")
    await turns.next()
    [message] = await notices(ben)
    await ben.press(message, "Mute this issue")
    await office.idle()
    del office.tracker.data.issues[mine.id]

    await ben.press(await ben.ask("/tracker notify"), "Unmute")

    await ben.sees(lambda m: f"I unmuted #{mine.id}, but it's no longer in Tracker" in text_of(m))
    assert "Muted" not in text_of(await ben.ask("/tracker notify"))


@pytest.mark.parametrize("fails", ["GET /issues.json", "GET /issues/"])
async def test_what_happens_while_the_service_fails_for_an_hour_is_told_in_one_message(
    turns: Turns, ben: Person, mine: Issue, wire: Wire, fails: str
) -> None:
    await turn_on(ben, "comments", "changes")
    fault = fails if fails.endswith("json") else f"{fails}{mine.id}.json"
    wire.fail("503 before it", fault, lasting=True)
    for number in range(10):
        turns.change(mine, ANA, f"Comment {number}.")
        await turns.next()
    turns.change(mine, CHRIS, status_id=RESOLVED)
    assert await notices(ben) == []

    wire.heal()
    for _ in range(2):
        await turns.next()

    [message] = await notices(ben)
    assert all(f"Comment {number}." in text_of(message) for number in range(7))
    assert "And 3 more." in text_of(message)
    assert "Status: New → Resolved" in text_of(message)


@pytest.mark.parametrize("fault", ["500 before it", "lose the request", "lose the answer"])
async def test_a_message_of_unknown_outcome_tells_each_comment_once(
    office: Office, turns: Turns, ben: Person, mine: Issue, fault: str
) -> None:
    slack = office.faulty_slack
    await turn_on(ben, "comments")
    turns.change(mine, ANA, "First.")
    slack.faults = [("chat.postMessage", fault)]
    slack.lasting = {HISTORY: "429:1"}
    await turns.next()
    turns.change(mine, ANA, "Second.")
    await turns.next()
    slack.lasting = {}

    async def both() -> bool:
        return "Second." in str(await notices(ben))

    await until(both)
    await turns.next()
    said = str([text_of(message) for message in await notices(ben)])
    assert (said.count("First."), said.count("Second.")) == (1, 1)
    assert MAY_BE_REPEATED not in said


async def test_what_was_said_before_an_assignment_with_the_bot_is_told_too(
    office: Office, turns: Turns, ana: Person, ben: Person, mine: Issue
) -> None:
    slack = office.faulty_slack
    await turn_on(ben, "comments")
    mine.author_id, mine.assigned_to_id = BEN, None
    turns.change(mine, ANA, "I'll give it to you.", before=TURN + timedelta(seconds=10))
    slack.lasting = {"chat.postMessage": "refuse:access_denied"}
    await ana.ask(f"/issue {mine.id} to:@ben")
    await turns.next()
    slack.lasting = {}
    for _ in range(2):
        await turns.next()

    said = str([text_of(message) for message in await notices(ben)])
    assert (said.count("assigned #"), said.count("I'll give it")) == (1, 1)


async def test_a_reading_is_two_lists_and_the_changed_issues(
    turns: Turns, ben: Person, mine: Issue, wire: Wire
) -> None:
    await turn_on(ben, "comments", "changes")
    await turns.next()
    turns.change(mine, ANA, "Any news?")
    wire.heal()
    await turns.next()

    lists = wire.asked.count("GET /issues.json")
    assert lists == 2 + 1  # Ben's, and Ana's, who is told of assignments only
    assert wire.asked.count(f"GET /issues/{mine.id}.json") == 1
    assert len(await notices(ben)) == 1


async def test_turning_on_another_topic_loses_no_assignment(turns: Turns, ben: Person, mine: Issue) -> None:
    mine.assigned_to_id = ANA
    turns.change(mine, ANA, "Before.", before=timedelta(minutes=3), assigned_to_id=BEN)
    turns.pass_time(timedelta(minutes=5))
    await turn_on(ben, "comments")
    turns.pass_time(timedelta(minutes=-5))
    await turns.next()

    [message] = await notices(ben)
    assert f"assigned #{mine.id} to you" in text_of(message)
    assert "Before." not in text_of(message)


async def test_the_boxes_show_what_is_stored_after_an_error(office: Office, ben: Person, wire: Wire) -> None:
    await ben.open_home()
    shown = await ben.home_saying("Tell me about")
    wire.fail("503 before it", lasting=True)
    await ben.tick(shown, "Issues assigned", "New comments")
    await office.idle()

    assert ticked(await ben.home_saying("Tell me about")) == ["assigned"]
