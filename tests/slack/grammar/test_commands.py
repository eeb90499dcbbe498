from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import UserError
from bot.features.issues.commands import AttachFiles, CreateIssue, OpenForm, ShowIssue, issue_command
from bot.features.issues.fields import FIELDS, Draft
from bot.features.search.commands import issues_command
from bot.features.search.query import Query
from bot.features.tracker.commands import (
    Bare,
    EditUser,
    NewProject,
    NewUser,
    Projects,
    SetDefault,
    ShowProject,
    ShowUser,
    tracker_command,
)
from bot.service.filters import DateRange, Sort
from bot.slack.grammar.requests import Help, Me, Named, SlackUser
from bot.store.owner import Owner
from tests.support.wording import worded

ANA = Owner("E1", "T1", "U1")
WEDNESDAY = date(2026, 7, 15)
PARIS = ZoneInfo("Europe/Paris")
KEY = "0123456789abcdefABCD" * 2

WORDS = (
    st.sampled_from(["new", "attach", "42", "#42", "link", "project", "default", "due:"])
    | st.sampled_from(["sort:", "to:", "id:", "parent:", "estimate:", "private:", "created:"])
    | st.sampled_from(["7d", ">=", "..", ",", " ", '"', "mon", "2026-07-01", "99999w", "none"])
    | st.sampled_from(["1h30", "-"])
)
TYPED = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=12).map("".join))


def refused(command: str, text: str) -> str:
    read: dict[str, Callable[[], object]] = {
        "/issue": lambda: issue_command(text, WEDNESDAY, ANA),
        "/issues": lambda: issues_command(text, ANA, WEDNESDAY, PARIS),
        "/tracker": lambda: tracker_command(text),
    }
    with pytest.raises(UserError) as raised:
        read[command]()
    return worded(raised.value)


def search(text: str) -> Query:
    found = issues_command(text, ANA, WEDNESDAY, PARIS)
    assert isinstance(found, Query)
    return found


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("", OpenForm()),
        ("help", Help()),
        ("42", ShowIssue(42)),
        ("#42", ShowIssue(42)),
        ("<https://tracker.example/redmine/issues/42#note-3|that one>", ShowIssue(42)),
        ("attach #42", AttachFiles(42)),
        ("attach", AttachFiles(None)),
        ("new", OpenForm()),
        ("new project:web", OpenForm(Draft(project="web"))),
        ("project:web", OpenForm(Draft(project="web"))),
        ("NEW The page is blank", CreateIssue(Draft(subject="The page is blank"))),
        ("project:web new The page is blank", CreateIssue(Draft(subject="The page is blank", project="web"))),
        ('new "Fix: the thing"', CreateIssue(Draft(subject="Fix: the thing"))),
        ("create It is blank", CreateIssue(Draft(subject="It is blank"))),
        ("add It is blank", CreateIssue(Draft(subject="It is blank"))),
        ("show #42", ShowIssue(42)),
        (
            'new Blank project:web desc:"Since\ntoday"\nSteps: open it\n\n> status:500 "',
            CreateIssue(
                Draft(
                    subject="Blank",
                    project="web",
                    values={"desc": 'Since\ntoday\n\nSteps: open it\n\n> status:500 "'},
                )
            ),
        ),
        ("new 42", CreateIssue(Draft(subject="42"))),
    ],
)
def test_issue_commands_parse(text: str, request_: object) -> None:
    assert issue_command(text, WEDNESDAY, ANA) == request_


def test_issue_new_accepts_every_option() -> None:
    typed = (
        'new Blank page project:"Web shop" tracker:Bug status:New priority:High category:UI version:1.0 '
        "to:<@U2|bo> watch:me,<@U3|cy> watch:Dee parent:#7 start:today due:fri estimate:1h30 private:yes "
        'done:50% desc:"First line\nsecond" cf_3:"dark blue" cf_4:x'
    )

    request = issue_command(typed, WEDNESDAY, ANA)

    assert isinstance(request, CreateIssue)
    assert request.draft.values.keys() == FIELDS.keys()
    assert request.draft == Draft(
        subject="Blank page",
        project="Web shop",
        values={
            "tracker": "Bug",
            "status": "New",
            "priority": "High",
            "category": "UI",
            "version": "1.0",
            "to": Owner("E1", "T1", "U2"),
            "watch": ("me", Owner("E1", "T1", "U3"), "Dee"),
            "parent": 7,
            "start": WEDNESDAY,
            "due": date(2026, 7, 17),
            "estimate": Decimal("1.5"),
            "done": 50,
            "private": True,
            "desc": "First line\nsecond",
        },
        custom_fields={3: "dark blue", 4: "x"},
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The page is blank", "`/issue new The page is blank`"),
        ("new x project:a project:b", "You used `project:` 2 times"),
        ("new x parent:seven", "such as `parent:42`"),
        ("new x parent:1,2", "only one parent"),
        ("new x done:half", "such as `done:50%`"),
        ("new x private:maybe", "such as `private:yes`"),
        ("new x watch:,", "`watch:` needs a value"),
        ("new x due:someday", "“someday” isn't a date"),
    ],
)
def test_invalid_issue_commands_say_what_to_type(text: str, said: str) -> None:
    assert said in refused("/issue", text)


def test_issues_accepts_names_people_and_numbers() -> None:
    typed = (
        'blank "login page" project:web subproject:none tracker:Bug,"Feature request" tracker:Task '
        "status:any to:me,<@U2|bo> author:@cy priority:High category:none version:any parent:7 id:#1,2 "
        "query:5 cf_3:blue"
    )

    assert search(typed) == Query(
        text="blank login page",
        project="web",
        subproject="none",
        tracker=("Bug", "Feature request", "Task"),
        status="any",
        to=("me", Owner("E1", "T1", "U2")),
        author=("@cy",),
        priority=("High",),
        category="none",
        version="any",
        parent=(7,),
        ids=(1, 2),
        query=5,
        custom_fields={3: "blue"},
    )
    assert search("status:New,Resolved").status == ("New", "Resolved")
    assert search("status:Closed").status == "closed"
    assert search("status:open").status == "open"
    assert search("to:none").to == "nobody"
    assert search("to:anybody").to == "anybody"
    assert issues_command("help", ANA, WEDNESDAY, PARIS) == Help()


def test_search_dates_use_the_users_time_zone() -> None:
    found = search("created:&gt;=2026-07-01 updated:7d closed:2026-03-29 start:..today due:7d")

    assert found.created is not None
    assert found.created.since is not None
    assert found.created.since.isoformat() == "2026-07-01T00:00:00+02:00"
    assert found.created.until is None
    assert found.updated is not None
    assert [str(end) for end in (found.updated.since, found.updated.until)] == [
        "2026-07-09 00:00:00+02:00",
        "2026-07-15 23:59:59+02:00",
    ]
    assert found.closed is not None
    assert [str(end) for end in (found.closed.since, found.closed.until)] == [
        "2026-03-29 00:00:00+01:00",
        "2026-03-29 23:59:59+02:00",
    ]
    assert found.start == DateRange(None, WEDNESDAY)
    assert found.due == DateRange(WEDNESDAY, date(2026, 7, 21))


def test_sort_options_parse() -> None:
    assert search("sort:priority:desc,updated,-due").sort == (
        Sort("priority", descending=True),
        Sort("updated_on"),
        Sort("due_date", descending=True),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sort:prio", "Did you mean `sort:priority`?"),
        ("sort:zzz", "Try `id`"),
        ("sort:due:up", "such as `sort:updated:desc`"),
        ("sort:id,due,status,tracker", "at most 3 fields"),
        ("sort:due,-due", "names a field twice"),
        ("status:open,New", "`open` can't be combined"),
        ("category:none,UI", "`none` can't be combined"),
        ("id:x", "such as `id:42`"),
        ("query:mine", "such as `query:7`"),
        pytest.param("to:" + "a," * 101, "`to:` has 101 values. The limit is 100.", id="too many"),
        ("created:2026-02-30", "isn't a date"),
    ],
)
def test_invalid_searches_say_what_to_type(text: str, said: str) -> None:
    assert said in refused("/issues", text)


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("", Bare.ACCOUNT),
        ("help", Bare.HELP),
        ("Link", Bare.LINK),
        ("unlink", Bare.UNLINK),
        ("whoami", Bare.WHOAMI),
        ("projects", Projects()),
        ("projects web shop", Projects("web shop")),
        ("project web", ShowProject("web")),
        ("project new", NewProject()),
        ("project NEW Web Shop", NewProject("Web Shop")),
        ('project "New home page"', ShowProject("New home page")),
        ("user 5", ShowUser(Named("5"))),
        ("user <https://tracker.example/redmine/users/5>", ShowUser(Named("5"))),
        ("user me", ShowUser(Me())),
        ("User <@U2|bo>", ShowUser(SlackUser("U2", "bo"))),
        ("user new", NewUser()),
        ("user new <@U2|bo>", NewUser(SlackUser("U2", "bo"))),
        ("user edit #5", EditUser(Named("5"))),
        ("user edit <@U2>", EditUser(SlackUser("U2"))),
        ("default “Web shop”", SetDefault("Web shop")),
        ("default none", Bare.CLEAR_DEFAULT),
        ("default", Bare.SHOW_DEFAULT),
    ],
)
def test_tracker_commands_parse(text: str, request_: object) -> None:
    assert tracker_command(text) == request_


@pytest.mark.parametrize(
    "text", [f"link {KEY}", "link s3cret-key", f"whoami {KEY}", KEY, f"projects key:{KEY}"]
)
def test_a_typed_api_key_is_rejected_and_never_repeated(text: str) -> None:
    said = refused("/tracker", text)

    assert "Never type your API key into a command" in said
    assert "in Tracker" in said
    assert KEY not in said
    assert "s3cret" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lnik", "Did you mean `/tracker link`?"),
        ("xyzzy", "Try `/tracker help`"),
        ("unlink now", "Type `/tracker unlink` on its own"),
        ("user @bo", "`/tracker user @name`"),
        ("user 0", "`/tracker user 5`"),
        ("user 5 6", "`/tracker user 5`"),
        ("user new @bo", "Mention one person"),
        ("user new <@U2> <@U3>", "Mention one person"),
        ("user edit", "`/tracker user edit 5`"),
    ],
)
def test_invalid_tracker_commands_say_what_to_type(text: str, said: str) -> None:
    assert said in refused("/tracker", text)


@settings(max_examples=30)
@given(TYPED)
def test_any_command_text_raises_only_user_errors(text: str) -> None:
    for read in (
        lambda: issue_command(text, WEDNESDAY, ANA),
        lambda: issues_command(text, ANA, WEDNESDAY, PARIS),
        lambda: tracker_command(text),
    ):
        with suppress(UserError):
            read()
