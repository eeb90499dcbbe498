"""Creating issues by command."""

import html
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.sandbox.tracker.server import Tracker
from tests.features.files.attached import shared
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import button_saying, text_of, values_of

ANA, BEN, NUMBER = 1, 2, 12


async def test_creates_and_announces_an_issue_with_every_option(office: Office, ana: Person) -> None:
    parent = office.public_issue().id
    await ana.ask(
        "/issue new Pay <button> & <!channel> is dead project:“Web Shop” tracker:support priority:high to:me "
        f"category:checkout version:3.0 parent:#{parent} start:2029-12-31 due:2030-01-31 estimate:1h30 "
        'watch:dana customer-reference:K-1 desc:"It *never* worked"'
    )

    made = office.newest_issue()
    data = office.tracker.data
    assert (made.subject, made.description) == ("Pay <button> & <!channel> is dead", "It *never* worked")
    assert (made.project_id, made.author_id, made.assigned_to_id, made.parent_id) == (1, ANA, ANA, parent)
    names = (data.trackers[made.tracker_id].name, data.priorities[made.priority_id].name)
    assert names == ("Support", "High")
    assert data.categories[made.category_id or 0].name == "Checkout"
    assert data.versions[made.version_id or 0].name == "3.0"
    assert (str(made.start_date), str(made.due_date)) == ("2029-12-31", "2030-01-31")
    assert (made.estimated_hours, made.custom[2]) == (1.5, "K-1")
    assert [data.principal(watcher) for watcher in sorted(made.watcher_ids)] == ["Dana Novak"]
    announced = next(m for m in await ana.messages() if "created <" in m["text"])
    assert not announced["ephemeral"]
    assert announced["text"].startswith("Ana Ruiz created <")
    assert announced["text"].endswith("> in Web Shop · High · assigned to Ana Ruiz")
    assert "&lt;!channel&gt;" in announced["text"]


async def test_an_option_that_hides_a_custom_field_is_explained(office: Office, ana: Person) -> None:
    office.tracker.data.custom_fields[2].name = "Version"
    note = "There's also a custom field named Version. To set it, type `cf_2:`."

    await ana.ask("/issue new Two versions project:webshop tracker:support version:3.0")
    number = office.newest_issue().id
    answer = await ana.sees(lambda message: note in text_of(message))
    assert answer["ephemeral"]
    assert note in text_of(await ana.ask(f"/issue {number} version:none"))
    assert note not in text_of(await ana.ask(f"/issue {number} priority:high"))
    await ana.ask(f"/issue {number} cf_2:7")
    assert office.tracker.data.issues[number].custom[2] == "7"


MARKED = "*bold* _it_ `code` ~x~ :smile: a|b <t> & “q”"


async def test_shows_a_subject_and_a_rejected_command_exactly_as_typed(ana: Person, office: Office) -> None:
    announced = await ana.ask(f"/issue new project:webshop {MARKED}")

    issue = f"#{office.newest_issue().id} {MARKED}"
    assert issue in text_of(await ana.ask(f"/issue {office.newest_issue().id}"))
    row = await ana.ask(f"/issues id:{office.newest_issue().id}")
    for escaped in (text_of(announced), text_of(row)):
        assert issue in html.unescape(escaped).replace("\u2060", "")
        assert issue not in escaped
    rejected = "/issue new  two  spaces *b* `c` <t> & @ben https://x.y/_a_ nosuch:x"
    assert rejected in text_of(await ana.ask(rejected))


def posted(office: Office) -> int:
    """How many messages others can read, in all channels."""
    return sum(message.to is None for sent in office.workspace.state.messages.values() for message in sent)


async def test_answers_privately_when_others_may_not_see_the_issue(office: Office, ana: Person) -> None:
    before = posted(office)
    for channel, options, why in (
        ("general", "project:webshop private:yes", "the issue is private"),
        ("general", "project:security", "the project isn't public"),
        ("partners", "project:webshop", "shared with people outside"),
        ("leadership", "project:webshop", "Invite me"),
    ):
        ana.channel = channel
        answer = await ana.ask(f"/issue new Between us {options}")
        assert answer["ephemeral"]
        assert why in text_of(answer)
        assert office.newest_issue().is_private is ("private" in options)
    await office.idle()
    assert posted(office) == before


async def test_only_authors_learn_of_failed_privacy(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask("/digest add webshop daily 09:00 empty:yes")

    answer = await linked_ben.ask("/issue new Not for me to hide project:webshop private:yes status:closed")

    made = office.newest_issue()
    assert not made.is_private
    assert answer["ephemeral"]
    assert text_of(answer).startswith("Tracker didn't make ")
    assert " private, so others can see it. Open it in Tracker to delete it." in text_of(answer)
    assert "Status is New, not Closed." in text_of(answer)
    _, button = button_saying(answer["blocks"], "Open in Tracker")
    assert button["url"].endswith(f"/issues/{made.id}")
    await linked_ben.say(office.link_to(made.id))
    await linked_ben.shortcut("time_from_message", await linked_ben.say(f"About #{made.id}"))
    await linked_ben.submit(await linked_ben.form("Log time"), {"Hours": "1", "Activity": "Design"})
    logged_time = await linked_ben.sees(lambda message: "Logged 1h" in text_of(message))
    assert "Share here" not in text_of(logged_time)
    await ana.ask("/digest now")
    await office.idle()
    assert any("Web Shop" in message["text"] for message in await ana.messages())
    assert "Not for me to hide" not in str(await ana.messages())


class TestRoles:
    @pytest.fixture
    def tracker(self) -> Tracker:
        return demo_tracker(roles=True)

    async def test_private_issues_need_a_right(self, office: Office, ana: Person, linked_ben: Person) -> None:
        ben, count = linked_ben, len(office.tracker.data.issues)

        text = text_of(await ben.ask("/issue new Not for me to hide project:webshop private:yes"))
        assert "Tracker doesn't let you create private issues in Web Shop." in text
        form = await ben.form_after(ben.command("/issue"), "New issue")
        form = await ben.form_after(ben.choose(form, "Project", "Web Shop"), "New issue", "Issue type")
        await ben.submit(form, {"Subject": "Nor in the form", "Private": True})
        assert "doesn't let you create private issues" in (await ben.errors())["private"]
        assert len(office.tracker.data.issues) == count

        await ana.ask("/issue new Hers to hide project:webshop private:yes")
        assert office.newest_issue().is_private


async def test_reads_dates_in_the_users_time_zone(office: Office, ana: Person, chris: Person) -> None:
    # More than 24 hours apart, so never the same day. Profiles are cached, hence two people.
    for person, zone in ((ana, ZoneInfo("Pacific/Kiritimati")), (chris, ZoneInfo("Pacific/Pago_Pago"))):
        office.workspace.state.users[person.user_id].tz = zone.key
        before = datetime.now(zone).date()

        await person.ask("/issue new Later project:webshop due:tomorrow")

        due = office.newest_issue().due_date
        assert due is not None, zone
        assert before <= due - timedelta(days=1) <= datetime.now(zone).date(), zone


@pytest.mark.parametrize("where", ["thread", "message", "nowhere"])
async def test_forms_find_the_messages_issue(office: Office, ana: Person, ben: Person, where: str) -> None:
    url = f"{office.tracker.url}/issues/{NUMBER}"
    first = await ana.say(f"About {url}" if where == "thread" else "Hello")
    text = "See #14" if where != "nowhere" else "Me too"
    reply = await shared(ben, ("cart.log", b"empty"), text=text, thread=first)

    expected = {"thread": f"#{NUMBER} ", "message": "#14 ", "nowhere": "None"}[where]
    for shortcut, title in (
        ("comment_from_message", "Comment"),
        ("files_to_issue", "Attach files"),
        ("time_from_message", "Log time"),
    ):
        form = await ana.form_after(ana.shortcut(shortcut, reply), title)
        assert expected in str(values_of(form)["Issue"])
        await ana.close(form)
