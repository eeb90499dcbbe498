"""The Home tab."""

from tests.journeys.office import Office, Person, text_of, until


async def test_the_home_tab_says_who_one_is_and_begins_things(ana: Person) -> None:
    await ana.open_home()

    home = await until(ana.home)
    assert "You are linked to Tracker as *Ana Ruiz*" in text_of(home)
    await ana.press_at_home("Create an issue")
    assert "Choose a project" in text_of(await ana.form("New issue"))


async def test_the_home_tab_offers_to_link(office: Office, ben: Person) -> None:
    await ben.open_home()

    assert "haven't linked" in text_of(await until(ben.home))
    await ben.press_at_home("Link Tracker")
    await ben.form("Link Tracker")
    assert not office.violations()
