"""The form for a new issue, empty or filled from a message."""

from bot.sandbox.workspace.model import Message
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import input_named, until_so, values_of
from tests.support.wire import Wire


async def test_marks_a_field_that_a_tracker_requires(office: Office, ana: Person) -> None:
    form = await ana.form_after(ana.command("/issue new project:mobile"), "New issue")
    count = len(office.tracker.data.issues)

    await ana.submit(form, {"Subject": "Crash on start", "Issue type": "Bug"})

    form = await ana.form_saying("New issue", "Severity cannot be blank")
    assert not input_named(form, "Severity")["optional"]
    assert input_named(form, "Severity")["element"]["focus_on_load"]
    await ana.submit(form, {"Severity": "Cosmetic?"})
    assert (await ana.errors())["cf_1:2"].startswith("Severity ")
    await ana.submit(form, {"Severity": "Major"})
    await ana.no_form()
    assert len(office.tracker.data.issues) == count + 1

    form = await ana.form_after(ana.command("/issue new project:mobile tracker:bug"), "New issue")
    assert not input_named(form, "Severity")["optional"]
    await ana.choose(form, "Issue type", "Feature")
    await ana.form("New issue", lambda view: input_named(view, "Severity")["optional"])


async def test_an_earlier_choice_never_replaces_the_form_of_a_later_one(wired: Person, wire: Wire) -> None:
    form = await wired.form_after(wired.command("/issue new project:webshop"), "New issue")
    calls = wired.office.workspace.calls
    updates = [call.method for call in calls].count("views.update")
    wire.seconds = 20
    wire.fail("slow", "GET /projects/2")

    await wired.choose(form, "Project", "Mobile App")
    await until_so(lambda: wire.slowed)
    await wired.choose(form, "Project", "Web Shop")
    await until_so(lambda: [call.method for call in calls].count("views.update") > updates)
    wire.released.set()
    await wired.office.idle()

    assert values_of(await wired.form("New issue"))["Project"] == "Web Shop"


async def test_a_list_field_is_a_select_that_accepts_new_values(office: Office, ana: Person) -> None:
    await ana.command("/issue new Looks odd project:webshop tracker:bug browsers:safari")
    await office.idle()
    assert office.newest_issue().custom[3] == ["Safari"]

    await ana.command("/issue new project:webshop tracker:bug")
    form = await ana.with_more_fields(await ana.form("New issue"))
    offered = (await ana.suggest(form, "Browsers", "f"))["options"]
    assert {"Firefox", "Safari", "f"} == {option["value"] for option in offered}
    await ana.submit(form, {"Subject": "In two browsers", "Browsers": ["Chrome", "Safari"]})
    await ana.no_form()

    assert office.newest_issue().custom[3] == ["Chrome", "Safari"]


async def test_creates_an_issue_from_a_message_and_replies_there(office: Office, ana: Person) -> None:
    ana.channel = "webshop"
    message = next(m for m in await ana.messages() if "checkout returns 500" in m["text"])

    form = await ana.form_after(ana.shortcut("issue_from_message", message), "New issue")
    values = values_of(form)
    assert values["Subject"].startswith("A customer can't pay: checkout returns 500 when a voucher")
    assert "checkout returns 500" in values["Description"]
    assert "Ben Okafor in Slack" in values["Description"]
    assert not values["Project"]
    form = await ana.form_after(ana.choose(form, "Project", "Web Shop"), "New issue", "Issue type")
    announced = await ana.after(ana.submit(form, {}))

    assert announced["thread_ts"] == message["ts"]
    assert "**checkout returns 500" in (office.newest_issue().description or "")
    assert "Ben Okafor in Slack](" in (office.newest_issue().description or "")
    assert "`SPRING10`" in (office.newest_issue().description or "")


async def test_creates_an_issue_from_an_apps_message(office: Office, ana: Person) -> None:
    content = {"type": "mrkdwn", "text": "*Disk full* on <https://a.example|db-1>"}
    state = office.workspace.state
    blocks = [{"type": "section", "text": content}]
    posted = Message(state.new_ts(), office.channel_id("general"), "U0CHRIS01", "", blocks=blocks)
    state.post(posted)
    message = next(m for m in await ana.messages() if m["ts"] == posted.ts)

    values = values_of(await ana.form_after(ana.shortcut("issue_from_message", message), "New issue"))
    assert values["Subject"] == "Disk full on db-1"
    description = str(input_named(await ana.form("New issue"), "Description")["element"]["initial_value"])
    assert "'text': 'Disk full', 'style': {'bold': True}" in description
    assert "'type': 'link', 'text': 'db-1', 'url': 'https://a.example'" in description


async def test_two_errors_appear_at_their_fields(ana: Person) -> None:
    form = await ana.form_after(ana.command("/issue new project:webshop"), "New issue")

    await ana.submit(form, {"Subject": " ", "Estimated hours": "soon"})

    errors = await ana.errors()
    assert errors["subject"] == "Enter a subject."
    assert "isn't a duration" in errors["estimate"]
