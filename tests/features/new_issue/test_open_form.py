"""A command that can't be carried out as typed leads to the form, with everything that was understood."""

from bot.sandbox.tracker.defaults import HIGH
from tests.features.new_issue.test_duplicates import with_subject
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, input_named, labels_of, text_of, values_of


async def form_offered(person: Person, typed: str, expected: str) -> JSON:
    """The form behind *Open form*, below a sentence that says `expected`."""
    answer = await person.ask(typed)
    assert answer["ephemeral"]
    assert expected in text_of(answer)
    return await person.form_after(person.press(answer, "Open form"), "New issue")


def focused(form: JSON) -> list[str]:
    inputs = (block for block in form["blocks"] if block["type"] == "input")
    return [block["label"]["text"] for block in inputs if block["element"].get("focus_on_load")]


LONG = " ".join(["much"] * 60)
MISTAKES: list[tuple[str, str, str | None, JSON]] = [
    ("priority:hihg due:2030-01-31", "hihg", "Priority", {"Due date": "2030-01-31", "Priority": "High"}),
    ("priorty:high", "`priority:`", None, {"Priority": "High"}),
    ("priorty:high priority:low", "`priority:`", None, {"Priority": "Low", "Description": "priorty:high"}),
    ("nosuch:x to:me", "nosuch:", None, {"Assignee": "Ana Ruiz (me)", "Description": "nosuch:x"}),
    ("due:someday status:new", "someday", "Due date", {"Status": "New", "Due date": None}),
    ("estimate:soon", "soon", "Estimated hours", {"Estimated hours": "soon"}),
    ('desc:"Since this morning', "quote", None, {"Description": "Since this morning"}),
    ("parent:https://elsewhere.example/issues/28", "link", "Parent issue", {"Parent issue": None}),
    ("to:@ben", "hasn't linked an account", "Assignee", {"Assignee": None}),
    (LONG, "The limit is 255.", "Subject", {"Description": f"Pay button is dead {LONG}"}),
]
"""What is wrong after `/issue new`, what the bot says, where the focus is, and what the form has."""


async def test_a_mistake_leads_to_the_form_with_the_rest_filled_in(ana: Person) -> None:
    for typed, expected, field, values in MISTAKES:
        form = await form_offered(ana, f"/issue new project:webshop Pay button is dead {typed}", expected)

        filled = values_of(form)
        assert filled["Subject"].startswith("Pay button is dead")
        assert filled["Project"] == "Web Shop"
        assert {label: filled[label] for label in values} == values
        assert expected in text_of(form["blocks"][0])
        assert focused(form) == ([field] if field else []), typed
        await ana.close(form)

    form = await form_offered(ana, "/issue new Pay button is dead project:webshp", "webshp")
    assert values_of(form)["Project"] == "Web Shop"
    assert focused(form) == ["Project"]


async def test_people_and_choices_that_the_form_does_not_list_are_kept(ana: Person) -> None:
    form = await form_offered(
        ana, "/issue new project:webshop Pay to:77 watch:me,78 category:79 estimate:soon", "soon"
    )

    listed = ("Assignee", "Watchers", "Category")
    assert [values_of(form)[label] for label in listed] == ["#77", ["#78", "Ana Ruiz (me)"], "#79"]


async def test_fields_that_wait_for_a_project_are_not_lost(office: Office, ana: Person) -> None:
    form = await ana.form_after(ana.command("/issue new Only for us private:yes priority:high"), "New issue")
    assert focused(form) == ["Project"]
    before = office.newest_issue().id

    await ana.submit(form, {"Project": "Web Shop"})

    form = await ana.form("New issue", lambda view: "Priority" in labels_of(view))
    assert office.newest_issue().id == before
    await ana.after(ana.submit(form, {}))
    assert (office.newest_issue().subject, office.newest_issue().is_private) == ("Only for us", True)


async def test_an_unknown_project_keeps_the_rest_until_one_is_chosen(ana: Person) -> None:
    form = await form_offered(ana, "/issue new Blank project:nosuch priority:high cf_2:K-1", "nosuch")
    assert focused(form) == ["Project"]

    await ana.choose(form, "Project", "Web Shop")

    values = values_of(await ana.form("New issue", lambda view: "Priority" in labels_of(view)))
    assert (values["Subject"], values["Priority"]) == ("Blank", "High")
    assert values["Customer reference"] == "K-1"


async def test_a_required_field_is_marked_and_offers_values(office: Office, ana: Person) -> None:
    typed = "/issue new Crash on start project:mobile tracker:bug priority:high"

    form = await form_offered(ana, typed, "Severity cannot be blank")

    assert not input_named(form, "Severity")["optional"]
    assert focused(form) == ["Severity"]
    assert (await ana.suggest(form, "Severity", ""))["options"]
    await ana.after(ana.submit(form, {"Severity": "Major"}))
    assert office.newest_issue().custom[1] == "Major"
    assert office.tracker.data.priorities[office.newest_issue().priority_id].name == "High"


async def test_text_that_is_no_command_offers_to_create_it(ana: Person) -> None:
    answer = await ana.ask("/issue The page is blank project:webshop\nSince today")

    assert "`/issue new The page is blank`" in text_of(answer)
    await ana.press(answer, "Create issue “The page is blank”")
    values = values_of(await ana.form("New issue"))
    assert (values["Subject"], values["Description"]) == ("The page is blank", "Since today")


ASKED = {
    "bug Login fails, due friday project:webshop": {"Subject": "Login fails", "Issue type": "Bug"},
    "task for Ben: Renew it project:webshop": {"Subject": "Renew it", "Issue type": "Task"},
    "report Search is slow, assign to me project:webshop": {"Subject": "Search is slow"},
    "please open a ticket for a broken link project:webshop": {"Subject": "a broken link"},
    "newissue Cart is empty project:webshop": {"Subject": "Cart is empty"},
    "bug tracker is down project:webshop": {"Subject": "bug tracker is down"},
}


async def test_words_that_ask_for_an_issue_are_not_in_its_subject(ana: Person) -> None:
    for typed, filled in ASKED.items():
        answer = await ana.ask(f"/issue {typed}")
        form = await ana.form_after(ana.press(answer, f"Create issue “{filled['Subject']}”"), "New issue")
        assert {label: values_of(form)[label] for label in filled} == filled
        await ana.close(form)


async def test_option_lines_below_a_new_issue_are_options(office: Office, ana: Person) -> None:
    await ana.ask("/issue new Coupon error\nSteps: enter SPRING10\npriority: high\nproject: webshop")

    issue = office.newest_issue()
    assert (issue.subject, issue.description) == ("Coupon error", "Steps: enter SPRING10")
    assert issue.priority_id == HIGH


async def test_an_option_may_have_a_space_after_its_colon(ana: Person) -> None:
    answer = await ana.ask("/issue new Cart shows a wrong total project: Marketing")

    assert "No project called “Marketing”" in text_of(answer)


async def test_the_form_starts_with_five_fields(ana: Person) -> None:
    form = await ana.form_after(ana.command("/issue new project:webshop"), "New issue")
    assert labels_of(form) == {"Project", "Subject", "Description", "Issue type", "Assignee"}
    await ana.type_into(form, "Subject", "Stays while more is shown")
    more = await ana.with_more_fields(form)
    assert {"Status", "Due date", "Watchers", "Customer reference"} <= labels_of(more)
    assert more["state"]["values"]["subject"]["issue.subject"]["value"] == "Stays while more is shown"


async def test_the_answer_says_what_was_understood(office: Office, ana: Person) -> None:
    there = with_subject(office, 1)
    options = "project:webshop tracker:bug priority:high to:me due:2030-01-31"

    await ana.ask(f"/issue new Gift wrapping forgets the colour {options}")

    answer = next(m for m in await ana.messages() if m["ephemeral"] and "Created" in m["text"])
    text = text_of(answer)
    assert "Web Shop" in text
    assert "Bug · High · assigned to Ana Ruiz · due <!date^" in text
    assert f"Possible duplicate: <{office.tracker.url.rstrip('/')}/issues/{there.id}|" in text
    assert there.subject in text_of(await ana.after(ana.press(answer, "Show issue")))


async def test_a_description_too_long_for_the_form_is_kept(office: Office, ana: Person) -> None:
    start, code, end = " ".join(["word"] * 500), "x = 1\n" * 200, "last words"
    typed = f"/issue new Long story project:webshop priority:hihg\n{start}\n```\n{code}```\n{end}"
    answer = await ana.ask(typed)

    for is_added, rest in ((True, f"\n```\n{code}```\n{end}"), (False, "")):
        form = await ana.form_after(ana.press(answer, "Open form"), "New issue")
        await ana.after(ana.submit(form, {"Remaining description": is_added}))
        assert (office.newest_issue().description or "").replace("\r", "") == start + rest
