"""Every example in the help is a command that works as typed, and no option is left out."""

import re
from datetime import date
from zoneinfo import ZoneInfo

import pytest

from bot.features.help import views
from bot.features.search.commands import OPTIONS, issues_command
from bot.features.search.query import Query
from bot.features.tracker.commands import Bare, tracker_command
from bot.store.owner import Owner

EXAMPLES = {
    name: [
        command
        for example, does in rows
        for command in (example, *(f for f in re.findall(r"`([a-z][^`:]*)`", does)))
    ]
    for name, rows in views.HELP.items()
}


@pytest.mark.parametrize("typed", EXAMPLES["issues"])
def test_every_example_of_a_search_parses(typed: str) -> None:
    found = issues_command(typed, Owner(None, "T1", "U1"), date(2026, 7, 15), ZoneInfo("UTC"))

    assert isinstance(found, Query)


@pytest.mark.parametrize("typed", EXAMPLES["tracker"])
def test_every_example_of_an_account_command_parses(typed: str) -> None:
    mentioned = re.sub(r"@\w+", "<@U2>", typed)

    assert (tracker_command(mentioned) == Bare.ACCOUNT) == (typed == "")


def test_the_help_of_a_search_lists_every_option() -> None:
    said = views.of("issues", lambda name: f"/{name}").text

    assert [key for key in OPTIONS if f"{key.replace('cf_', 'cf_&lt;id&gt;')}:" not in said] == []


def test_the_overview_uses_the_commands_as_users_type_them() -> None:
    overview = views.overview(lambda name: f"/acme-{name}")

    said = str(overview.blocks)
    assert "`/acme-tracker project new`" in said
    assert not re.search(r"/(?!acme-)(issue|issues|timelog|digest|tracker)\b", said)
