"""Logging time from commands, forms and messages, and editing it."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.sandbox.tracker.data import Issue, TimeEntry
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of

ANA = 1
TESTING, SUPPORT = 3, 4


@pytest.fixture
def issue(office: Office) -> Issue:
    """A public issue."""
    return next(i for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)


def newest(office: Office) -> TimeEntry:
    return office.tracker.data.time_entries[max(office.tracker.data.time_entries)]


def count(office: Office) -> int:
    return len(office.tracker.data.time_entries)


async def logged(person: Person, said: str = "Logged ") -> JSON:
    """The latest private answer to the user that starts with `said`."""

    async def look() -> JSON | None:
        own = [m for m in await person.messages() if m["ephemeral"] and m["text"].startswith(said)]
        return own[-1] if own else None

    return await until(look)


async def announcement(person: Person) -> JSON:
    async def look() -> JSON | None:
        return next((m for m in await person.messages() if "> logged " in m["text"]), None)

    return await until(look)


async def test_command_logs_time_and_confirms_it(
    office: Office, ana: Person, ben: Person, issue: Issue
) -> None:
    await ana.command(f"/timelog #{issue.id} 1h 30m activity:des on:yesterday Pairing on <it>")

    answer = await logged(ana)
    today = datetime.now(ZoneInfo("Europe/Madrid")).date()
    entry = newest(office)
    assert (entry.issue_id, entry.user_id, entry.minutes, entry.comments) == (
        issue.id,
        ANA,
        90,
        "Pairing on <it>",
    )
    assert entry.spent_on == today - timedelta(days=1)
    assert answer["text"].startswith("Logged 1h 30m on <")
    assert answer["text"].endswith(f"|#{issue.id}>, Design, yesterday.")
    assert "Through me: 0h today" in text_of(answer)
    told = await announcement(ben)
    assert told["text"].startswith(f"<@{ana.user_id}> logged 1h 30m on <")
    assert "Pairing on <it>" in text_of(told)


async def test_project_time_counts_in_daily_and_weekly_totals(office: Office, ana: Person) -> None:
    await ana.command("/timelog project:web 1,125h activity:testing Stand-up")
    first = await logged(ana)

    entry = newest(office)
    assert (entry.project_id, entry.issue_id, entry.minutes) == (1, None, 68)
    assert "|Web Shop>, Testing, today." in first["text"]
    await ana.command("/timelog project:mobile 20m activity:design on:today")

    async def both() -> bool:
        return "Through me: 1h 28m today, 1h 28m this week" in text_of(await logged(ana))

    await until(both)


async def test_missing_activity_opens_the_prefilled_form(office: Office, ana: Person, issue: Issue) -> None:
    before = count(office)
    await ana.command(f"/timelog {issue.id} 20m on:2026-01-05 Looked into it")

    form = await ana.form("Log time")
    values = values_of(form)
    assert values["Issue"].startswith(f"#{issue.id} ")
    assert (values["Hours"], values["Date"], values["Comment"]) == ("0:20", "2026-01-05", "Looked into it")
    assert "Activity cannot be blank" in text_of(form)
    assert count(office) == before
    await ana.submit(form, {"Activity": "Support"})
    assert "20m on" in (await logged(ana))["text"]
    assert (newest(office).minutes, newest(office).activity_id) == (20, SUPPORT)


async def test_only_activity_is_implied_and_last_used_is_first(
    office: Office, ana: Person, issue: Issue
) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:testing")
    await logged(ana)
    await ana.command(f"/timelog {issue.id}")
    form = await ana.form("Log time")
    assert values_of(form)["Activity"] == "Testing"
    await ana.close(form)

    office.tracker.data.projects[3].activity_ids = (SUPPORT,)
    await ana.command("/timelog project:infra 2h")

    async def done() -> bool:
        return newest(office).project_id == 3

    await until(done)
    assert newest(office).activity_id == SUPPORT


async def test_edit_button_changes_the_entry_and_its_confirmation(
    office: Office, ana: Person, issue: Issue
) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design Half of it")
    answer = await logged(ana)
    await ana.press(answer, "Edit")
    form = await ana.form("Edit time")
    values = values_of(form)
    assert (values["Hours"], values["Activity"], values["Comment"]) == ("1", "Design", "Half of it")

    await ana.submit(form, {"Hours": "soon"})
    assert (await ana.errors())["hours"].endswith("isn't a duration. Try 1.5, 90m, 1h 30m or 1:30.")
    changes = {"Hours": "0,75", "Activity": "Testing", "Date": "2026-01-05", "Comment": ""}
    await ana.submit(form, changes)

    changed = await logged(ana, "Changed to 45m on ")
    entry = newest(office)
    assert (entry.minutes, entry.activity_id, str(entry.spent_on)) == (45, TESTING, "2026-01-05")
    assert entry.comments is None
    assert changed["ts"] == answer["ts"]
    assert "Through me: 0h today" in text_of(changed)


async def test_editing_time_updates_its_public_post(ana: Person, ben: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design Half of it")
    before = await announcement(ben)
    await ana.press(await logged(ana), "Edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "2h", "Comment": "All of it"})
    await logged(ana, "Changed to 2h on ")

    after = await announcement(ben)
    assert after["ts"] == before["ts"]
    assert after["text"].startswith(f"<@{ana.user_id}> logged 2h on <")
    assert "All of it" in text_of(after)
    await ana.delete_post(after)

    async def gone() -> bool:
        return after["ts"] not in {m["ts"] for m in await ben.messages()}

    await until(gone)
    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "3h"})
    assert "the post" not in text_of(await logged(ana, "Changed to 3h on "))


async def test_post_about_a_now_private_issue_is_not_updated(ana: Person, ben: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    before = await announcement(ben)
    await logged(ana)
    issue.is_private, issue.author_id = True, ANA

    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "2h", "Comment": "A secret"})

    said = text_of(await logged(ana, "Changed to 2h on "))
    assert "I couldn't update the post in <#C0GENERAL01>" in said
    assert await announcement(ben) == before


async def test_more_than_24_hours_a_day_need_confirmation(office: Office, ana: Person, issue: Issue) -> None:
    before = count(office)
    await ana.command(f"/timelog {issue.id} 20h activity:design")
    await logged(ana)
    asked = await ana.ask(f"/timelog {issue.id} 6h activity:testing Night shift")
    assert "That adds up to 26h for today" in text_of(asked)
    assert count(office) == before + 1

    await ana.press(asked, "Log time anyway")

    async def done() -> bool:
        return count(office) == before + 2

    await until(done)
    entry = newest(office)
    assert (entry.minutes, entry.activity_id, entry.comments) == (360, TESTING, "Night shift")
    await office.idle()
    assert asked["ts"] not in {m["ts"] for m in await ana.messages()}


async def test_long_day_confirmation_keeps_the_input(ana: Person, issue: Issue) -> None:
    asked = await ana.ask(f"/timelog {issue.id} 25h activity:testing on:2026-01-05 Long")

    await ana.press(asked, "Edit time")

    values = values_of(await ana.form("Log time"))
    assert (values["Hours"], values["Activity"], values["Comment"]) == ("25", "Testing", "Long")
    assert values["Date"] == "2026-01-05"


async def test_form_with_more_than_24_hours_asks_for_confirmation(
    office: Office, ana: Person, issue: Issue
) -> None:
    before = count(office)
    await ana.command(f"/timelog {issue.id}")
    await ana.submit(await ana.form("Log time"), {"Hours": "25h", "Comment": "Long"})
    asked = await ana.form_saying("Log time", "That adds up to 25h for today")
    assert asked["submit"]["text"] == "Log anyway"
    assert count(office) == before

    await ana.submit(asked, {"Hours": "26h"})
    asked = await ana.form_saying("Log time", "That adds up to 26h for today")
    await ana.submit(asked, {})
    await logged(ana)
    assert (count(office), newest(office).minutes, newest(office).comments) == (before + 1, 1560, "Long")

    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "30h"})
    asked = await ana.form_saying("Edit time", "That adds up to 30h for today")
    assert newest(office).minutes == 1560
    await ana.submit(asked, {})
    await logged(ana, "Changed to 30h on ")
    assert newest(office).minutes == 1800


async def test_edit_command_opens_only_the_users_latest_entry(
    office: Office, ana: Person, ben: Person, issue: Issue
) -> None:
    await office.link(ben.user_id, KEYS["ben"])
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    await logged(ana)
    await ben.command("/timelog edit")
    assert "You haven't logged time through me yet" in text_of(await ben.form("That didn't work"))

    await ana.command("/timelog edit")
    form = await ana.form("Edit time")
    assert f"#{issue.id}" in text_of(form)
    await ana.submit(form, {"Comment": "Added later"})
    await logged(ana, "Changed to 1h on ")
    assert newest(office).comments == "Added later"


async def test_forged_edit_button_cannot_open_anothers_entry(
    office: Office, ana: Person, ben: Person, issue: Issue
) -> None:
    await office.link(ben.user_id, KEYS["ben"])
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    await logged(ana)
    anas = newest(office).id
    await ben.command(f"/timelog {issue.id} 2h activity:design")
    answer = await logged(ben)
    shown = office.workspace.state.find(answer["channel"], answer["ts"])
    assert shown is not None
    next(block for block in shown.blocks if block["type"] == "actions")["elements"][0]["value"] = str(anas)

    await ben.press(answer, "Edit")

    assert "logged by somebody else" in text_of(await ben.form("That didn't work"))


async def test_editing_a_deleted_entry_is_an_error(office: Office, ana: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    await ana.press(await logged(ana), "Edit")
    form = await ana.form("Edit time")
    del office.tracker.data.time_entries[newest(office).id]

    await ana.submit(form, {"Hours": "2"})

    async def said() -> bool:
        return "no longer in Tracker" in text_of(await ana.form("Edit time"))

    await until(said)


async def test_global_shortcut_asks_for_issue_then_activity(
    office: Office, ana: Person, issue: Issue
) -> None:
    office.tracker.data.projects[1].activity_ids = (TESTING, SUPPORT)
    await ana.shortcut("log_time")
    form = await ana.form("Log time")
    assert "Activity" not in values_of(form)
    await ana.choose(form, "Issue", f"#{issue.id}")

    async def refreshed() -> JSON | None:
        form = await ana.form("Log time")
        return form if values_of(form).get("Activity") == "Testing" else None

    form = await until(refreshed)
    await ana.submit(form, {"Hours": "90m", "Activity": "Support"})

    done = await ana.form("Logged")
    assert f"Logged 1h 30m on <{office.tracker.url}/issues/{issue.id}|#{issue.id}>" in text_of(done)
    await ana.press_in_form(done, "Edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "1h"})
    assert "Changed to 1h on" in text_of(await ana.form("Changed"))
    assert newest(office).minutes == 60


async def test_empty_issue_search_offers_own_issues(office: Office, ana: Person) -> None:
    await ana.shortcut("log_time")
    await ana.choose(await ana.form("Log time"), "Issue", "#")

    async def chosen() -> str | None:
        held: str | None = values_of(await ana.form("Log time"))["Issue"]
        return held

    number = int((await until(chosen)).split()[0].removeprefix("#"))
    assert office.tracker.data.issues[number].assigned_to_id == ANA


async def test_message_shortcut_preselects_issue_and_announces_in_thread(
    ana: Person, ben: Person, issue: Issue
) -> None:
    await ben.after(_share(ana, issue.id))
    message = next(m for m in await ana.messages() if "shares" in m["text"])

    await ana.shortcut("time_from_message", message)
    form = await ana.form("Log time")
    assert values_of(form)["Issue"].startswith(f"#{issue.id} ")
    await ana.submit(form, {"Hours": "1:30"})

    told = await announcement(ana)
    assert told["thread_ts"] == message["ts"]
    await logged(ana)


async def _share(person: Person, number: int) -> None:
    await person.press(await person.ask(f"/issue {number}"), "Share here")


async def test_unknown_issue_in_a_message_is_only_a_warning(office: Office, ana: Person) -> None:
    ana.channel = "webshop"
    message = next(m for m in await ana.messages() if not m["ephemeral"])
    written = office.workspace.state.find(message["channel"], message["ts"])
    assert written is not None
    written.text = "We are #99999!"

    await ana.shortcut("time_from_message", message)

    form = await ana.form("Log time")
    assert "There is no issue #99999" in text_of(form)
    assert values_of(form)["Issue"] is None


async def test_card_button_logs_time_as_the_user(office: Office, ana: Person, issue: Issue) -> None:
    card = await ana.ask(f"/issue {issue.id}")
    await ana.press(card, "Log time")

    await ana.submit(await ana.form("Log time"), {"Hours": "1h30", "Comment": "Pairing"})

    assert "logged 1h 30m on" in (await announcement(ana))["text"]
    entry = newest(office)
    assert (entry.issue_id, entry.user_id, entry.comments) == (issue.id, ANA, "Pairing")


async def test_time_on_a_private_issue_is_not_announced(office: Office, ana: Person, ben: Person) -> None:
    hidden = next(i for i in office.tracker.data.issues.values() if i.is_private and i.author_id == ANA)
    seen = len(await ben.messages())

    await ana.command(f"/timelog {hidden.id} 1h activity:design")

    assert "the issue is private, or its project is" in text_of(await logged(ana))
    assert len(await ben.messages()) == seen


async def test_refusal_shows_the_error_and_keeps_the_input(office: Office, ana: Person) -> None:
    closed = next(i for i in office.tracker.data.issues.values() if i.project_id == 5)

    said = text_of(await ana.ask(f"/timelog {closed.id} 1h activity:design Too late"))
    assert "Tracker rejected that: Issue is invalid." in said
    assert f"/timelog {closed.id} 1h activity:design Too late" in said
    await ana.command(f"/timelog {closed.id} 1h Too late")
    form = await ana.form("Log time")
    await ana.submit(form, {"Activity": "Design"})
    assert (await ana.errors())["issue"] == "Issue is invalid"


async def test_ambiguous_activity_lists_the_candidates(ana: Person, issue: Issue) -> None:
    assert "“de” could be Design or Development" in text_of(
        await ana.ask(f"/timelog {issue.id} 1h activity:de")
    )
    await ana.command(f"/timelog {issue.id} activity:de")
    form = await ana.form("Log time")
    assert "“de” could be Design or Development" in text_of(form)
    assert values_of(form)["Activity"] is None


async def test_command_typed_before_linking_runs_after_linking(
    office: Office, ben: Person, issue: Issue
) -> None:
    before = count(office)
    await ben.command(f"/timelog {issue.id} 1h30 activity:support")
    await ben.submit(await ben.form("Link account"), {"API key": KEYS["ben"]})

    assert "1h 30m on" in (await logged(ben))["text"]
    assert count(office) == before + 1
    assert (newest(office).user_id, newest(office).minutes) == (2, 90)


async def test_help_lists_every_form(ana: Person) -> None:
    said = text_of(await ana.ask("/timelog help"))

    forms = (
        "`/timelog`",
        "/timelog 42 1h30 activity:design Pairing with Ben",
        "`1.5` `1,5h` `90m` `1h30` `1h 30m` `1:30`",
        "/timelog 42 45m on:yesterday",
        "`yesterday`, `mon` to `sun`, `2026-07-01`",
        '/timelog project:"web shop" 30m activity:support',
        "/timelog edit",
    )
    assert [form for form in forms if form not in said] == []
