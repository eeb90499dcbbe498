"""What the bot keeps in memory of the projects that its users see."""

import gc
import re
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy
from aiohttp import web_response

from bot.sandbox.tracker.data import Project, put
from bot.timings import Delays, Timings
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import until

PROJECTS = 600
NEEDED = 1000
"""The bytes that a cached project needs at most."""


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    tracker = demo_tracker()
    for number in range(1000, 1000 + PROJECTS):
        description = f"{number} " * 1000
        put(tracker.data.projects, Project(number, f"Project {number}", f"project-{number}", description))
    delays, timings = Delays(cached=12), Timings(interval=0.5)
    async with Office(tmp_path, tracker=tracker, delays=delays, timings=timings).opened(
        "ana", "ben"
    ) as office:
        yield office


async def cached(office: Office) -> int:
    async with office.http.get(f"http://127.0.0.1:{office.bot.port}/metrics") as answer:
        match = re.search(r"^issuebot_cached_items (\S+)$", await answer.text(), re.MULTILINE)
    return int(float(match[1])) if match else 0


async def test_cached_projects_are_small_and_dropped_when_expired(office: Office, ana: Person) -> None:
    ben = Person(office, "U0BEN0001")
    await ana.ask("/tracker projects mobile")
    gc.collect()
    tracemalloc.start()
    try:
        await ben.ask("/tracker projects mobile")
        gc.collect()
        snapshot = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    assert await cached(office) >= PROJECTS
    files = snapshot.statistics("filename")
    others = (web_response.__file__, str(Path(sqlalchemy.__file__).parent))  # their own caches
    size = sum(file.size for file in files if not file.traceback[0].filename.startswith(others))
    assert size < PROJECTS * NEEDED

    async def dropped() -> bool:
        return await cached(office) < PROJECTS

    await until(dropped)
