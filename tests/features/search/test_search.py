"""Searching, paging and sharing a result."""

from datetime import UTC, date, datetime, timedelta

from structlog.testing import capture_logs

from bot.sandbox.demo.harbor import user_of
from bot.sandbox.people import FARAH
from bot.sandbox.tracker.defaults import NEW
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import text_of

UNDERSTOOD = {
    "project:webshop status:feedback": "* · recently updated first",
    "voucher": "Subject contains the word: voucher",
    "to:me": "Assignee: me",
    "to:@ana status:any": "Assignee: Ana Ruiz",
    "to:nobody": "Unassigned",
    "author:ben project:webshop": "Author: Ben Okafor",
    "tracker:bug,feature project:webshop": "Issue type: Bug or Feature",
    "status:new,feedback project:webshop": "Status: New or Feedback",
    "priority:>=high project:webshop status:any": "Priority: High or Urgent",
    "priority:>=hihg project:webshop": "No priority called",
    "priority:high project:webshop": "Priority: High",
    "category:search": "Add `project:`",
    "category:search project:webshop": "Category: Search",
    "version:3.0 project:webshop status:any": "Target version: 3.0",
    "created:7d": "Created <!date^",
    "updated:>=2026-01-01": "Updated on or after <!date^",
    "closed:2026-01-01..2030-01-01": "Status: closed",
    "due:<=2030-01-01 sort:due": "· by due date",
    "query:1": "Saved query 1",
    "id:28,29": "Issue: #28 or #29",
    "SEVERITY:MAJOR project:mobile status:any": "1–10 of",
    "cf_1:major project:mobile status:any": "Severity: Major",
    "cf_0:major": "There's no `cf_0:` option.",
    "subproject:none project:infrastructure": "Without subprojects",
    "xyzzyplugh": "No issues found",
    "#28": "*Status*",
    "mine": "Assignee: me",
    "my open issues": "Status: open · Assignee: me",
    "assigned to me": "Assignee: me",
    "list project:webshop": "Project: Web Shop · Status: open",
    "open redirect": "Subject contains the word: redirect",
    '"open redirect"': "Subject contains the words: open, redirect",
    '"open"': "Subject contains the word: open",
    "priorty:high": "Did you mean `priority:`?",
    "dana’s bugs": "Assignee: Dana Novak",
}
"""What is typed after `/issues`, and a part of the answer."""


async def test_understands_filters_words_and_mistakes(ana: Person) -> None:
    said = {typed: text_of(await ana.ask(f"/issues {typed}")) for typed in UNDERSTOOD}

    wrong = {typed: said[typed] for typed, part in UNDERSTOOD.items() if said[typed].count(part) != 1}
    assert wrong == {}


async def test_a_priority_that_only_other_projects_use_is_known(ana: Person) -> None:
    issues = ana.office.tracker.data.issues
    for issue in issues.values():
        issue.priority_id = 4 if issue.project_id == 1 else 5

    found = await ana.ask("/issues priority:>=urgent project:webshop")
    assert "Priority: Urgent or Immediate" in text_of(found)


async def test_a_misspelled_name_in_a_filter_is_replaced_with_one_press(ana: Person) -> None:
    refused = await ana.ask("/issues umlaut tracker:bgu status:any project:webshop")
    found = await ana.after(ana.press(refused, "Search with Bug"))
    assert "Issue type: Bug" in text_of(found)
    assert "umlaut" in text_of(found)

    refused = await ana.ask("/issues priority:>=urgnt project:webshop")
    found = await ana.after(ana.press(refused, "Search with Urgent"))
    assert "Priority: Urgent or Immediate" in text_of(found)

    refused = await ana.ask("/issues project:e")
    found = await ana.after(ana.choose_in_message(refused, "Web Shop"))
    assert "Project: Web Shop" in text_of(found)

    await ana.ask("/tracker default mobile")  # whose custom fields are suggested, too
    assert "Did you mean `severity:`?" in text_of(await ana.ask("/issues severty:major"))


async def test_only_issues_of_others_offer_assign_to_me(ana: Person) -> None:
    mine, others = await ana.ask("/issues to:me"), await ana.ask("/issues to:none")

    assert "Assign to me" not in str(mine["blocks"])
    assert "Assign to me" in str(others["blocks"])


async def test_a_phrase_is_a_filter_and_its_words_are_one_press_away(ana: Person) -> None:
    found = await ana.ask("/issues bugs project:webshop")
    assert "Issue type: Bug" in text_of(found)
    second = await ana.after(ana.press(found, "Next ›"))
    assert "Issue type: Bug" in text_of(second)

    found = await ana.ask("/issues bugs project:webshop")
    words = await ana.after(ana.press(found, "Search for “bugs”"))

    assert "Subject contains the word: bugs" in text_of(words)


async def test_a_phrase_that_leaves_nothing_can_be_left_out(office: Office, ana: Person) -> None:
    data = office.tracker.data
    farah = user_of(data, FARAH).id
    for issue in data.issues.values():  # otherwise what there is depends on the day
        issue.due_date = None
        if issue.author_id == farah:
            issue.assigned_to_id = None
    empty = await ana.ask("/issues immediate bugs due today project:webshop updated:<2020-01-01")
    assert "No issues found." in text_of(empty)

    empty = await ana.ask("/issues bugs created by dana due yesterday project:webshop")
    said = "To get results, leave out “due yesterday”."
    assert said in text_of(empty)
    found = await ana.after(ana.press(empty, "Without “due yesterday”"))
    assert " · Due <!date" not in text_of(found)

    empty = await ana.ask("/issues created by farah for dana project:webshop")
    found = await ana.after(ana.press(empty, "Without “for dana”"))
    assert "Author: Farah Iqbal" in text_of(found)

    empty = await ana.ask("/issues bugs project:webshop zebra")
    found = await ana.after(ana.press(empty, "Without “zebra”"))
    words = await ana.after(ana.press(found, "Search for “bugs zebra”"))
    assert "Subject contains the words: bugs, zebra" in text_of(words)


async def test_an_empty_result_offers_only_searches_that_find_something(office: Office, ana: Person) -> None:
    data = office.tracker.data
    shut = next(i for i in data.issues.values() if i.project_id == 1 and data.statuses[i.status_id].is_closed)
    shut.subject, shut.is_private = "A quibbling xylophone", False

    empty = await ana.ask("/issues xylophone project:webshop")
    assert "Include closed" in text_of(empty)
    assert "Search all projects" not in text_of(empty)
    assert "Clear filters" not in text_of(empty)
    assert "A quibbling xylophone" in text_of(await ana.after(ana.press(empty, "Include closed")))

    shut.status_id, shut.category_id = 1, None
    empty = await ana.ask("/issues xylophone project:webshop category:search")
    assert "Clear filters" in text_of(empty)
    assert "Include closed" not in text_of(empty)
    empty = await ana.ask("/issues xylophone project:mobile")
    assert "A quibbling xylophone" in text_of(await ana.after(ana.press(empty, "Search all projects")))
    empty = await ana.ask("/issues xylophone project:webshop created:2001-01-01")
    assert "A quibbling xylophone" in text_of(await ana.after(ana.press(empty, "Clear filters")))


async def test_a_row_marks_overdue_and_leaves_out_what_the_search_fixed(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    issue.status_id, issue.tracker_id, issue.assigned_to_id = 1, 1, None
    issue.due_date = date(2020, 1, 2)

    found = await ana.ask(f"/issues id:{issue.id} project:webshop tracker:bug to:nobody status:new")
    facts = next(b["text"]["text"] for b in found["blocks"] if b.get("accessory")).split("\n")[1]
    assert facts.endswith(" · :warning: overdue since <!date^1577961000^{date_short_pretty}|Jan 2, 2020>")
    assert not any(name in facts for name in ("Web Shop", "Bug", "New", "Unassigned"))
    facts = text_of(await ana.ask(f"/issues id:{issue.id}"))
    assert "Web Shop · Bug · New · " in facts
    assert " · Unassigned · " in facts


async def test_the_search_form_shows_the_results(ana: Person) -> None:
    form = await ana.form_after(ana.shortcut("search_issues"), "Search issues")

    await ana.submit(form, {"Project": "Web Shop", "Status": "Any"})

    assert "Project: Web Shop · Status: any" in text_of(await ana.form("Search results"))


async def test_closed_with_a_time_is_the_closing_date(office: Office, ana: Person) -> None:
    reopened = office.public_issue()
    reopened.closed_on, reopened.status_id = datetime.now(UTC) - timedelta(days=7), NEW

    found = await ana.ask("/issues closed last week project:webshop")

    assert f"#{reopened.id} " in text_of(found)


async def test_one_of_the_named_projects_is_searched_with_one_press(ana: Person) -> None:
    refused = await ana.ask("/issues urgent in webshop and mobile")
    assert "I can search one project" in text_of(refused)

    found = await ana.after(ana.press(refused, "Search mobile"))

    assert "Project: Mobile App · Status: open · Priority: Urgent" in text_of(found)
    assert "Subject contains" not in text_of(found)


async def test_many_named_projects_are_not_offered(ana: Person) -> None:
    refused = await ana.ask("/issues " + "in webshop in mobile " * 3)

    assert "I can search one project" in text_of(refused)
    assert "Search mobile" not in text_of(refused)


async def test_a_category_leads_to_the_projects_that_have_it(ana: Person) -> None:
    for typed in ("category checkout", "category:checkout"):
        refused = await ana.ask(f"/issues {typed}")
        assert "Every project has its own categories" in text_of(refused)
        assert "Search Mobile App" not in str(refused["blocks"])

        found = await ana.after(ana.press(refused, "Search Web Shop"))
        assert "Project: Web Shop · Status: open · Category: Checkout" in text_of(found)


async def test_a_reference_is_searched_in_the_custom_field_that_has_it(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    field = next(
        one for one in office.tracker.data.custom_fields.values() if one.name == "Customer reference"
    )
    issue.custom[field.id] = "K-90210"

    empty = await ana.ask("/issues K-90210")
    found = await ana.after(ana.press(empty, "Search Customer reference for “K-90210”"))

    assert f"#{issue.id} " in text_of(found)
    assert "Customer reference: K-90210" in text_of(found)


async def test_swapped_letters_are_put_right_with_one_press(ana: Person) -> None:
    empty = await ana.ask("/issues my opne bgus")
    assert "No issues found" in text_of(empty)

    found = await ana.after(ana.press(empty, "Search for “my open bugs”"))

    assert "Issue type: Bug · Status: open · Assignee: me" in text_of(found)


async def test_a_long_text_says_how_many_words_are_searched(ana: Person) -> None:
    empty = await ana.ask("/issues xylophones quibble under seven purple moons nightly")

    assert "xylophones, quibble, under, seven, purple · I can search for 5 words at once" in text_of(empty)


async def test_a_long_word_that_leaves_nothing_has_no_button(ana: Person) -> None:
    found = await ana.ask(f"/issues {'x' * 1100} umlaut project:webshop status:any")
    assert "No issues found" in text_of(found)
    assert "Without “umlaut”" not in text_of(found)
    assert "Without “xx" not in text_of(found)
    assert "New search" in text_of(found)


async def test_names_beyond_the_changes_that_a_button_carries_have_no_buttons(ana: Person) -> None:
    names = [f"unknown-name-{letter}" for letter in "abcdefghijklm"]
    answer = await ana.ask(f"/issues tracker:{','.join(names)} project:webshop")
    with capture_logs() as logged:
        for name in names[1:]:
            answer = await ana.after(ana.press(answer, "Search with Bug"))
            assert f"No issue type called “{name}”" in text_of(answer)
    assert "Search with" not in text_of(answer)
    assert [entry for entry in logged if entry["log_level"] == "error"] == []


async def test_a_searched_key_is_in_no_button(ana: Person) -> None:
    refused = await ana.ask(f"/issues umlaut {KEYS['ana']}")
    assert "contains your API key" in text_of(refused)
    assert KEYS["ana"] not in str(refused)
