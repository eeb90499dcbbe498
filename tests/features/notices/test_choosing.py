"""What users choose to be told of: `/tracker notify`, and *Tell me about* on the Home tab."""

import pytest

from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of


def ticked(shown: JSON) -> list[str]:
    boxes = next(
        b["accessory"] for b in shown["blocks"] if b.get("accessory", {}).get("type") == "checkboxes"
    )
    return [option["value"] for option in boxes.get("initial_options") or ()]


async def test_only_assignments_are_told_at_first(ana: Person) -> None:
    assert ticked(await ana.ask("/tracker notify")) == ["assigned"]
    await ana.open_home()
    assert ticked(await ana.home_saying("Tell me about")) == ["assigned"]


async def test_topics_are_turned_on_and_off_by_command_and_on_home(office: Office, ana: Person) -> None:
    assert ticked(await ana.ask("/tracker notify comments on")) == ["assigned", "comments"]
    assert ticked(await ana.ask("/tracker notify assignments off")) == ["comments"]
    await ana.open_home()
    await ana.tick_at_home("Changes")
    await office.idle()
    assert ticked(await ana.home_saying("Tell me about")) == ["changes"]

    shown = await ana.ask("/tracker notify")
    await ana.tick(shown, "Issues assigned", "New comments", "Changes")
    await office.idle()
    assert ticked(await ana.ask("/tracker notify")) == ["assigned", "comments", "changes"]


@pytest.mark.parametrize(
    ("typed", "on"),
    [
        ("comments changes on", ["assigned", "comments", "changes"]),
        ("on comments, and changes", ["assigned", "comments", "changes"]),
        ("assigned off comments on", ["comments"]),
        ("comments on changes off", ["assigned", "comments"]),
        ("all on", ["assigned", "comments", "changes"]),
        ("all off", []),
    ],
)
async def test_several_topics_are_turned_on_and_off_at_once(ana: Person, typed: str, on: list[str]) -> None:
    assert ticked(await ana.ask(f"/tracker notify {typed}")) == on


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("coments on", "Did you mean `/tracker notify comments`?"),
        ("comments onn", "Did you mean `/tracker notify on`?"),
        ("everything", "Try `/tracker notify help`."),
        ("off", "Which messages? Try `/tracker notify comments off`."),
        ("comments on off", "Which messages? Try `/tracker notify comments off`."),
    ],
)
async def test_an_unknown_word_changes_nothing(ana: Person, typed: str, said: str) -> None:
    assert said in text_of(await ana.ask(f"/tracker notify {typed}"))
    assert ticked(await ana.ask("/tracker notify help")) == ["assigned"]


async def test_a_misspelled_topic_is_corrected_with_one_press(ana: Person) -> None:
    answer = await ana.ask("/tracker notify coments on")
    assert ticked(await ana.after(ana.press(answer, "Use comments"))) == ["assigned", "comments"]


async def test_someone_who_is_not_linked_is_asked_to_link(ben: Person) -> None:
    await ben.command("/tracker notify comments on")
    await ben.form("Link account")
