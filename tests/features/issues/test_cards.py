"""Showing and sharing issues."""

from bot.sandbox.tracker.data import Attachment
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of

ANA = 1


async def test_the_card_shows_the_issue_and_its_relations(office: Office, ana: Person) -> None:
    data = office.tracker.data
    parent = next(i for i in data.issues.values() if any(c.parent_id == i.id for c in data.issues.values()))
    child = next(c for c in data.issues.values() if c.parent_id == parent.id)
    related = next(iter(data.relations.values()))
    attached = Attachment(900, "a.txt", b"secret", "text/plain", ANA, parent.created_on, "", parent.id)
    data.attachments[900] = attached

    card = await ana.ask(f"/issue {parent.id}")

    said = text_of(card)
    assert card["ephemeral"]
    assert f"#{child.id}" in said
    assert "|a.txt> (6 bytes)" in said
    for label in ("*Status*", "*Priority*", "*Assignee*", "*Time*"):
        assert label in said
    said = text_of(await ana.ask(f"/issue #{related.issue_id}"))
    assert f"#{related.issue_to_id}" in said


async def test_the_card_is_short_and_shows_more_in_place(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    issue.description, issue.done_ratio = "Start. " + "Many words. " * 60 + "The end.", 0
    issue.category_id = issue.assigned_to_id = issue.due_date = None

    card = await ana.ask(f"/issue {issue.id}")
    said = text_of(card)
    assert "Start." in said
    assert "The end." not in said
    assert "Unassigned" in said
    assert not any(label in said for label in ("Progress", "Category", "Due date"))

    more = await ana.after(ana.press(card, "Show more"))
    assert (more["ts"], more["ephemeral"]) == (card["ts"], True)
    assert "The end." in text_of(more)
    issue.done_ratio = 60
    assert "▰▰▰▰▰▰▱▱▱▱ 60%" in text_of(await ana.ask(f"/issue {issue.id}"))


async def test_hidden_and_missing_issues_get_the_same_answer(office: Office, linked_ben: Person) -> None:
    hidden = next(i.id for i in office.tracker.data.issues.values() if i.project_id == 4)

    one = (await linked_ben.ask(f"/issue {hidden}"))["text"]
    other = (await linked_ben.ask("/issue 99999"))["text"]

    said = "There's no issue #{} in Tracker, or you can't see it. Check the number, or search with `/issues`."
    assert (one, other) == (said.format(hidden), said.format(99999))
    elsewhere = await linked_ben.ask("/issue https://elsewhere.example/issues/28")
    assert "That link isn't an issue in Tracker" in text_of(elsewhere)
