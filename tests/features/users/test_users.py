"""Showing users, and creating and editing accounts as an administrator."""

import pytest

from bot.sandbox.tracker.data import User
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.person import DM, Person
from tests.support.reading import text_of, values_of


def account_of(office: Office, login: str) -> User | None:
    return next((user for user in office.tracker.data.users.values() if user.login == login), None)


async def linked_as(office: Office, person: Person) -> str | None:
    link = await office.bot.store.links.get(Owner(None, TEAM, person.user_id))
    return link.name if link else None


@pytest.mark.usefixtures("chris")
async def test_shows_what_the_service_shows_and_forms_only_to_administrators(ana: Person) -> None:
    own, other = text_of(await ana.ask("/tracker user me")), text_of(await ana.ask("/tracker user 3"))

    assert "ana@harbor.example" in own
    assert "Web Shop (" in own
    assert "Chris Lindqvist" in other
    assert "chris@harbor.example" not in other
    assert "There's no user 4711 in Tracker" in text_of(await ana.ask("/tracker user 4711"))
    assert "Chris Lindqvist" in text_of(await ana.ask("/tracker user @chris"))
    assert "hasn't linked an account" in text_of(await ana.ask("/tracker user @gwen"))
    for command in ("new @gwen", "edit 2"):
        await ana.command(f"/tracker user {command}")
        form = await ana.form_saying("That didn't work", "Only Tracker administrators can create")
        await ana.close(form)


async def test_creates_an_account_from_a_slack_profile(office: Office, chris: Person, gwen: Person) -> None:
    form = await chris.form_after(chris.command("/tracker user new @gwen"), "New account")
    assert list(values_of(form).values()) == ["Gwen", "Adair", "gwen", "gwen@harbor.example", None]

    answer = await chris.after(chris.submit(form, {}))

    assert answer["ephemeral"]
    assert "linked to <@U0GWEN001>. I sent them a message" in text_of(answer)
    created = account_of(office, "gwen")
    assert created is not None
    assert created.must_change_passwd
    message = await gwen.sees(lambda m: "You're linked" in text_of(m), DM)
    assert "<@U0CHRIS01> created an account for you" in text_of(message)
    assert await linked_as(office, gwen) == "Gwen Adair"
    assert "Gwen Adair" in text_of(await gwen.ask("/tracker whoami"))
    assert created.api_key not in str(office.workspace.calls) + str(await chris.state())


async def test_creates_an_account_and_keeps_a_refused_form(office: Office, chris: Person) -> None:
    await chris.command("/tracker user new")
    typed = {"First name": "Ivo", "Last name": "Marsh", "Login": "ivo", "Email": "ivo@harbor.example"}

    text = text_of(await chris.after(chris.submit(await chris.form("New account"), typed)))

    assert "Its owner can link it with `/tracker link`" in text
    assert account_of(office, "ivo") is not None

    form = await chris.form_after(chris.command("/tracker user new @gwen"), "New account")
    office.tracker.data.users[3].admin = False
    submitted = chris.submit(form, {"Last name": "Adair-Stone"})
    again = await chris.form_after(submitted, "New account", "Only Tracker administrators")
    assert values_of(again)["Last name"] == "Adair-Stone"


async def test_never_replaces_an_existing_link(office: Office, chris: Person, gwen: Person) -> None:
    for mentioned, refused in (("@lena", "from another company"), ("@ana", "already linked as Ana Ruiz")):
        await chris.form_after(chris.command(f"/tracker user new {mentioned}"), "That didn't work", refused)

    form = await chris.form_after(chris.command("/tracker user new @gwen"), "New account")
    await office.link(gwen.user_id, office.tracker.data.users[2].api_key)
    await chris.form_after(chris.submit(form, {}), "New account", "already linked as Ben Okafor")
    assert account_of(office, "gwen") is None
    assert await linked_as(office, gwen) == "Ben Okafor"


async def test_edits_an_account_in_a_prefilled_form(office: Office, chris: Person) -> None:
    form = await chris.form_after(chris.command("/tracker user edit 2"), "Edit account")
    values = {"First name": "Ben", "Last name": "Okafor", "Login": "ben", "Email": "ben@harbor.example"}
    assert values_of(form) == values
    await chris.submit(form, {"Login": "ana"})
    assert await chris.errors() == {"login": "Login has already been taken"}

    office.tracker.data.users[2].mail = "changed@elsewhere.example"  # meanwhile
    text = text_of(await chris.after(chris.submit(await chris.form("Edit account"), {"Last name": "Ojo"})))

    assert "Ben Ojo" in text
    ben = office.tracker.data.users[2]
    assert (ben.lastname, ben.mail) == ("Ojo", "changed@elsewhere.example")
