"""Slack's rich text, to and from the service's text formats."""

from typing import Any

import pytest

from bot.slack.surfaces.rich_input import from_service_text, ids_in, written
from bot.slack.text.to_service import TextFormat
from tests.support.reading import rich_section, rich_text

JSON = dict[str, Any]
NAMES = {"U1": "Ben Okafor", "C1": "webshop"}


def text(expected: str, **style: bool) -> JSON:
    return {"type": "text", "text": expected, "style": style}


def bullets(indent: int, *items: str, style: str = "bullet", **more: int) -> JSON:
    sections = [rich_section(item) for item in items]
    return {"type": "rich_text_list", "style": style, "indent": indent, "elements": sections, **more}


VALUE = rich_text(
    rich_section(
        text("Bold ", bold=True),
        text("both", bold=True, italic=True),
        " and ",
        text("gone", strike=True),
        " *plain*\nsecond line\n\nAsk ",
        {"type": "user", "user_id": "U1"},
        " in ",
        {"type": "channel", "channel_id": "C1"},
        " ",
        {"type": "emoji", "name": "tada", "unicode": "1f389"},
        " ",
        {"type": "link", "url": "https://a.example/x", "text": "here"},
        " ",
        {"type": "broadcast", "range": "here"},
    ),
    bullets(0, "one", "two"),
    bullets(1, "inner"),
    bullets(0, "three", style="ordered", offset=2),
    {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "x = 1\ny = 2"}]},
    {"type": "rich_text_quote", "elements": [text("quoted"), text("\n"), text("code()", code=True)]},
)
WRITTEN: dict[TextFormat, str] = {
    "markdown": """\
**Bold** ***both*** and ~~gone~~ \\*plain\\*\x20\x20
second line

Ask @Ben Okafor in #webshop 🎉 [here](https://a.example/x) @here

- one
- two
    - inner

3. three

```
x = 1
y = 2
```

> quoted\x20\x20
> `code()`""",
    "textile": """\
*Bold* *_both_* and -gone- &#42;plain*
second line

Ask @Ben Okafor in #webshop 🎉 "here":https://a.example/x @here

* one
* two
** inner

# three

<pre>
x = 1
y = 2
</pre>

> quoted
> @code()@""",
}


@pytest.mark.parametrize("text_format", ["markdown", "textile"])
def test_writes_rich_text_in_the_services_format(text_format: TextFormat) -> None:
    assert written(VALUE, text_format, lambda mentioned: NAMES[mentioned]) == WRITTEN[text_format]
    assert ids_in(VALUE) == [("user", "U1"), ("channel", "C1")]


@pytest.mark.parametrize(
    ("text_format", "expected"),
    [
        ("markdown", "One **bold** *it* ~~no~~ `c`\n\nTwo [l](https://a.example) <https://b.example>"),
        (
            "markdown",
            "- one\n- two\n    - in **it**\n\n1. first\n2. second\n\n```\na\n\nb\n```\n\n> q\n>\n> r",
        ),
        ("markdown", "a \\*b\\* &lt;b> 1 < 2 snake_case"),
        ("textile", '*bold* and _it_ "l":https://a.example\n\n* one\n** two\n\n<pre>\ncode\n</pre>'),
    ],
)
def test_a_text_survives_the_editor(text_format: TextFormat, expected: str) -> None:
    again = written(from_service_text(expected, text_format), text_format, str)

    assert again.replace("  \n", "\n") == expected


@pytest.mark.parametrize(
    "value",
    [{}, {"elements": "x"}, {"elements": [1, {"type": []}, {"type": "rich_text_list", "elements": [{}]}]}],
)
def test_malformed_rich_text_is_empty(value: JSON) -> None:
    assert not written(value, "markdown", str).strip("- ")
    assert ids_in(value) == []


@pytest.mark.parametrize(
    "expected", ["", "   ", "---", "| a | b |\n|---|---|\n| 1 | 2 |", "# Title", "> - x\n>   - y"]
)
def test_any_text_makes_valid_rich_text(expected: str) -> None:
    for element in from_service_text(expected, "markdown")["elements"]:
        assert element["elements"]


def test_a_links_label_keeps_its_words_apart_across_lines() -> None:
    rich = from_service_text("[two\nlines](https://a.example)", "markdown")

    assert written(rich, "markdown", str) == "[two lines](https://a.example)"
