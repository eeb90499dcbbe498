"""Assigning issues: to a Slack user through their linked account, and to oneself."""

import pytest

from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of


@pytest.mark.usefixtures("linked_ben")
async def test_a_mention_is_the_users_linked_account(office: Office, ana: Person) -> None:
    await ana.ask("/issue new For Ben project:webshop to:@ben watch:@ana")

    assert office.newest_issue().assigned_to_id == 2
    assert "For Ben" in text_of(await ana.ask("/issues to:@ben project:any For Ben"))


async def test_assigns_from_a_card_and_a_search_row(office: Office, ana: Person) -> None:
    first, second = office.public_issue(), office.public_issue(1)
    first.assigned_to_id = second.assigned_to_id = None

    said = await ana.after(ana.press(await ana.ask(f"/issue {first.id}"), "Assign to me"))
    assert text_of(said).startswith(f"#{first.id} is assigned to you now.")
    found = await ana.ask(f"/issues id:{second.id}")
    await ana.after(ana.choose_from_menu(found, f"#{second.id}", "Assign to me"))

    assert first.assigned_to_id == second.assigned_to_id == 1
