"""Who is offered as an assignee, and what happens to who can't be one."""

import pytest

from bot.sandbox.demo.harbor import WEBSHOP
from bot.sandbox.tracker.data import LOCKED_USER, User
from bot.sandbox.tracker.server import Tracker
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, input_named, text_of

REFUSED = "Chris Lindqvist can't be assigned issues in Web Shop. Choose someone else."


def user(tracker: Tracker, login: str) -> User:
    return next(user for user in tracker.data.users.values() if user.login == login)


@pytest.fixture(params=[True, False], ids=["members listed", "members not listed"])
def listed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def tracker(*, listed: bool) -> Tracker:
    tracker = demo_tracker(listing=listed)
    newest = [issue for issue in tracker.data.issues.values() if issue.project_id == WEBSHOP][-40:]
    for issue in newest:
        issue.author_id, issue.assigned_to_id = user(tracker, "chris").id, user(tracker, "emil").id
    return tracker


async def form(ana: Person) -> JSON:
    view = await ana.form_after(ana.command("/issue"), "New issue")
    return await ana.form_after(ana.choose(view, "Project", "Web Shop"), "New issue", "Assignee")


def offered(view: JSON) -> set[str]:
    return {option["text"]["text"] for option in input_named(view, "Assignee")["element"]["options"]}


async def test_forms_offer_members_or_known_assignees(office: Office, ana: Person, *, listed: bool) -> None:
    names = offered(await form(ana))

    assert {"Ana Ruiz (me)", user(office.tracker, "emil").name} <= names
    assert "Chris Lindqvist" not in names
    assert ("Ben Okafor" in names) is listed
    assert "Support team" not in names


async def test_a_refused_assignee_is_named(office: Office, ana: Person) -> None:
    answer = text_of(await ana.ask("/issue new Not yours project:webshop to:chris"))
    assert REFUSED in answer
    assert "Open form" in answer
    number = max(i.id for i in office.tracker.data.issues.values() if i.project_id == WEBSHOP)
    assert REFUSED in text_of(await ana.ask(f"/issue {number} to:chris"))

    chris = user(office.tracker, "chris")
    view = await form(ana)
    chris.status, locked = LOCKED_USER, user(office.tracker, "emil")
    locked.status = LOCKED_USER
    await ana.submit(view, {"Subject": "Not yours", "Assignee": locked.name})
    assert f"{locked.name} can't be assigned issues in Web Shop. Choose someone else." in str(
        await ana.errors()
    )


async def test_a_refused_assign_to_me_names_the_user(office: Office, chris: Person) -> None:
    issue = next(i for i in office.tracker.data.issues.values() if i.project_id == WEBSHOP)
    issue.assigned_to_id = None
    answer = await chris.ask(f"/issue {issue.id}")

    assert REFUSED in text_of(await chris.after(chris.press(answer, "Assign to me")))


@pytest.mark.parametrize("listed", [True], indirect=True)
async def test_me_finds_the_user_among_many(office: Office, ana: Person) -> None:
    data = office.tracker.data
    for number in range(1000, 1101):
        data.users[number] = User(number, f"u{number}", "Somebody", f"Mee {number}", "", "")
        data.join(data.projects[WEBSHOP], data.users[number], 1)
    view = await ana.form_after(ana.command("/issue"), "New issue")
    view = await ana.form_after(ana.choose(view, "Project", "Web Shop"), "New issue", "Assignee")

    options = (await ana.suggest(view, "Assignee", "me"))["options"]

    assert options[0]["text"]["text"] == "Ana Ruiz (me)"
