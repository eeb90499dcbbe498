"""What a process that crashed leaves behind, and what its users learn of it."""

import secrets
from datetime import UTC, datetime, timedelta

from sqlalchemy import literal, select, update

from bot.app import Bot
from bot.sandbox.people import ANA
from bot.slack.incoming.deliveries import REQUEST
from bot.slack.incoming.feature import Interrupted
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import JobRow
from bot.store.vault import Vault
from bot.timings import Timings
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until
from tests.support.wording import worded
from tests.support.work import none_held

TIMINGS = Timings(interval=0.2, heartbeat_timeout=1)
LOST = worded(Interrupted())
POST = "chat.postMessage"


def crashed(office: Office) -> Store:
    """The store of another process, which won't be heard of again."""
    return Store(office.bot.database, Vault([office.encryption_key]), timings=TIMINGS)


async def counts_as_dead(bot: Bot, other: Store) -> bool:
    processes = bot.store.processes
    dead = select(processes.dead(literal(other.processes.name), await processes.now()))
    return bool(await bot.database.read(lambda connection: connection.scalar(dead)))


async def leave_behind(
    office: Office, payload: JSON | str, age: timedelta = timedelta(0), process: Store | None = None
) -> None:
    """Leaves a payload, or a command with this text, in flight in a process that crashed."""
    if isinstance(payload, str):
        channel = office.channel_id("general")
        command = {"command": "/issue", "text": payload}
        payload = command | {"user_id": ANA.slack_id, "team_id": TEAM, "channel_id": channel}
    asked = [Owner(None, TEAM, ANA.slack_id).name, (None, TEAM), payload]
    key = secrets.token_hex()
    assert await (process or crashed(office)).jobs.put_held(REQUEST, key, asked)
    old = update(JobRow).where(JobRow.key == key).values(due_since=datetime.now(UTC) - age)
    await office.bot.database.execute(old)


async def told_messages(ana: Person) -> list[JSON]:
    """Delays until all requests are settled; returns the messages that Ana sees."""
    await until(lambda: none_held(ana.office.bot))
    return await ana.messages()


async def told_of_crashes(ana: Person) -> list[str]:
    """As `told_messages`, with the texts of those about lost requests."""
    return [text for text in map(text_of, await told_messages(ana)) if LOST in text]
