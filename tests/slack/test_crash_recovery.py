"""Requests that a stop or a crash interrupted: each user learns the truth, or nothing."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import delete, literal, select, update
from structlog.testing import capture_logs

from bot.app import Bot
from bot.errors import InProgress
from bot.sandbox.people import ANA
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace import payloads
from bot.slack.incoming.failures import REQUEST, UnfinishedRequest
from bot.slack.incoming.feature import Interrupted
from bot.slack.surfaces.drafts import saveable
from bot.store.job import Job
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import CreatedIssueRow, JobRow
from bot.store.vault import Vault
from bot.timings import Delays, Timings
from tests.support.office import TEAM, TIMEOUT_SECONDS, Office
from tests.support.person import Person
from tests.support.reading import JSON, button_saying, input_named, text_of, until, until_so, value_held
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire
from tests.support.wording import worded
from tests.support.work import none_held

TIMINGS = Timings(interval=0.2, heartbeat_timeout=1)
LOST = worded(Interrupted())
POST = "chat.postMessage"
IN_TIME = 20
"""More seconds than a slow machine needs to notice a crash with these timings."""


@pytest.fixture
async def ana(
    service: Tracker, wire: Wire, tmp_path: Path, request: pytest.FixtureRequest, url_of_postgresql: str
) -> AsyncIterator[Person]:
    office = Office(
        tmp_path,
        tracker=service,
        wire=wire,
        slack_wire=SlackWire(),
        database_url=url_of_postgresql,  # whose clock has fractions of seconds
        timings=TIMINGS,
        delays=getattr(request, "param", None),
    )
    async with office.opened("ana"):
        yield Person(office, ANA.slack_id)
        assert office.violations() == []


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
    asked = UnfinishedRequest(Owner(None, TEAM, ANA.slack_id), (None, TEAM), payload)
    key = secrets.token_hex()
    assert await (process or crashed(office)).jobs.put_held(REQUEST, key, asked.content)
    old = update(JobRow).where(JobRow.key == key).values(at=datetime.now(UTC) - age)
    await office.bot.database.execute(old)


async def told_messages(ana: Person) -> list[JSON]:
    """Delays until all requests are settled; returns the messages that Ana sees."""
    await until(lambda: none_held(ana.office.bot))
    return await ana.messages()


async def told_of_crashes(ana: Person) -> list[str]:
    """As `told_messages`, with the texts of those about lost requests."""
    return [text for text in map(text_of, await told_messages(ana)) if LOST in text]


@pytest.mark.parametrize("ana", [Delays(completed=60)], indirect=True)  # so that only the stop records them
async def test_an_answer_right_before_a_stop_is_not_lost(ana: Person, wire: Wire) -> None:
    office, bot = ana.office, ana.office.bot
    answered = await ana.ask("/issues status:any")
    wire.seconds = 20
    wire.fail("slow")
    await ana.command("/issues status:closed")
    await until_so(lambda: wire.slowed)

    stopping = asyncio.create_task(office.stop_bot())
    await until_so(lambda: not bot.ready)
    await asyncio.sleep(0.3)
    wire.released.set()
    await stopping
    office.delays = None
    await office.start_bot()
    await leave_behind(office, "new Really lost")

    [arrived] = await told_of_crashes(ana)
    assert "recently updated first" in text_of(answered)
    assert "Really lost" in arrived


@pytest.mark.parametrize("ana", [Delays(completed=1)], indirect=True)  # time to lock what is recorded
async def test_an_answer_during_a_recording_is_recorded_too(ana: Person, wire: Wire) -> None:
    office = ana.office
    wire.seconds = TIMEOUT_SECONDS
    wire.fail("slow")
    await ana.command("/issues status:closed")
    await until_so(lambda: wire.slowed)
    await ana.ask("/issues status:any")
    connection = await asyncpg.connect(office.database_url)
    async with connection.transaction():
        await connection.execute("select 1 from jobs where kind = $1 for update", REQUEST)
        await until(lambda: connection.fetchval("select count(*) from pg_locks where not granted"))
        wire.released.set()
        await office.idle()
    await connection.close()

    async with asyncio.timeout(IN_TIME):
        await until(lambda: none_held(office.bot))  # so that a crash calls none of them lost


async def test_an_old_lost_command_is_reported_in_a_direct_message(ana: Person) -> None:
    await leave_behind(ana.office, "new Before lunch", timedelta(minutes=31))
    await leave_behind(ana.office, "new Just now", timedelta(minutes=1))

    [in_channel] = await told_of_crashes(ana)
    [direct] = [text_of(m) for m in await ana.direct() if LOST in text_of(m)]
    assert "/issue new Just now" in in_channel
    assert "/issue new Before lunch" in direct
    assert f"<#{ana.office.channel_id('general')}>" in direct


@pytest.mark.parametrize("age", [timedelta(0), timedelta(hours=23)])
async def test_a_lost_form_that_was_closed_since_comes_back(ana: Person, age: timedelta) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    state = ana.office.workspace.state
    view = payloads.view(state, state.views[form["id"]])
    field = input_named(form, "Subject")
    value = {"type": "plain_text_input", "value": "Typed before lunch"}
    typed = {field["block_id"]: {field["element"]["action_id"]: value}}
    user = {"id": ANA.slack_id, "team_id": TEAM}
    submitted = {"type": "view_submission", "user": user, "view": view | {"state": {"values": typed}}}
    await ana.close(form)

    await leave_behind(ana.office, saveable(submitted), age)

    where_asked, direct = await told_messages(ana), await ana.direct()
    [lost] = [message for message in (direct if age else where_asked) if LOST in text_of(message)]
    await ana.press(lost, "Reopen form")
    reopened = await ana.form_saying("New issue", LOST)
    assert value_held(input_named(reopened, "Subject")["element"])["value"] == "Typed before lunch"


async def test_old_and_unreadable_requests_are_not_reported(ana: Person) -> None:
    other = Store(ana.office.bot.database, Vault([Vault.generate_key()]), timings=TIMINGS)
    with capture_logs() as logs:
        await leave_behind(ana.office, "new Yesterday", timedelta(hours=25))
        await leave_behind(ana.office, "new With another key", timedelta(hours=25), process=other)

        assert await told_of_crashes(ana) == []
    assert not [m for m in await ana.direct() if LOST in text_of(m)]
    actions = [line["action"] for line in logs]
    assert {"delivery.untold", "job.unreadable"} <= {*actions}
    assert "delivery.abandoned" not in actions


@pytest.mark.parametrize("changed", [False, True])
async def test_a_lost_press_never_replaces_a_changed_form(ana: Person, *, changed: bool) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    state = ana.office.workspace.state
    pressed = {
        "type": "block_actions",
        "user": {"id": ANA.slack_id, "team_id": TEAM},
        "view": payloads.view(state, state.views[form["id"]]),
        "actions": [{"type": "button", "action_id": "issue.more_fields", "block_id": "more", "value": ""}],
    }
    if changed:
        await ana.with_more_fields(form)

    await leave_behind(ana.office, pressed)

    assert await told_of_crashes(ana) == []
    assert (LOST in text_of(await ana.form("New issue"))) is not changed


async def test_a_form_is_acknowledged_over_the_socket_while_the_bot_stops(ana: Person, wire: Wire) -> None:
    await ana.command("/issue new project:mobile")
    form = await ana.form("New issue")
    wire.faults = ["slow"]
    await ana.submit(form, {"Subject": "Refused late", "Issue type": "Bug"})
    await until(lambda: asyncio.sleep(0, wire.slowed))

    stopping = asyncio.create_task(ana.office.bot.stop(5))
    wire.released.set()

    assert await ana.form_saying("New issue", "Severity cannot be blank")
    await stopping


async def test_a_form_reopened_after_a_stop_acts_once(ana: Person, wire: Wire, service: Tracker) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    ana.office.wait(form=0.1)
    wire.faults, wire.too_late = ["late"], TIMEOUT_SECONDS  # the service does it, and nobody gets the answer
    await ana.submit(form, {"Subject": "Cut off"})

    def made() -> int:
        return [issue.subject for issue in service.data.issues.values()].count("Cut off")

    async def waiting() -> JSON | None:
        views = (await ana.state())["views"]
        return views[-1] if made() and views[-1]["title"]["text"] == "One moment" else None

    await ana.close(await until(waiting))
    answer = await ana.after(ana.office.bot.stop(0.3))
    await ana.office.start_bot()
    await ana.press(answer, "Reopen form")
    await ana.submit(await ana.form_saying("New issue", LOST), {})
    await ana.no_form()
    await ana.press(answer, "Reopen form")
    await ana.submit(await ana.form_saying("New issue", LOST), {})
    await ana.form_saying("New issue", "already submitted")

    assert made() == 1


async def test_a_form_of_a_crashed_process_can_be_submitted_again(ana: Person, service: Tracker) -> None:
    await ana.command("/timelog 12")
    form = await ana.form("Log time")
    entries = len(service.data.time_entries)
    dead = crashed(ana.office)
    await dead.processes.beat()
    assert (await dead.jobs.claim(f"form:{TEAM}:{form['id']}:{form['callback_id']}")).won

    await ana.submit(form, {"Hours": "1h", "Activity": "Development", "Comment": "Typed once"})
    again = await ana.form_saying("Log time", worded(InProgress()))
    await until(partial(counts_as_dead, ana.office.bot, dead))
    await ana.submit(again, {})
    again = await ana.form_saying("Log time", LOST)
    assert len(service.data.time_entries) == entries
    await ana.submit(again, {})
    await ana.no_form()

    assert len(service.data.time_entries) == entries + 1
    assert ana.office.newest_time().comments == "Typed once"


async def test_replica_stays_alive_while_slack_is_slow(ana: Person) -> None:
    office, other = ana.office, crashed(ana.office)
    wire = office.slack_wire
    assert wire
    wire.lasting = {"chat.postEphemeral": "slow:2.5"}
    await leave_behind(office, "new Told slowly")
    taken: list[Job] = []

    async def arrived() -> bool:
        await other.processes.beat()
        if wire.called("chat.postEphemeral"):
            taken.extend(await other.jobs.take(REQUEST, 1))
        return any(LOST in text_of(message) for message in await ana.messages())

    await until(arrived, 30)

    assert taken == []


async def test_a_lost_mention_is_reported_in_its_thread(ana: Person) -> None:
    thread = await ana.say("Checkout is slow again")
    await ana.say("Same here", thread)
    state = ana.office.workspace.state
    about = {
        "user": ANA.slack_id,
        "channel": ana.office.channel_id("general"),
        "text": "<@U0ISSUEBOT> 12 close",
    }
    mention = {"type": "app_mention", "ts": state.new_ts(), "thread_ts": thread["ts"], **about}

    await leave_behind(ana.office, saveable(payloads.event(state, mention, shared=False)))

    [message] = [m for m in await told_messages(ana) if LOST in text_of(m)]
    assert (message["ephemeral"], message["thread_ts"]) == (True, thread["ts"])


@pytest.mark.parametrize("hours", [0, 2])
@pytest.mark.parametrize(("created", "announced"), [(False, False), (True, False), (True, True)])
async def test_a_reaction_that_a_crash_cut_off_creates_one_issue(
    ana: Person, service: Tracker, *, created: bool, announced: bool, hours: int
) -> None:
    await ana.ask("/tracker default webshop")
    await ana.ask("/tracker emoji :ticket:")
    message, dead = await ana.say("Checkout is blank"), crashed(ana.office)
    key = f"emoji:{TEAM}:{message['channel']}:{message['ts']}"
    assert (await dead.jobs.claim(key)).won
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

    posts = [m for m in await told_messages(ana) if not m["ephemeral"] and "created" in text_of(m)]
    assert [m["thread_ts"] for m in posts if m["thread_ts"]] == [message["ts"]]
    assert [issue.subject for issue in service.data.issues.values()].count("Checkout is blank") == 1


@pytest.mark.parametrize("created", [True, False])
async def test_a_crashed_step_makes_one_issue(ana: Person, service: Tracker, *, created: bool) -> None:
    office, dead = ana.office, crashed(ana.office)
    assert (await dead.jobs.claim(f"step:{TEAM}:Fx1")).won
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

    await until(lambda: asyncio.sleep(0, state.steps["Fx1"]))
    assert (state.steps["Fx1"] or {})["outputs"]["issue_number"] == office.newest_issue().id
    assert [issue.subject for issue in service.data.issues.values()].count("Laptop is broken") == 1


@pytest.mark.parametrize("cut_off", ["the issue's answer", "the post", "the post's answer"])
async def test_a_stopped_reaction_creates_one_issue(
    ana: Person, wire: Wire, service: Tracker, cut_off: str
) -> None:
    slack, channel = ana.office.slack_wire, ana.office.channel_id("general")
    assert slack
    await ana.ask("/tracker default webshop")
    await ana.ask("/tracker emoji :ticket:")
    message = await ana.say("Checkout is blank")

    before = len(service.data.issues)

    def made() -> int:
        return len(service.data.issues) - before

    def posted() -> bool:
        return any("Ana Ruiz created" in m.text for m in ana.office.workspace.state.messages[channel])

    reached: Callable[[], object] = posted
    if cut_off == "the issue's answer":
        reached, wire.faults, wire.too_late = made, ["late"], TIMEOUT_SECONDS
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

    posts = [m for m in await told_messages(ana) if not m["ephemeral"] and "created" in text_of(m)]
    assert [m["thread_ts"] for m in posts] == [message["ts"]]
    assert made() == 1


async def test_an_issue_hidden_before_its_post_stays_hidden(ana: Person, service: Tracker) -> None:
    slack = ana.office.slack_wire
    assert slack
    await ana.ask("/tracker default webshop")
    await ana.ask("/tracker emoji :ticket:")
    slack.lasting = {POST: f"slow:{TIMEOUT_SECONDS}"}
    await ana.react(await ana.say("Checkout is blank"))
    await until_so(lambda: slack.called(POST))
    await ana.office.bot.stop(0.3)
    slack.lasting = {}
    service.data.projects[1].is_public = False
    await ana.office.start_bot()

    messages = [m for m in await told_messages(ana) if "Checkout is blank" in text_of(m) and m["is_bot"]]
    assert messages
    assert all(m["ephemeral"] for m in messages)


async def test_a_resumed_request_that_a_crash_lost_runs_once_the_user_has_looked(ana: Person) -> None:
    office = ana.office
    asked = await ana.ask("/issue new Slow cart project:webshop priority:hgih")
    other, saved = crashed(office), button_saying(asked["blocks"], "Use High")[1]["value"]
    assert (await other.jobs.claim(f"resume:{saved}")).won
    await until(lambda: counts_as_dead(office.bot, other))
    count = len(office.tracker.data.issues)

    text = text_of(await ana.after(ana.press(asked, "Use High")))
    assert LOST in text
    assert "/issue new Slow cart project:webshop priority:High" in text
    assert len(office.tracker.data.issues) == count
    await ana.after(ana.press(asked, "Use High"))
    assert office.newest_issue().subject == "Slow cart"


@pytest.mark.parametrize("ana", [Delays(background_retry=0.3)], indirect=True)
async def test_a_lost_request_is_reported_when_slack_works_again(ana: Person) -> None:
    office = ana.office
    wire = office.slack_wire
    assert wire
    ways = ("chat.postEphemeral", POST, "response_url", "conversations.open")
    wire.lasting = dict.fromkeys(ways, "503 before it")
    await leave_behind(office, "new Really lost")
    await until_so(lambda: any(wire.called(way) for way in ways))

    await asyncio.sleep(1)
    wire.lasting = {}

    assert any("Really lost" in text for text in await told_of_crashes(ana))


@pytest.mark.parametrize("ana", [Delays(event_retries=(0.1, 0.5, 1, 3))], indirect=True)
async def test_a_reaction_survives_a_database_outage(
    ana: Person, service: Tracker, url_of_postgresql: str
) -> None:
    await ana.ask("/tracker default webshop")
    await ana.ask("/tracker emoji :ticket:")
    message, ana.office.may_crash = await ana.say("Checkout is blank"), True
    database = await asyncpg.connect(url_of_postgresql)
    try:
        await database.execute("alter table links rename to links_moved")
        with capture_logs() as logs:
            await ana.react(message)
            await until_so(lambda: any(line["event"] == "failed" for line in logs))
        await database.execute("alter table links_moved rename to links")
    finally:
        await database.close()

    posts = [m for m in await told_messages(ana) if not m["ephemeral"] and "created" in text_of(m)]
    assert [m["thread_ts"] for m in posts] == [message["ts"]]
    assert [issue.subject for issue in service.data.issues.values()].count("Checkout is blank") == 1
