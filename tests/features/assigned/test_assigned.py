"""Direct messages about issues that someone else assigned."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select

from bot.sandbox.tracker.server import Tracker
from bot.store.tables import AssignmentMessageRow
from bot.timings import Timings
from tests.features.home.test_home import wait_for_home
from tests.support.office import Office
from tests.support.people import IDS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of, until
from tests.support.slackwire import SlackWire


@pytest.fixture
def tracker() -> Tracker:
    """A service that lists members: forms offer Ben, who has no issue yet."""
    return demo_tracker(listing=True)


async def told(person: Person) -> list[JSON]:
    """Returns the messages that tell the person about an assignment, once the bot is idle."""
    await person.office.idle()
    return [message for message in await person.direct() if " to you." in text_of(message)]


async def create_by_command(ana: Person) -> None:
    await ana.ask("/issue new Cart is empty project:webshop to:@ben due:2030-01-02")


async def create_by_form(ana: Person) -> None:
    await ana.command("/issue new project:webshop to:@ben")
    await ana.submit(await ana.form("New issue"), {"Subject": "Cart is empty"})


async def create_from_home(ana: Person) -> None:
    await ana.open_home()
    await ana.press_at_home("Create an issue")
    await ana.choose(await ana.form("New issue"), "Project", "Web Shop")
    form = await ana.form_saying("New issue", "Assignee")
    await ana.submit(form, {"Subject": "Cart is empty", "Assignee": "Ben Okafor"})
    await until(lambda: ana.form("Created"))


async def change(ana: Person) -> None:
    """Assigns the issue, and does it again, which changes nothing."""
    await ana.ask("/issue new Cart is empty project:webshop")
    for _ in range(2):
        await ana.ask(f"/issue {ana.office.newest_issue().id} to:@ben priority:high")


@pytest.mark.parametrize("assign", [create_by_form, create_from_home, change])
async def test_the_assignee_is_told_once(
    office: Office, ana: Person, linked_ben: Person, assign: Callable[[Person], Awaitable[None]]
) -> None:
    await assign(ana)

    (message,) = await told(linked_ben)
    made = office.newest_issue()
    assert text_of(message).startswith(f"Ana Ruiz assigned #{made.id} to you.")
    assert "Cart is empty" in text_of(message)
    assert await told(ana) == []
    await linked_ben.choose_from_menu(message, f"#{made.id}", "Assign to me")

    async def is_answered() -> bool:
        said = f"#{made.id} is already assigned to you."
        return any(said in text_of(m) for m in await linked_ben.direct())

    await until(is_answered)


async def test_a_second_assignment_of_the_same_issue_is_told_too(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    await create_by_command(ana)
    made = office.newest_issue()
    for changes in ("to:none", "to:@ben"):
        await asyncio.sleep(1)  # the service's timestamps have whole seconds
        await ana.ask(f"/issue {made.id} {changes}")

    assert [f"#{made.id} to you" in text_of(message) for message in await told(linked_ben)] == [True, True]


async def test_only_the_assignees_own_key_reads_the_issue(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    office.tracker.data.users[2].api_key = "renewed"

    await create_by_command(ana)

    await office.idle()
    assert await linked_ben.direct() == []


async def test_the_switch_on_home_turns_it_off(ana: Person, linked_ben: Person) -> None:
    await linked_ben.open_home()
    await wait_for_home(linked_ben, "Tell me when I'm assigned")
    await linked_ben.press_at_home("Turn off")
    await wait_for_home(linked_ben, "Turn it on to get a direct message")
    await create_by_command(ana)
    assert await told(linked_ben) == []

    await linked_ben.press_at_home("Turn on")
    await wait_for_home(linked_ben, "You get a direct message")
    await create_by_command(ana)
    assert len(await told(linked_ben)) == 1


@pytest.mark.parametrize("fault", ["429:60", "late answer:10"], ids=["before it is sent", "after it is sent"])
async def test_the_assignee_is_told_once_although_the_bot_stops(tmp_path: Path, fault: str) -> None:
    wire, timings = SlackWire(), Timings(interval=0.2, heartbeat_timeout=3)
    async with Office(tmp_path, slack_wire=wire, timings=timings).opened("ana", "ben") as office:
        ana, ben = (Person(office, IDS[login]) for login in ("ana", "ben"))
        wire.lasting = {"chat.postMessage": fault}
        await ana.command("/issue 12 to:@ben")
        await until(lambda: asyncio.sleep(0, wire.called("chat.postMessage")))
        await asyncio.sleep(0.5)
        await office.bot.stop(0.3)
        wire.lasting = {}
        await office.start_bot()

        async def settled() -> bool:
            waiting = select(func.count()).select_from(AssignmentMessageRow)
            return not await office.bot.database.read(lambda connection: connection.scalar(waiting))

        await until(settled)
        assert len(await told(ben)) == 1
