"""Descriptions of up to a megabyte that are cheap to write and expensive to convert."""

import asyncio
import time

import pytest

from bot.slack.text.wording import rendered
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of

HELD = 0.05
MEGABYTE = 1_000_000


def table(columns: int, rows: int) -> str:
    """Returns a Markdown table whose rows contain only their first cell; the parser fills in the rest."""
    return f"{'|a' * columns}|\n{'|-' * columns}|\n" + "|\n" * rows


def pumped(piece: str, before: str = "", after: str = "") -> str:
    """Returns up to a megabyte of repetitions of `piece`."""
    room = MEGABYTE - len(before) - len(after)
    return before + piece * (room // len(piece)) + after


def deeper(mark: str, item: str = "") -> str:
    return "".join(f"{mark * level}{item}x\n" for level in range(1400))[:MEGABYTE]


QUOTED = "".join(f"> {row}\n" for row in table(180, 180).splitlines()) + "\n"
LISTED = "- " + table(180, 180).replace("\n", "\n  ") + "\n\n"
TABLES = "\n\n".join([table(180, 360)] * 13)
EMPHASIS = "*a _b " * 400 + "b_ a*" * 400
MARKDOWN = (
    *(TABLES, table(256, 256), pumped(table(250, 250) + "\n"), table(160_000, 16_000)[:MEGABYTE]),
    *(pumped("|x" * 500 + "\n", table(500, 1)), pumped("|**a** `b` [c](d)" * 6 + "\n", table(6, 1))),
    *(pumped(QUOTED), pumped(LISTED), deeper(">"), deeper("  ", "- "), pumped("*", after="a"), EMPHASIS),
    *(pumped("*a **a ", after="a** a*" * 40_000)[:MEGABYTE], "![a" * 800 + "](x)" * 400),
    *(pumped("[", after="](x)" * 100_000), " ".join("`" * n for n in range(1, 1400))[:MEGABYTE]),
    pumped(" ", after="x"),
)
MARKDOWN_PIECES = (
    *(">", "> ", ">" * 60 + " x\n", "- ", "- " * 60 + "x\n", "1. ", "> - ", "- x\n", "*a ", "a* "),
    *("*a **b ***c ", "a**b*c", "*_a_* **_", "~~a ~", "[", "![", "[a](<b", "[a](https://x.y) ", "<"),
    *("[a]: https://x.y\n", "https://", "<a ", "&amp;", "\\*", "a", "\n", "a" + " " * 500 + "\n", "# a\n"),
    "\t",
)
TEXTILE_PIECES = (
    *("|" * 400 + "\n", "|", "|" + "(a){b}" * 3 + ". *x* _y_ ", "> ", "*" * 8 + " x\n", "*_-+%^", "*a* _b_ "),
    *("*a _b -c +d %e ^f ~g ??h ", '"a ', '"a":https://x.y ', '"a":', "!" + "a." * 250, "<code>", "<pre "),
    *("<notextile>", "<pre>x</pre>", "@a ", "@a" + " " * 500, "\n \t", "-", "h1. a\n", ":+1:"),
)
TEXTS = [pytest.param("markdown", text, id=f"markdown {text[:20]!r}") for text in MARKDOWN]
TEXTS += [pytest.param("markdown", pumped(piece), id=f"markdown {piece[:20]!r}") for piece in MARKDOWN_PIECES]
TEXTS += [pytest.param("textile", pumped(piece), id=f"textile {piece[:20]!r}") for piece in TEXTILE_PIECES]
TEXTS += [pytest.param("textile", pumped("(){}", "p"), id="textile styles")]


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


@pytest.mark.parametrize(("text_format", "text"), TEXTS)
async def test_no_description_blocks_the_event_loop(text_format: str, text: str) -> None:
    for _ in range(2):  # garbage collection may hold up a conversion, but not three in a row
        if await _seconds_held(text, text_format) < HELD:
            return
    assert await _seconds_held(text, text_format) < HELD


async def test_a_description_that_converts_too_slowly_becomes_plain_text() -> None:
    text = await rendered("**a** <!here>", "markdown", seconds=0)

    assert text.replace("\u2060", "") == "**a** &lt;!here&gt;"


@pytest.mark.parametrize("text", [TABLES, EMPHASIS], ids=["tables", "emphasis"])
async def test_an_issue_with_a_hostile_description_is_shown(office: Office, ana: Person, text: str) -> None:
    issue = office.tracker.data.issues[12]
    issue.description = text

    card = await ana.ask("/issue 12")

    assert issue.subject in text_of(card)
    whole = await ana.after(ana.press(card, "Show more"))
    assert "Read the rest in Tracker" in text_of(whole)
