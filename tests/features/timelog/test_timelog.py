"""Logging time from commands, forms and messages."""

from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.sandbox.tracker.data import Issue
from bot.slack.surfaces.blocks import section
from bot.slack.text.mrkdwn import day
from tests.features.timelog.answers import announcement, logged
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, option_in_menus, text_of, values_of
from tests.support.slackwire import SlackWire

ANA = 1
TESTING, SUPPORT = 3, 4


def count(office: Office) -> int:
    return len(office.tracker.data.time_entries)


def entered(form: JSON) -> tuple[str, str, str]:
    """The form's hours, activity and comment."""
    values = values_of(form)
    return values["Hours"], values["Activity"], values["Comment"]


async def test_command_logs_time_privately(office: Office, ana: Person, ben: Person, issue: Issue) -> None:
    messages = len(await ben.messages())
    answer = await ana.ask(f"/timelog #{issue.id} 1h 30m activity:des on:yesterday Pairing on <it>")

    today = datetime.now(ZoneInfo("Europe/Madrid")).date()
    entry = office.newest_time()
    assert (entry.issue_id, entry.user_id, entry.minutes) == (issue.id, ANA, 90)
    assert entry.comments == "Pairing on <it>"
    assert entry.spent_on == today - timedelta(days=1)
    assert answer["ephemeral"]
    assert answer["text"].startswith("Logged 1h 30m on <")
    assert f"|#{issue.id} {issue.subject}>" in answer["text"]
    assert f"Design · {day(entry.spent_on)} · Pairing on &lt;it&gt;" in text_of(answer)
    assert "Logged with Issue Bot: nothing today" in text_of(answer)
    await office.idle()
    assert len(await ben.messages()) == messages

    await ana.press(answer, "Share here")

    post = await announcement(ben)
    assert "Ana Ruiz logged 1h 30m on <" in text_of(post)
    assert "Pairing on" in text_of(post)
    option_in_menus(post["blocks"], "More actions")


async def test_time_on_a_project_has_its_activity(office: Office, ana: Person, issue: Issue) -> None:
    first = await ana.ask("/timelog project:web 1,125h activity:testing Stand-up")

    entry = office.newest_time()
    assert (entry.project_id, entry.issue_id, entry.minutes) == (1, None, 68)
    assert first["text"].endswith("|Web Shop>.")
    form = await ana.form_after(ana.command(f"/timelog {issue.id}"), "Log time")
    assert values_of(form)["Activity"] == "Testing"
    await ana.close(form)
    await ana.ask(f"/timelog {issue.id} 10m")
    assert office.newest_time().activity_id == TESTING

    office.tracker.data.projects[3].activity_ids = (SUPPORT,)
    last = await ana.ask("/timelog project:infra 2h")
    assert office.newest_time().activity_id == SUPPORT
    assert "3h 18m today · 3h 18m this week" in text_of(last)


async def test_missing_activity_opens_the_prefilled_form(office: Office, ana: Person, issue: Issue) -> None:
    before = count(office)
    await ana.command(f"/timelog {issue.id} 20m on:2026-01-05 Looked into it")

    form = await ana.form("Log time")
    values = values_of(form)
    assert values["Issue"].startswith(f"#{issue.id} ")
    assert (values["Hours"], values["Date"], values["Comment"]) == ("0:20", "2026-01-05", "Looked into it")
    assert "Activity cannot be blank" not in text_of(form)
    assert ":warning:" not in text_of(form)
    activity = next(block for block in form["blocks"] if block["block_id"].startswith("activity"))
    assert activity["hint"]["text"] == "Required. I'll remember your choice."
    assert count(office) == before
    await ana.submit(form, {"Activity": "Support"})
    assert "20m on" in (await logged(ana))["text"]
    assert (office.newest_time().minutes, office.newest_time().activity_id) == (20, SUPPORT)
    assert "Logged 1h" in text_of(await ana.ask(f"/timelog {issue.id} 1h"))
    assert office.newest_time().activity_id == SUPPORT


async def test_a_day_in_words_is_the_entrys_day(office: Office, ana: Person, issue: Issue) -> None:
    today = datetime.now(ZoneInfo("Europe/Madrid")).date()
    friday = today - timedelta(days=(today.weekday() - 4) % 7 or 7)
    for comment in ("last friday", "on friday", "Fix the friday report last friday"):
        reply = await ana.ask(f"/timelog {issue.id} 1h activity:design {comment}")
        assert office.newest_time().spent_on == friday
        assert f"{friday:%b} {friday.day}, {friday.year}" in text_of(reply)
    assert office.newest_time().comments == "Fix the friday report"
    before = count(office)

    for chosen, spent_on, comment in (
        ("Log for today", today, "Prepare tomorrow"),
        ("Log anyway", today + timedelta(days=1), "Prepare"),
    ):
        asked = await ana.ask(f"/timelog {issue.id} 2h activity:design Prepare tomorrow")
        assert "is in the future. Log 2h for that day?" in text_of(asked)
        assert count(office) == before
        await ana.after(ana.press(asked, chosen))
        entry, before = office.newest_time(), before + 1
        assert (count(office), entry.spent_on, entry.comments) == (before, spent_on, comment)


async def test_more_than_24_hours_a_day_need_confirmation(office: Office, ana: Person, issue: Issue) -> None:
    before = count(office)
    await ana.ask(f"/timelog {issue.id} 20h activity:design")
    asked = await ana.ask(f"/timelog {issue.id} 6h activity:testing Night shift")
    assert "That adds up to 26h for today" in text_of(asked)
    assert count(office) == before + 1
    form = await ana.form_after(ana.press(asked, "Edit"), "Log time")
    assert entered(form) == ("6", "Testing", "Night shift")
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
        assert "You've already logged this time." in text_of(await ana.after(ana.press(asked, "Log anyway")))
        assert count(office) == before + 1


async def test_form_asks_to_confirm_more_than_24_hours(office: Office, ana: Person, issue: Issue) -> None:
    before = count(office)
    form = await ana.form_after(ana.press(await ana.ask(f"/issue {issue.id}"), "Log time"), "Log time")
    for hours, values in (("25h", {"Hours": "25h", "Comment": "Long"}), ("26h", {"Hours": "26h"})):
        await ana.submit(form, values)
        form = await ana.form_saying("Log time", f"That adds up to {hours} for today")
        assert form["submit"]["text"] == "Log anyway"
        assert count(office) == before

    await ana.submit(form, {})
    await logged(ana)
    made = office.newest_time()
    assert (count(office), made.minutes, made.comments) == (before + 1, 1560, "Long")

    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "30h"})
    await ana.submit(await ana.form_saying("Edit time", "That adds up to 30h for today"), {})
    await logged(ana, "Changed the entry on ")
    assert office.newest_time().minutes == 1800


async def test_global_shortcut_asks_issue_then_activity(office: Office, ana: Person, issue: Issue) -> None:
    office.tracker.data.projects[1].activity_ids = (TESTING, SUPPORT)
    form = await ana.form_after(ana.shortcut("log_time"), "Log time")
    assert "Activity" not in values_of(form)
    own = (await ana.suggest(form, "Issue", "#"))["options"][0]["value"]
    assert office.tracker.data.issues[int(own)].assigned_to_id == ANA
    await ana.choose(form, "Issue", f"#{issue.id}")
    form = await ana.form("Log time", lambda view: values_of(view).get("Activity") == "Testing")
    done = await ana.form_after(ana.submit(form, {"Hours": "90m", "Activity": "Support"}), "Time logged")
    assert f"Logged 1h 30m on <{office.tracker.url}/issues/{issue.id}|#{issue.id} " in text_of(done)
    await ana.press_in_form(done, "Edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "1h"})
    assert " to 1h." in text_of(await ana.form("Time updated"))
    assert office.newest_time().minutes == 60


async def test_message_shortcut_announces_in_the_thread(office: Office, ana: Person, issue: Issue) -> None:
    await ana.shortcut("time_from_message", await ana.say("We are #99999!"))
    form = await ana.form("Log time")
    assert "99999" not in text_of(form)
    assert values_of(form)["Issue"] is None
    await ana.close(form)

    message = await ana.say("Deployed")
    written = office.workspace.state.find(message["channel"], message["ts"])
    assert written is not None
    written.text, written.blocks = "", [section(f"Deployed #{issue.id}")]  # as an app does

    form = await ana.form_after(ana.shortcut("time_from_message", message), "Log time")
    assert values_of(form)["Issue"].startswith(f"#{issue.id} ")
    await ana.submit(form, {"Hours": "1:30"})

    post = await announcement(ana)
    assert post["thread_ts"] == message["ts"]
    await logged(ana)


async def test_a_mistake_offers_the_form_with_the_rest(office: Office, ana: Person, issue: Issue) -> None:
    closed = next(i for i in office.tracker.data.issues.values() if i.project_id == 5)
    for number, typed, warning, understood in (
        (issue.id, "1h activity:de Pairing", "“de” could be Design or Development", ("1", None, "Pairing")),
        (issue.id, "1h30 note:x Pairing", "`note:`", ("1.5", "Design", "Pairing note:x")),
        (closed.id, "1h activity:design Too late", "Issue is invalid", ("1", "Design", "Too late")),
    ):
        reply = await ana.ask(f"/timelog {number} {typed}")
        assert warning in text_of(reply)

        form = await ana.form_after(ana.press(reply, "Open form"), "Log time")
        assert values_of(form)["Issue"].startswith(f"#{number} ")
        assert entered(form) == understood
        if number == closed.id:
            assert warning in text_of(form)
            await ana.submit(form, {})
            assert (await ana.errors())["issue"] == warning
        await ana.close(form)

    reply = await ana.ask("/timelog 99999 1h activity:test Pairing")
    await ana.press(reply, "Open form")
    await ana.choose(await ana.form("Log time"), "Issue", f"#{issue.id} ")
    await office.idle()
    assert values_of(await ana.form("Log time"))["Activity"] == "Testing"

    reply = await ana.ask(f"/timelog {issue.id} 1h activity:design {KEYS['ana']}")
    assert "contains your API key" in text_of(reply)
    assert "Open form" not in str(reply["blocks"])
