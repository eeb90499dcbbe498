"""Logging time from commands, forms and messages."""

from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.sandbox.tracker.data import Issue
from bot.slack.blocks import section
from bot.slack.text import day
from tests.features.timelog.answers import announcement, logged
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, option_in_menus, text_of, until, values_of
from tests.support.slackwire import SlackWire

ANA = 1
TESTING, SUPPORT = 3, 4


def count(office: Office) -> int:
    return len(office.tracker.data.time_entries)


async def test_command_logs_time_and_tells_only_the_user(
    office: Office, ana: Person, ben: Person, issue: Issue
) -> None:
    seen = len(await ben.messages())
    await ana.command(f"/timelog #{issue.id} 1h 30m activity:des on:yesterday Pairing on <it>")

    answer = await logged(ana)
    today = datetime.now(ZoneInfo("Europe/Madrid")).date()
    entry = office.newest_time()
    assert (entry.issue_id, entry.user_id, entry.minutes) == (issue.id, ANA, 90)
    assert entry.comments == "Pairing on <it>"
    assert entry.spent_on == today - timedelta(days=1)
    assert answer["text"].startswith("Logged 1h 30m on <")
    assert f"|#{issue.id} {issue.subject}>" in answer["text"]
    assert f"Design · {day(entry.spent_on)} · Pairing on &lt;it&gt;" in text_of(answer)
    assert "Logged with Issue Bot: nothing today" in text_of(answer)
    await office.idle()
    assert len(await ben.messages()) == seen

    await ana.press(answer, "Share here")

    told = await announcement(ben)
    assert "Ana Ruiz logged 1h 30m on <" in text_of(told)
    assert "Pairing on" in text_of(told)
    option_in_menus(told["blocks"], "More actions")


async def test_project_time_counts_in_daily_and_weekly_totals(office: Office, ana: Person) -> None:
    await ana.command("/timelog project:web 1,125h activity:testing Stand-up")
    first = await logged(ana)

    entry = office.newest_time()
    assert (entry.project_id, entry.issue_id, entry.minutes) == (1, None, 68)
    assert first["text"].endswith("|Web Shop>.")
    await ana.command("/timelog project:mobile 20m activity:design on:today")

    second = await logged(ana, "Logged 20m on")
    assert "1h 28m today · 1h 28m this week" in text_of(second)


async def test_missing_activity_opens_the_prefilled_form(office: Office, ana: Person, issue: Issue) -> None:
    before = count(office)
    await ana.command(f"/timelog {issue.id} 20m on:2026-01-05 Looked into it")

    form = await ana.form("Log time")
    values = values_of(form)
    assert values["Issue"].startswith(f"#{issue.id} ")
    assert (values["Hours"], values["Date"], values["Comment"]) == ("0:20", "2026-01-05", "Looked into it")
    assert "Activity cannot be blank" not in text_of(form)
    assert count(office) == before
    await ana.submit(form, {"Activity": "Support"})
    assert "20m on" in (await logged(ana))["text"]
    assert (office.newest_time().minutes, office.newest_time().activity_id) == (20, SUPPORT)


async def test_only_or_last_used_activity_is_implied(office: Office, ana: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:testing")
    await logged(ana)
    await ana.command(f"/timelog {issue.id}")
    form = await ana.form("Log time")
    assert values_of(form)["Activity"] == "Testing"
    await ana.close(form)
    await ana.command(f"/timelog {issue.id} 10m")
    await logged(ana, "Logged 10m on")
    assert office.newest_time().activity_id == TESTING

    office.tracker.data.projects[3].activity_ids = (SUPPORT,)
    await ana.command("/timelog project:infra 2h")
    await logged(ana, "Logged 2h on")
    assert office.newest_time().activity_id == SUPPORT


async def test_a_day_in_words_is_the_day_of_the_entry(office: Office, ana: Person, issue: Issue) -> None:
    today = datetime.now(ZoneInfo("Europe/Madrid")).date()
    friday = today - timedelta(days=(today.weekday() - 4) % 7 or 7)
    for comment in ("last friday", "on friday", "Fix the friday report last friday"):
        said = await ana.ask(f"/timelog {issue.id} 1h activity:design {comment}")
        assert office.newest_time().spent_on == friday
        assert f"{friday:%b} {friday.day}, {friday.year}" in text_of(said)
    assert office.newest_time().comments == "Fix the friday report"


async def test_a_day_in_the_future_asks(office: Office, ana: Person, issue: Issue) -> None:
    before, today = count(office), datetime.now(ZoneInfo("Europe/Madrid")).date()
    asked = await ana.ask(f"/timelog {issue.id} 1h activity:design Prepare tomorrow")
    assert "is in the future. Log 1h for that day?" in text_of(asked)
    assert count(office) == before

    await ana.press(asked, "Log for today")
    await logged(ana)
    assert (office.newest_time().spent_on, office.newest_time().comments) == (today, "Prepare tomorrow")

    again = await ana.ask(f"/timelog {issue.id} 2h activity:design Prepare tomorrow")
    await ana.press(again, "Log anyway")
    await logged(ana, "Logged 2h")
    entry = office.newest_time()
    assert (entry.spent_on, entry.comments) == (today + timedelta(days=1), "Prepare")


async def test_more_than_24_hours_a_day_need_confirmation(office: Office, ana: Person, issue: Issue) -> None:
    before = count(office)
    await ana.command(f"/timelog {issue.id} 20h activity:design")
    await logged(ana)
    asked = await ana.ask(f"/timelog {issue.id} 6h activity:testing Night shift")
    assert "That adds up to 26h for today" in text_of(asked)
    assert count(office) == before + 1
    await ana.press(asked, "Edit")
    form = await ana.form("Log time")
    values = values_of(form)
    assert (values["Hours"], values["Activity"], values["Comment"]) == ("6", "Testing", "Night shift")
    await ana.close(form)

    await ana.press(asked, "Log anyway")

    await logged(ana, "Logged 6h on")
    assert count(office) == before + 2
    entry = office.newest_time()
    assert (entry.minutes, entry.activity_id, entry.comments) == (360, TESTING, "Night shift")
    await office.idle()
    assert asked["ts"] not in {m["ts"] for m in await ana.messages()}


async def test_confirmed_long_day_is_logged_once_if_slack_takes_no_answer(tmp_path: Path) -> None:
    wire = SlackWire()
    async with Office(tmp_path, slack_wire=wire).opened("ana") as office:
        ana, before = Person(office, "U0ANA0001"), count(office)
        asked = await ana.ask("/timelog 12 25h activity:design")
        private = ("response_url", "chat.postEphemeral", "chat.postMessage")
        wire.lasting = dict.fromkeys(private, "refuse:no_text")

        await ana.press(asked, "Log anyway")
        await office.idle()
        wire.lasting = {}
        said = await ana.after(ana.press(asked, "Log anyway"))

        assert "You've already logged this time." in text_of(said)
        assert count(office) == before + 1


async def test_form_with_more_than_24_hours_asks_for_confirmation(
    office: Office, ana: Person, issue: Issue
) -> None:
    before = count(office)
    await ana.press(await ana.ask(f"/issue {issue.id}"), "Log time")
    await ana.submit(await ana.form("Log time"), {"Hours": "25h", "Comment": "Long"})
    asked = await ana.form_saying("Log time", "That adds up to 25h for today")
    assert asked["submit"]["text"] == "Log anyway"
    assert count(office) == before

    await ana.submit(asked, {"Hours": "26h"})
    asked = await ana.form_saying("Log time", "That adds up to 26h for today")
    await ana.submit(asked, {})
    await logged(ana)
    made = office.newest_time()
    assert (count(office), made.minutes, made.comments) == (before + 1, 1560, "Long")

    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "30h"})
    asked = await ana.form_saying("Edit time", "That adds up to 30h for today")
    assert office.newest_time().minutes == 1560
    await ana.submit(asked, {})
    await logged(ana, "Changed to 30h on ")
    assert office.newest_time().minutes == 1800


async def test_global_shortcut_asks_for_issue_then_activity(
    office: Office, ana: Person, issue: Issue
) -> None:
    office.tracker.data.projects[1].activity_ids = (TESTING, SUPPORT)
    await ana.shortcut("log_time")
    form = await ana.form("Log time")
    assert "Activity" not in values_of(form)
    own = (await ana.suggest(form, "Issue", "#"))["options"][0]["value"]
    assert office.tracker.data.issues[int(own)].assigned_to_id == ANA
    await ana.choose(form, "Issue", f"#{issue.id}")

    async def refreshed() -> JSON | None:
        form = await ana.form("Log time")
        return form if values_of(form).get("Activity") == "Testing" else None

    form = await until(refreshed)
    await ana.submit(form, {"Hours": "90m", "Activity": "Support"})

    done = await ana.form("Time logged")
    assert f"Logged 1h 30m on <{office.tracker.url}/issues/{issue.id}|#{issue.id} " in text_of(done)
    await ana.press_in_form(done, "Edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "1h"})
    assert "Changed to 1h on" in text_of(await ana.form("Time changed"))
    assert office.newest_time().minutes == 60


async def test_message_shortcut_preselects_issue_and_announces_in_thread(
    office: Office, ana: Person, issue: Issue
) -> None:
    await ana.shortcut("time_from_message", await ana.say("We are #99999!"))
    form = await ana.form("Log time")
    assert "99999" not in text_of(form)
    assert values_of(form)["Issue"] is None
    await ana.close(form)

    message = await ana.say("Deployed")
    written = office.workspace.state.find(message["channel"], message["ts"])
    assert written is not None
    written.text, written.blocks = "", [section(f"Deployed #{issue.id}")]  # as an app does

    await ana.shortcut("time_from_message", message)
    form = await ana.form("Log time")
    assert values_of(form)["Issue"].startswith(f"#{issue.id} ")
    await ana.submit(form, {"Hours": "1:30"})

    told = await announcement(ana)
    assert told["thread_ts"] == message["ts"]
    await logged(ana)


async def test_refusal_offers_the_form_with_everything_typed(office: Office, ana: Person) -> None:
    closed = next(i for i in office.tracker.data.issues.values() if i.project_id == 5)
    said = await ana.ask(f"/timelog {closed.id} 1h activity:design Too late")
    assert "Issue is invalid" in text_of(said)

    await ana.press(said, "Open form")

    form = await ana.form("Log time")
    assert "Issue is invalid" in text_of(form)
    values = values_of(form)
    assert (values["Hours"], values["Activity"], values["Comment"]) == ("1", "Design", "Too late")
    await ana.submit(form, {})
    assert (await ana.errors())["issue"] == "Issue is invalid"


async def test_mistake_offers_the_form_with_what_was_understood(ana: Person, issue: Issue) -> None:
    for typed, told, understood in (
        ("1h activity:de Pairing", "“de” could be Design or Development", ("1", "Pairing")),
        ("1h30 note:x Pairing", "`note:`", ("1.5", "Pairing note:x")),
    ):
        said = await ana.ask(f"/timelog {issue.id} {typed}")
        assert told in text_of(said)

        await ana.press(said, "Open form")

        form = await ana.form("Log time")
        values = values_of(form)
        assert values["Issue"].startswith(f"#{issue.id} ")
        assert (values["Hours"], values["Comment"]) == understood
        await ana.close(form)

    said = await ana.ask("/timelog 99999 1h activity:test Pairing")
    await ana.press(said, "Open form")
    await ana.choose(await ana.form("Log time"), "Issue", f"#{issue.id} ")
    await ana.office.idle()
    assert values_of(await ana.form("Log time"))["Activity"] == "Testing"
