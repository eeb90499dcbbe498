"""Listing, showing and creating projects, and setting the channel's project."""

from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of


async def test_lists_projects_and_finds_them_by_partial_name(ana: Person) -> None:
    assert "*4 projects*" in text_of(await ana.ask("/tracker projects"))
    assert "Mobile App" in text_of(await ana.ask("/tracker projects mob"))


async def test_shows_the_details_of_open_and_closed_projects(ana: Person) -> None:
    said = text_of(await ana.ask("/tracker project webshop"))
    assert "*Categories*" in said
    assert "Checkout" in said
    assert "Closed" in text_of(await ana.ask("/tracker project old-shop"))


async def test_sets_uses_and_clears_the_channels_project(ana: Person) -> None:
    assert "Mobile App" in (await ana.ask("/tracker default mobile"))["text"]
    assert "Project: Mobile App" in text_of(await ana.ask("/issues"))
    assert "no longer has a project" in (await ana.ask("/tracker default none"))["text"]
    assert "All projects" in text_of(await ana.ask("/issues"))


async def test_shows_the_channels_project_and_how_to_change_it(ana: Person) -> None:
    none = (await ana.ask("/tracker default"))["text"]
    assert "has no project that you can see" in none
    assert "Set one: `/tracker default &lt;project&gt;`" in none

    await ana.ask("/tracker default mobile")
    said = (await ana.ask("/tracker default"))["text"]
    assert "uses *Mobile App*" in said
    assert "`/tracker default none`" in said
    assert "Project: Mobile App" in text_of(await ana.ask("/issues"))


async def test_hides_the_channels_project_from_users_without_access(
    office: Office, ana: Person, ben: Person
) -> None:
    await office.link(ben.user_id, KEYS["ben"])
    await ana.ask("/tracker default security")
    assert "uses *Security*" in (await ana.ask("/tracker default"))["text"]

    assert "has no project that you can see" in (await ben.ask("/tracker default"))["text"]


async def test_an_unknown_project_offers_the_visible_ones(ana: Person) -> None:
    offer = await ana.ask("/tracker project nope")
    assert "Infrastructure, Mobile App, Security, or Web Shop" in offer["text"]

    assert "Mobile App" in text_of(await ana.after(ana.choose_in_message(offer, "Mobile App")))


async def test_a_misspelled_project_is_one_press_away(ana: Person) -> None:
    offer = await ana.ask("/tracker default webshp")
    assert "No project called “webshp”. Did you mean Web Shop?" in offer["text"]

    assert "now uses *Web Shop*" in text_of(await ana.after(ana.press(offer, "Web Shop")))


async def test_an_ambiguous_project_name_offers_the_candidates(ana: Person) -> None:
    offer = await ana.ask("/tracker project e")
    assert "Type more of the project's name" in offer["text"]

    shown = await ana.after(ana.choose_in_message(offer, "Web Shop"))

    assert "*Categories*" in text_of(shown)


async def test_chooses_the_channels_project_from_a_list(ana: Person) -> None:
    shown = await ana.ask("/tracker default")

    said = await ana.after(ana.choose_in_message(shown, "Mobile App"))

    assert "now uses *Mobile App*" in text_of(said)


async def test_creates_a_project_and_makes_it_the_channels(office: Office, chris: Person) -> None:
    await chris.command("/tracker project new")
    form = await chris.form("New project")
    await chris.type_into(form, "Name", "Déjà vu: Étude 2")

    async def suggested() -> JSON | None:
        view = await chris.form("New project")
        return view if values_of(view)["Identifier"] == "deja-vu-etude-2" else None

    answer = await chris.after(
        chris.submit(
            await until(suggested), {"Name": "Déjà vu", "Description": "Seen before", "Public": True}
        )
    )
    assert answer["ephemeral"]
    assert "`deja-vu` · Public" in text_of(answer)
    made = office.tracker.data.project("deja-vu")
    assert made is not None
    assert (made.description, made.is_public) == ("Seen before", True)

    said = await chris.after(chris.press(answer, "Use in this channel"))
    assert "now uses *Déjà vu*" in text_of(said)
    assert "Déjà vu" in text_of(await chris.ask("/tracker projects"))


async def test_keeps_a_typed_identifier_and_shows_its_error(office: Office, chris: Person) -> None:
    await chris.command("/tracker project new Web Shop")
    form = await chris.form("New project")
    assert values_of(form)["Identifier"] == "web-shop"

    await chris.submit(form, {"Identifier": "webshop"})

    assert list((await chris.errors()).values()) == ["Identifier has already been taken"]
    await chris.after(chris.submit(await chris.form("New project"), {"Identifier": "webshop-2"}))
    made = office.tracker.data.project("webshop-2")
    assert made is not None
    assert not made.is_public


async def test_requires_an_identifier_when_the_name_yields_none(chris: Person) -> None:
    await chris.command("/tracker project new")

    await chris.submit(await chris.form("New project"), {"Name": "计划"})

    assert "I can't make one from this name" in "".join((await chris.errors()).values())


async def test_a_forbidden_project_creation_keeps_the_form(office: Office, ben: Person) -> None:
    await office.link(ben.user_id, office.tracker.data.users[2].api_key)
    await ben.command("/tracker project new Sailing")
    await ben.submit(await ben.form("New project"), {"Description": "On the lake"})

    again = await ben.form_saying("New project", "can't create projects")
    assert values_of(again)["Description"] == "On the lake"
