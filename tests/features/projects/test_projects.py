"""Listing, showing and creating projects, and setting the channel's project."""

from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of, values_of


async def test_lists_finds_and_shows_open_and_closed_projects(ana: Person) -> None:
    assert "*4 projects*" in text_of(await ana.ask("/tracker projects"))
    assert "Mobile App" in text_of(await ana.ask("/tracker projects mob"))
    text = text_of(await ana.ask("/tracker project webshop"))
    assert "*Categories*" in text
    assert "Checkout" in text
    assert "Closed" in text_of(await ana.ask("/tracker project old-shop"))


async def test_sets_shows_uses_and_clears_the_channels_project(ana: Person, linked_ben: Person) -> None:
    none = await ana.ask("/tracker default")
    assert "has no project that you can see" in none["text"]
    assert "Set one: `/tracker default &lt;project&gt;`" in none["text"]
    answer = await ana.after(ana.choose_in_message(none, "Mobile App"))
    assert "now uses *Mobile App*" in text_of(answer)

    assert "Project: Mobile App" in text_of(await ana.ask("/issues"))
    answer = (await ana.ask("/tracker default"))["text"]
    assert "uses *Mobile App*" in answer
    assert "`/tracker default none`" in answer

    assert "no longer has a project" in (await ana.ask("/tracker default none"))["text"]
    assert "All projects" in text_of(await ana.ask("/issues"))
    await ana.ask("/tracker default security")
    assert "uses *Security*" in (await ana.ask("/tracker default"))["text"]
    assert "has no project that you can see" in (await linked_ben.ask("/tracker default"))["text"]


async def test_an_unknown_project_name_offers_those_it_may_mean(ana: Person) -> None:
    offer = await ana.ask("/tracker project nope")
    assert "Infrastructure, Mobile App, Security, or Web Shop" in offer["text"]
    assert "Mobile App" in text_of(await ana.after(ana.choose_in_message(offer, "Mobile App")))

    offer = await ana.ask("/tracker project e")
    assert "Type more of the project's name" in offer["text"]
    assert "*Categories*" in text_of(await ana.after(ana.choose_in_message(offer, "Web Shop")))

    offer = await ana.ask("/tracker default webshp")
    assert "No project called “webshp”. Did you mean Web Shop?" in offer["text"]
    assert "now uses *Web Shop*" in text_of(await ana.after(ana.press(offer, "Web Shop")))


async def test_creates_a_project_and_makes_it_the_channels(office: Office, chris: Person) -> None:
    form = await chris.form_after(chris.command("/tracker project new"), "New project")
    await chris.type_into(form, "Name", "Déjà vu: Étude 2")
    form = await chris.form("New project", lambda v: values_of(v)["Identifier"] == "deja-vu-etude-2")

    values = {"Name": "Déjà vu", "Description": "Seen before", "Public": True}
    answer = await chris.after(chris.submit(form, values))
    assert answer["ephemeral"]
    assert "`deja-vu` · Public" in text_of(answer)
    made = office.tracker.data.project("deja-vu")
    assert made is not None
    assert (made.description, made.is_public) == ("Seen before", True)

    assert "now uses *Déjà vu*" in text_of(await chris.after(chris.press(answer, "Use in this channel")))
    assert "Déjà vu" in text_of(await chris.ask("/tracker projects"))


async def test_a_refused_identifier_keeps_the_form(office: Office, chris: Person) -> None:
    form = await chris.form_after(chris.command("/tracker project new Web Shop"), "New project")
    assert values_of(form)["Identifier"] == "web-shop"
    await chris.submit(form, {"Identifier": "webshop"})
    assert list((await chris.errors()).values()) == ["Identifier has already been taken"]
    await chris.submit(form, {"Name": "计划", "Identifier": ""})
    assert "I can't make one from this name" in "".join((await chris.errors()).values())

    await chris.after(chris.submit(await chris.form("New project"), {"Identifier": "webshop-2"}))
    made = office.tracker.data.project("webshop-2")
    assert made is not None
    assert not made.is_public
