"""Creating issues by command."""

import html
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import button_saying, text_of

ANA, BEN = 1, 2


async def test_creates_and_announces_an_issue_with_every_option(office: Office, ana: Person) -> None:
    parent = next(i.id for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    await ana.ask(
        "/issue new Pay <button> & <!channel> is dead project:“Web Shop” tracker:support priority:high to:me "
        f"category:checkout version:3.0 parent:#{parent} start:2029-12-31 due:2030-01-31 estimate:1h30 "
        'watch:dana customer-reference:K-1 desc:"It *never* worked"'
    )

    made = office.newest_issue()
    assert made.subject == "Pay <button> & <!channel> is dead"
    assert (made.project_id, made.author_id, made.assigned_to_id) == (1, ANA, ANA)
    assert office.tracker.data.trackers[made.tracker_id].name == "Support"
    assert office.tracker.data.priorities[made.priority_id].name == "High"
    assert made.parent_id == parent
    data = office.tracker.data
    assert data.categories[made.category_id or 0].name == "Checkout"
    assert data.versions[made.version_id or 0].name == "3.0"
    assert str(made.start_date) == "2029-12-31"
    assert str(made.due_date) == "2030-01-31"
    assert made.estimated_hours == Decimal("1.5")
    assert [data.principal(watcher) for watcher in sorted(made.watcher_ids)] == ["Dana Novak"]
    assert made.custom[2] == "K-1"
    assert made.description == "It *never* worked"
    announced = next(m for m in await ana.messages() if "created <" in m["text"])
    assert not announced["ephemeral"]
    assert announced["text"].startswith("Ana Ruiz created <")
    assert announced["text"].endswith("> in Web Shop · High · assigned to Ana Ruiz")
    assert "&lt;!channel&gt;" in announced["text"]


MARKED = "*bold* _it_ `code` ~x~ :smile: a|b <t> & “q”"


async def test_shows_a_subject_exactly_as_typed(ana: Person, office: Office) -> None:
    announced = await ana.ask(f"/issue new project:webshop {MARKED}")

    shown = f"#{office.newest_issue().id} {MARKED}"
    assert shown in text_of(await ana.ask(f"/issue {office.newest_issue().id}"))
    row = await ana.ask(f"/issues id:{office.newest_issue().id}")
    for escaped in (text_of(announced), text_of(row)):
        assert shown in html.unescape(escaped).replace("\u2060", "")
        assert shown not in escaped


async def test_repeats_a_rejected_command_as_typed(ana: Person) -> None:
    typed = "/issue new  two  spaces *b* `c` <t> & @ben https://x.y/_a_ nosuch:x"

    answer = await ana.ask(typed)

    assert typed in text_of(answer)


def posted(office: Office) -> int:
    """How many messages others can read, in all channels."""
    return sum(message.to is None for said in office.workspace.state.messages.values() for message in said)


async def test_answers_privately_when_others_may_not_see_the_issue(office: Office, ana: Person) -> None:
    seen = posted(office)
    for channel, options, why in (
        ("general", "project:webshop private:yes", "the issue is private"),
        ("general", "project:security", "the project is private"),
        ("partners", "project:webshop", "shared with people outside"),
        ("leadership", "project:webshop", "Invite me"),
    ):
        ana.channel = channel
        answer = await ana.ask(f"/issue new Between us {options}")
        assert answer["ephemeral"]
        assert why in text_of(answer)
        assert office.newest_issue().is_private is ("private" in options)
    await office.idle()
    assert posted(office) == seen


async def test_reports_a_failed_private_issue_only_to_its_author(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    await ana.ask("/digest add webshop daily 09:00 empty:yes")

    answer = await linked_ben.ask("/issue new Not for me to hide project:webshop private:yes status:closed")

    made = office.newest_issue()
    assert not made.is_private
    assert answer["ephemeral"]
    assert text_of(answer).startswith("Everyone can see ")
    assert "Tracker didn't make it private. Open it in Tracker to delete it." in text_of(answer)
    assert "Status is New, not Closed." in text_of(answer)
    _, button = button_saying(answer["blocks"], "Open in Tracker")
    assert button["url"].endswith(f"/issues/{made.id}")
    await linked_ben.say(f"{office.tracker.url.rstrip('/')}/issues/{made.id}")
    await linked_ben.ask(f"/timelog {made.id} 1h activity:design")
    await ana.ask("/digest now")
    await office.idle()
    assert any("Web Shop" in message["text"] for message in await ana.messages())
    assert "Not for me to hide" not in str(await ana.messages())


async def test_refuses_a_private_issue_without_the_permission(tmp_path: Path) -> None:
    office = Office(tmp_path, tracker=demo_tracker(roles=True))
    await office.open()
    await office.link("U0BEN0001", KEYS["ben"])
    await office.link("U0ANA0001", KEYS["ana"])
    ana, ben = Person(office, "U0ANA0001"), Person(office, "U0BEN0001")
    count = len(office.tracker.data.issues)

    said = text_of(await ben.ask("/issue new Not for me to hide project:webshop private:yes"))
    assert "Tracker doesn't let you create private issues in Web Shop." in said
    await ben.command("/issue")
    form = await ben.form("New issue")
    await ben.choose(form, "Project", "Web Shop")
    await ben.form_saying("New issue", "Tracker")
    await ben.submit(await ben.form("New issue"), {"Subject": "Nor in the form", "Private": True})
    assert "doesn't let you create private issues" in (await ben.errors())["private"]
    assert len(office.tracker.data.issues) == count

    await ana.ask("/issue new Hers to hide project:webshop private:yes")
    assert office.newest_issue().is_private
    await office.close()


async def test_reads_dates_in_the_users_time_zone(office: Office, ana: Person, chris: Person) -> None:
    # More than 24 hours apart, so never the same day. Profiles are cached, hence two people.
    for person, zone in ((ana, ZoneInfo("Pacific/Kiritimati")), (chris, ZoneInfo("Pacific/Pago_Pago"))):
        office.workspace.state.users[person.user_id].tz = zone.key
        before = datetime.now(zone).date()

        await person.ask("/issue new Later project:webshop due:tomorrow")

        due = office.newest_issue().due_date
        assert due is not None, zone
        assert before <= due - timedelta(days=1) <= datetime.now(zone).date(), zone
