"""`/tracker` with other words than its subcommands."""

import pytest

from bot.features.tracker.commands import Bare, Projects, ShowUser, TrackerRequest, tracker_command
from bot.slack.grammar.requests import Me
from tests.support.person import Person
from tests.support.reading import text_of


async def test_an_unknown_subcommand_offers_the_nearest_one_and_the_help(ana: Person) -> None:
    refused = await ana.ask("/tracker prjects mob")
    assert "Did you mean `/tracker projects`?" in text_of(refused)
    assert "Mobile App" in text_of(await ana.after(ana.press(refused, "Run /tracker projects")))

    await ana.press(await ana.ask("/tracker zzzzzz"), "Help")
    assert "Create a project" in text_of(await ana.form("Help"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *((word, Bare.LINK) for word in ("login", "connect", "signin")),
        ("logout", Bare.UNLINK),
        ("me", Bare.WHOAMI),
        ("user", ShowUser(Me())),
        ("list", Projects()),
    ],
)
def test_understands_other_words_for_subcommands(typed: str, meant: TrackerRequest) -> None:
    assert tracker_command(typed) == meant
