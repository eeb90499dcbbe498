"""Projects: listed, shown, and set as a channel's own."""

from tests.journeys.office import Person, text_of


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
    assert "all projects" in text_of(await ana.ask("/issues"))


async def test_an_unknown_project_is_answered_with_those_there_are(ana: Person) -> None:
    assert (
        "Infrastructure, Mobile App, Security or Web Shop" in (await ana.ask("/tracker project nope"))["text"]
    )


async def test_an_ambiguous_name_is_answered_with_the_candidates(ana: Person) -> None:
    said = (await ana.ask("/tracker default e"))["text"]
    assert "write more of the project's name" in said
