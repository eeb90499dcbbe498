"""Slack shows a form but its response is lost: the form is filled in anyway."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.people import ANA
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of, waiting
from tests.support.slackwire import SlackWire

SHOWN = pytest.mark.parametrize("fault", ["lose the answer", "page after it"])


@pytest.fixture
def wire() -> SlackWire:
    return SlackWire()


@pytest.fixture
async def ana(wire: SlackWire, tmp_path: Path) -> AsyncIterator[Person]:
    office = Office(tmp_path, slack_wire=wire)
    await office.open()
    await office.link(ANA.slack_id, ANA.api_key)
    yield Person(office, ANA.slack_id)
    await office.close()
    assert office.violations() == []


async def results(ana: Person) -> tuple[JSON, JSON, str]:
    """A form of search results, its first row, and that issue's number."""
    await ana.shortcut("search_issues")
    await ana.submit(await ana.form("Search issues"), {"Project": "Web Shop"})
    found = await ana.form("Search results")
    line = next(block for block in found["blocks"] if block.get("accessory"))
    return found, line, line["accessory"]["options"][0]["value"].split()[1].rstrip(":")


@SHOWN
async def test_a_form_works_after_its_response_was_lost(ana: Person, wire: SlackWire, fault: str) -> None:
    wire.faults = [("views.open", fault)]
    await ana.command("/issue new project:webshop")

    form = await ana.form("New issue")
    assert values_of(form)["Project"] == "Web Shop"
    assert not any("didn't open" in text_of(message) for message in await ana.messages())
    said = await ana.after(ana.submit(form, {"Subject": "The answer was lost"}))
    assert "The answer was lost" in text_of(said)

    found, line, number = await results(ana)
    wire.faults = [("views.push", fault)]
    await ana.choose_in_form(found, line, "Assign to me")

    assert f"#{number} is " in text_of(await ana.form(f"#{number}"))
    shown = (await ana.state())["views"]
    assert [view["title"]["text"] for view in shown] == ["Search results", f"#{number}"]
    assert not any("didn't show" in text_of(view) for view in shown)


@pytest.mark.parametrize("fault", ["lose the request", "500 before it"])
async def test_a_form_that_fails_to_open_is_reported(ana: Person, wire: SlackWire, fault: str) -> None:
    found, line, _ = await results(ana)
    wire.faults = [("views.push", fault), ("views.open", fault)]

    await ana.choose_in_form(found, line, "Assign to me")

    async def said() -> JSON | None:
        (view,) = (await ana.state())["views"]
        return view if "Slack didn't open the form" in text_of(view) else None

    assert not waiting(await until(said))
    assert "Slack didn't open the form" in text_of(await ana.ask("/issue new project:webshop"))
