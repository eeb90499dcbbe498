import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.slack.text.markdown import from_markdown
from bot.slack.text.textile import from_textile

PIECES = st.sampled_from(
    [
        *("<!channel>", "<@U1>", "<#C1|x>", "<", ">", "&", "*", "**", "_", "~~", "-", "`", "```", "@"),
        *("!", "|", '"a":', "[a](", "https://x.y", ")", "\n", "\n\n", "> ", "# ", "* ", "1. ", "h1. "),
        *("bq. ", "<pre>", "</pre>", "<code>", "    ", "w", "</code>", "<notextile>", "</notextile>"),
        *("![", "]", "|-|", "[ ] ", "+", "%", "^", "??", "\\", "&lt;", "\r\n"),
    ]
)
WRITTEN = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map("".join))
LINK = re.compile(r"<https?://[^<>|\s]+(?:\|[^<>\n]+)?>", re.IGNORECASE)


CONVERTED: dict[Callable[[str], str], list[tuple[str, str]]] = {
    from_markdown: [
        ("# Title *it*", "*Title _it_*"),
        ("**b** *i* ~~s~~ `c <d>`", "*b* _i_ ~s~ `c &lt;d&gt;`"),
        ("***both***", "_*both*_"),
        ("pre**fix**ed", "pre\u200b*fix*\u200bed"),
        ("**two\nlines**", "*two lines*"),
        ("one\r\ntwo  \r\nthree\r\n\r\nfour", "one\ntwo\nthree\n\nfour"),
        ("```ruby\nx = '<y>' **z**\n```", "```\nx = '&lt;y&gt;' **z**\n```"),
        ("    indented", "```\nindented\n```"),
        ("> said **so**\n> > before", "> said *so*\n>\n> before"),
        ("- one\n  - two\n    1. three\n- four", "• one\n    • two\n        1. three\n• four"),
        ("3. three\n4. four", "3. three\n4. four"),
        ("- [ ] to do\n- [x] done", "☐ to do\n☑ done"),
        ("- step\n\n  ```\n  run\n  it\n  ```\n", "• step\n```\nrun\nit\n```"),
        ("[a *b*](https://x.y/?a=1&b=2)", "<https://x.y/?a=1&amp;b=2|a b>"),
        ("[two\nlines](https://x.y)", "<https://x.y|two lines>"),
        ("[note](#note-1) [x](javascript:alert)", "note [x](javascript:alert)"),
        ("see https://x.y/a_b_c.", "see <https://x.y/a_b_c>."),
        ("![shot](https://x.y/z.png) ![](in.png)", "<https://x.y/z.png|shot> in.png"),
        ("| a | b |\n|---|---|\n| long | **x** |", "```\na    | b\nlong | x\n```"),
        ("<b>bold</b> <!channel> <@U1>", "&lt;b&gt;bold&lt;/b&gt; &lt;!channel&gt; &lt;@U1&gt;"),
        ("<div>\nblock\n</div>", "&lt;div&gt;\nblock\n&lt;/div&gt;"),
        ("a\n\n---\n\nb", "a\n\n──────────\n\nb"),
        ("&lt;!here&gt; &amp;", "&lt;!here&gt; &amp;"),
        ("`` a`b ``", "a\u2060`\u2060b"),
        ("", ""),
    ],
    from_textile: [
        ("h2(#top). Title *it*\ntext", "*Title it*\n\ntext"),
        (
            "*b* _i_ -s- +u+ %{color:red}c% ??cite?? @c <d>@",
            "*b* _i_ ~s~ u {color:red}c _cite_ `c &lt;d&gt;`",
        ),
        ("*b _i_ c*", "*b _i_ c*"),
        ("2 * 3 * 4, snake_case_name, well-known-thing", "2 * 3 * 4, snake_case_name, well-known-thing"),
        ("p{color:red}. one\r\ntwo\r\n\r\nthree", "one\ntwo\n\nthree"),
        ("bq. said *so*\nand so", "> said *so*\n> and so"),
        ("> said\n> > before\nnow", "> said\n> before\nnow"),
        ("* one\n** two\n* three", "• one\n    • two\n• three"),
        ("# one\n# two\n## deep\n# three\n\n# anew", "1. one\n2. two\n    1. deep\n3. three\n\n1. anew"),
        ("* one\n*# two\n*# three", "• one\n    1. two\n    2. three"),
        ('<pre><code class="ruby">\nx = "<y>" *z*\n</code></pre>', '```\nx = "&lt;y&gt;" *z*\n```'),
        ("before\n<pre>\nnever closed", "before\n\n```\nnever closed\n```"),
        ("<code>x *y*</code> <notextile>*z*</notextile>", "`x *y*` \u2060*\u2060z\u2060*\u2060"),
        ('"a *b*":https://x.y/?a=1&b=2.', "<https://x.y/?a=1&amp;b=2|a b>."),
        ('"wiki":/projects/x', "wiki"),
        ("see https://x.y/a_b_c.", "see <https://x.y/a_b_c>."),
        ("!>https://x.y/z.png(shot)! !in.png!", "<https://x.y/z.png|shot> in.png"),
        ("!in.png!:https://x.y/", "<https://x.y/|in.png>"),
        ("|_. a |_. b |\n|\\2. long |\n| @x@ | *y* |", "```\na    | b\nlong\nx    | y\n```"),
        ("<b>x</b> <!channel> <@U1>", "&lt;b&gt;x&lt;/b&gt; &lt;!channel&gt; &lt;@U1&gt;"),
        ("a\n\n---\n\nb", "a\n\n──────────\n\nb"),
        ("", ""),
    ],
}


@pytest.mark.parametrize(
    ("convert", "text", "expected"),
    [(convert, *pair) for convert, pairs in CONVERTED.items() for pair in pairs],
)
def test_descriptions_convert_to_mrkdwn(convert: Callable[[str], str], text: str, expected: str) -> None:
    assert convert(text) == expected


@pytest.mark.parametrize("translate", [from_markdown, from_textile])
@given(text=WRITTEN)
@example(text="[<!channel>](https://x.y) `<@U1>` **<!here>**")
@example(text='"<!channel>":https://x.y @<@U1>@ *<!here>*')
def test_descriptions_never_mention_anyone(translate: Callable[[str], str], text: str) -> None:
    mrkdwn = translate(text)

    rest = LINK.sub("", mrkdwn)
    assert "<" not in rest
    assert re.fullmatch(r"(?:[^&]|&(?:amp|lt|gt);)*", rest, re.DOTALL)
    assert mrkdwn.count("```") % 2 == 0
