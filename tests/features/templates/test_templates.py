"""Templates for new issues: made by form or from an issue, and used by command, form and message shortcut."""

from pathlib import Path

import pytest

from bot.sandbox.tracker.data import Issue
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, button_saying, labels_of, rich_section, rich_text, text_of, values_of


def bold(text: str) -> JSON:
    return {"type": "text", "text": text, "style": {"bold": True}}


SKELETON = rich_text(rich_section(bold("Steps to reproduce"), "\n\n1. …\n\n", bold("Expected result")))
BUG: JSON = {"Name": "Bug report", "Subject prefix": "[Bug]", "Issue type": "Support", "Priority": "High"}
BUG["Description"] = SKELETON


def described(office: Office) -> str:
    """The newest issue's description."""
    return (office.newest_issue().description or "").replace("\r\n", "\n")


async def with_template(ana: Person, values: JSON, channel: str = "webshop") -> JSON:
    """Makes a template of the Web Shop, this channel's project; returns the list that answers."""
    ana.channel = channel
    await ana.ask("/tracker default webshop")
    await ana.command("/issue template new")
    return await ana.after(ana.submit(await ana.form("New template"), values))


async def refilled(ana: Person, form: JSON, label: str, choice: str, shows: str) -> JSON:
    """The form once a choice has filled in a field."""
    await ana.choose(form, label, choice)
    return await ana.form(form["title"]["text"], lambda now: shows in str(values_of(now)))


async def test_a_template_is_listed_changed_and_removed(ana: Person) -> None:
    listed = await with_template(ana, BUG)

    text = text_of(listed)
    assert "1 template in *Web Shop*" in text
    assert "Subject starts with [Bug] · Support · High" in text
    assert button_saying(listed["blocks"], "Remove")[1]["confirm"]["confirm"]["text"] == "Remove"
    form = await ana.form_after(ana.press(listed, "Edit"), "Edit template")
    assert values_of(form)["Priority"] == "High"
    changed = await ana.after(ana.submit(form, {"Name": "Defect", "Available in": "Only this channel"}))
    assert "*Defect* is updated." in text_of(changed)
    assert "Only in this channel" in text_of(changed)
    elsewhere = Person(ana.office, ana.user_id)
    assert "No templates" in text_of(await elsewhere.ask("/issue template project:webshop"))
    gone = await ana.after(ana.press(changed, "Remove"))
    assert "*Defect* is removed. No templates in *Web Shop* yet." in text_of(gone)


async def test_verbs_do_what_they_say(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    issue.description = "### Steps\n\n1. Go"

    saved = await ana.ask(f"/issue template save #{issue.id} as Bug report")
    assert "*Bug report* is added. 1 template in *Web Shop*" in text_of(saved)
    taken = await ana.ask(f'/issue template save {issue.id} as "bug report"')
    assert "There's already a template called “bug report”" in text_of(taken)
    await ana.ask("/tracker default webshop")
    form = await ana.form_after(ana.press(taken, "Open form"), "New template")
    assert values_of(form)["Name"] == "bug report"
    assert "Steps" in str(values_of(form)["Description"])
    await ana.command("/issue template edit bug")
    form = await ana.form("Edit template")
    assert values_of(form)["Name"] == "Bug report"

    await ana.command("/issue template The login is slow")
    assert values_of(await ana.form("New issue"))["Subject"] == "The login is slow"

    wrong = await ana.ask("/issue template delete bgu-report")
    asked = await ana.after(ana.press(wrong, "Use Bug report"))
    assert "Remove *Bug report*? Nobody can use it for new issues anymore." in text_of(asked)
    gone = await ana.after(ana.press(asked, "Remove"))
    assert "*Bug report* is removed. No templates in *Web Shop* yet." in text_of(gone)
    assert "`/issue template save 42 as bug-report`" in text_of(await ana.ask("/issue template save 42"))


async def test_the_form_keeps_what_was_not_changed(office: Office, ana: Person) -> None:
    skeleton = rich_text(rich_section(bold("Steps, in order"), "\n\n1. …"))
    listed = await with_template(ana, {**BUG, "Description": skeleton})
    support = next(one for one in office.tracker.data.trackers.values() if one.name == "Support")
    for project in office.tracker.data.projects.values():
        project.tracker_ids = tuple(one for one in project.tracker_ids if one != support.id)
    await office.stop_bot()
    await office.start_bot()
    form = await ana.form_after(ana.press(listed, "Edit"), "Edit template")
    assert values_of(form)["Issue type"] == "Support"

    changed = await ana.after(ana.submit(form, {"Name": "Defect"}))

    assert "*Defect* is updated." in text_of(changed)
    assert "Subject starts with [Bug] · Support · High" in text_of(changed)


async def test_a_command_uses_a_template(office: Office, ana: Person) -> None:
    answer = await ana.ask("/issue new template:bug Login fails project:webshop")
    assert "Web Shop has no templates yet." in text_of(answer)
    await with_template(ana, BUG)
    answer = await ana.ask("/issue new template:bgu Login fails")
    assert "No template called “bgu”." in text_of(answer)
    await ana.press(answer, "Open form")
    assert values_of(await ana.form("New issue"))["Template"] is None

    await ana.ask('/issue new template:bug Login fails priority:low desc:"Since today"')

    made = office.newest_issue()
    assert made.subject == "[Bug] Login fails"
    assert described(office) == "Since today\n\n### Steps to reproduce\n\n1. …\n\n### Expected result"
    data = office.tracker.data
    names = (data.trackers[made.tracker_id].name, data.priorities[made.priority_id].name)
    assert names == ("Support", "Low")

    await with_template(ana, {"Name": "Short", "Subject prefix": "Bug"})
    for typed, subject in ("Bugs in the cart", "Bug Bugs in the cart"), ("Bug hunt", "Bug hunt"):
        await ana.ask(f"/issue new template:short {typed}")
        assert office.newest_issue().subject == subject


async def test_the_form_has_headings_and_needs_more_than_the_prefix(office: Office, ana: Person) -> None:
    await with_template(ana, BUG)
    await ana.command("/issue template bug")
    form = await ana.form("New issue")
    await ana.submit(form, {"Subject": "[bug]"})
    assert "Enter a subject." in str(await ana.errors())

    steps = rich_text(rich_section(bold("Steps to reproduce"), "\nType a wrong password"))
    await ana.after(ana.submit(form, {"Subject": "[Bug] Login fails", "Description": steps}))
    assert described(office) == "### Steps to reproduce\n\nType a wrong password"

    lines = "/issue new template:bug Login fails\nSteps to reproduce:\nType a wrong password"
    await ana.ask(lines)
    assert "Type a wrong password\n\n### Expected result" in described(office)


async def test_a_template_chosen_in_the_form_adds_to_what_was_typed(ana: Person) -> None:
    await with_template(ana, BUG)
    await with_template(ana, {"Name": "Idea", "Subject prefix": "Idea:", "Priority": "Low"})
    form = await ana.form_after(ana.command("/issue"), "New issue")
    await ana.type_into(form, "Subject", "Wrong total")
    await ana.choose(form, "Issue type", "Feature")

    form = await refilled(ana, form, "Template", "Bug report", "[Bug] Wrong total")
    values = values_of(form)
    assert "Expected result" in values["Description"]
    assert (values["Issue type"], values["Priority"]) == ("Feature", "High")
    assert "Template" not in labels_of(form)
    assert "Template: Bug report" in text_of(form)

    form = await refilled(ana, form, "Project", "Infrastructure", "Infrastructure")
    values = values_of(await ana.form("New issue", lambda now: "Template:" not in text_of(now)))
    assert values["Subject"] == "[Bug] Wrong total"
    assert "Expected result" in values["Description"]
    await ana.close(form)

    words = " ".join(f"word{n}" for n in range(500))
    await ana.command(f'/issue new project:webshop desc:"{words}"')
    form = await refilled(ana, await ana.form("New issue"), "Template", "Bug report", "Support")
    await ana.after(ana.submit(form, {"Subject": "All of it"}))
    assert described(ana.office).startswith(words)
    assert described(ana.office).endswith("### Expected result")


async def test_a_message_is_filled_into_the_channels_only_template(office: Office, ana: Person) -> None:
    await with_template(ana, {**BUG, "Available in": "Only this channel"})
    message = next(m for m in await ana.messages() if "checkout returns 500" in m["text"])

    values = values_of(await ana.form_after(ana.shortcut("issue_from_message", message), "New issue"))
    assert values["Subject"].startswith("[Bug] A customer")
    assert values["Description"].index("checkout returns 500") < values["Description"].index("Steps to")
    await ana.ask("/issue new Not filled in silently")
    assert described(office) == ""


async def test_a_template_is_made_from_an_issue_of_the_project(office: Office, ana: Person) -> None:
    for number, project, private in ((9001, 1, False), (9002, 1, True), (9003, 3, False)):
        text = "## Where\r\n\r\nIn the shop"
        issue = Issue(number, project, 3, 1, 3, 1, f"Sample {number}", description=text, is_private=private)
        office.tracker.data.issues[number] = issue
    await with_template(ana, BUG)
    form = await ana.form_after(ana.command("/issue template new"), "New template")
    for hidden in ("9002", "9003"):
        assert not (await ana.suggest(form, "Copy from an issue", hidden))["options"]

    form = await refilled(ana, form, "Copy from an issue", "9001", "In the shop")

    assert (values_of(form)["Issue type"], values_of(form)["Priority"]) == ("Support", "High")
    await ana.form_after(ana.submit(form, {"Name": KEYS["ana"]}), "New template", "contains your API key")
    await ana.submit(form, {"Name": " "})
    assert "Enter a name." in str(await ana.errors())
    await ana.submit(form, {"Name": "bug REPORT"})
    assert "already a template called" in str(await ana.errors())
    await ana.after(ana.submit(form, {"Name": "Place"}))
    await ana.ask("/issue new template:place Lost\n### Where\nAt home")
    assert described(office) == "### Where\n\nAt home"


@pytest.mark.parametrize("roles", [True, False])
async def test_only_who_can_create_issues_there_changes_templates(tmp_path: Path, *, roles: bool) -> None:
    async with Office(tmp_path, tracker=demo_tracker(roles=roles)).opened("ana", "ben") as office:
        ana, ben = Person(office, "U0ANA0001"), Person(office, "U0BEN0001", "webshop")
        await with_template(ana, BUG)
        listed = await ben.ask("/issue template")
        for role in office.tracker.data.roles.values():
            role.rights -= {"add_issues"}
        for issue in office.tracker.data.issues.values():
            issue.author_id = 1

        why = "You can't create issues in Web Shop" if roles else "doesn't say whether you can create issues"
        assert why in text_of(await ben.after(ben.press(listed, "Remove")))
        for button in ("Edit", "New template"):
            await ben.press(listed, button)
            await ben.close(await ben.form_saying("That didn't work", why))
        assert "Bug report" in text_of(await ana.ask("/issue template"))
        assert office.violations() == []
