import html
import re
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.text.mrkdwn import bold, cut, day, escape, line, link, own, prose, spoken, stripped

MRKDWN = st.lists(
    st.sampled_from(
        ["a", " ", "\n", "&amp;", "&lt;", "<https://x.y|z>", "<https://x.y/z>", "```", "`", "*", "é"]
    )
).map("".join)
UNBROKEN = re.compile(r"(?:<https://[^<>]+>|&(?:amp|lt|gt);|[^<>&])*(?:…)?", re.DOTALL)


@given(st.one_of(st.text(), st.text(alphabet="*_~`:a &<>\u2217", max_size=40)))
def test_escaped_text_has_no_markup_and_reads_the_same(text: str) -> None:
    escaped = escape(text)
    visible = html.unescape(html.escape(escaped, quote=False)).replace("\u2060", "")

    assert not {"<", ">"} & set(escaped)
    assert re.fullmatch(r"(?:[^&]|&(?:amp|lt|gt);)*", escaped, re.DOTALL)
    escaped.encode()
    assert line(text, 10_000).replace("\u2060", "") == " ".join(visible.split())


def test_invisible_characters_are_removed() -> None:
    assert escape("a\u202eb\x00c\x1b[31m\r\nd\te\u2066\ud800") == "abc[31m\nd\te"
    assert line("  <one>\r\n\ttwo\u2028three ") == "&lt;one&gt; two three"


@pytest.mark.parametrize(
    ("url", "label", "expected"),
    [
        ("https://x.y/a?b=1&c=2", "A | <b>", "<https://x.y/a?b=1&amp;c=2|A | &lt;b&gt;>"),
        ("https://x.y/a|b>c d", "", "<https://x.y/a%7Cb%3Ec%20d>"),
        ("https://x.y", "https://x.y", "<https://x.y>"),
        ("https://evil.example", " www.x.y/login", "<https://evil.example>"),
        ("javascript:alert(1)", "x <y>", "x &lt;y&gt;"),
        ("!channel", "", "!channel"),
        ("https://", "", "https://"),
    ],
)
def test_only_http_urls_become_links(url: str, label: str, expected: str) -> None:
    assert link(url, label) == expected


@given(st.text(), st.text())
def test_any_url_and_label_make_exactly_one_link(path: str, label: str) -> None:
    mrkdwn = link(f"https://x.y/{path}", label)

    assert re.fullmatch(r"<https://x\.y/[^<>|\s]*(?:\|[^<>\n]+)?>", mrkdwn)


@pytest.mark.parametrize("text", ["*b*", "_i_", "~s~", "`c`", "**b**", "```c```", "(*b*)", "*a b*."])
def test_literal_text_has_no_formatting_marks(text: str) -> None:
    assert re.search("(?<!\u2060)[*_~`]|[*_~`](?!\u2060)", line(text)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`/tracker default <project>`", "`/tracker default &lt;project&gt;`"),
        ("cf_<id>: <!channel> <#bad>", "cf_&lt;id&gt;: &lt;!channel&gt; &lt;#bad&gt;"),
        ("a < b", "a &lt; b"),
        ("<@U1> in <#C1|x> <https://x.y|z> <!date^1^{date}|May>",) * 2,
    ],
)
def test_placeholders_in_angle_brackets_are_escaped(text: str, expected: str) -> None:
    assert own(text) == expected


def test_quoted_backticks_are_not_code() -> None:
    text = "I know no “`x`”: write `/help`."

    assert prose(text).replace("\u2060", "") == text
    assert prose(text).endswith("write `/help`.")
    assert "“\u2060`\u2060x" in prose(text)
    assert spoken(text) == "I know no “`x`”: write /help."


def test_stripped_text_keeps_characters_that_are_not_marks() -> None:
    text = f"*Bold* _it_ {day(date(2026, 7, 1))} "
    text += f"<https://x.y|a|b> <https://z> `c*d*` {line('*x* a_b 5 * 3 <t>')}\n```\n~code~\n```"

    assert stripped(text) == "Bold it Jul 1, 2026 a|b (https://x.y) https://z c*d* *x* a_b 5 * 3 <t>\n~code~"


def test_bold_falls_back_to_plain_text() -> None:
    assert bold("a <b>\nc") == "*a &lt;b&gt; c*"
    assert bold("5 * 3") == "5 * 3"
    assert bold("  ") == ""


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 5, "short"),
        ("somewhat long", 9, "somewhat…"),
        ("a &amp; b", 5, "a…"),
        ("see <https://x.y|here> now", 15, "see…"),
        ("x\n```\nlong code\n```", 16, "x\n```\nlong\n```…"),
        ("abc", 0, ""),
    ],
)
def test_cut_keeps_mrkdwn_well_formed(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected


@given(MRKDWN, st.integers(0, 60))
def test_cut_respects_the_limit_for_any_text(text: str, limit: int) -> None:
    kept = cut(text, limit)

    assert len(kept) <= limit
    assert UNBROKEN.fullmatch(kept)


def test_a_day_is_the_same_for_readers_in_every_larger_zone() -> None:
    token = day(date(2026, 7, 1))
    at = datetime.fromtimestamp(int(token.split("^")[1]), UTC)

    assert {(at + timedelta(hours=zone)).date() for zone in range(-10, 14)} == {date(2026, 7, 1)}
    assert token.endswith("^{date_short_pretty}|Jul 1, 2026>")
