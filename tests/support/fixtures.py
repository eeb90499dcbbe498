"""Fixtures for an office: Ana is linked, Ben isn't linked yet, Chris is an administrator."""

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from typer.testing import CliRunner, Result

from bot.app_sandbox import Sandbox
from bot.cli import program
from bot.sandbox.tracker.server import Tracker
from tests.support.office import Office
from tests.support.people import BARE, KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.wire import Wire

Command = Callable[..., Result]


@pytest.fixture
def issuebot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Runs an `issuebot` command in an empty directory, with these variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", dict(BARE))

    def run(*arguments: str, **variables: str) -> Result:
        return CliRunner().invoke(program, arguments, env=variables, prog_name="issuebot")

    return run


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """A running sandbox in this process, for all tests of a module."""
    sandbox = Sandbox(port=0, service_port=0)
    await sandbox.start()
    yield sandbox
    await sandbox.stop()


@pytest.fixture
def tracker() -> Tracker:
    """The service of `office`. Modules that need another one override it."""
    return demo_tracker()


@pytest.fixture
async def office(tmp_path: Path, tracker: Tracker, request: pytest.FixtureRequest) -> AsyncIterator[Office]:
    """Opens an office and asserts that the bot broke none of Slack's rules. Modules with the `url` fixture
    run it on both databases.
    """
    both = "url" in request.fixturenames
    url: str = request.getfixturevalue("url") if both else ""
    async with Office(tmp_path, tracker=tracker, database_url=url).opened("ana") as office:
        yield office
        assert office.violations() == []


@pytest.fixture
def ana(office: Office) -> Person:
    return Person(office, "U0ANA0001")


@pytest.fixture
async def chris(office: Office) -> Person:
    await office.link("U0CHRIS01", KEYS["chris"])
    return Person(office, "U0CHRIS01")


@pytest.fixture
def gwen(office: Office) -> Person:
    return Person(office, "U0GWEN001")


@pytest.fixture
def ben(office: Office) -> Person:
    return Person(office, "U0BEN0001")


@pytest.fixture
def service() -> Tracker:
    """The service of the office that `wired` opens."""
    return demo_tracker(issue_updates=False)


@pytest.fixture
def wire() -> Wire:
    """A faulty proxy between an office and its service."""
    return Wire()


@pytest.fixture
def impatient(request: pytest.FixtureRequest) -> None:
    """Shortens how long a form waits for the service before it shows a loading view."""
    ana: Person = request.getfixturevalue("ana")
    ana.office.wait(form=0.1)


@pytest.fixture
async def wired(service: Tracker, wire: Wire, tmp_path: Path) -> AsyncIterator[Person]:
    """Opens an office that reaches its service through `wire`; returns Ana, linked."""
    async with Office(tmp_path, tracker=service, wire=wire).opened("ana") as office:
        yield Person(office, "U0ANA0001")
    assert office.violations() == []


@pytest.fixture
async def linked_ben(office: Office, ben: Person) -> Person:
    """Links Ben, who can't see the project Security."""
    await office.link(ben.user_id, KEYS["ben"])
    return ben
