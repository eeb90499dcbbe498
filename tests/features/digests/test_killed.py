"""Two real processes on one PostgreSQL server, killed at random while digests are due."""

import asyncio
import os
import random
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.sandbox.demo.life import go_on_reporting
from bot.store.digest_runs import RunState
from bot.store.tables import DigestIssueRow, DigestRunRow
from bot.timings import Timings
from tests.support.bot_process import Apart
from tests.support.due_digests import PROJECTS, add_digests, digest_posts, make_due, still_due
from tests.support.replicas import keep_killing
from tests.support.slackwire import SlackWire

DIGESTS = int(os.environ.get("ISSUEBOT_KILLED_DIGESTS", "4"))
A_SECOND = 3
TIMINGS = Timings(interval=0.3, heartbeat_timeout=2, longest_post=3, look_up_after=1)
"""Short enough that processes, which live for a few seconds, take over each other's runs."""
LATE_ANSWER = ("chat.postMessage", "late answer:0.3")


@pytest.mark.timeout(900)
async def test_random_kills_neither_lose_nor_repeat_digests(tmp_path: Path, url_of_postgresql: str) -> None:
    rng = random.Random(20)  # noqa: S311 - not used for cryptography
    wire = SlackWire()
    office = Apart(tmp_path, database_url=url_of_postgresql, slack_wire=wire)
    data, known = office.tracker.data, set(office.tracker.data.issues)
    async with office.opened("ana", "chris"):

        async def none_due() -> bool:
            return not await still_due(office)

        digests = await add_digests(office, DIGESTS)
        # Slack answers late, so that processes die between a post and its answer
        wire.faults += [LATE_ANSWER] * DIGESTS * 3
        numbers = [p.id for p in data.projects.values() if p.identifier in PROJECTS]
        reporting = [asyncio.create_task(go_on_reporting(data, n, 0.5)) for n in numbers]
        await make_due(office, digests, over=DIGESTS / A_SECOND)
        kills = await keep_killing(office, TIMINGS, rng, none_due)
        for task in reporting:
            task.cancel()
        await make_due(office, digests, over=1)
        kills += await keep_killing(office, TIMINGS, rng, none_due)
        posts = digest_posts(office)
        states = await office.database.read(
            lambda connection: Counter(connection.scalars(select(DigestRunRow.state)))
        )
        covering = select(DigestIssueRow).where(DigestIssueRow.due_at.is_not(None))
        rows = await office.database.read(lambda connection: connection.execute(covering).all())
        reported = [i for i in data.issues.values() if i.id not in known]
    looked_up = len(wire.called("conversations.history"))
    sys.stdout.write(f"{len(posts)} posts, {len(reported)} issues, {kills} kills, {looked_up} looked up\n")
    assert states == {RunState.SENT: DIGESTS * 2}
    assert len({(post.digest, post.due_at) for post in posts}) == len(posts) == DIGESTS * 2
    by_project = {d.id: {i.id for i in reported if i.project_id == d.plan.project_id} for d in digests}
    covered = {(row.digest_id, row.issue_id): row.due_at for row in rows}
    assert covered.keys() == {(digest, issue) for digest, issues in by_project.items() for issue in issues}
    for post in posts:  # a long digest lists its last issues only behind a link
        due_at = datetime.fromisoformat(post.due_at)
        assert {covered[post.digest, issue] for issue in post.issues} <= {due_at}
