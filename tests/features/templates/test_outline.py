"""Descriptions are read and written as headings with text below them, in both formats."""

import pytest

from bot.features.templates.applying import Outline, Part, read, written

PARTS = (Part("Steps", "1. Open"), Part("Expected", ""))


@pytest.mark.parametrize(
    ("text_format", "text"),
    [
        ("markdown", "Intro\r\n\r\n## Steps ##\r\n1. Open\r\n\r\n**Expected:**"),
        ("textile", "Intro\n\nh2. Steps\n\n1. Open\n\n*Expected*:"),
    ],
)
def test_headings_and_bold_lines_start_parts(text_format: str, text: str) -> None:
    outline = read(text, text_format)

    assert outline == Outline("Intro", PARTS)
    assert read(written(outline, text_format), text_format) == outline


@pytest.mark.parametrize(
    "text",
    ["```\n# Not a heading\n**nor this**\n```", "#hashtag", "**two** **words**", "** **", "#" * 7 + " x"],
)
def test_other_lines_are_text(text: str) -> None:
    assert read(text, "markdown") == Outline(text)


def test_typed_text_has_only_the_templates_headings() -> None:
    template = Outline("", PARTS)

    typed = read("# Mine\nSTEPS:\nfirst\n**Steps**\nsecond\n```\nExpected:\n```", "markdown", template)

    assert typed.before == "# Mine"
    assert typed.text("Steps") == "first\n\nsecond\n```\nExpected:\n```"
