"""Similar issues, and messages that an issue was already created from."""

from bot.sandbox.tracker.data import Issue
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of

LEADS = "similar subject"


def with_subject(office: Office, project_id: int, **changes: object) -> Issue:
    """An issue of the project with a unique subject."""
    data = office.tracker.data
    issue = next(i for i in data.issues.values() if i.project_id == project_id and not i.is_private)
    issue.subject = "Gift wrapping forgets the ribbon colour"
    issue.status_id = next(s.id for s in data.statuses.values() if not s.is_closed)
    for name, value in changes.items():
        setattr(issue, name, value)
    return issue


async def form_with_similar_issues(person: Person) -> JSON:
    async def poll() -> JSON | None:
        form = await person.form("New issue")
        return form if LEADS in text_of(form) else None

    return await until(poll)


async def test_shows_similar_open_issues_as_the_subject_is_typed(office: Office, ana: Person) -> None:
    there = with_subject(office, 1)
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")

    for typed in ("Ribbon", "Ribbon colour forgot", "Ribbon colour forgotten by gift wrapping"):
        await ana.type_into(form, "Subject", typed)

    form = await form_with_similar_issues(ana)
    assert f"/issues/{there.id}|#{there.id} Gift wrapping forgets the ribbon colour>" in text_of(form)
    subject = form["state"]["values"]["subject"]["issue.subject"]
    assert subject["value"] == "Ribbon colour forgotten by gift wrapping"
    assert len([c for c in office.workspace.calls if c.method == "views.update"]) == 2


async def test_editing_the_subject_searches_again_and_keeps_other_fields(office: Office, ana: Person) -> None:
    with_subject(office, 1)
    await ana.command("/issue new project:webshop priority:urgent")
    await ana.type_into(await ana.form("New issue"), "Subject", "Gift wrapping and the ribbon")
    form = await form_with_similar_issues(ana)

    await ana.type_into(form, "Subject", "Something else altogether")

    async def gone() -> bool:
        return LEADS not in text_of(await ana.form("New issue"))

    await until(gone)
    assert values_of(await ana.form("New issue"))["Priority"] == "Urgent"


async def test_changing_the_project_shows_its_similar_issues(office: Office, ana: Person) -> None:
    with_subject(office, 2)
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    await ana.type_into(form, "Subject", "Gift wrapping: ribbon colour")

    await ana.choose(form, "Project", "Mobile App")

    assert "Gift wrapping forgets" in text_of(await form_with_similar_issues(ana))


async def test_warns_that_a_message_already_became_an_issue(office: Office, ana: Person, ben: Person) -> None:
    ana.channel = ben.channel = "webshop"
    await ana.ask("/tracker default webshop")
    message = next(m for m in await ana.messages() if "checkout returns 500" in m["text"])
    await ana.shortcut("issue_from_message", message)
    form = await ana.form("New issue")
    assert "Already created from this message" not in text_of(form)
    await ana.after(ana.submit(form, {}))
    await ana.no_form()
    made = office.tracker.data.issues[max(office.tracker.data.issues)]

    await ana.shortcut("issue_from_message", message)

    form = await ana.form("New issue")
    assert (
        f"Already created from this message: <{office.tracker.url.rstrip('/')}/issues/{made.id}|#{made.id}"
        in text_of(form)
    )
    await ana.after(ana.submit(form, {}))
    assert max(office.tracker.data.issues) == made.id + 1


async def test_hides_a_messages_issue_from_users_without_access(
    office: Office, ana: Person, ben: Person
) -> None:
    ana.channel = ben.channel = "webshop"
    await ana.ask("/tracker default webshop")
    message = next(m for m in await ana.messages() if "checkout returns 500" in m["text"])
    await ana.shortcut("issue_from_message", message)
    await ana.after(ana.submit(await ana.form("New issue"), {"Private": True}))
    made = office.tracker.data.issues[max(office.tracker.data.issues)]
    assert made.is_private
    await office.link(ben.user_id, "be50" * 10)

    await ben.shortcut("issue_from_message", message)

    assert "Already created from this message" not in text_of(await ben.form("New issue"))
