"""Projects: listed, shown, created, and set as a channel's own."""

from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of


async def test_projects_are_listed_and_found_by_a_part_of_their_name(ana: Person) -> None:
    assert "*4 projects*" in text_of(await ana.ask("/tracker projects"))
    assert "Mobile App" in text_of(await ana.ask("/tracker projects mob"))


async def test_a_project_is_shown_with_what_it_holds_also_when_it_is_closed(ana: Person) -> None:
    said = text_of(await ana.ask("/tracker project webshop"))
    assert "*Categories*" in said
    assert "Checkout" in said
    assert "closed" in text_of(await ana.ask("/tracker project old-shop"))


async def test_a_channels_project_is_set_used_and_taken_back(ana: Person) -> None:
    assert "Mobile App" in (await ana.ask("/tracker default mobile"))["text"]
    assert "Project: Mobile App" in text_of(await ana.ask("/issues"))
    assert "no project" in (await ana.ask("/tracker default none"))["text"]
    assert "All projects" in text_of(await ana.ask("/issues"))


async def test_a_channels_project_is_told_with_how_to_change_it(ana: Person) -> None:
    none = (await ana.ask("/tracker default"))["text"]
    assert "has no project of its own" in none
    assert "`/tracker default website`" in none

    await ana.ask("/tracker default mobile")
    said = (await ana.ask("/tracker default"))["text"]
    assert "project is Mobile App" in said
    assert "`/tracker default none`" in said
    assert "Project: Mobile App" in text_of(await ana.ask("/issues"))


async def test_a_channels_project_is_told_to_nobody_who_doesnt_see_it(
    office: Office, ana: Person, ben: Person
) -> None:
    await office.link(ben.user_id, KEYS["ben"])
    await ana.ask("/tracker default security")
    assert "project is Security" in (await ana.ask("/tracker default"))["text"]

    assert "has no project of its own that you see" in (await ben.ask("/tracker default"))["text"]


async def test_an_unknown_project_is_answered_with_those_there_are(ana: Person) -> None:
    assert (
        "Infrastructure, Mobile App, Security or Web Shop" in (await ana.ask("/tracker project nope"))["text"]
    )


async def test_an_ambiguous_name_is_answered_with_the_candidates(ana: Person) -> None:
    said = (await ana.ask("/tracker default e"))["text"]
    assert "write more of the project's name" in said


async def test_a_project_is_made_in_a_form_and_becomes_the_channels_own(
    office: Office, chris: Person
) -> None:
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
    assert "`deja-vu` · public" in text_of(answer)
    made = office.tracker.data.project("deja-vu")
    assert made is not None
    assert (made.description, made.is_public) == ("Seen before", True)

    said = await chris.after(chris.press(answer, "Make it this channel's project"))
    assert "in Déjà vu from now on" in text_of(said)
    assert "Déjà vu" in text_of(await chris.ask("/tracker projects"))


async def test_an_identifier_of_ones_own_stays_and_its_refusal_stands_at_it(
    office: Office, chris: Person
) -> None:
    await chris.command("/tracker project new Web Shop")
    form = await chris.form("New project")
    assert values_of(form)["Identifier"] == "web-shop"

    await chris.submit(form, {"Identifier": "webshop"})

    assert list((await chris.errors()).values()) == ["Identifier has already been taken"]
    await chris.after(chris.submit(await chris.form("New project"), {"Identifier": "webshop-2"}))
    made = office.tracker.data.project("webshop-2")
    assert made is not None
    assert not made.is_public


async def test_a_name_that_gives_no_identifier_needs_one_typed(chris: Person) -> None:
    await chris.command("/tracker project new")

    await chris.submit(await chris.form("New project"), {"Name": "计划"})

    assert "None could be made of the name" in "".join((await chris.errors()).values())


async def test_who_may_not_create_projects_is_told_so_and_loses_nothing(office: Office, ben: Person) -> None:
    await office.link(ben.user_id, office.tracker.data.users[2].api_key)
    await ben.command("/tracker project new Sailing")
    await ben.submit(await ben.form("New project"), {"Description": "On the lake"})

    again = await ben.form_saying("New project", "doesn't let you create projects")
    assert values_of(again)["Description"] == "On the lake"
