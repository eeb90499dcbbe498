"""`/tracker` with a subcommand that it doesn't have."""

from tests.support.person import Person
from tests.support.reading import text_of


async def test_a_misspelled_subcommand_runs_with_one_press(ana: Person) -> None:
    refused = await ana.ask("/tracker prjects mob")
    assert "Did you mean `/tracker projects`?" in text_of(refused)

    assert "Mobile App" in text_of(await ana.after(ana.press(refused, "Run /tracker projects")))


async def test_an_unknown_subcommand_offers_the_help(ana: Person) -> None:
    await ana.press(await ana.ask("/tracker zzzzzz"), "Help")

    assert "Create a project" in text_of(await ana.form("Help"))
