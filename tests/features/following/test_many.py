"""Many followed issues: within Slack's rates, in turns, without blocking others, and up to a limit."""

import asyncio
import time
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select

from bot.features.following.following import MAX_FOLLOWED
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue
from bot.store.followed import FOLLOWED
from bot.store.jobs import Later
from bot.store.notices import Topic
from bot.store.tables import FollowedIssueRow
from bot.telemetry import SERVICE_REQUESTS
from bot.timings import Delays
from tests.features.following.threads import (
    change,
    create_from_message,
    follow,
    in_thread,
    public_issues,
    read_followed,
)
from tests.support.digesting import ANA
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of

WRITES = ("chat.postMessage", "chat.update")
BURST = 5
LONG_AGO = "2026-01-01 00:00:00"


async def follow_below(office: Office, post: JSON, issue: Issue, ts: str = "1.0", **more: Any) -> None:
    """Follows an issue in the thread of a post."""
    await follow(office.bot.store, issue, post["channel"], post["thread_ts"], ts, **more)


async def follow_many(office: Office, count: int, changed_at: str) -> None:
    """Follows issues in threads that don't exist."""
    (row,) = await office.bot.database.rows(select(FollowedIssueRow))
    same = {name: value for name, value in row._mapping.items() if name not in {"id", "changed_at"}}
    rows = [{**same, "thread_ts": f"{n}.0", "issue_id": 10_000 + n} for n in range(count)]
    moment = {"changed_at": row.changed_at.fromisoformat(f"{changed_at}+00:00")}
    statement = insert(FollowedIssueRow)
    await office.bot.database.write(lambda c: c.execute(statement, [one | moment for one in rows]))


def requests_sent() -> float:
    (metric,) = SERVICE_REQUESTS.collect()
    return sum(sample.value for sample in metric.samples if sample.name.endswith("_total"))


@pytest.mark.parametrize("office", [Delays(channels=0, background_retry=0.5)], indirect=True)
async def test_many_issues_closed_at_once_are_paced_and_none_is_lost(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    wire, slack, state = office.faulty_slack, office.bot.slack, office.workspace.state
    state.rate_limits = False
    issues = [one for one in public_issues(office.tracker) if one.status_id == defaults.NEW][:6]
    for issue in issues:
        where = {"channel": office.channel_id("webshop"), "thread_ts": post["thread_ts"]}
        response = await slack.chat_postMessage(text="Created", **where)
        await follow_below(office, post, issue, str(response["ts"]))
        change(issue, status_id=defaults.CLOSED)
    wire.calls.clear()
    state.rate_limits = True

    await read_followed(office)

    lines = [m["text"] for m in await in_thread(ana, post) if "Closed: " in m["text"]]
    assert len(lines) == len(issues)
    assert len(wire.called("chat.postMessage")) == len(issues)  # none was refused
    times = [call.at for call in wire.calls if call.method in WRITES]
    assert all(at - times[0] > number - BURST for number, at in enumerate(times))


@pytest.mark.parametrize("office", [Delays()], indirect=True)
async def test_issues_that_never_settle_do_not_starve_the_others(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    newest = office.newest_issue()
    for issue in public_issues(office.tracker)[:50]:
        assert issue.id < newest.id
        await follow_below(office, post, issue)
    followed, jobs = office.bot.store.followed, office.bot.store.jobs
    others = [one for one in await followed.of(ANA) if one.issue_id != newest.id]
    for statement in followed.showing_changes(others):
        await office.bot.database.execute(statement)
    for job in await jobs.take(FOLLOWED, 99):  # as if the process had died while it added a line
        line = {"mark": f"issuebot_{job.key}", "closed": True}
        assert await jobs.begin_request(job, await office.bot.store.processes.now(), timedelta(0), line)
        await jobs.settle(job, Later(0))
    office.faulty_slack.lasting = {"conversations.replies": "429:60"}
    change(newest, status_id=defaults.CLOSED)

    for _ in range(2):
        await read_followed(office)

    assert "Closed: " in (await in_thread(ana, post))[-1]["text"]


async def test_an_unfollowed_issue_leaves_no_jobs(office: Office, ana: Person) -> None:
    await create_from_message(ana, "Cart loses items")
    jobs, stored = office.bot.store.jobs, office.bot.store.followed
    [one] = await stored.of(ANA)
    [changed] = stored.showing_changes([one])
    await office.bot.database.execute(changed)
    assert FOLLOWED in await jobs.due_kinds()
    await stored.end([one])
    assert FOLLOWED not in await jobs.due_kinds()

    await office.bot.database.execute(changed)  # as by a read that began before
    await read_followed(office)

    assert await jobs.content(f"{FOLLOWED}:{one.id}") is None


async def test_one_request_reads_a_hundred_issues(office: Office) -> None:
    for issue in public_issues(office.tracker)[:101]:
        values = {"created": False, "seen_on": issue.updated_on}
        await follow(office.bot.store, issue, "C1", "1.0", f"{issue.id}.0", **values)

    await office.bot.store.notices.switch(ANA, [Topic.ASSIGNED], None)
    before = requests_sent()
    for _ in range(2):
        await read_followed(office)

    assert requests_sent() - before == 4


async def test_thousands_of_quiet_issues_block_nobody(office: Office, ana: Person) -> None:
    await create_from_message(ana, "Cart loses items")
    await follow_many(office, 5000, LONG_AGO)
    reading = asyncio.create_task(read_followed(office))
    longest, before = 0.0, time.thread_time()
    while not reading.done():
        await asyncio.sleep(0)
        now = time.thread_time()
        longest, before = max(longest, now - before), now

    assert longest < 2
    assert len(await office.bot.store.followed.of(ANA)) == 1


async def test_a_person_follows_a_limited_number_of_issues(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    stopped = await ana.after(ana.choose_from_menu(post, "Cart loses", "Stop following"))
    await follow_below(office, post, public_issues(office.tracker)[0])
    await follow_many(office, MAX_FOLLOWED - 1, "2026-11-01 00:00:00")

    refused = await ana.after(ana.choose_from_menu(stopped, "Cart loses", "Follow in this thread"))

    assert f"You already follow {MAX_FOLLOWED} issues, the maximum." in text_of(refused)
    assert "To stop following one, use the menu of its post." in text_of(refused)
    await create_from_message(ana, "Checkout is slow")
    texts = [text_of(m) for m in await ana.messages() if m["ephemeral"]]
    assert any("the maximum" in text for text in texts[-2:])
