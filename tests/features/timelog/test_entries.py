"""Sharing, editing and deleting logged time."""

from bot.sandbox.tracker.data import Issue
from tests.features.timelog.answers import announcement, logged
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of

ANA, TESTING = 1, 3


async def shared(ana: Person) -> JSON:
    """The post after *Share here* on the latest confirmation."""
    await ana.press(await logged(ana), "Share here")
    return await announcement(ana)


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
    entry = office.newest_time()
    assert (entry.minutes, entry.activity_id, str(entry.spent_on)) == (45, TESTING, "2026-01-05")
    assert entry.comments is None
    assert changed["ts"] == answer["ts"]
    assert "nothing today" in text_of(changed)


async def test_editing_time_updates_its_public_post(ana: Person, ben: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design Half of it")
    before = await shared(ana)
    await ana.press(await logged(ana), "Edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "2h", "Comment": "All of it"})
    await logged(ana, "Changed to 2h on ")

    after = await announcement(ben)
    assert after["ts"] == before["ts"]
    assert after["text"].startswith("Ana Ruiz logged 2h on <")
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
    before = await shared(ana)
    issue.is_private, issue.author_id = True, ANA

    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "2h", "Comment": "A secret"})

    said = text_of(await logged(ana, "Changed to 2h on "))
    assert "I couldn't update the post in <#C0GENERAL01>" in said
    assert await announcement(ben) == before


async def test_edit_command_opens_only_the_users_latest_entry(
    office: Office, ana: Person, ben: Person, issue: Issue
) -> None:
    await office.link(ben.user_id, KEYS["ben"])
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    await logged(ana)
    await ben.command("/timelog edit")
    assert "You haven't logged any time yet" in text_of(await ben.form("That didn't work"))

    await ana.command("/timelog edit")
    form = await ana.form("Edit time")
    assert f"#{issue.id}" in text_of(form)
    await ana.submit(form, {"Comment": "Added later"})
    await logged(ana, "Changed to 1h on ")
    assert office.newest_time().comments == "Added later"


async def test_forged_edit_button_cannot_open_anothers_entry(
    office: Office, ana: Person, ben: Person, issue: Issue
) -> None:
    await office.link(ben.user_id, KEYS["ben"])
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    await logged(ana)
    anas = office.newest_time().id
    await ben.command(f"/timelog {issue.id} 2h activity:design")
    answer = await logged(ben)
    shown = office.workspace.state.find(answer["channel"], answer["ts"])
    assert shown is not None
    next(block for block in shown.blocks if block["type"] == "actions")["elements"][1]["value"] = str(anas)

    await ben.press(answer, "Edit")

    assert "someone else logged it" in text_of(await ben.form("That didn't work"))


async def test_editing_a_deleted_entry_is_an_error(office: Office, ana: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    await ana.press(await logged(ana), "Edit")
    form = await ana.form("Edit time")
    del office.tracker.data.time_entries[office.newest_time().id]

    await ana.submit(form, {"Hours": "2"})

    async def said() -> bool:
        return "was deleted in Tracker" in text_of(await ana.form("Edit time"))

    await until(said)


async def test_time_on_a_private_issue_is_never_shared(office: Office, ana: Person, issue: Issue) -> None:
    hidden = next(i for i in office.tracker.data.issues.values() if i.is_private and i.author_id == ANA)
    await ana.command(f"/timelog {hidden.id} 1h activity:design")
    assert "Share here" not in str((await logged(ana))["blocks"])
    await ana.command(f"/timelog {issue.id} 2h activity:design")
    told = await logged(ana, "Logged 2h on")
    issue.is_private, issue.author_id = True, ANA

    assert "This issue is private" in text_of(await ana.after(ana.press(told, "Share here")))


async def test_sharing_time_in_a_project_that_is_not_public_asks_first(office: Office, ana: Person) -> None:
    office.tracker.data.projects[1].is_public = False
    await ana.command("/timelog project:webshop 1h activity:design")
    asked = await ana.after(ana.press(await logged(ana), "Share here"))
    assert "Web Shop isn't public" in text_of(asked)

    await ana.press(asked, "Share here")

    assert "logged 1h on" in text_of(await announcement(ana))


async def test_deleted_entry_is_gone_with_its_post(office: Office, ana: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    post, entry = await shared(ana), office.newest_time()

    await ana.command("/timelog edit")
    await ana.press_in_form(await ana.form("Edit time"), "Delete entry")

    assert "Deleted 1h on" in text_of(await ana.form("Time deleted"))
    assert entry.id not in office.tracker.data.time_entries
    assert post["ts"] not in {m["ts"] for m in await ana.messages()}


async def test_delete_button_replaces_the_confirmation(ana: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    before = await logged(ana)

    await ana.press(before, "Delete entry")

    assert (await logged(ana, "Deleted 1h on"))["ts"] == before["ts"]
    assert "nothing today" in text_of(await logged(ana, "Deleted 1h on"))
