"""Showing and sharing issues."""

from pathlib import Path

import pytest

from bot.sandbox.tracker.data import Attachment, Issue
from bot.sandbox.tracker.defaults import CLOSED, FEEDBACK, IN_PROGRESS, NEW
from bot.sandbox.tracker.server import Tracker
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of

ANA = 1


async def test_the_card_shows_the_issue_and_its_relations(office: Office, ana: Person) -> None:
    data = office.tracker.data
    parent = next(i for i in data.issues.values() if any(c.parent_id == i.id for c in data.issues.values()))
    child = next(c for c in data.issues.values() if c.parent_id == parent.id)
    related = next(iter(data.relations.values()))
    attached = Attachment(900, "a.txt", b"secret", "text/plain", ANA, parent.created_on, "", parent.id)
    data.attachments[900] = attached

    card = await ana.ask(f"/issue {parent.id}")

    text = text_of(card)
    assert card["ephemeral"]
    assert f"#{child.id}" in text
    assert "|a.txt> (6 bytes)" in text
    for label in ("*Status*", "*Priority*", "*Assignee*", "*Time*"):
        assert label in text
    text = text_of(await ana.ask(f"/issue #{related.issue_id}"))
    assert f"#{related.issue_to_id}" in text


async def test_the_card_is_short_and_shows_more_in_place(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    issue.description, issue.done_ratio = "Start. " + "Many words. " * 60 + "The end.", 0
    issue.category_id = issue.assigned_to_id = issue.due_date = None

    card = await ana.ask(f"/issue {issue.id}")
    text = text_of(card)
    assert "Start." in text
    assert "The end." not in text
    assert "Unassigned" in text
    assert not any(label in text for label in ("Progress", "Category", "Due date"))

    more = await ana.after(ana.press(card, "Show more"))
    assert (more["ts"], more["ephemeral"]) == (card["ts"], True)
    assert "The end." in text_of(more)
    issue.done_ratio = 60
    assert "▰▰▰▰▰▰▱▱▱▱ 60%" in text_of(await ana.ask(f"/issue {issue.id}"))


async def test_hidden_and_missing_issues_get_the_same_answer(office: Office, linked_ben: Person) -> None:
    hidden = next(i.id for i in office.tracker.data.issues.values() if i.project_id == 4)

    one = (await linked_ben.ask(f"/issue {hidden}"))["text"]
    other = (await linked_ben.ask("/issue 99999"))["text"]

    text = "There's no issue #{} in Tracker, or you can't see it. Check the number, or search with `/issues`."
    assert (one, other) == (text.format(hidden), text.format(99999))
    elsewhere = await linked_ben.ask("/issue https://elsewhere.example/issues/28")
    assert "That link isn't an issue in Tracker" in text_of(elsewhere)


class TestStatusSelect:
    @pytest.fixture
    def tracker(self) -> Tracker:
        return demo_tracker(issue_reads=True, listing=True)

    @pytest.fixture
    def issue(self, office: Office) -> Issue:
        public = office.public_issue()
        public.status_id = NEW
        return public

    async def test_offers_the_allowed_statuses(self, ana: Person, linked_ben: Person, issue: Issue) -> None:
        assert statuses(await ana.ask(f"/issue {issue.id}")) == [
            *("New", "In progress", "Resolved", "Feedback", "Closed")
        ]
        issue.status_id = CLOSED

        card = await linked_ben.ask(f"/issue {issue.id}")
        assert statuses(card) == []
        assert "*Status* Closed" in text_of(card).replace("\n", " ")

    async def test_a_choice_changes_the_issue(self, office: Office, ana: Person, issue: Issue) -> None:
        card = await ana.ask(f"/issue {issue.id}")

        await ana.choose_in_message(card, "In progress")
        await office.idle()

        assert issue.status_id == IN_PROGRESS
        *_, refreshed, message = await ana.messages()
        assert "Status: New → *In progress*" in text_of(message)
        assert refreshed["ts"] == card["ts"]
        assert chosen(refreshed) == "In progress"
        await ana.choose_in_message(refreshed, "Feedback")
        await office.idle()
        assert issue.status_id == FEEDBACK

    async def test_a_refusal_shows_the_actual_status(self, office: Office, ana: Person, issue: Issue) -> None:
        card = await ana.ask(f"/issue {issue.id}")
        office.tracker.data.roles[2].next_statuses[NEW] = frozenset({IN_PROGRESS})  # type: ignore[index] # Ana's
        await ana.choose_in_message(card, "Closed")
        await office.idle()

        *_, refreshed, message = await ana.messages()
        assert f"Tracker doesn't let you set #{issue.id} to Closed. Choose New or In progress." in text_of(
            message
        )
        assert (issue.status_id, chosen(refreshed)) == (NEW, "New")
        assert statuses(refreshed) == ["New", "In progress"]

    @pytest.mark.parametrize("how", [{"issue_reads": False}, {"issue_updates": False}])
    async def test_is_missing_where_the_service_cannot_do_it(self, tmp_path: Path, how: JSON) -> None:
        async with Office(tmp_path, tracker=demo_tracker(**{"issue_reads": True} | how)).opened(
            "ana"
        ) as office:
            ana, issue = Person(office, "U0ANA0001"), office.public_issue()
            await ana.ask(f"/issue {issue.id} due:2036-01-02")

            assert statuses(await ana.ask(f"/issue {issue.id}")) == []


def _select(card: JSON) -> JSON:
    accessories = (block.get("accessory") or {} for block in card["blocks"])
    return next((one for one in accessories if one.get("type") == "static_select"), {})


def statuses(card: JSON) -> list[str]:
    return [option["text"]["text"] for option in _select(card).get("options", ())]


def chosen(card: JSON) -> str:
    text: str = _select(card)["initial_option"]["text"]["text"]
    return text
