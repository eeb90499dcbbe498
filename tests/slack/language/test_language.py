"""Every text of `examples` is understood, and each mistake is answered with what to type."""

from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import UserError
from bot.features.digests.commands import AddDigest
from bot.features.issue_command.commands import CreateIssue
from bot.features.issues.fields import FIELDS
from bot.features.timelog.commands import Misread, timelog_command, typed_time
from bot.features.timelog.drafts import TimeDraft
from bot.slack.language.dates import day, spent_day, times
from bot.slack.language.durations import hours
from bot.slack.language.tokens import SlackUser
from tests.slack.language.examples import UNDERSTOOD
from tests.slack.language.readers import EVERY_FIELD, KNOWN, READERS, TYPIST, logged, parse, quoted, same
from tests.support.wording import worded

KEY = "0123456789abcdefABCD" * 2
REFUSED: dict[str, dict[str, str]] = {
    "/issue": {
        "The page is blank": "`/issue new The page is blank`",
        "new x project:a project:b": "You used `project:` 2 times",
        "new x parent:seven": "such as `parent:42`",
        "new x parent:1,2": "only one parent",
        "new x done:half": "such as `done:50%`",
        "new x private:maybe": "such as `private:yes`",
        "new x watch:,": "`watch:` needs a value",
        "new x due:someday": "“someday” isn't a date",
    },
    "/issues": {
        "sort:prio": "Did you mean `sort:priority`?",
        "sort:zzz": "Try `id`",
        "sort:due:up": "such as `sort:updated:desc`",
        "sort:id,due,status,tracker": "at most 3 fields",
        "sort:due,-due": "names a field twice",
        "status:open,New": "`open` can't be combined",
        "category:none,UI": "`none` can't be combined",
        "id:x": "such as `id:42`",
        "query:mine": "such as `query:7`",
        "to:" + "a," * 101: "`to:` has 101 values. The limit is 100.",
        "created:2026-02-30": "isn't a date",
    },
    "/tracker": {
        "lnik": "Did you mean `/tracker link`?",
        "xyzzy": "Try `/tracker help`",
        "unlink now": "Type `/tracker unlink` on its own",
        "user @bo": "`/tracker user @name`",
        **same("`/tracker user 5`", "user 0", "user 5 6"),
        **same("Mention one person", "user new @bo", "user new <@U2> <@U3>"),
        "user edit": "`/tracker user edit 5`",
    },
    "/timelog": same("`/timelog edit`", "edit yesterday", "change today's entry to 2h"),
    "/digest": {
        **same("`kind:` can be", "add web daily 9 kind:old", "add web daily 9 kind:due stale:14d"),
        "add web daily 9 -traker:bug": "`-tracker:`",
        "puase 3": "Did you mean `/digest pause`?",
        "xyzzy": "Try `/digest help`",
        "remov 3": "Try `/digest help`",  # never offered for a slip
        "list all": "Type `/digest list` on its own",
        "pause 3 4": "`/digest pause 3`",
        **same("A pause lasts until someone resumes", "pause until monday", "pause webshop for two weeks"),
        "now 0": "`/digest now 3`",
        "pause 3 tz:UTC": "Leave out `tz:`",
        "add web daily 9 project:web": "named the project twice",
        "add web daily 9 please": "I can only read a time after `daily`",
        "add web daily 9 for us": "Try `daily 9:00`",
        "add web weekly 9": "`weekly mon 9:00`",
        **same("Try `daily 9`", "add web dayly 09:00", "add web 09:00"),
        "add web daily tz:New York": "`America/New_York`",
        "add web daily group:status": "`group:` can be `tracker`, `priority`",
        "add web daily zone:UTC": "Did you mean `tz:`?",
        "add web daily empty:maybe": "such as `empty:yes`",
        "add web daily tracker:,": "`tracker:` needs a value",
    },
    "options": {
        "prioirty:high": "There's no `prioirty:` option. Did you mean `priority:`?",
        "Projcet:web": "There's no `projcet:` option. Did you mean `project:`?",
        "cf_blue:1": "Use the field's name or number, such as `cf_7:`.",
        "localhost:3000": "`project:`, `priority:`, `to:`, `watch:`, `desc:`, `start:`, or `cf_<id>:`. If",
        **same("`project:` needs a value", "project:", 'project:""'),
        **same("Close the quote", 'desc:"never ends', "a “quote"),
    },
    "a duration": same(
        "`90m`", *("", "soon", "0", "0m", "-1", "1h75", "1:5:0", "100000", "1e3", "٣", "1,500")
    ),
    "a day": {
        **same("`2026-07-01`", *("", "soon", "2026-02-30", "0001-01-01", "99999w", "m", "october 0000")),
        **same("`2026-07-01`", *("31/31/2026", "20260701", "last week", "mon 5")),
        "7/8": "“7/8” could be July 8 or August 7. Type `2027-07-08` or `2026-08-07`.",
        "1/2/2026": "“1/2/2026” could be January 2 or February 1. Type `2026-01-02` or `2026-02-01`.",
    },
    "past days": {
        **same("`2026-07-01", *("..", ">=", "1..2", "2026-07-02..2026-07-01")),
        "99999w": "such as `30d`",
    },
}
"""What the answer to a text says."""

MISREAD: dict[str, tuple[str, TimeDraft]] = {
    "42 soon": ("isn't a duration", TimeDraft(issue=42, comment="soon")),
    "42 0h": ("more than 0", TimeDraft(issue=42, comment="0h")),
    "project:web 42 1h30": ("Leave one out", logged("1.5")),
    "42 1h30 on:soon": ("`yesterday`", logged("1.5")),
    "42 1h30 on 3/4/2026": ("could be March 4", logged("1.5", "on 3/4/2026")),
    "42 1h30 7/8": ("could be July 8", logged("1.5", "7/8")),
    "42 1h30 on Feb 30": ("`yesterday`", logged("1.5", "on Feb 30")),
    **{
        text: (f"How many hours is “{amount}”", TimeDraft(issue=42, comment=comment))
        for text, amount, comment in (
            ("42 half a day", "half a day", ""),
            ("all day on 42", "all day", ""),
            ("2d on 42", "2d", ""),
            ("1d 42 pairing", "1d", "pairing"),
        )
    },
    **{
        f"42 1h {comment}": ("I'm not sure", logged("1", comment))
        for comment in (
            "friday fixed it",
            "Friday review",
            "review and 1h",
            "last week",
            "on the 20th",
            "for yesterday, thanks",
        )
    },
    **{
        f"42 {comment}": ("can't tell", TimeDraft(issue=42, comment=comment))
        for comment in ("delete 2h", "didn't log 2h")
    },
    **{
        f"42 {comment}": (f"whether “{spent}” is the time you spent", logged(amount, comment))
        for comment, spent, amount in (
            ("downtime was 2h", "2h", "2"),
            ("timeout of 30m", "30m", "0.5"),
            ("worked again after 2h", "2h", "2"),
            ("was down for 30 minutes", "30 minutes", "0.5"),
            ("estimate 3h", "3h", "3"),
        )
    },
    "42 2h was the downtime": ("If you spent that time", logged("2", "was the downtime")),
    "42 9:00 2h": ("I'm not sure", logged("9", "2h")),
    "42 1h for testing": ("If that's an activity", logged("1", "for testing", issue=42, activity="testing")),
    "1d 42": ("How many hours is “1d”", TimeDraft(issue=42)),
    **dict.fromkeys(("start 42", "start the timer on #42"), ("don't have a timer", TimeDraft(issue=42))),
    **dict.fromkeys(("1h #42 and 2h #12", "42 1h, 12 2h"), ("one entry at a time", logged("1"))),
    "forgot yesterday: 42 1h, today 2h": ("one entry at a time", logged("1", day=14)),
    "42 1h30 on 31.11.": ("`yesterday`", logged("1.5", "on 31.11.")),
    "42 1h30 date:mon": ("`on:`", logged("1.5", day=13)),
    "42 1h30 note:x": ("`activity:`", logged("1.5", "note:x")),
    '42 1h30 "open': ("quotation mark", quoted("1.5", "open")),
}
"""What the answer to a mistake after `/timelog` says, and what was understood."""

KEYS = {
    "/tracker": (f"link {KEY}", "link s3cret-key", f"whoami {KEY}", KEY, f"projects key:{KEY}"),
    "/digest": (KEY, f"key {KEY}"),
}

WORDS = (
    st.sampled_from(["new", "attach", "42", "#42", "link", "project", "default", "due:", "add", "take over"])
    | st.sampled_from(["sort:", "to:", "id:", "parent:", "estimate:", "private:", "created:", "cf_1:", "tz:"])
    | st.sampled_from(["7d", ">=", "..", ",", " ", '"', "mon", "2026-07-01", "99999w", "none", "«", "“"])
    | st.sampled_from(["1h30", "-", "daily", "weekly", "cron", "0 9 * * 1-5", "*/15", ":30", "²", "\x00"])
    | st.sampled_from(["<@U1|ana>", "<#C1|x>", "<", "&amp;", "<!date^1^a|b>", "<https://x|y z>", "|", "\n"])
)
TYPED = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=20).map("".join))


def refused(reader: str, text: str) -> str:
    """What the answer to a mistake says."""
    try:
        request = READERS[reader](text)
    except UserError as error:
        return worded(error)
    assert isinstance(request, AddDigest)
    return worded(request.problems[0])


@pytest.mark.parametrize(
    ("reader", "text", "meant"),
    [(reader, text, meant) for reader, texts in UNDERSTOOD.items() for text, meant in texts.items()],
)
def test_a_text_is_understood(reader: str, text: str, meant: object) -> None:
    assert READERS[reader](text) == meant


@pytest.mark.parametrize(
    ("reader", "text", "said"),
    [(reader, text, said) for reader, texts in REFUSED.items() for text, said in texts.items()],
)
def test_the_answer_to_a_mistake_says_what_to_type(reader: str, text: str, said: str) -> None:
    assert said in refused(reader, text)


@pytest.mark.parametrize("text", MISREAD)
def test_a_mistake_after_timelog_keeps_what_was_understood(text: str) -> None:
    said, understood = MISREAD[text]
    asked = timelog_command(typed_time(text), TYPIST)

    assert isinstance(asked, Misread)
    assert said in worded(asked.error)
    assert asked.draft == understood


@pytest.mark.parametrize(("reader", "text"), [(reader, text) for reader in KEYS for text in KEYS[reader]])
def test_a_typed_api_key_is_rejected_and_never_repeated(reader: str, text: str) -> None:
    said = refused(reader, text)

    assert "Never type your API key into a command" in said
    assert "Create a new key under “My account” in Tracker" in said
    assert KEY not in said
    assert "s3cret" not in said


@settings(max_examples=60)
@given(TYPED, st.sampled_from(["", "add web "]))
def test_any_text_raises_only_user_errors(text: str, begin: str) -> None:
    for read in READERS.values():
        with suppress(UserError):
            read(begin + text)
    with suppress(UserError):
        assert all(value.text for values in parse(text, KNOWN).options.values() for value in values)


def test_the_longest_example_has_every_field() -> None:
    made = UNDERSTOOD["/issue"][EVERY_FIELD]

    assert isinstance(made, CreateIssue)
    assert made.draft.values.keys() == FIELDS.keys()


def test_a_value_may_name_several_people() -> None:
    (value,) = parse('watch:<@U1|ana>,bo,"Lee, Jo"', KNOWN).options["watch"]

    assert [part.user or part.text for part in value.parts()] == [SlackUser("U1", "ana"), "bo", "Lee, Jo"]


def test_custom_fields_are_suggested_only_if_allowed() -> None:
    with pytest.raises(UserError) as raised:
        parse("localhost:3000", ("project", "tz"))
    assert "cf_" not in worded(raised.value)


def test_thousandths_after_a_comma_depend_on_the_users_locale() -> None:
    for text, locale in (("1,125", "es-ES"), ("1,125h", "sv-SE"), ("1.125", "de-DE")):
        assert hours(text, locale) == Decimal("1.125")
    for locale in ("en-GB", "es-LA", ""):
        with pytest.raises(UserError) as raised:
            hours("1,125", locale)
        assert "isn't a duration" in worded(raised.value)


@pytest.mark.parametrize("text", ["Dec 31", "31 December"])
def test_todays_date_without_a_year_means_today(text: str) -> None:
    today = partial(date, 2026, 12, 31)

    assert day(text, today, "future") == day(text, today, "past") == spent_day(text, today) == today()


@pytest.mark.parametrize(
    ("zone", "when", "since", "until"),
    [
        ("Europe/Paris", "2026-10-25", "2026-10-24T22:00:00", "2026-10-25T22:59:59"),
        ("America/Havana", "2026-11-01", "2026-11-01T04:00:00", "2026-11-02T04:59:59"),
        ("America/Santiago", "2026-04-04", "2026-04-04T03:00:00", "2026-04-05T03:59:59"),
    ],
)
def test_days_are_complete_when_clocks_change(zone: str, when: str, since: str, until: str) -> None:
    found = times(when, TYPIST.today, partial(ZoneInfo, zone), "past")

    ends = [datetime.fromisoformat(end).replace(tzinfo=UTC) for end in (since, until)]
    assert [end and end.astimezone(UTC) for end in (found.since, found.until)] == ends
