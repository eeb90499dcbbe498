"""Reading what a message names."""

import pytest

from bot.slack.text.message_text import issue_named, text_of

SERVICE = "https://tracker.example/app"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Look at #42, please", 42),
        ("#7 and <https://tracker.example/app/issues/42#note-3|that one>", 42),
        ("<https://TRACKER.example/app/issues/42>", 42),
        ("<https://elsewhere.example/issues/9|#9> or (#42)", 42),
        ("<#C042|general> <!here|#1> a#2 http://x/#3 &#4 #5th", None),
        ("&lt;#42&gt;", 42),
        ("#0", None),
        ("", None),
    ],
)
def test_issue_named_in_a_message_is_found(text: str, number: int | None) -> None:
    assert issue_named(text, SERVICE) == number


def test_a_shared_message_is_quoted_and_a_link_preview_is_not() -> None:
    shared = {"is_share": True, "author_name": "Ana & Ben", "text": "It *fails*\nagain"}
    preview = {"title": "A page", "text": "About it"}

    text = text_of({"text": "See this", "attachments": [shared, preview]})

    assert text == "See this\n&gt; *Ana &amp; Ben*\n&gt; It *fails*\n&gt; again"
