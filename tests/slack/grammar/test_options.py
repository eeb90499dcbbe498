import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UserError
from bot.slack.grammar.options import parse
from bot.slack.grammar.requests import SlackUser
from tests.support.wording import worded

KNOWN = ("project", "priority", "to", "watch", "desc", "start", "cf_")

PIECES = (
    st.sampled_from(["project:", "to:", "cf_1:", "x", " ", "\n", '"', "“", "”", "«", "»"])
    | st.sampled_from([",", ":", "<@U1|ana>", "<#C1|x>", "<", ">", "&lt;", "&amp;"])
    | st.sampled_from(["<!date^1^a|b>", "<https://x|y z>", "|", "-", "#", "..", "7d", "mon"])
    | st.sampled_from(["\x00"])
)
TYPED = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=20).map("".join))


def texts(text: str, key: str) -> list[str]:
    return [value.text for value in parse(text, KNOWN).options[key]]


def test_options_may_appear_anywhere_in_the_text() -> None:
    parsed = parse("PROJECT:web the page priority:High is  blank\ncf_7:blue", KNOWN)

    assert parsed.text == "the page is blank"
    assert {key: [v.text for v in values] for key, values in parsed.options.items()} == {
        "project": ["web"],
        "priority": ["High"],
        "cf_7": ["blue"],
    }


@pytest.mark.parametrize("quotes", ['""', "“”", "””", "„“", "‟”", "«»", '“"', '"”'])
def test_any_kind_of_quotes_keeps_a_value_together(quotes: str) -> None:
    assert texts(f"new desc:{quotes[0]}two: words{quotes[1]} more", "desc") == ["two: words"]


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("start:next friday fix it", "next friday", "fix it"),
        ("fix start:31 Dec 2026 it", "31 Dec 2026", "fix it"),
        ("start:>= 2026-07-01 late", ">= 2026-07-01", "late"),
        ("start:7d 3 days late", "7d", "3 days late"),
        ('start:today "3 days" late', "today", '"3 days" late'),
    ],
)
def test_dates_need_no_quotes(text: str, value: str, rest: str) -> None:
    assert texts(text, "start") == [value]
    assert parse(text, KNOWN).text == rest


def test_quoted_text_keeps_line_breaks_and_other_quotes() -> None:
    assert texts('desc:"says “hi”\nand goes"', "desc") == ["says “hi”\nand goes"]


@pytest.mark.parametrize(
    "text",
    [
        "http://host/path is down",
        "at 12:30 sharp",
        "std::vector leaks",
        "Fix: the thing",
        "C:\\temp fills up",
        ":smile: is broken",
        "(project:web)",
        'the 19" screen',
        'Button "Save" does nothing',
    ],
)
def test_colons_and_quotes_in_plain_text_are_kept(text: str) -> None:
    assert parse(text, KNOWN).text == text
    assert not parse(text, KNOWN).options


def test_quoted_options_are_text() -> None:
    assert parse('"priority:high and all"', KNOWN).text == "priority:high and all"
    assert parse('say "priority:high" loud', KNOWN).text == "say priority:high loud"


def test_entities_are_parsed_before_text_is_unescaped() -> None:
    sent = (
        "ask <@U1|ana> or <@U2> in <#C1|general> &amp;lt; <https://x.y/a?b=1&amp;c|label> <!here> "
        "<!subteam^S1|@team> <!date^1^{date}|today> <mailto:a@b.c|a@b.c> &lt;!channel&gt;"
    )

    assert parse(sent, KNOWN).text == (
        "ask @ana or @U2 in #general &lt; https://x.y/a?b=1&c @here @team today a@b.c <!channel>"
    )


def test_a_mention_as_a_value_is_a_user() -> None:
    (value,) = parse('to:"<@U1|ana>"', KNOWN).options["to"]
    assert value.user == SlackUser("U1", "ana")

    (value,) = parse('watch:<@U1|ana>,bo,"Lee, Jo"', KNOWN).options["watch"]
    assert [part.user or part.text for part in value.parts()] == [SlackUser("U1", "ana"), "bo", "Lee, Jo"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prio:high", "There's no `prio:` option. Did you mean `priority:`?"),
        ("Projcet:web", "There's no `projcet:` option. Did you mean `project:`?"),
        ("assignee:ana", "Did you mean `to:`?"),
        ("cf_blue:1", "Did you mean `cf_<id>:`?"),
        ("localhost:3000", "`project:`, `priority:`"),
        ("localhost:3000", "`start:`, `cf_<id>:`. Put text that has a colon"),
        ("project:", "`project:` needs a value"),
        ('project:""', "`project:` needs a value"),
        ('desc:"never ends', "Close the quote"),
        ("a “quote", "Close the quote"),
    ],
)
def test_invalid_options_say_what_to_type(text: str, said: str) -> None:
    with pytest.raises(UserError) as raised:
        parse(text, KNOWN)
    assert said in worded(raised.value)


def test_custom_fields_are_suggested_only_if_allowed() -> None:
    with pytest.raises(UserError) as raised:
        parse("localhost:3000", ("project", "tz"))
    assert "cf_" not in worded(raised.value)


@given(TYPED)
def test_any_text_raises_only_user_errors(text: str) -> None:
    try:
        parsed = parse(text, KNOWN)
    except UserError:
        return
    assert all(value.text for values in parsed.options.values() for value in values)
