"""Socket Mode when the socket breaks: the bot reconnects and neither loses nor repeats anything."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.timings import Delays
from tests.support.office import Office
from tests.support.people import IDS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, until_so
from tests.support.slackwire import SlackWire


@pytest.fixture
def wire() -> SlackWire:
    return SlackWire()


@pytest.fixture
async def ana(wire: SlackWire, tmp_path: Path) -> AsyncIterator[Person]:
    async with Office(tmp_path, slack_wire=wire, delays=Delays(ping=0.2)).opened("ana") as office:
        yield Person(office, IDS["ana"])


async def opened(ana: Person, wire: SlackWire, number: int) -> None:
    """Delays until that many sockets have been opened, and Slack knows the only one that is still open."""
    known = ana.office.workspace._socket._connections
    await until_so(lambda: len(wire.called("socket")) >= number and len(wire.sockets) == len(known) == 1)


async def works(ana: Person) -> None:
    assert "Ana Ruiz" in text_of(await ana.ask("/tracker whoami"))


def created(ana: Person, subject: str) -> int:
    return sum(issue.subject == subject for issue in ana.office.tracker.data.issues.values())


async def announcements(ana: Person, subject: str) -> list[JSON]:
    """Delays for the post about an issue, and returns all of them."""

    async def look() -> list[JSON]:
        return [m for m in await ana.messages() if subject in m["text"] and not m["ephemeral"]]

    return await until(look)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "link_disabled"])
async def test_bot_opens_another_socket_when_slack_asks(ana: Person, wire: SlackWire, reason: str) -> None:
    [socket] = wire.sockets

    await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "wss-1"}})

    await until_so(lambda: wire.sockets and socket not in wire.sockets)
    await works(ana)
    assert len(wire.called("socket")) >= 2
    assert ana.office.violations() == []


@pytest.mark.parametrize(
    "faults",
    [
        [],
        ["no hello"],
        ["lose the answer", "lose the request", "deaf", "lose the answer"],  # each with a URL of its own
        ["307 elsewhere"],
    ],
)
async def test_bot_reconnects_despite_failures(ana: Person, wire: SlackWire, faults: list[str]) -> None:
    wire.faults = [("socket", fault) for fault in faults]

    wire.cut()

    await opened(ana, wire, 2 + len([fault for fault in faults if fault != "no hello"]))
    await works(ana)
    assert wire.elsewhere == []
    assert ana.office.violations() == []


async def test_bot_keeps_asking_for_a_socket_url(ana: Person, wire: SlackWire) -> None:
    method = "apps.connections.open"
    wire.faults = [
        (method, fault) for fault in ("500 before it", "page", "429:1", "truncate", "307 elsewhere")
    ]
    wire.faults += [(method, "refuse:internal_error"), (method, "lose the request")]

    wire.cut()

    await opened(ana, wire, 2)
    await works(ana)
    assert wire.faults == []
    assert wire.elsewhere == []


async def test_bot_works_while_auth_test_fails(ana: Person, wire: SlackWire) -> None:
    wire.lasting = {"auth.test": "500 before it"}

    await works(ana)


async def test_a_command_on_a_broken_socket_runs_once_despite_retries(ana: Person, wire: SlackWire) -> None:
    wire.hangs_up_at = "/issue"

    await ana.command("/issue new Cut off project:webshop")
    await announcements(ana, "Cut off")
    await until_so(lambda: not len(ana.office.bot.in_flight))
    await opened(ana, wire, 2)
    envelope = json.loads(next(frame for frame in wire.frames if "/issue" in frame))
    for again in ({}, {"envelope_id": "another"}):
        await wire.sockets[0].send_json(envelope | again)
    await works(ana)

    assert created(ana, "Cut off") == 1
    assert len(await announcements(ana, "Cut off")) == 1


async def test_a_retried_submission_is_answered_as_already_sent(ana: Person, wire: SlackWire) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    wire.hangs_up_at = "view_submission"

    await ana.submit(form, {"Subject": "Cut off"})
    await announcements(ana, "Cut off")
    await opened(ana, wire, 2)
    envelope = next(frame for frame in wire.frames if "view_submission" in frame)
    wire.lost.clear()
    await wire.sockets[0].send_str(envelope)

    assert "already submitted" in str(await ana.errors())
    assert created(ana, "Cut off") == 1
    assert len(await announcements(ana, "Cut off")) == 1
