"""Creating issues by command, form and message, showing them and sharing them."""

import html
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.data import Attachment, Issue
from bot.sandbox.workspace.model import Message
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import button_saying, input_named, text_of, until, values_of

ANA, BEN = 1, 2


def newest(office: Office) -> Issue:
    return office.tracker.data.issues[max(office.tracker.data.issues)]


async def test_creates_and_announces_an_issue_with_every_option(office: Office, ana: Person) -> None:
    parent = next(i.id for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    await ana.ask(
        "/issue new Pay <button> & <!channel> is dead project:“Web Shop” tracker:support priority:high to:me "
        f"category:checkout version:3.0 parent:#{parent} start:2029-12-31 due:2030-01-31 estimate:1h30 "
        'watch:dana cf_2:K-1 desc:"It *never* worked"'
    )

    made = newest(office)
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

    shown = f"#{newest(office).id} {MARKED}"
    assert shown in text_of(await ana.ask(f"/issue {newest(office).id}"))
    row = await ana.ask(f"/issues id:{newest(office).id}")
    for escaped in (text_of(announced), text_of(row)):
        assert shown in html.unescape(escaped).replace("\u2060", "")
        assert shown not in escaped


async def test_repeats_a_rejected_command_as_typed(ana: Person) -> None:
    typed = "/issue new  two  spaces *b* `c` <t> & @ben https://x.y/_a_ nosuch:x"

    answer = await ana.ask(typed)

    assert typed in text_of(answer)


async def test_shows_the_exact_size_of_a_small_file(office: Office, ana: Person) -> None:
    issue = next(i for i in office.tracker.data.issues.values() if i.project_id == 1)
    office.tracker.data.attachments[900] = Attachment(
        900, "a.txt", b"secret", "text/plain", ANA, issue.created_on, "", issue.id
    )

    assert "|a.txt> (6 bytes)" in text_of(await ana.ask(f"/issue {issue.id}"))


async def test_handles_a_project_with_huge_descriptions(office: Office, ana: Person) -> None:
    issues = [issue for issue in office.tracker.data.issues.values() if issue.project_id == 1]
    for issue in sorted(issues, key=lambda issue: issue.id)[-17:]:
        issue.description = "x" * 1_200_000

    await ana.ask("/issue new The price is wrong project:webshop priority:high")
    assert newest(office).subject == "The price is wrong"
    assert "*1–10 of " in text_of(await ana.ask("/issues project:webshop sort:-id"))


async def test_uses_the_channels_project_by_default(office: Office, ana: Person) -> None:
    await ana.ask("/tracker default infrastructure")
    await ana.ask("/issue new It goes there")

    assert newest(office).project_id == 3


async def test_an_unknown_name_lists_the_candidates_and_the_command(ana: Person) -> None:
    said = text_of(await ana.ask("/issue new Something project:webshop priority:hihg"))

    assert "No priority called “hihg”. Did you mean High?" in said
    assert "/issue new Something project:webshop priority:hihg" in said


async def test_an_unknown_option_suggests_the_nearest_one(ana: Person) -> None:
    assert "`priority:`" in (await ana.ask("/issue new Something priorty:high"))["text"]


async def test_sets_custom_fields_by_name(office: Office, ana: Person) -> None:
    await ana.command("/issue new Crash project:mobile tracker:bug severity:MAJOR customer-reference:K-1")
    await office.idle()

    assert newest(office).custom == {1: "Major", 2: "K-1"}


async def test_never_announces_a_private_issue(office: Office, ana: Person, ben: Person) -> None:
    seen = len(await ben.messages())
    answer = await ana.ask("/issue new A leak project:webshop private:yes")

    made = newest(office)
    assert made.is_private
    assert answer["ephemeral"]
    assert "the issue is private" in text_of(answer)
    assert len(await ben.messages()) == seen


@pytest.mark.parametrize(
    ("channel", "project", "why"),
    [
        ("general", "security", "the project is private"),
        ("partners", "webshop", "shared with people outside"),
        ("leadership", "webshop", "Invite me"),
    ],
)
async def test_answers_privately_when_others_may_not_see_the_issue(
    ana: Person, channel: str, project: str, why: str
) -> None:
    ana.channel = channel

    answer = await ana.ask(f"/issue new Between us project:{project}")

    assert answer["ephemeral"]
    assert why in text_of(answer)


async def test_reports_a_value_the_service_changed(office: Office, linked_ben: Person) -> None:
    linked_ben.channel = "webshop"

    await linked_ben.ask("/issue new Not for me to close project:webshop status:closed")
    await office.idle()

    private = [m for m in await linked_ben.messages() if m["ephemeral"]]
    assert "Status is New, not Closed." in text_of(private[-1])


async def test_reports_a_failed_private_issue_only_to_its_author(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    await ana.ask("/digest add webshop daily 09:00 empty:yes")

    answer = await linked_ben.ask("/issue new Not for me to hide project:webshop private:yes status:closed")

    made = newest(office)
    assert not made.is_private
    assert answer["ephemeral"]
    assert text_of(answer).startswith("Everyone can see ")
    assert "Tracker didn't make it private. Open it in Tracker to delete it." in text_of(answer)
    assert "Status is New, not Closed." in text_of(answer)
    _, button = button_saying(answer["blocks"], "Open in Tracker")
    assert button["url"].endswith(f"/issues/{made.id}")
    await linked_ben.ask(f"/timelog {made.id} 1h activity:design")
    await ana.ask("/digest now")
    await office.idle()
    assert any("Web Shop" in message["text"] for message in await ana.messages())
    assert "Not for me to hide" not in str(await ana.messages())


async def test_refuses_a_private_issue_without_the_permission(tmp_path: Path) -> None:
    office = Office(tmp_path, roles=True)
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
    await until(lambda: _has(ben, "Tracker"))
    await ben.submit(await ben.form("New issue"), {"Subject": "Nor in the form", "Private": True})
    assert "doesn't let you create private issues" in (await ben.errors())["private"]
    assert len(office.tracker.data.issues) == count

    await ana.ask("/issue new Hers to hide project:webshop private:yes")
    assert newest(office).is_private
    await office.close()


async def test_creates_an_issue_from_the_form(office: Office, ana: Person) -> None:
    ana.channel = "webshop"
    await ana.ask("/tracker default webshop")
    await ana.command("/issue")
    form = await ana.form("New issue")
    values = {
        "Subject": "From the form",
        "Description": "Two\nlines",
        "Tracker": "Support",
        "Status": "New",
        "Priority": "Urgent",
        "Assignee": "Farah Iqbal",
        "Category": "Payments",
        "Target version": "3.0",
        "Due date": "2030-02-01",
        "Estimated hours": "2,5h",
        "Watchers": ["Dana Novak"],
        "Customer reference": "K-7",
    }

    announced = await ana.after(ana.submit(form, values))

    made = newest(office)
    assert "From the form" in announced["text"]
    assert not announced["ephemeral"]
    assert made.subject == "From the form"
    assert office.tracker.data.principal(made.assigned_to_id or 0) == "Farah Iqbal"
    assert made.estimated_hours == Decimal("2.5")
    await ana.no_form()


async def test_changing_the_project_keeps_the_form_values(ana: Person) -> None:
    await ana.command("/issue new project:webshop priority:urgent to:me due:2030-01-01")
    form = await ana.form("New issue")
    assert values_of(form)["Priority"] == "Urgent"

    await ana.choose(form, "Project", "Mobile App")

    async def refreshed() -> bool:
        form = await ana.form("New issue")
        return bool(values_of(form)["Project"] == "Mobile App")

    await until(refreshed)
    values = values_of(await ana.form("New issue"))
    assert values["Priority"] == "Urgent"
    assert values["Assignee"] == "Ana Ruiz"


async def test_shows_errors_on_their_fields_and_keeps_the_form(office: Office, ana: Person) -> None:
    await ana.command("/issue new project:mobile")
    form = await ana.form("New issue")
    count = len(office.tracker.data.issues)

    await ana.submit(form, {"Subject": "Crash on start", "Tracker": "Bug"})

    form = await ana.form_saying("New issue", "Severity cannot be blank")
    assert not input_named(form, "Severity")["optional"]
    assert input_named(form, "Severity")["element"]["focus_on_load"]
    await ana.submit(form, {"Severity": "Cosmetic?"})
    assert (await ana.errors())["cf_1:2"].startswith("Severity ")
    await ana.submit(form, {"Severity": "Major"})
    await ana.no_form()
    assert len(office.tracker.data.issues) == count + 1


async def test_marks_a_required_custom_field_for_its_tracker(ana: Person) -> None:
    await ana.command("/issue new project:mobile tracker:bug")
    form = await ana.with_more_fields(await ana.form("New issue"))
    assert input_named(form, "Severity")["optional"]
    await ana.submit(form, {"Subject": "Crash on start"})
    await ana.errors()
    await ana.close(form)

    await ana.command("/issue new project:mobile tracker:bug")
    form = await ana.form("New issue")
    assert not input_named(form, "Severity")["optional"]
    await ana.choose(form, "Tracker", "Feature")

    async def refreshed() -> bool:
        form = await ana.form("New issue")
        return values_of(form)["Tracker"] == "Feature" and bool(input_named(form, "Severity")["optional"])

    await until(refreshed)


async def test_a_list_field_is_a_select_that_accepts_new_values(office: Office, ana: Person) -> None:
    await ana.command("/issue new Looks odd project:webshop tracker:bug browsers:safari")
    await office.idle()
    assert newest(office).custom[3] == ["Safari"]

    await ana.command("/issue new project:webshop tracker:bug")
    form = await ana.with_more_fields(await ana.form("New issue"))
    offered = (await ana.suggest(form, "Browsers", "f"))["options"]
    assert {"Firefox", "Safari", "f"} == {option["value"] for option in offered}
    await ana.submit(form, {"Subject": "In two browsers", "Browsers": ["Chrome", "Safari"]})
    await ana.no_form()

    assert newest(office).custom[3] == ["Chrome", "Safari"]


async def test_a_form_without_a_channel_shows_its_own_result(office: Office, ana: Person) -> None:
    await ana.shortcut("create_issue")
    form = await ana.form("New issue")
    await ana.choose(form, "Project", "Infrastructure")

    async def refreshed() -> bool:
        return "Tracker" in values_of(await ana.form("New issue"))

    await until(refreshed)
    await ana.submit(await ana.form("New issue"), {"Subject": "From anywhere"})

    assert "From anywhere" in text_of(await ana.form("Created"))
    assert newest(office).project_id == 3


async def test_creates_an_issue_from_a_message_and_replies_there(office: Office, ana: Person) -> None:
    ana.channel = "webshop"
    message = next(m for m in await ana.messages() if "checkout returns 500" in m["text"])

    await ana.shortcut("issue_from_message", message)
    form = await ana.form("New issue")
    values = values_of(form)
    assert values["Subject"].startswith("A customer can't pay: checkout returns 500 when a voucher")
    assert "checkout returns 500" in values["Description"]
    assert "Ben Okafor in Slack" in values["Description"]
    assert not values["Project"]
    await ana.choose(form, "Project", "Web Shop")
    await until(lambda: _has(ana, "Tracker"))
    form = await ana.form("New issue")
    announced = await ana.after(ana.submit(form, {}))

    assert announced["thread_ts"] == message["ts"]
    assert "**checkout returns 500" in (newest(office).description or "")
    assert "Ben Okafor in Slack](" in (newest(office).description or "")
    assert "`SPRING10`" in (newest(office).description or "")


async def _has(person: Person, label: str) -> bool:
    return label in values_of(await person.form("New issue"))


async def test_the_card_shows_the_issue_and_its_relations(office: Office, ana: Person) -> None:
    data = office.tracker.data
    parent = next(i for i in data.issues.values() if any(c.parent_id == i.id for c in data.issues.values()))
    child = next(c for c in data.issues.values() if c.parent_id == parent.id)
    related = next(iter(data.relations.values()))

    card = await ana.ask(f"/issue {parent.id}")

    said = text_of(card)
    assert card["ephemeral"]
    assert f"#{child.id}" in said
    for label in ("*Status*", "*Priority*", "*Assignee*", "*Time*"):
        assert label in said
    said = text_of(await ana.ask(f"/issue #{related.issue_id}"))
    assert f"#{related.issue_to_id}" in said


async def test_the_card_is_short_and_shows_more_in_place(office: Office, ana: Person) -> None:
    issue = next(i for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    issue.description, issue.done_ratio = "Start. " + "Many words. " * 60 + "The end.", 0
    issue.category_id = issue.assigned_to_id = issue.due_date = None

    card = await ana.ask(f"/issue {issue.id}")
    said = text_of(card)
    assert "Start." in said
    assert "The end." not in said
    assert "Unassigned" in said
    assert not any(label in said for label in ("Progress", "Category", "Due date"))

    more = await ana.after(ana.press(card, "Show more"))
    assert (more["ts"], more["ephemeral"]) == (card["ts"], True)
    assert "The end." in text_of(more)
    issue.done_ratio = 60
    assert "▰▰▰▰▰▰▱▱▱▱ 60%" in text_of(await ana.ask(f"/issue {issue.id}"))


async def test_shares_public_issues_but_never_private_ones(office: Office, ana: Person, ben: Person) -> None:
    data = office.tracker.data
    public = next(i for i in data.issues.values() if i.project_id == 1 and not i.is_private)
    hidden = next(i for i in data.issues.values() if i.is_private and i.author_id == ANA)

    shared = await ben.after(_share(ana, public.id))
    assert shared["text"].startswith(f"Ana Ruiz shared <{office.tracker.url}/issues/{public.id}|")

    card = await ana.ask(f"/issue {hidden.id}")
    assert "Share here" not in text_of(card)


async def test_never_shares_an_issue_that_became_private(office: Office, ana: Person) -> None:
    issue = next(i for i in office.tracker.data.issues.values() if i.project_id == 1 and i.author_id == ANA)
    issue.is_private = False
    card = await ana.ask(f"/issue {issue.id}")
    issue.is_private = True
    count = len(await ana.messages())

    said = await ana.after(ana.press(card, "Share here"))

    assert "is private, so it can't be shared" in text_of(said)
    assert [m["ephemeral"] for m in (await ana.messages())[count:]] == [True]


async def _share(person: Person, number: int) -> None:
    await person.press(await person.ask(f"/issue {number}"), "Share here")


async def test_hidden_and_missing_issues_get_the_same_answer(office: Office, ben: Person) -> None:
    await office.link(ben.user_id, next(p.api_key for p in PEOPLE if p.login == "ben"))
    hidden = next(i.id for i in office.tracker.data.issues.values() if i.project_id == 4)

    one = (await ben.ask(f"/issue {hidden}"))["text"]
    other = (await ben.ask("/issue 99999"))["text"]

    said = "There's no issue #{} in Tracker, or you can't see it. Check the number, or search with `/issues`."
    assert (one, other) == (said.format(hidden), said.format(99999))


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])  # more than 24 hours apart
async def test_reads_dates_in_the_users_time_zone(office: Office, ana: Person, zone: str) -> None:
    office.workspace.state.users[ana.user_id].tz = zone
    before = datetime.now(ZoneInfo(zone)).date()

    await ana.ask("/issue new Later project:webshop due:tomorrow")

    due = newest(office).due_date
    assert due is not None
    assert before <= due - timedelta(days=1) <= datetime.now(ZoneInfo(zone)).date()


@pytest.mark.parametrize("typed", ["/issue {link}", "/issue new Below it project:webshop parent:{link}"])
async def test_rejects_a_link_to_another_tracker(ana: Person, typed: str) -> None:
    said = text_of(await ana.ask(typed.format(link="https://elsewhere.example/issues/28")))

    assert "That link isn't an issue in Tracker" in said


async def test_creates_an_issue_from_an_apps_message(office: Office, ana: Person) -> None:
    said = {"type": "mrkdwn", "text": "*Disk full* on <https://a.example|db-1>"}
    state = office.workspace.state
    blocks = [{"type": "section", "text": said}]
    posted = Message(state.new_ts(), office.channel_id("general"), "U0CHRIS01", "", blocks=blocks)
    state.post(posted)
    message = next(m for m in await ana.messages() if m["ts"] == posted.ts)

    await ana.shortcut("issue_from_message", message)

    values = values_of(await ana.form("New issue"))
    assert values["Subject"] == "Disk full on db-1"
    description = str(input_named(await ana.form("New issue"), "Description")["element"]["initial_value"])
    assert "'text': 'Disk full', 'style': {'bold': True}" in description
    assert "'type': 'link', 'text': 'db-1', 'url': 'https://a.example'" in description
