"""Requests that a stop or a crash interrupted: each user learns the truth, or nothing."""

import asyncio
from datetime import timedelta
from functools import partial

import asyncpg
import pytest
from structlog.testing import capture_logs

from bot.errors import InProgress
from bot.sandbox.people import ANA
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace import payloads
from bot.slack.incoming.deliveries import REQUEST
from bot.slack.surfaces.drafts import saveable
from bot.store.jobs import Job
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import Delays
from tests.slack.crashes.leftovers import (
    LOST,
    POST,
    TIMINGS,
    counts_as_dead,
    crashed,
    leave_behind,
    told_messages,
    told_of_crashes,
)
from tests.support.office import TEAM, TIMEOUT_SECONDS
from tests.support.person import Person
from tests.support.reading import button_saying, input_named, text_of, until, until_so, value_held
from tests.support.wire import Wire
from tests.support.wording import worded
from tests.support.work import none_held

IN_TIME = 20
"""More seconds than a slow machine needs to notice a crash with these timings."""


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
    await until_so(lambda: wire.slowed)

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

    await ana.close(await ana.view(lambda view: made() and view["title"]["text"] == "One moment"))
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
    assert (await dead.claims.claim(f"form:{TEAM}:{form['id']}:{form['callback_id']}")).won

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
    wire = office.faulty_slack
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


async def test_a_resumed_request_that_a_crash_lost_runs_once_the_user_has_looked(ana: Person) -> None:
    office = ana.office
    asked = await ana.ask("/issue new Slow cart project:webshop priority:hgih")
    other, saved = crashed(office), button_saying(asked["blocks"], "Use High")[1]["value"]
    assert (await other.claims.claim(f"resume:{saved}")).won
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
    wire = office.faulty_slack
    ways = ("chat.postEphemeral", POST, "response_url", "conversations.open")
    wire.lasting = dict.fromkeys(ways, "503 before it")
    await leave_behind(office, "new Really lost")
    await until_so(lambda: any(wire.called(way) for way in ways))

    await asyncio.sleep(1)
    wire.lasting = {}

    assert any("Really lost" in text for text in await told_of_crashes(ana))
