"""Reactions and workflow steps that a stop, a crash or an outage interrupted: each makes one issue."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import asyncpg
import pytest
from sqlalchemy import delete
from structlog.testing import capture_logs

from bot.sandbox.people import ANA
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace import payloads
from bot.slack.surfaces.drafts import saveable
from bot.store.tables import CreatedIssueRow
from bot.timings import Delays
from tests.slack.crashes.leftovers import POST, crashed, leave_behind, told_messages
from tests.support.office import TEAM, TIMEOUT_SECONDS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until_so
from tests.support.wire import Wire


@pytest.fixture
async def message(ana: Person) -> JSON:
    """A message in a channel where a reaction creates issues."""
    await ana.ask("/tracker default webshop")
    await ana.ask("/tracker emoji :ticket:")
    return await ana.say("Checkout is blank")


async def announced_in(ana: Person) -> list[str | None]:
    """Delays until all requests are settled; returns the thread, if any, of each announcement."""
    posts = [m for m in await told_messages(ana) if not m["ephemeral"] and "created" in text_of(m)]
    return [m["thread_ts"] for m in posts]


def made(service: Tracker, subject: str = "Checkout is blank") -> int:
    return [issue.subject for issue in service.data.issues.values()].count(subject)


@pytest.mark.parametrize("hours", [0, 2])
@pytest.mark.parametrize(("created", "announced"), [(False, False), (True, False), (True, True)])
async def test_a_reaction_that_a_crash_cut_off_creates_one_issue(
    ana: Person, message: JSON, service: Tracker, *, created: bool, announced: bool, hours: int
) -> None:
    dead = crashed(ana.office)
    key = f"emoji:{TEAM}:{message['channel']}:{message['ts']}"
    assert (await dead.claims.claim(key)).won
    if created:
        await ana.ask("/issue new Checkout is blank project:webshop")
        await ana.office.bot.database.execute(delete(CreatedIssueRow))  # the crash came before that
    if announced:
        text = f"Ana Ruiz created <{ana.office.bot.client.base_url}/issues/{ana.office.newest_issue().id}|#>"
        at = {"channel": message["channel"], "thread_ts": message["ts"]}
        await ana.office.bot.slack.chat_postMessage(text=text, **at)
    item = {"type": "message", "channel": message["channel"], "ts": message["ts"]}
    event = {"type": "reaction_added", "user": ANA.slack_id, "reaction": "ticket", "item": item}
    cut_off = saveable(payloads.event(ana.office.workspace.state, event, shared=False))

    await leave_behind(ana.office, cut_off, timedelta(hours=hours))

    assert [thread for thread in await announced_in(ana) if thread] == [message["ts"]]
    assert made(service) == 1


@pytest.mark.parametrize("created", [True, False])
async def test_a_crashed_step_makes_one_issue(ana: Person, service: Tracker, *, created: bool) -> None:
    office, dead = ana.office, crashed(ana.office)
    assert (await dead.claims.claim(f"step:{TEAM}:Fx1")).won
    if created:
        await ana.ask("/issue new Laptop is broken project:webshop")
        await office.bot.database.execute(delete(CreatedIssueRow))  # the crash came before that
    declared = [{"type": "slack#/types/user_context", "name": "act_as"}]
    act_as = {"id": ANA.slack_id, "secret": "x"}
    event = {
        "type": "function_executed",
        "function": {"callback_id": "create_issue", "input_parameters": declared},
        "inputs": {"project": "webshop", "subject": "Laptop is broken", "act_as": act_as},
        "function_execution_id": "Fx1",
    }
    state = office.workspace.state
    state.steps["Fx1"] = None

    await leave_behind(office, saveable(payloads.event(state, event, shared=False)))

    await until_so(lambda: state.steps["Fx1"])
    assert (state.steps["Fx1"] or {})["outputs"]["issue_number"] == office.newest_issue().id
    assert made(service, "Laptop is broken") == 1


@pytest.mark.parametrize("cut_off", ["the issue's answer", "the post", "the post's answer"])
async def test_a_stopped_reaction_creates_one_issue(
    ana: Person, message: JSON, wire: Wire, service: Tracker, cut_off: str
) -> None:
    slack, channel = ana.office.faulty_slack, ana.office.channel_id("general")
    before = len(service.data.issues)

    def count() -> int:
        return len(service.data.issues) - before

    def posted() -> bool:
        return any("Ana Ruiz created" in m.text for m in ana.office.workspace.state.messages[channel])

    reached: Callable[[], object] = posted
    if cut_off == "the issue's answer":
        reached, wire.faults, wire.too_late = count, ["late"], TIMEOUT_SECONDS
    elif cut_off == "the post":
        reached, slack.lasting = partial(slack.called, POST), {POST: f"slow:{TIMEOUT_SECONDS}"}
    else:
        slack.lasting = {POST: f"late answer:{TIMEOUT_SECONDS}"}
    await ana.react(message)
    await until_so(reached)
    await ana.office.bot.stop(0.3)
    slack.lasting = {}
    if cut_off != "the issue's answer":  # the bot knows the issue's number
        ana.office.newest_issue().subject = "Checkout stays blank"
    await ana.office.start_bot()

    assert await announced_in(ana) == [message["ts"]]
    assert count() == 1


async def test_a_stopped_reaction_creates_one_issue_although_the_database_is_ahead(
    ana: Person, message: JSON, wire: Wire, service: Tracker
) -> None:
    ana.office.clock.ahead += timedelta(hours=1)
    await test_a_stopped_reaction_creates_one_issue(ana, message, wire, service, "the issue's answer")


async def test_an_issue_hidden_before_its_post_stays_hidden(
    ana: Person, message: JSON, service: Tracker
) -> None:
    slack = ana.office.faulty_slack
    slack.lasting = {POST: f"slow:{TIMEOUT_SECONDS}"}
    await ana.react(message)
    await until_so(lambda: slack.called(POST))
    await ana.office.bot.stop(0.3)
    slack.lasting = {}
    service.data.projects[1].is_public = False
    await ana.office.start_bot()

    messages = [m for m in await told_messages(ana) if "Checkout is blank" in text_of(m) and m["is_bot"]]
    assert messages
    assert all(m["ephemeral"] for m in messages)


@pytest.mark.parametrize("ana", [Delays(event_retries=(0.1, 0.5, 1, 3))], indirect=True)
async def test_a_reaction_survives_a_database_outage(
    ana: Person, message: JSON, service: Tracker, url_of_postgresql: str
) -> None:
    ana.office.may_crash = True
    database = await asyncpg.connect(url_of_postgresql)
    try:
        await database.execute("alter table links rename to links_moved")
        with capture_logs() as logs:
            await ana.react(message)
            await until_so(lambda: any(line["event"] == "failed" for line in logs))
        await database.execute("alter table links_moved rename to links")
    finally:
        await database.close()

    assert await announced_in(ana) == [message["ts"]]
    assert made(service) == 1
