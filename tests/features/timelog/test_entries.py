"""Sharing, editing and deleting logged time."""

from bot.sandbox.tracker.data import Issue
from tests.features.timelog.answers import announcement, logged
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, values_of

ANA, TESTING = 1, 3


async def log(ana: Person, issue: Issue, what: str = "1h") -> JSON:
    """The confirmation."""
    return await ana.ask(f"/timelog {issue.id} {what} activity:design")


async def share(ana: Person, answer: JSON) -> JSON:
    """The post after *Share here* on a confirmation."""
    await ana.press(answer, "Share here")
    return await announcement(ana)


async def edit(ana: Person, values: JSON) -> str:
    """What the confirmation says once the latest entry is edited."""
    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), values)
    return text_of(await logged(ana, f" to {values['Hours']}."))


async def test_edit_changes_entry_and_posts(office: Office, ana: Person, ben: Person, issue: Issue) -> None:
    answer = await log(ana, issue, "1h Half of it")
    before = await share(ana, answer)
    form = await ana.form_after(ana.press(answer, "Edit"), "Edit time")
    values = values_of(form)
    assert (values["Hours"], values["Activity"], values["Comment"]) == ("1", "Design", "Half of it")

    await ana.submit(form, {"Hours": "soon"})
    assert (await ana.errors())["hours"].endswith("isn't a duration. Try 1.5, 90m, 1h 30m, or 1:30.")
    await ana.submit(
        form, {"Hours": "0,75", "Activity": "Testing", "Date": "2026-01-05", "Comment": "All of it"}
    )

    changed = await logged(ana, "Changed the entry on ")
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
    await ben.sees_no_more(after)
    assert "the post" not in await edit(ana, {"Hours": "3h"})


async def test_edit_opens_only_the_users_latest_entry_and_sends_only_what_was_changed(
    office: Office, ana: Person, linked_ben: Person, issue: Issue
) -> None:
    answer = await log(ana, issue, "20m Half of it")
    await linked_ben.command("/timelog edit")
    assert "You haven't logged any time yet" in text_of(await linked_ben.form("That didn't work"))
    office.newest_time().minutes = 90  # in the service, which doesn't tell the bot
    await ana.press(answer, "Edit")

    await ana.submit(await ana.form("Edit time"), {"Comment": "All of it"})

    await logged(ana, "Changed the entry on ")
    entry = office.newest_time()
    assert (entry.minutes, entry.comments) == (90, "All of it")
    form = await ana.form_after(ana.command("/timelog edit"), "Edit time")
    assert f"#{issue.id}" in text_of(form)
    del office.tracker.data.time_entries[entry.id]
    await ana.form_after(ana.submit(form, {"Comment": "Added later"}), "Edit time", "was deleted in Tracker")


async def test_time_is_shared_only_if_everyone_sees_it(office: Office, ana: Person, issue: Issue) -> None:
    data = office.tracker.data
    data.projects[1].is_public = False
    hidden = next(i for i in data.issues.values() if i.is_private and i.author_id == ANA)
    assert "Share here" not in str((await log(ana, hidden))["blocks"])
    confirmation = await log(ana, issue)
    issue.is_private, issue.author_id = True, ANA
    assert "This issue is private" in text_of(await ana.after(ana.press(confirmation, "Share here")))

    confirmation = await ana.ask("/timelog project:webshop 3h activity:design")
    asked = await ana.after(ana.press(confirmation, "Share here"))
    assert "Web Shop isn't public" in text_of(asked)
    assert "logged 3h on" in text_of(await share(ana, asked))


async def test_a_post_stays_when_its_issue_becomes_private(ana: Person, ben: Person, issue: Issue) -> None:
    confirmation = await log(ana, issue)
    issue.subject = "Nothing secret"
    assert "Nothing secret" in text_of(await share(ana, confirmation))
    issue.subject = "Renamed again"
    await edit(ana, {"Hours": "3h"})
    before = await announcement(ben)
    assert "Renamed again" in text_of(before)

    issue.is_private, issue.author_id = True, ANA
    reply = await edit(ana, {"Hours": "2h", "Comment": "A secret"})

    assert "I couldn't update the post in <#C0GENERAL01>" in reply
    assert await announcement(ben) == before


async def test_deleted_entry_is_gone_with_its_post(office: Office, ana: Person, issue: Issue) -> None:
    post, entry = await share(ana, await log(ana, issue)), office.newest_time()
    before = await log(ana, issue, "2h")

    await ana.press(before, "Delete entry")

    answer = await logged(ana, "Deleted 2h on")
    assert answer["ts"] == before["ts"]
    assert "1h today" in text_of(answer)

    await ana.command("/timelog edit")
    await ana.press_in_form(await ana.form("Edit time"), "Delete entry")

    assert "Deleted 1h on" in text_of(await ana.form("Time deleted"))
    assert entry.id not in office.tracker.data.time_entries
    assert post["ts"] not in {m["ts"] for m in await ana.messages()}


async def test_the_time_of_a_period_lists_its_entries_and_edits_them(ana: Person, issue: Issue) -> None:
    await log(ana, issue, "1h Half of it")
    await log(ana, issue, "2h yesterday")

    answer = await ana.ask("/timelog what did I log today")
    assert "You logged 1h today" in text_of(answer)
    assert "Half of it" in text_of(answer)
    assert "2h on" not in text_of(answer)
    assert "2h on" in text_of(await ana.ask("/timelog what did I log yesterday"))
    await ana.submit(await ana.form_after(ana.press(answer, "Edit"), "Edit time"), {"Hours": "3h"})

    await logged(ana, " to 3h.")
    assert "You logged 3h today" in text_of(await ana.ask("/timelog today"))


async def test_edit_opens_the_latest_entry_on_an_issue(office: Office, ana: Person, issue: Issue) -> None:
    other = next(
        one
        for one in office.tracker.data.issues.values()
        if one.project_id == issue.project_id and one.id != issue.id and not one.is_private
    )
    await log(ana, issue, "1h")
    await log(ana, other, "2h")

    form = await ana.form_after(ana.command(f"/timelog edit my entry on {issue.id}"), "Edit time")
    assert f"#{issue.id} " in text_of(form)
    await ana.close(form)

    answer = await ana.ask("/timelog change my entry on 99999 to 3h")
    assert f"You have no entry on #99999 that I know of. Your last one is on #{other.id}." in text_of(answer)
    await ana.press(answer, "Edit last entry")
    assert f"#{other.id} " in text_of(await ana.form("Edit time"))
