"""Assigning to a Slack user through their linked account."""

from bot.sandbox.people import PEOPLE
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of

BEN_KEY = next(p.api_key for p in PEOPLE if p.login == "ben")


async def test_a_mention_assigns_to_the_linked_account(office: Office, ana: Person, ben: Person) -> None:
    await office.link(ben.user_id, BEN_KEY)

    await ana.ask("/issue new For Ben project:webshop to:@ben watch:@ana")

    made = office.tracker.data.issues[max(office.tracker.data.issues)]
    assert made.subject == "For Ben"
    assert made.assigned_to_id == 2


async def test_refuses_an_unlinked_assignee_and_keeps_the_form(office: Office, ana: Person) -> None:
    count = len(office.tracker.data.issues)

    said = text_of(await ana.ask("/issue new For Ben project:webshop to:@ben"))

    assert "hasn't linked an account" in said
    assert "/issue new For Ben" in said
    assert len(office.tracker.data.issues) == count


async def test_finds_issues_assigned_to_a_slack_user(office: Office, ana: Person, ben: Person) -> None:
    await office.link(ben.user_id, BEN_KEY)
    await ana.ask("/issue new For Ben project:webshop to:@ben")

    assert "For Ben" in text_of(await ana.ask("/issues to:@ben project:any For Ben"))


async def test_assigns_from_a_card_and_a_search_row(office: Office, ana: Person) -> None:
    first, second = [i for i in office.tracker.data.issues.values() if i.project_id == 1][:2]
    first.assigned_to_id = second.assigned_to_id = None

    said = await ana.after(ana.press(await ana.ask(f"/issue {first.id}"), "Assign to me"))
    assert text_of(said).startswith(f"#{first.id} is assigned to you now.")
    found = await ana.ask(f"/issues id:{second.id}")
    await ana.after(ana.choose_from_menu(found, f"#{second.id}", "Assign to me"))

    assert first.assigned_to_id == second.assigned_to_id == 1
