"""The Home tab."""

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.data import Issue
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of


def mine(office: Office, user_id: int) -> list[Issue]:
    data = office.tracker.data
    return [
        issue
        for issue in data.issues.values()
        if issue.assigned_to_id == user_id and not data.statuses[issue.status_id].is_closed
    ]


async def shown(person: Person, text: str) -> JSON:
    """The Home tab once it says that."""

    async def look() -> JSON | None:
        home = await person.home()
        return home if home and text in text_of(home) else None

    return await until(look)


def published(office: Office) -> list[str]:
    """The Home tabs that the bot published, as text."""
    return [text_of(c.arguments["view"]) for c in office.workspace.calls if c.method == "views.publish"]


async def test_it_is_shown_at_once_and_filled_with_ones_open_issues(office: Office, ana: Person) -> None:
    own = mine(office, 1)
    await ana.open_home()

    home = await shown(ana, "All ")

    assert "You are linked to Tracker as *Ana Ruiz*" in text_of(home)
    assert f"All {len(own)}" in text_of(home)
    listed = [b for b in home["blocks"] if (b.get("accessory") or {}).get("action_id") == "issue.menu"]
    assert len(listed) == min(10, len(own))
    assert any(f"/issues/{issue.id}|#{issue.id} " in text_of(home) for issue in own)
    first, last = published(office)
    assert "One moment" in first
    assert "One moment" not in last


async def test_opened_again_it_stays_while_it_is_read_anew(office: Office, ana: Person) -> None:
    await ana.open_home()
    await shown(ana, "All ")

    await ana.open_home()
    await until(lambda: _times(office, 3))

    assert "One moment" not in published(office)[2]


async def _times(office: Office, number: int) -> bool:
    return len(published(office)) == number


async def test_its_menu_and_buttons_work(ana: Person) -> None:
    await ana.open_home()
    home = await shown(ana, "All ")
    block = next(b for b in home["blocks"] if (b.get("accessory") or {}).get("action_id") == "issue.menu")
    number = int(block["accessory"]["options"][0]["value"].partition(":")[2])

    option = block["accessory"]["options"][0]
    await ana._act({"view": {"id": home["id"]}}, block, block["accessory"], selected_option=option)
    assert f"#{number}" in text_of(await ana.form(f"#{number}"))
    await ana.press_at_home(next(t for t in _buttons(home) if t.startswith("All ")))
    assert "Assignee" in text_of(await ana.form("My open issues"))
    await ana.press_at_home("Create an issue")
    assert "Choose a project" in text_of(await ana.form("New issue"))
    await ana.press_at_home("Log time")
    await ana.form("Log time")


def _buttons(home: JSON) -> list[str]:
    elements = (e for b in home["blocks"] if b["type"] == "actions" for e in b["elements"])
    return [e["text"]["text"] for e in elements]


async def test_what_was_made_through_the_bot_is_there_to_go_on_with(office: Office, ana: Person) -> None:
    await ana.ask("/issue new Made here & now project:webshop")
    number = max(office.tracker.data.issues)
    await ana.ask(f"/timelog {number} 1h30 activity:design Sketches")

    await ana.open_home()

    home = await shown(ana, "Time I logged here")
    assert f"/issues/{number}|#{number} Made here &amp; now>" in text_of(home)
    assert "*1 h 30 min* on" in text_of(home)
    await ana.press_at_home("Edit")
    await until(lambda: _form_open(ana))


async def _form_open(person: Person) -> bool:
    return bool((await person.state())["views"])


async def test_what_is_made_from_there_appears_there(office: Office, ana: Person) -> None:
    await ana.open_home()
    await shown(ana, "All ")
    await ana.press_at_home("Create an issue")
    form = await ana.form("New issue")
    await ana.choose(form, "Project", "Infrastructure")
    await until(lambda: _has(ana, "Tracker"))

    await ana.submit(await ana.form("New issue"), {"Subject": "Made at home"})

    await shown(ana, "Made at home")
    assert office.tracker.data.issues[max(office.tracker.data.issues)].project_id == 3


async def _has(person: Person, label: str) -> bool:
    return label in values_of(await person.form("New issue"))


async def test_everyone_has_their_own(office: Office, ana: Person, ben: Person) -> None:
    await office.link(ben.user_id, next(p.api_key for p in PEOPLE if p.login == "ben"))
    await ana.ask("/issue new Only mine project:webshop")

    await ana.open_home()
    await ben.open_home()

    assert "Only mine" in text_of(await shown(ana, "All "))
    assert "Only mine" not in text_of(await shown(ben, "Ben Okafor"))


async def test_it_offers_to_link_and_is_filled_once_one_is(ben: Person) -> None:
    await ben.open_home()

    await shown(ben, "haven't linked")
    await ben.press_at_home("Link Tracker")
    form = await ben.form("Link Tracker")
    await ben.submit(form, {"API key": next(p.api_key for p in PEOPLE if p.login == "ben")})
    await shown(ben, "You are linked to Tracker as *Ben Okafor*")


async def test_a_service_that_does_not_answer_is_a_line_and_nothing_else_is_lost(
    office: Office, ana: Person
) -> None:
    await ana.ask("/issue new Made before project:webshop")
    await office.tracker.stop()

    await ana.open_home()

    home = await shown(ana, "can't be reached")
    assert "Made before" in text_of(home)
    assert not [m for m in await ana.messages() if "can't be reached" in str(m)]


async def test_a_key_that_died_is_said_there_once(office: Office, ana: Person) -> None:
    user = office.tracker.data.users[1]
    user.api_key = "f" * 40
    user.status = 3

    await ana.open_home()

    await shown(ana, "no longer accepts your API key")
    await ana.open_home()
    home = await shown(ana, "haven't linked")
    assert "One moment" not in text_of(home)
