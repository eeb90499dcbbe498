"""Settings of a service that can only be changed on an administrator's page."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

from tests.contract import reference
from tests.contract.world import World


@asynccontextmanager
async def switched(
    world: World, *, login_required: bool = False, rest_enabled: bool = True
) -> AsyncIterator[World]:
    """Runs a reference service with these settings, or changes Redmine's until the block ends."""
    if world.database is None:
        options: dict[str, Any] = {"login_required": login_required, "rest_enabled": rest_enabled}
        async with reference.running(world.key_header, **options) as other:
            yield other
        return
    try:
        _put(world.database, login_required=login_required, rest_api_enabled=rest_enabled)
        yield world
    finally:
        _put(world.database, login_required=False, rest_api_enabled=True)


def _put(database: str, **settings: bool) -> None:
    """Writes what the page would write; Redmine checks for new settings on every request."""
    with closing(sqlite3.connect(database, timeout=10)) as connection, connection:
        for name, value in settings.items():
            connection.execute("delete from settings where name = ?", (name,))
            connection.execute(
                "insert into settings (name, value, updated_on) values (?, ?, datetime('now', '+1 second'))",
                (name, str(int(value))),
            )
