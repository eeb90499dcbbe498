"""Digests that bot processes post, as many as are needed."""

import json
import re
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, or_, select

from bot.access.access import Access
from bot.features.digests.digests import Digests
from bot.sandbox.workspace.model import Channel, Message
from bot.service.client import Client
from bot.store.channels import Channel as Place
from bot.store.digests import Digest
from bot.store.jobs import UNFINISHED
from bot.store.owner import Owner
from bot.store.plans import DIGEST
from bot.store.tables import JobRow
from tests.support.bot_process import Apart
from tests.support.digesting import requested_plan
from tests.support.office import TEAM
from tests.support.people import IDS

CHANNELS = 10
PROJECTS = ("webshop", "mobile", "infrastructure")
MARK = re.compile(r"issuebot_digest:([0-9]+):(.+)")
ISSUE = re.compile(r"/issues/([0-9]+)\|")


@dataclass(frozen=True)
class Post:
    """A digest's message as it appears in its channel."""

    digest: int
    due_at: str
    issues: frozenset[int]


def add_channels(office: Apart) -> list[str]:
    """Adds channels that the bot is in; returns their IDs."""
    state = office.workspace.state
    ids = [f"C0D{number:06}" for number in range(CHANNELS)]
    for channel_id in ids:
        state.add_channel(Channel(channel_id, channel_id.lower(), "channel", {state.app.bot_user_id}))
    return ids


async def add_digests(office: Apart, count: int) -> list[Digest]:
    """Adds digests of Ana and Chris, who have to be linked, in several channels."""
    channels = add_channels(office)
    async with Client(office.tracker.url) as client:
        digests = Digests(Access.to(client, office.store))
        owners = [Owner(None, TEAM, IDS[login]) for login in ("ana", "chris")]
        added = []
        for n in range(count):
            plan = requested_plan(PROJECTS[n % 3], f"cron {n % 60} {n // 60} 29 2 *", empty=True)
            place = Place(TEAM, channels[n % CHANNELS])
            added.append((await digests.add(owners[n % 2], place, plan)).digest)
        return added


async def make_due(office: Apart, digests: list[Digest], *, over: float) -> None:
    """Makes the digests due one after the other, starting now."""
    now = await office.store.processes.now()
    for n, digest in enumerate(digests):
        moment = now + timedelta(seconds=1 + over * n / len(digests))
        await office.store.digests.change(digest, digest.plan, moment, ())


async def still_due(office: Apart) -> int:
    """Returns how many due digests aren't posted yet."""
    soon = or_(JobRow.due_at.is_(None), JobRow.due_at < func.now() + timedelta(days=1))
    due = select(func.count()).where(JobRow.kind == DIGEST, UNFINISHED, soon)
    return await office.database.read(lambda connection: connection.scalar(due) or 0)


def digest_posts(office: Apart) -> list[Post]:
    return [
        Post(int(match[1]), match[2], frozenset(map(int, ISSUE.findall(json.dumps(message.blocks)))))
        for messages in office.workspace.state.messages.values()
        for message in messages
        if (match := digest_of(message))
    ]


def digest_of(message: Message) -> re.Match[str] | None:
    """Returns the number and the due time of the digest that a message posts."""
    return MARK.match(message.blocks[0].get("block_id", "") if message.blocks else "")
