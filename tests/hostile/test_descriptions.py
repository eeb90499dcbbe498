"""Descriptions that are cheap to write and expensive to convert."""

import asyncio
import time

import pytest

from bot.slack.text import rendered
from tests.hostile.descriptions import MARKDOWN, TEXTILE
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of

HELD = 0.05
TEXTS = [("markdown", text, name) for name, text in MARKDOWN.items()]
TEXTS += [("textile", text, name) for name, text in TEXTILE.items()]


async def _seconds_held(text: str, text_format: str) -> float:
    """Returns the longest processor time between two turns of the event loop while a text is converted.

    It counts this process's time in all threads, so a busy machine makes no difference.
    """
    converting = asyncio.create_task(rendered(text, "textile" if text_format == "textile" else "markdown"))
    most, last = 0.0, time.process_time()
    while not converting.done():
        await asyncio.sleep(0.001)
        now = time.process_time()
        most, last = max(most, now - last), now
    assert len(await converting) < 10 * len(text) + 1
    return most


@pytest.mark.parametrize(
    ("text_format", "text"), [pytest.param(form, text, id=f"{form}: {name}") for form, text, name in TEXTS]
)
async def test_no_description_blocks_the_event_loop(text_format: str, text: str) -> None:
    for _ in range(2):  # garbage collection may hold up a conversion, but not three in a row
        if await _seconds_held(text, text_format) < HELD:
            return
    assert await _seconds_held(text, text_format) < HELD


async def test_a_description_that_converts_too_slowly_becomes_plain_text() -> None:
    shown = await rendered("**a** <!here>", "markdown", seconds=0)

    assert shown.replace("\u2060", "") == "**a** &lt;!here&gt;"


@pytest.mark.parametrize("name", ["thirteen tables of 180 by 360", "emphasis nested a thousand deep"])
async def test_an_issue_with_a_hostile_description_is_shown(office: Office, ana: Person, name: str) -> None:
    issue = office.tracker.data.issues[12]
    issue.description = MARKDOWN[name]

    card = await ana.ask("/issue 12")

    assert issue.subject in text_of(card)
    whole = await ana.after(ana.press(card, "Show more"))
    assert "Read the rest in Tracker" in text_of(whole)
