import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.mrkdwn import bold, cut, escape, line, link

MRKDWN = st.lists(
    st.sampled_from(
        ["a", " ", "\n", "&amp;", "&lt;", "<https://x.y|z>", "<https://x.y/z>", "```", "`", "*", "é"]
    )
).map("".join)
UNBROKEN = re.compile(r"(?:<https://[^<>]+>|&(?:amp|lt|gt);|[^<>&])*(?:…)?", re.DOTALL)


@given(st.text())
def test_escaped_text_holds_no_markup_and_reads_the_same(text: str) -> None:
    shown = escape(text)

    assert "<" not in shown
    assert ">" not in shown
    assert re.fullmatch(r"(?:[^&]|&(?:amp|lt|gt);)*", shown, re.DOTALL)
    shown.encode()


def test_what_cant_be_seen_and_may_deceive_is_left_out() -> None:
    assert escape("a\u202eb\x00c\x1b[31m\r\nd\te\u2066\ud800") == "abc[31m\nd\te"
    assert line("  <one>\r\n\ttwo\u2028three ") == "&lt;one&gt; two three"


@pytest.mark.parametrize(
    ("url", "label", "expected"),
    [
        ("https://x.y/a?b=1&c=2", "A | <b>", "<https://x.y/a?b=1&amp;c=2|A &lt;b&gt;>"),
        ("https://x.y/a|b>c d", "", "<https://x.y/a%7Cb%3Ec%20d>"),
        ("https://x.y", "https://x.y", "<https://x.y>"),
        ("https://evil.example", " www.x.y/login", "<https://evil.example>"),
        ("javascript:alert(1)", "x <y>", "x &lt;y&gt;"),
        ("!channel", "", "!channel"),
        ("https://", "", "https://"),
    ],
)
def test_links_lead_to_the_web_only(url: str, label: str, expected: str) -> None:
    assert link(url, label) == expected


@given(st.text(), st.text())
def test_a_link_is_one_link_whatever_it_is_made_of(path: str, label: str) -> None:
    shown = link(f"https://x.y/{path}", label)

    assert re.fullmatch(r"<https://x\.y/[^<>|\s]*(?:\|[^<>|\n]+)?>", shown)


def test_bold_is_bold_or_plain() -> None:
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
def test_cutting(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected


@given(MRKDWN, st.integers(0, 60))
def test_a_cut_stays_within_its_limit_and_breaks_nothing(text: str, limit: int) -> None:
    kept = cut(text, limit)

    assert len(kept) <= limit
    assert UNBROKEN.fullmatch(kept)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"])))
def test_escaping_loses_nothing(text: str) -> None:
    assert html.unescape(escape(text)) == html.unescape(html.escape(text, quote=False))
