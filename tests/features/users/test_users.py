"""People of the service: shown to whoever sees them, created and changed by administrators."""

import pytest

from bot.sandbox.tracker.data import User
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of


def account(office: Office, login: str) -> User | None:
    return next((user for user in office.tracker.data.users.values() if user.login == login), None)


async def linked_as(office: Office, person: Person) -> str | None:
    link = await office.bot.store.links.get(Owner(None, TEAM, person.user_id))
    return link.name if link else None


async def told(person: Person, text: str) -> JSON:
    async def found() -> JSON | None:
        return next((said for said in await person.direct() if text in text_of(said)), None)

    return await until(found)


async def test_a_person_is_shown_with_no_more_than_the_service_shows(ana: Person) -> None:
    own, other = text_of(await ana.ask("/tracker user me")), text_of(await ana.ask("/tracker user 3"))

    assert "ana@harbor.example" in own
    assert "Web Shop (" in own
    assert "Chris Lindqvist" in other
    assert "chris@harbor.example" not in other
    assert "There is no user 4711 in Tracker" in text_of(await ana.ask("/tracker user 4711"))


@pytest.mark.usefixtures("chris")
async def test_a_slack_user_is_shown_through_their_link(ana: Person) -> None:
    assert "Chris Lindqvist" in text_of(await ana.ask("/tracker user @chris"))
    assert "hasn't linked an account" in text_of(await ana.ask("/tracker user @gwen"))


async def test_an_account_is_made_from_a_slack_profile_linked_and_its_owner_told(
    office: Office, chris: Person, gwen: Person
) -> None:
    await chris.command("/tracker user new @gwen")
    form = await chris.form("New account")
    assert values_of(form) == {
        "First name": "Gwen",
        "Last name": "Adair",
        "Login": "gwen",
        "Mail": "gwen@harbor.example",
        "Send the account by mail": None,
    }

    answer = await chris.after(chris.submit(form, {}))

    assert answer["ephemeral"]
    assert "linked to <@U0GWEN001>. They were told" in text_of(answer)
    made = account(office, "gwen")
    assert made is not None
    assert made.must_change_passwd
    assert "<@U0CHRIS01> created an account for you" in text_of(await told(gwen, "linked to you here"))
    assert await linked_as(office, gwen) == "Gwen Adair"
    assert "Gwen Adair" in text_of(await gwen.ask("/tracker whoami"))
    assert made.api_key not in str(office.workspace.calls) + str(await chris.state())


async def test_an_account_for_nobody_in_slack_is_linked_to_nobody(office: Office, chris: Person) -> None:
    await chris.command("/tracker user new")
    typed = {"First name": "Ivo", "Last name": "Marsh", "Login": "ivo", "Mail": "ivo@harbor.example"}

    said = text_of(await chris.after(chris.submit(await chris.form("New account"), typed)))

    assert "Whose it is links it with `/tracker link`" in said
    assert account(office, "ivo") is not None


async def test_a_refusal_stands_at_its_field_and_nothing_is_lost(office: Office, chris: Person) -> None:
    await chris.command("/tracker user new @gwen")
    form = await chris.form("New account")

    await chris.submit(form, {"Login": "ben", "Mail": "ben@harbor.example"})

    assert await chris.errors() == {
        "login": "Login has already been taken",
        "mail": "Email has already been taken",
    }
    again = await chris.form("New account")
    await chris.after(chris.submit(again, {"Login": "gwen", "Mail": "gwen@harbor.example"}))
    assert account(office, "gwen") is not None


async def test_who_is_linked_already_keeps_their_link(office: Office, chris: Person, gwen: Person) -> None:
    await chris.command("/tracker user new @ana")
    refused = text_of(await chris.form("That didn't work"))
    assert "has linked an account already, as Ana Ruiz" in refused

    await chris.command("/tracker user new @gwen")
    form = await chris.form("New account")
    await office.link(gwen.user_id, office.tracker.data.users[2].api_key)
    await chris.submit(form, {})

    await chris.form_saying("New account", "has linked an account already, as Ben Okafor")
    assert account(office, "gwen") is None
    assert await linked_as(office, gwen) == "Ben Okafor"


async def test_a_partner_from_another_company_gets_no_account_here(chris: Person) -> None:
    await chris.command("/tracker user new @lena")
    assert "from another company" in text_of(await chris.form("That didn't work"))


async def test_who_is_no_administrator_is_told_so_in_place_of_the_form(ana: Person) -> None:
    for command in ("new @gwen", "edit 2"):
        await ana.command(f"/tracker user {command}")
        said = await ana.form("That didn't work")
        assert "lets only its administrators create and change accounts" in text_of(said)
        await ana.close(said)


async def test_rights_that_were_lost_while_the_form_was_open_are_said_in_it(
    office: Office, chris: Person
) -> None:
    await chris.command("/tracker user new @gwen")
    form = await chris.form("New account")
    office.tracker.data.users[3].admin = False

    await chris.submit(form, {"Last name": "Adair-Stone"})

    again = await chris.form_saying("New account", "only its administrators")
    assert values_of(again)["Last name"] == "Adair-Stone"


async def test_an_account_is_changed_in_a_form_with_what_it_holds(office: Office, chris: Person) -> None:
    await chris.command("/tracker user edit 2")
    form = await chris.form("Change account")
    assert values_of(form) == {
        "First name": "Ben",
        "Last name": "Okafor",
        "Login": "ben",
        "Mail": "ben@harbor.example",
    }
    await chris.submit(form, {"Login": "ana"})
    assert await chris.errors() == {"login": "Login has already been taken"}

    said = text_of(await chris.after(chris.submit(await chris.form("Change account"), {"Last name": "Ojo"})))

    assert "Ben Ojo" in said
    assert office.tracker.data.users[2].lastname == "Ojo"
