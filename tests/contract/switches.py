"""Settings of a service that only an administrator's page can change."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

from bot.sandbox.tracker.server import Tracker
from tests.contract import reference
from tests.contract.world import World


@asynccontextmanager
async def switched(
    world: World, *, login_required: bool = False, rest_enabled: bool = True
) -> AsyncIterator[World]:
    """The service with other settings: another reference service, or Redmine until they are put back."""
    if world.database is None:
        data, header = reference.data(), world.key_header
        tracker = Tracker(data, key_header=header, login_required=login_required, rest_enabled=rest_enabled)
        await tracker.start()
        try:
            yield reference.world(tracker.url, header, data)
        finally:
            await tracker.stop()
        return
    try:
        _put(world.database, login_required=login_required, rest_api_enabled=rest_enabled)
        yield world
    finally:
        _put(world.database, login_required=False, rest_api_enabled=True)


def _put(database: str, **settings: bool) -> None:
    """As the page does it; Redmine looks for newer settings at each request."""
    with closing(sqlite3.connect(database, timeout=10)) as connection, connection:
        for name, value in settings.items():
            connection.execute("delete from settings where name = ?", (name,))
            connection.execute(
                "insert into settings (name, value, updated_on) values (?, ?, datetime('now', '+1 second'))",
                (name, str(int(value))),
            )
