"""The service revokes the user's key at the moment of the action, after the form was opened."""

from contextlib import aclosing
from pathlib import Path

from bot.timings import Delays, KeyTimings, Timings
from tests.faults.scenarios import SCENARIOS, WHOLE, first_of_each_handler
from tests.faults.scene import Scene
from tests.support.office import Office
from tests.support.wire import Wire

EACH = SCENARIOS.values() if WHOLE else first_of_each_handler()
WRITING = [scenario for scenario in EACH if scenario.effect]
SILENT = {
    *("unlink", "delete post", "delete post in answer"),
    *("digest pause", "digest remove", "undo removal", "replace a personal digest"),
}
"""Scenarios that make no request to the service."""


async def test_nothing_is_written_after_the_key_is_revoked(tmp_path: Path) -> None:
    wire = Wire()
    timings = Timings(keys=KeyTimings(recheck=0.01))
    office = Office(tmp_path, wire=wire, timings=timings, delays=Delays(still_working=60, typing=0.02))
    await office.open()
    scene = Scene(office)
    keys = {user.id: user.api_key for user in scene.data.users.values()}
    asked: dict[str, list[str]] = {}

    for scenario in WRITING:
        await scene.reset()
        async with aclosing(scenario.steps(scene)) as steps:
            await anext(steps)
            await scene.settled()
            for number, user in enumerate(scene.data.users.values()):
                user.api_key = f"{number:040}"
            wire.heal()
            await anext(steps, None)
            await scene.settled()
        asked[scenario.name] = wire.heal()
        for user in scene.data.users.values():
            user.api_key = keys.setdefault(user.id, user.api_key)

    await office.close()
    assert {name for name, requests in asked.items() if not requests} == SILENT & asked.keys()
    written = {name: [one for one in sent if not one.startswith("GET ")] for name, sent in asked.items()}
    assert {name: sent for name, sent in written.items() if sent} == {}
