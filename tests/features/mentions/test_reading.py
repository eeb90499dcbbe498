"""Which command a message means."""

from datetime import date
from functools import partial
from time import perf_counter

import pytest

from bot.features.mentions.commands import (
    IssueOfThread,
    Meant,
    Nothing,
    RoutedCommand,
    Talk,
    Unclear,
    Wordless,
    meant,
)

TODAY = partial(date, 2026, 11, 23)
URL = "https://tracker.example/app"
LINK = f"<{URL}/issues/42|#42>"


@pytest.mark.parametrize(
    ("text", "command", "rest"),
    [
        # The commands' own names
        ("issue", "issue", ""),
        ("Issue 42", "issue", "42"),
        ("/issue new Login is blank", "issue", "new Login is blank"),
        ("/dev-issue 42", "issue", "42"),
        ("issues login", "issues", "login"),
        ("timelog 42 1h", "timelog", "42 1h"),
        ("digest add webshop daily 9", "digest", "add webshop daily 9"),
        ("tracker projects", "tracker", "projects"),
        # New issues
        ("new Login is blank", "issue", "new Login is blank"),
        ("New: Login is blank", "issue", "new Login is blank"),
        ("create Login is blank\nSince today\n\nTwice", "issue", "new Login is blank\nSince today\n\nTwice"),
        ("add Login is blank project:webshop", "issue", "new Login is blank project:webshop"),
        ("new\nLogin is blank\nSince today", "issue", "new Login is blank\nSince today"),
        ("create an issue: Login is blank", "issue", "new Login is blank"),
        ("create an issue", "issue", "new"),
        ("new issue tracker", "issue", "new issue tracker"),
        ("new 42", "issue", "new 42"),
        # An issue
        ("42", "issue", "42"),
        ("#42", "issue", "#42"),
        (LINK, "issue", LINK),
        (f"{LINK} close", "issue", f"{LINK} close"),
        ("42 close", "issue", "42 close"),
        ("42 comment Same here\nToday", "issue", "42 comment Same here\nToday"),
        ("close 42", "issue", "close 42"),
        ("Reopen #42", "issue", "reopen #42"),
        ("close issue 42", "issue", "close 42"),
        ("comment 42 Same here", "issue", "comment 42 Same here"),
        ("comment on 42 Same here", "issue", "comment 42 Same here"),
        ("show 42", "issue", "show 42"),
        ("edit 42", "issue", "edit 42"),
        ("assign 42 to ana", "issue", "assign 42 to ana"),
        ("follow 42", "issue", "follow 42"),
        ("mark 42 as done", "issue", "mark 42 as done"),
        ("I'll take 42", "issue", "take 42"),
        ("assign ana to 42", "issue", "42 assign ana"),
        ("set the deadline of 42 to friday", "issue", "42 set deadline to friday"),
        ("set the priority of 42 to high?", "issue", "42 set priority to high?"),
        ("new subtask of 42: Print it", "issue", "new subtask of 42: Print it"),
        ("who is on 42?", "issue", "42?"),
        ("attach 42", "issue", "attach 42"),
        ("attach", "issue", "attach"),
        ("template", "issue", "template"),
        ("template new", "issue", "template new"),
        # Time and messages
        ("how many hours did I work last week?", "timelog", "how many hours did I work last week?"),
        ("change today's entry on 42 to 2h", "timelog", "change today's entry on 42 to 2h"),
        ("notify me when something gets assigned to me", "tracker", "notify"),
        # Searches
        ("search login", "issues", "login"),
        ("find login page", "issues", "login page"),
        ("list", "issues", ""),
        ("mine", "issues", "mine"),
        ("my issues", "issues", "my issues"),
        ("show my issues", "issues", "my issues"),
        ("status:open to:me", "issues", "status:open to:me"),
        ('project:"web shop" status:any', "issues", 'project:"web shop" status:any'),
        ("overdue", "issues", "overdue"),
        ("assign to", "issues", "assign to"),
        ("unassigned due this week", "issues", "unassigned due this week"),
        # Time
        ("log 42 1h", "timelog", "42 1h"),
        ("log 1h on 42", "timelog", "1h on 42"),
        ("log time on 42 1h pairing", "timelog", "42 1h pairing"),
        ("time 42 90m", "timelog", "42 90m"),
        ("time", "timelog", ""),
        ("log time", "timelog", ""),
        ("1h 42", "timelog", "1h 42"),
        ("1h 30m on 42 pairing", "timelog", "1h 30m on 42 pairing"),
        ("2 hours on issue 42", "timelog", "2 hours on issue 42"),
        ("1:30 #42", "timelog", "1:30 #42"),
        # Digests, accounts, help
        ("digest", "digest", ""),
        ("help", "tracker", "help"),
        ("help issues", "issues", "help"),
        ("Hello!", "tracker", "help"),
        ("hi there", "tracker", "help"),
        ("what can you do for me?", "tracker", "help"),
        ("whoami", "tracker", "whoami"),
        ("link", "tracker", "link"),
        ("projects", "tracker", "projects"),
        ("list projects", "tracker", "projects"),
        ("project webshop", "tracker", "project webshop"),
        ("default webshop", "tracker", "default webshop"),
    ],
)
def test_the_first_word_chooses_the_command(text: str, command: str, rest: str) -> None:
    prefix = "dev-" if "dev-" in text else ""

    assert meant(text, URL, TODAY, prefix) == RoutedCommand(command, rest)


@pytest.mark.parametrize(
    "text",
    [
        "the login page is blank",
        "log in page is blank",
        "link to the docs is broken",
        "thanks, close 42",
        "that is wrong in the docs",
        "project page is very slow",
        "my login is broken",
        "5m rows crash the export",
        "close the door",
        "set the priority of 12 and 13 to high",
        "<https://github.example/issues/42> fails",
        "issue: what is this?",
        '"half a quote',
        "user interface looks odd since Monday",
    ],
)
def test_other_text_may_be_an_issue_or_a_search(text: str) -> None:
    found = meant(text, URL, TODAY)

    assert isinstance(found, Unclear)
    assert not found.long
    assert not found.description


def test_lines_below_the_first_are_the_description() -> None:
    found = meant("Login is blank\nSince today\n\nTwice &amp; more", URL, TODAY)

    assert found == Unclear("Login is blank", "Since today\n\nTwice & more")


@pytest.mark.parametrize(
    "part", ["a:", "a ", "1h ", ":a:", "<@U1>", "new ", '"', "log ", "1 ", "\n", " ", "my ", "(", "x"]
)
def test_long_messages_are_read_at_once(part: str) -> None:
    text = (part * 8_000)[:8_000].strip()
    started = perf_counter()

    meant(text, URL, TODAY)

    assert perf_counter() - started < 2  # a few milliseconds on a machine that does nothing else


@pytest.mark.parametrize("before", ["", "new "])
def test_nothing_of_a_long_message_is_lost(before: str) -> None:
    line = " ".join(["word"] * 2_400)

    found = meant(f"{before}{line}", URL, TODAY)

    assert isinstance(found, Unclear)
    assert found.long
    assert found.description == line
    assert line.startswith(found.subject.removesuffix("…"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", Nothing()),
        ("?", Nothing()),
        (":tada:", Wordless()),
        ("😀 :+1::skin-tone-2:", Wordless()),
        ("…!", Wordless()),
    ],
)
def test_a_message_may_have_no_words(text: str, found: Meant) -> None:
    assert meant(text, URL, TODAY) == found


@pytest.mark.parametrize(
    "text",
    [
        "thanks a lot!",
        "Thank you",
        "undo that",
        "that's wrong, I meant 42",
        "are you a human?",
        "that isn't what I asked for",
        "thanks, you're the best",
        "are you a real person?",
    ],
)
def test_small_talk_is_neither_an_issue_nor_a_search(text: str) -> None:
    assert isinstance(meant(text, URL, TODAY), Talk)


@pytest.mark.parametrize(
    ("text", "tracker", "person"),
    [
        ("create a ticket for this", "", ""),
        ("create a bug for this thread, please", "bug", ""),
        ("make this a bug for ben", "bug", "ben"),
        ("create a bug for this for ben", "bug", "ben"),
    ],
)
def test_an_issue_of_a_thread_is_for_who_is_named(text: str, tracker: str, person: str) -> None:
    assert meant(text, URL, TODAY, in_thread=True) == IssueOfThread(tracker, person)
