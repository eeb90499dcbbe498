"""Comments that the bot adds, as other clients of the service read them."""

from typing import Any

import pytest

from tests.contract.raw import Wire, an_issue
from tests.contract.world import World
from tests.features.files.attached import shared
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of


@pytest.fixture
def options() -> dict[str, Any]:
    return {"issue_updates": True, "issue_reads": True, "roles": True}


async def history(wire: Wire, number: int, who: str) -> list[JSON]:
    answer = await wire("GET", f"/issues/{number}.json", who, include="journals")
    journals: list[JSON] = answer.json["issue"]["journals"]
    return journals


async def test_others_read_only_the_notes_they_may_see(office: Office, world: World, wire: Wire) -> None:
    number = (await an_issue(wire)).json["issue"]["id"]
    await office.link("U0ANA0001", world.keys["dora"])
    dora = Person(office, "U0ANA0001")

    await dora.ask(f"/issue {number} comment Typed & <sent>\nin two lines")
    await dora.press(await dora.ask(f"/issue {number}"), "Comment")
    form = await dora.form("Comment")
    await dora.after(dora.submit(form, {"Comment": "Between us", "Private note": True}))
    message = await shared(dora, ("a.log", b"what I saw"), text=f"Look at *this*, #{number}")
    for _ in range(2):
        await dora.shortcut("comment_from_message", message)
        form = await dora.form("Comment")
        await dora.submit(form, {})
        await office.idle()

    assert f"already on #{number}" in text_of(await dora.form("Comment"))
    typed, hidden, added = await history(wire, number, "dora")
    assert typed["notes"].splitlines() == ["Typed & <sent>", "in two lines"]
    assert (hidden["notes"], hidden["private_notes"]) == ("Between us", True)
    bold = "*this*" if office.bot.settings.service_text_format == "textile" else "**this**"
    assert f"> Look at {bold}, #{number}" in added["notes"]
    assert [detail["new_value"] for detail in added["details"]] == ["a.log"]
    assert {entry["user"]["id"] for entry in (typed, hidden, added)} == {world.users["dora"]}
    assert [entry["id"] for entry in await history(wire, number, "ben")] == [typed["id"], added["id"]]
