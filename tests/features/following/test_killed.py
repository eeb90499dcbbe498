"""Two real processes on one PostgreSQL server, one of them killed after each change of a followed issue."""

import os
import random
import sys
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.people import ANA, CHRIS
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue
from bot.store.followed import Followed
from bot.store.owner import Owner
from bot.timings import Timings
from tests.features.following.threads import change
from tests.support.bot_process import Apart
from tests.support.due_digests import add_channels
from tests.support.office import TEAM
from tests.support.reading import until
from tests.support.replicas import keep_killing
from tests.support.slackwire import SlackWire

CHANGES, ISSUES = int(os.environ.get("ISSUEBOT_KILLED_CHANGES", "3")), 3
OWNERS = [Owner(None, TEAM, person.slack_id) for person in (ANA, CHRIS)]
TIMINGS = Timings(interval=0.3, heartbeat_timeout=2, longest_post=3, look_up_after=1, follow_every=1)
"""Short enough that processes, which live for a few seconds, take over each other's followers."""
LATE_ANSWER = ("chat.postMessage", "late answer:2")


async def follow(office: Apart) -> dict[str, Issue]:
    """Follows open issues, each in a thread of its own; returns them by thread."""
    slack = AsyncWebClient(office.workspace.bot_token, base_url=office.workspace.api_url)
    channels, threads = add_channels(office), {}
    public = (i for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    found = [issue for issue in public if issue.status_id == defaults.NEW]
    for number, issue in enumerate(found[:ISSUES]):
        channel = channels[number]
        thread = str((await slack.chat_postMessage(channel=channel, text="Please fix this"))["ts"])
        post = await slack.chat_postMessage(channel=channel, thread_ts=thread, text="Created")
        followed = Followed(
            owner=OWNERS[number % 2],
            issue_id=issue.id,
            channel_id=channel,
            thread_ts=thread,
            ts=str(post["ts"]),
            posted_by=ANA.slack_id,
            created=True,
        )
        await office.store.followed.add(followed)
        threads[thread] = issue
    return threads


def texts(office: Apart, thread: str) -> list[str]:
    """Returns the replies of a thread: the post, and the lines below it."""
    messages = (m for found in office.workspace.state.messages.values() for m in found)
    return [message.text for message in messages if message.thread_ts == thread]


@pytest.mark.timeout(900)
async def test_kills_neither_lose_nor_repeat_a_line(tmp_path: Path, url_of_postgresql: str) -> None:
    rng = random.Random(20)  # noqa: S311 - not used for cryptography
    wire = SlackWire()
    office = Apart(tmp_path, database_url=url_of_postgresql, slack_wire=wire)
    async with office.opened("ana", "chris"):
        threads = await follow(office)
        # Slack answers late, so that processes die between a line and its answer
        wire.faults += [LATE_ANSWER] * CHANGES
        numbers = iter(range(CHANGES))

        async def all_told() -> bool:
            rows = [row for owner in OWNERS for row in await office.store.followed.of(owner)]
            return len(rows) == len(threads) and all(
                row.telling is None
                and row.closed == (threads[row.thread_ts].status_id == defaults.CLOSED)
                and threads[row.thread_ts].subject in texts(office, row.thread_ts)[0]
                for row in rows
            )

        async def ended() -> bool:
            number = next(numbers, None)
            if number is None:
                await until(all_told, 120)
                return True
            issue = rng.choice(list(threads.values()))
            status = defaults.NEW if issue.status_id == defaults.CLOSED else defaults.CLOSED
            change(issue, status_id=status, subject=f"Change {number}")

            async def told() -> bool:
                return sum(len(texts(office, thread)) - 1 for thread in threads) > number

            await until(told, 120)
            return False

        kills = await keep_killing(office, TIMINGS, rng, ended)
        told = {thread: texts(office, thread)[1:] for thread in threads}
    looked_up = len(wire.called("conversations.replies"))
    sys.stdout.write(f"{kills} kills, {looked_up} looked up\n")
    assert sum(map(len, told.values())) == CHANGES
    for thread, lines in told.items():
        closed = [line.startswith(":white_check_mark: Closed") for line in lines]
        # Each line says the opposite of the one before: none is repeated, and none is missing in between.
        assert closed == [n % 2 == 0 for n in range(len(lines))]
        assert len(lines) % 2 == (threads[thread].status_id == defaults.CLOSED)
