"""Every example in the help is a command that works as typed, and no option is left out."""

import re
from zoneinfo import ZoneInfo

from bot.features.help import views
from bot.features.search.commands import OPTIONS, issues_command
from bot.features.search.query import Query
from bot.features.timelog.commands import EditLast, timelog_command, typed_time
from bot.features.timelog.drafts import TimeDraft, TimeToLog
from bot.features.tracker.commands import Act, tracker_command
from bot.slack.language.marks import Vocabulary
from bot.slack.language.options import understand
from bot.slack.language.values import CommandContext
from bot.store.owner import Owner
from tests.support.person import Person
from tests.support.reading import text_of


async def test_each_command_shows_its_examples(ana: Person) -> None:
    for typed, example in (
        ("/tracker help", "/issue new Login page is blank"),
        ("/issues help", "/issues to:me sort:due"),
        ("/timelog help", "/timelog 42 1h30 Pairing with Ben"),
        ("/issue --help", "/issue 42 close"),
        ("/issue new help", "/issue 42 close"),
        ("/digest ?", "/digest me weekdays 9:00"),
    ):
        assert example in text_of(await ana.ask(typed))


async def test_an_unknown_subcommand_offers_the_nearest_one_and_the_help(ana: Person) -> None:
    refused = await ana.ask("/tracker prjects mob")
    assert "Did you mean `/tracker projects`?" in text_of(refused)
    assert "Mobile App" in text_of(await ana.after(ana.press(refused, "Use projects")))

    await ana.press(await ana.ask("/tracker zzzzzz"), "Help")
    assert "Create a project" in text_of(await ana.form("Help"))


def examples(name: str) -> list[str]:
    """What a command's help says to type, beside the name."""
    return [
        command
        for example, does in views.HELP[name]
        for command in (example, *(f for f in re.findall(r"`([a-z][^`:]*)`", does)))
    ]


def test_every_example_parses() -> None:
    typist = CommandContext(ana := Owner(None, "T1", "U1"), ZoneInfo("UTC"))
    understood = [understand(typed, OPTIONS) for typed in examples("issues")]
    searches = [issues_command(parsed, typist, Vocabulary()) for parsed in understood]
    assert [parsed for parsed in searches if not isinstance(parsed, Query)] == []

    logged = [timelog_command(typed_time(typed), typist) for typed in examples("timelog")]
    assert [type(parsed) for parsed in logged] == [TimeDraft, TimeToLog, TimeToLog, EditLast, TimeToLog]

    typed = [re.sub(r"@\w+", "<@U2>", typed) for typed in examples("tracker")]
    assert [text for text in typed if tracker_command(text, ana).act is Act.ACCOUNT] == [""]


def test_the_help_of_a_search_lists_every_option() -> None:
    help_text = views.of("issues", lambda name: f"/{name}").text

    assert [key for key in OPTIONS if f"{key.replace('cf_', 'cf_&lt;id&gt;')}:" not in help_text] == []


def test_the_overview_uses_the_commands_as_users_type_them() -> None:
    overview = views.overview(lambda name: f"/acme-{name}")

    text = str(overview.blocks)
    assert "`/acme-tracker project new`" in text
    assert not re.search(r"/(?!acme-)(issue|issues|timelog|digest|tracker)\b", text)
