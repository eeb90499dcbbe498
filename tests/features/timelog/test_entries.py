"""Sharing, editing and deleting logged time."""

from bot.sandbox.tracker.data import Issue
from tests.features.timelog.answers import announcement, logged
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of

ANA, TESTING = 1, 3


async def shared(ana: Person) -> JSON:
    """The post after *Share here* on the latest confirmation."""
    await ana.press(await logged(ana), "Share here")
    return await announcement(ana)


async def test_edit_changes_the_entry_its_confirmation_and_its_post(
    office: Office, ana: Person, ben: Person, issue: Issue
) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design Half of it")
    before, answer = await shared(ana), await logged(ana)
    await ana.press(answer, "Edit")
    form = await ana.form("Edit time")
    values = values_of(form)
    assert (values["Hours"], values["Activity"], values["Comment"]) == ("1", "Design", "Half of it")

    await ana.submit(form, {"Hours": "soon"})
    assert (await ana.errors())["hours"].endswith("isn't a duration. Try 1.5, 90m, 1h 30m or 1:30.")
    await ana.submit(
        form, {"Hours": "0,75", "Activity": "Testing", "Date": "2026-01-05", "Comment": "All of it"}
    )

    changed = await logged(ana, "Changed to 45m on ")
    entry = office.newest_time()
    assert (entry.minutes, entry.activity_id, str(entry.spent_on)) == (45, TESTING, "2026-01-05")
    assert entry.comments == "All of it"
    assert changed["ts"] == answer["ts"]
    assert "nothing today" in text_of(changed)
    after = await announcement(ben)
    assert after["ts"] == before["ts"]
    assert after["text"].startswith("Ana Ruiz logged 45m on <")
    assert "All of it" in text_of(after)
    await ana.delete_post(after)

    async def gone() -> bool:
        return after["ts"] not in {m["ts"] for m in await ben.messages()}

    await until(gone)
    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "3h"})
    assert "the post" not in text_of(await logged(ana, "Changed to 3h on "))


async def test_edit_sends_only_what_was_changed(office: Office, ana: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 20m activity:design Half of it")
    answer = await logged(ana)
    office.newest_time().minutes = 90  # in the service, which doesn't tell the bot
    await ana.press(answer, "Edit")

    await ana.submit(await ana.form("Edit time"), {"Comment": "All of it"})

    await logged(ana, "Changed to ")
    entry = office.newest_time()
    assert (entry.minutes, entry.comments) == (90, "All of it")


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
    office: Office, ana: Person, linked_ben: Person, issue: Issue
) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    await logged(ana)
    await linked_ben.command("/timelog edit")
    assert "You haven't logged any time yet" in text_of(await linked_ben.form("That didn't work"))

    await ana.command("/timelog edit")
    form = await ana.form("Edit time")
    assert f"#{issue.id}" in text_of(form)
    del office.tracker.data.time_entries[office.newest_time().id]
    await ana.submit(form, {"Comment": "Added later"})
    await ana.form_saying("Edit time", "was deleted in Tracker")


async def test_time_is_shared_only_where_everyone_may_see_it(
    office: Office, ana: Person, issue: Issue
) -> None:
    data = office.tracker.data
    data.projects[1].is_public = False
    hidden = next(i for i in data.issues.values() if i.is_private and i.author_id == ANA)
    await ana.command(f"/timelog {hidden.id} 1h activity:design")
    assert "Share here" not in str((await logged(ana))["blocks"])
    await ana.command(f"/timelog {issue.id} 2h activity:design")
    told = await logged(ana, "Logged 2h on")
    issue.is_private, issue.author_id = True, ANA
    assert "This issue is private" in text_of(await ana.after(ana.press(told, "Share here")))

    await ana.command("/timelog project:webshop 3h activity:design")
    asked = await ana.after(ana.press(await logged(ana, "Logged 3h on"), "Share here"))
    assert "Web Shop isn't public" in text_of(asked)
    await ana.press(asked, "Share here")
    assert "logged 3h on" in text_of(await announcement(ana))


async def test_shared_time_names_its_issue_as_it_is_now(ana: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 2h activity:design")
    told = await logged(ana, "Logged 2h on")
    issue.subject = "Nothing secret"
    post = await ana.after(ana.press(told, "Share here"))
    assert "Nothing secret" in text_of(post)

    issue.subject = "Renamed again"
    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "3"})
    await logged(ana, "Changed to 3h")
    assert "Renamed again" in text_of(await announcement(ana))


async def test_deleted_entry_is_gone_with_its_post(office: Office, ana: Person, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    post, entry = await shared(ana), office.newest_time()
    await ana.command(f"/timelog {issue.id} 2h activity:design")
    before = await logged(ana, "Logged 2h on")

    await ana.press(before, "Delete entry")

    answer = await logged(ana, "Deleted 2h on")
    assert answer["ts"] == before["ts"]
    assert "1h today" in text_of(answer)

    await ana.command("/timelog edit")
    await ana.press_in_form(await ana.form("Edit time"), "Delete entry")

    assert "Deleted 1h on" in text_of(await ana.form("Time deleted"))
    assert entry.id not in office.tracker.data.time_entries
    assert post["ts"] not in {m["ts"] for m in await ana.messages()}
