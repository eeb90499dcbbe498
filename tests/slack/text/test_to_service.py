import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.slack.text.markdown import from_markdown
from bot.slack.text.to_service import FORMATS, TextFormat, to_plain, translate

NAMES = {"U1": "Ana Bell", "U2": "@bo"}
PIECES = st.sampled_from(
    [
        *("*", "_", "~", "`", "```", "\n", "&gt; ", "&gt;&gt;&gt;", "• ", "1. ", "<@U1>"),
        *("<https://x.y|a>", "<!here>", "<", ">", "a", " ", "&amp;", "\\", "[", "]", "(", "#", "|"),
        *("\x00", "0", "<#C1>", "<!date^1^x>", "<>", "-", "@"),
    ]
)


def name_of(user: str) -> str:
    return NAMES.get(user, user)


def to_markdown(text: str) -> str:
    return translate(text, name_of, FORMATS["markdown"])


def to_textile(text: str) -> str:
    return translate(text, name_of, FORMATS["textile"])


@pytest.mark.parametrize(
    ("text", "markdown", "textile"),
    [
        ("*b* _i_ ~s~ `c*d`", "**b** *i* ~~s~~ `c*d`", "*b* _i_ -s- @c*d@"),
        ("*b _i_ c*", "**b *i* c**", "*b _i_ c*"),
        ("a\nb\n\nc", "a  \nb\n\nc", "a\nb\n\nc"),
        ("hi <@U1>, <@U2|bo>, <@U9>", "hi @Ana Bell, @bo, @U9", "hi @Ana Bell, @bo, @U9"),
        ("<#C1|general> <#C2>", "#general #C2", "#general #C2"),
        ("<!here> <!channel|channel>", "@here @channel", "@here @channel"),
        ("<!subteam^S1|@team> <!date^1^{date}|May 1>", "@team May 1", "@team May 1"),
        ("<https://x.y>", "<https://x.y>", "https://x.y"),
        ("<https://x.y|x.y>", "<https://x.y>", "https://x.y"),
        ("<https://x.y/(a)|la[b]>", "[la\\[b\\]](https://x.y/%28a%29)", '"la[b]":https://x.y/(a)'),
        ("<mailto:a@b.c|a@b.c>", "a@b.c", "a@b.c"),
        ("&gt; one\n&gt; *two*\nthree", "> one  \n> **two**\n\nthree", "> one\n> *two*\n\nthree"),
        ("&gt;&gt;&gt; one\ntwo", "> one  \n> two", "> one\n> two"),
        ("list\n• one\n    ◦ two\n1. x", "list\n\n- one\n    - two\n1. x", "list\n\n* one\n** two\n# x"),
        ("```if x &lt; 3:\n  *y* <https://z>```", "```\nif x < 3:\n  *y* https://z\n```", None),
        ("so ```x``` there", "so\n\n```\nx\n```\n\nthere", "so\n\n<pre>\nx\n</pre>\n\nthere"),
        ("`a@b` `<@U1|ana>`", "`a@b` `@ana`", "<code>a@b</code> <code>@ana</code>"),
        (":smile: &amp;lt; 5 &gt; 3", ":smile: &amp;lt; 5 > 3", ":smile: &amp;lt; 5 > 3"),
    ],
)
def test_messages_keep_their_formatting(text: str, markdown: str, textile: str | None) -> None:
    assert to_markdown(text) == markdown
    assert to_textile(text) == (textile or "<pre>\nif x < 3:\n  *y* https://z\n</pre>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# not a heading", "# not a heading"),
        ("2*3*4 a_b_c * ~ x_y", "2*3*4 a_b_c * ~ x_y"),
        ("[a](https://x.y)", "[a](<https://x.y>)"),
        ("&lt;b&gt;x&lt;/b&gt; &amp;lt;", "&lt;b&gt;x&lt;/b&gt; &amp;lt;"),
        ("title\n---", "title\n---"),
        ("    indented", "indented"),
        ("[a]: b", "[a]: b"),
        ("stray ` tick **x** \\*y", "stray ` tick **x** \\*y"),
    ],
)
def test_plain_characters_are_escaped_for_markdown(text: str, expected: str) -> None:
    assert from_markdown(to_markdown(text)).replace("\u2060", "") == expected


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("h1. no", "h1&#46; no"),
        ("# no", "&#35; no"),
        ("|a|b|", "&#124;a|b|"),
        ("well -known- @x@ +y+", "well &#45;known- &#64;x@ &#43;y+"),
        ("a *b", "a *b"),
        ('"a":b', '&#34;a":b'),
        ("wow!really! a_b_c", "wow&#33;really! a_b_c"),
        ("&lt;pre&gt;", "&lt;pre>"),
    ],
)
def test_plain_characters_are_escaped_for_textile(text: str, written: str) -> None:
    assert to_textile(text) == written


def test_subjects_have_no_markup() -> None:
    text = "_*Help* <@U2>_ `a_b` with <https://x.y/_a_|the *page*> in <#C1|general> &amp; ```so```"

    assert to_plain(text, name_of) == "Help @bo a_b with the *page* in #general & so"


def test_code_never_closes_early() -> None:
    assert "</pre>" not in to_textile("```a&lt;/pre&gt;b```").removesuffix("</pre>")


@pytest.mark.parametrize("text_format", ["markdown", "textile"])
@given(text=st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
def test_any_message_converts_without_an_error(text_format: TextFormat, text: str) -> None:
    written = translate(text, name_of, FORMATS[text_format])

    assert "\x00" not in written
    MarkdownIt("commonmark").parse(written)
