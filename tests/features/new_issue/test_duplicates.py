"""Similar issues, and messages that an issue was already created from."""

from bot.sandbox.tracker.data import Issue
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of, values_of

LEADS = "Possible duplicate"


def with_subject(office: Office, project_id: int) -> Issue:
    """An open issue of the project with a unique subject."""
    data = office.tracker.data
    issue = next(i for i in data.issues.values() if i.project_id == project_id and not i.is_private)
    issue.subject = "Gift wrapping forgets the ribbon colour"
    issue.status_id = next(s.id for s in data.statuses.values() if not s.is_closed)
    return issue


async def test_shows_similar_open_issues_as_the_subject_is_typed(office: Office, ana: Person) -> None:
    there = with_subject(office, 1)
    form = await ana.form_after(ana.command("/issue new project:webshop"), "New issue")

    for typed in ("Ribbon", "Ribbon colour forgot", "Ribbon colour forgotten by gift wrapping"):
        await ana.type_into(form, "Subject", typed)

    form = await ana.form_saying("New issue", LEADS)
    assert f"/issues/{there.id}|#{there.id} Gift wrapping forgets the ribbon colour>" in text_of(form)
    subject = form["state"]["values"]["subject"]["issue.subject"]
    assert subject["value"] == "Ribbon colour forgotten by gift wrapping"
    assert len([c for c in office.workspace.calls if c.method == "views.update"]) == 2


async def test_a_parent_is_no_duplicate(office: Office, ana: Person) -> None:
    there = with_subject(office, 1)
    subject = f"{there.subject} twice"

    await ana.ask(f"/issue new {subject} project:webshop")
    office.newest_issue().subject = "Something else"
    await ana.ask(f"/issue new {subject} project:webshop parent:{there.id}")

    alone, below = [m for m in await ana.messages() if m["ephemeral"] and "Created" in m["text"]]
    assert LEADS in text_of(alone)
    assert LEADS not in text_of(below)


async def test_another_project_searches_again_and_keeps_fields(office: Office, ana: Person) -> None:
    with_subject(office, 2)
    await ana.command("/issue new project:webshop priority:urgent to:me due:2030-01-01")
    form = await ana.form("New issue")
    await ana.type_into(form, "Subject", "Gift wrapping: ribbon colour")
    form = await ana.form_after(ana.choose(form, "Project", "Mobile App"), "New issue", LEADS)
    assert "Gift wrapping forgets" in text_of(form)

    await ana.type_into(form, "Subject", "Something else altogether")

    values = values_of(await ana.form("New issue", lambda form: LEADS not in text_of(form)))
    kept = (values["Project"], values["Priority"], values["Assignee"], values["Due date"])
    assert kept == ("Mobile App", "Urgent", "Ana Ruiz (me)", "2030-01-01")


async def test_warns_of_a_visible_issue_of_a_message(office: Office, ana: Person, linked_ben: Person) -> None:
    ana.channel = linked_ben.channel = "webshop"
    await ana.ask("/tracker default webshop")
    message = next(m for m in await ana.messages() if "checkout returns 500" in m["text"])
    form = await ana.form_after(ana.shortcut("issue_from_message", message), "New issue")
    warning = "Already created from this message"
    assert warning not in text_of(form)
    await ana.after(ana.submit(form, {"Private": True}))
    made = office.newest_issue()
    assert made.is_private

    await linked_ben.shortcut("issue_from_message", message)
    assert warning not in text_of(await linked_ben.form("New issue"))
    form = await ana.form_after(ana.shortcut("issue_from_message", message), "New issue")
    url = office.link_to(made.id)
    assert f"{warning}: <{url}|#{made.id}" in text_of(form)
    await ana.after(ana.submit(form, {}))
    assert office.newest_issue().id == made.id + 1
