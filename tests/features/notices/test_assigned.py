"""Direct messages about issues that someone else assigned."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select

from bot.sandbox.tracker.server import Tracker
from bot.store.jobs import UNFINISHED
from bot.store.notices import PERSONAL_NOTICE
from bot.store.tables import JobRow
from bot.timings import Timings
from tests.support.office import Office
from tests.support.people import IDS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of, until, until_so
from tests.support.slackwire import SlackWire

HISTORY = "conversations.history"


@pytest.fixture
def tracker() -> Tracker:
    """A service that lists members: forms offer Ben, who has no issue yet."""
    return demo_tracker(listing=True)


async def all_told(office: Office) -> bool:
    """Whether no message about an assignment is left to be sent."""
    waiting = select(func.count()).where(JobRow.kind == PERSONAL_NOTICE, UNFINISHED)
    return not await office.bot.database.read(lambda connection: connection.scalar(waiting))


async def told(person: Person) -> list[JSON]:
    """Returns the messages that tell the person about an assignment, once the bot is idle."""
    await person.office.idle()
    return [message for message in await person.direct() if " to you." in text_of(message)]


def later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


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


async def assign_again(ana: Person) -> None:
    """Takes the issue from Ben and gives it back, later by the service's whole seconds."""
    for seconds, changes in ((1, "to:none"), (2, "to:@ben")):
        ana.office.tracker.clock = partial(later, seconds)
        await ana.ask(f"/issue {ana.office.newest_issue().id} {changes}")


async def test_the_assignee_is_told_once(office: Office, ana: Person, linked_ben: Person) -> None:
    for count, assign in enumerate((create_by_form, create_from_home, change, assign_again), 1):
        await assign(ana)

        messages = await told(linked_ben)
        assert len(messages) == count
        made = office.newest_issue()
        assert text_of(messages[-1]).startswith(f"Ana Ruiz assigned #{made.id} to you.")
        assert "Cart is empty" in text_of(messages[-1])
        assert await told(ana) == []
    assert "Assign to me" not in str(messages[-1])


async def test_only_their_own_key_tells_the_assignee_unless_it_is_turned_off_on_home(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    user = office.tracker.data.users[2]
    key, user.api_key = user.api_key, "renewed"
    await create_by_command(ana)
    await office.idle()
    assert await linked_ben.direct() == []

    user.api_key = key
    await linked_ben.open_home()
    await linked_ben.tick_at_home()
    await office.idle()
    await create_by_command(ana)
    assert await told(linked_ben) == []

    await linked_ben.tick_at_home("assigned to me")
    await office.idle()
    await create_by_command(ana)
    assert len(await told(linked_ben)) == 1


async def told_once_although_the_bot_stops(directory: Path, fault: str, look_up: str = "") -> None:
    wire, timings = SlackWire(), Timings(interval=0.2, heartbeat_timeout=3)
    async with Office(directory, slack_wire=wire, timings=timings).opened("ana", "ben") as office:
        ana, ben = (Person(office, IDS[login]) for login in ("ana", "ben"))
        wire.lasting = {"chat.postMessage": fault}
        await ana.command("/issue 12 to:@ben")
        await until_so(lambda: wire.called("chat.postMessage"))
        await asyncio.sleep(0.5)
        await office.bot.stop(0.3)
        wire.calls.clear()
        wire.faults = [(HISTORY, look_up)] * 3  # more than Slack's client retries
        await office.start_bot()
        await until_so(lambda: wire.called("chat.postMessage") or wire.called(HISTORY))
        async with asyncio.timeout(5):
            await office.bot.stop(0.3)
        wire.lasting = {}
        await office.start_bot()

        await until(partial(all_told, office))
        assert len(await told(ben)) == 1


async def test_the_assignee_is_told_once_although_the_bot_stops(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    before_it_is_sent, after_it_is_sent = "429:60", "late answer:10"
    await asyncio.gather(
        told_once_although_the_bot_stops(tmp_path_factory.mktemp("before"), before_it_is_sent),
        told_once_although_the_bot_stops(tmp_path_factory.mktemp("after"), after_it_is_sent),
        told_once_although_the_bot_stops(tmp_path_factory.mktemp("limited"), after_it_is_sent, "429:1"),
    )
