"""Two real processes on one PostgreSQL server, killed at random while followed issues change."""

import asyncio
import os
import random
import sys
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.people import ANA, CHRIS
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue
from bot.store.followed import Followed
from bot.store.owner import Owner
from bot.timings import Timings
from tests.support.office import TEAM
from tests.support.replicas import keep_killing
from tests.support.scene import Scene

CHANGES = int(os.environ.get("ISSUEBOT_KILLED_CHANGES", "12"))
ISSUES, A_SECOND = 10, 2
OWNERS = {Owner(None, TEAM, person.slack_id): person for person in (ANA, CHRIS)}
TIMINGS = Timings(interval=0.3, heartbeat_timeout=2, longest_post=3, look_up_after=1, follow_every=1)
"""Short enough that processes, which live for a few seconds, take over each other's followers."""
LATE_ANSWER = ("chat.postMessage", "late answer:0.5")


async def follow(scene: Scene) -> dict[str, Issue]:
    """Follows open issues, each in a thread of its own; returns them by thread."""
    slack = AsyncWebClient(scene.workspace.bot_token, base_url=f"{scene.api}api/")
    users = {user.api_key: user for user in scene.tracker.data.users.values()}
    for owner, person in OWNERS.items():
        await scene.store.links.put(owner, SecretStr(person.api_key), users[person.api_key].id, person.name)
    issues = [
        issue
        for issue in scene.tracker.data.issues.values()
        if issue.project_id == 1 and not issue.is_private and issue.status_id == defaults.NEW
    ][:ISSUES]
    threads = {}
    for number, issue in enumerate(issues):
        channel = f"C0D{number:06}"
        thread = str((await slack.chat_postMessage(channel=channel, text="Please fix this"))["ts"])
        post = await slack.chat_postMessage(channel=channel, thread_ts=thread, text="Created")
        followed = Followed(
            owner=list(OWNERS)[number % len(OWNERS)],
            issue_id=issue.id,
            channel_id=channel,
            thread_ts=thread,
            ts=str(post["ts"]),
            posted_by=ANA.slack_id,
            created=True,
        )
        await scene.store.followed.add(followed, await scene.store.followed.now())
        threads[thread] = issue
    return threads


async def go_on_changing(issues: list[Issue], rng: random.Random) -> None:
    """Closes and reopens issues, and renames them."""
    for number in range(CHANGES):
        await asyncio.sleep(1 / A_SECOND)
        issue = rng.choice(issues)
        issue.status_id = defaults.NEW if issue.status_id == defaults.CLOSED else defaults.CLOSED
        issue.subject = f"Change {number}"
        issue.updated_on = datetime.now(UTC).replace(microsecond=0)


async def all_told(scene: Scene, threads: dict[str, Issue]) -> bool:
    rows = [row for owner in OWNERS for row in await scene.store.followed.of(owner)]
    return len(rows) == len(threads) and all(
        row.telling is None
        and row.closed == (threads[row.thread_ts].status_id == defaults.CLOSED)
        and any(threads[row.thread_ts].subject in text for text in texts(scene, row.thread_ts)[:1])
        for row in rows
    )


def texts(scene: Scene, thread: str) -> list[str]:
    """Returns the replies of a thread: the post, and the lines below it."""
    messages = (m for found in scene.workspace.state.messages.values() for m in found)
    return [message.text for message in messages if message.thread_ts == thread]


@pytest.mark.timeout(900)
async def test_random_kills_neither_lose_nor_repeat_a_line(url_of_postgresql: str) -> None:
    rng = random.Random(20)  # noqa: S311 - not used for cryptography
    async with Scene(url_of_postgresql, timings=TIMINGS).opened() as scene:
        threads = await follow(scene)
        # Slack answers late, so that processes die between a line and its answer
        scene.wire.faults += [LATE_ANSWER] * CHANGES
        changing = asyncio.create_task(go_on_changing(list(threads.values()), rng))

        async def told_everything() -> bool:
            return changing.done() and await all_told(scene, threads)

        kills = await keep_killing(scene, rng, told_everything)
        told = {thread: texts(scene, thread)[1:] for thread in threads}
    looked_up = len(scene.wire.called("conversations.replies"))
    count = sum(map(len, told.values()))
    sys.stdout.write(f"{CHANGES} changes, {count} lines, {kills} kills, {looked_up} looked up\n")
    assert count
    for thread, lines in told.items():
        closed = [line.startswith(":white_check_mark: Closed") for line in lines]
        # Each line says the opposite of the one before: none is repeated, and none is missing in between.
        assert closed == [n % 2 == 0 for n in range(len(lines))]
        assert len(lines) % 2 == (threads[thread].status_id == defaults.CLOSED)
