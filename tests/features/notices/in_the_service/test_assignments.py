"""Direct messages about issues that were assigned in the service, not with the bot."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.app import Bot
from bot.sandbox.tracker.data import Detail, Note
from bot.slack.outgoing.stored import MAY_BE_REPEATED
from bot.store.notices import PERSONAL_NOTICE
from bot.store.tables import JobRow
from bot.store.vault import Vault
from tests.features.notices.in_the_service.turns import ANA, BEN, TURN, Turns
from tests.features.notices.test_assigned import all_told, told
from tests.support.office import FORGETFUL, Office
from tests.support.people import IDS, KEYS
from tests.support.person import DM, Person
from tests.support.ports import free_port
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until, until_so
from tests.support.wire import Wire
from tests.support.work import at_rest, run_due


async def test_an_assignment_in_the_service_is_told_once(
    office: Office, turns: Turns, ben: Person, ana: Person
) -> None:
    issue = office.public_issue()
    turns.change(issue, ANA, assigned_to_id=BEN)
    await turns.next()
    turns.change(issue, ANA, "Any news?", priority_id=issue.priority_id)
    for _ in range(5):
        await turns.next()

    [message] = await told(ben)
    assert text_of(message).startswith(f"Ana Ruiz assigned #{issue.id} to you.")
    assert await told(ana) == []

    turns.change(issue, ANA, assigned_to_id=ANA)
    turns.change(issue, ANA, assigned_to_id=BEN)
    await turns.next()
    assert len(await told(ben)) == 2


async def test_a_new_issue_for_someone_else_is_told(office: Office, turns: Turns, ben: Person) -> None:
    issue = office.public_issue()
    issue.author_id, issue.assigned_to_id, issue.notes = ANA, BEN, []
    issue.created_on = issue.updated_on = turns.now + timedelta(minutes=1)

    await turns.next()

    assert len(await told(ben)) == 1


@pytest.mark.parametrize("office", [{"notice_after": 2}], indirect=True)
@pytest.mark.parametrize("ahead", [timedelta(hours=-1), timedelta(), timedelta(hours=1)])
async def test_an_assignment_in_the_same_second_as_a_change_is_told_whatever_the_services_clock(
    office: Office, turns: Turns, ben: Person, ahead: timedelta
) -> None:
    issue = office.public_issue()
    issue.assigned_to_id, issue.notes = BEN, []
    turns.change(issue, ANA, "Any news?", before=-ahead)
    await turns.next()
    for assignee in (ANA, BEN):
        turns.change(issue, ANA, at=issue.updated_on, assigned_to_id=assignee)
    turns.pass_time(timedelta(seconds=2))
    await run_due(office.bot)
    assert len(await told(ben)) == 1

    await turns.next()

    assert len(await told(ben)) == 1


async def test_own_changes_and_those_before_linking_are_not_told(
    office: Office, turns: Turns, ben: Person
) -> None:
    own, before = office.public_issue(), office.public_issue(1)
    turns.pass_time(-timedelta(hours=1))
    turns.change(before, ANA, assigned_to_id=BEN)
    turns.pass_time(timedelta(hours=1))
    await ben.ask("/tracker unlink")
    await ben.command("/tracker link")
    await ben.submit(await ben.form("Link account"), {"API key": KEYS["ben"]})
    await ben.form("Account linked")
    turns.change(own, BEN, assigned_to_id=BEN)
    turns.change(before, ANA, "Any news?")

    await turns.next()
    await turns.next()

    assert await told(ben) == []


@pytest.mark.parametrize("fault", ["500 before it", "refuse the key", "lose the request"])
async def test_what_is_assigned_while_the_service_fails_for_an_hour_is_told(
    office: Office, turns: Turns, ben: Person, wire: Wire, fault: str
) -> None:
    issue, other = office.public_issue(), office.public_issue(1)
    turns.change(other, BEN, assigned_to_id=BEN)
    turns.change(issue, ANA, assigned_to_id=BEN)
    wire.fail(fault, f"GET /issues/{issue.id}.json", lasting=True)
    for _ in range(10):
        turns.change(other, ANA, "Any news?")
        await turns.next()
        await at_rest(office.bot)
    turns.change(issue, ANA, "Any news?")
    assert await told(ben) == []

    wire.heal()
    await turns.next()

    assert len(await told(ben)) == 1


async def test_what_is_assigned_while_a_key_is_answered_as_a_visitor_is_told(
    office: Office, turns: Turns, ben: Person
) -> None:
    user = office.tracker.data.users[BEN]
    key, user.api_key = user.api_key, "another"
    turns.change(office.public_issue(), ANA, assigned_to_id=BEN)
    for _ in range(5):
        await turns.next()
    assert await told(ben) == []

    user.api_key = key
    await turns.next()

    assert len(await told(ben)) == 1


async def test_a_dead_key_is_noticed_and_deleted_although_nothing_else_uses_it(
    tmp_path: Path, wire: Wire
) -> None:
    timings = replace(FORGETFUL, interval=300)
    office = Office(
        tmp_path, tracker=demo_tracker(issue_reads=True, listing=True), wire=wire, timings=timings
    )
    async with office.opened("ben"):
        turns, ben = Turns(office), Person(office, IDS["ben"])
        await turns.next()
        office.tracker.data.users[BEN].api_key = "another"
        for _ in range(30):
            await turns.next()
        await ben.sees(lambda m: "has refused your API key" in text_of(m), DM)

        wire.heal()
        await turns.next()

        assert wire.asked == []
        assert len(await ben.messages(DM)) == 1


async def test_what_was_assigned_while_the_messages_were_off_is_not_told(
    office: Office, turns: Turns, ben: Person
) -> None:
    await ben.open_home()
    await ben.tick_at_home()
    await office.idle()
    issue, later = office.public_issue(), office.public_issue(1)
    issue.updated_on = datetime.now(UTC) - timedelta(minutes=1)
    issue.assigned_to_id = BEN
    issue.notes = [Note(ANA, "", issue.updated_on, (Detail("attr", "assigned_to_id", None, str(BEN)),))]
    await turns.next()
    await ben.tick_at_home("assigned to me")
    await office.idle()
    turns.change(later, ANA, assigned_to_id=BEN)

    await turns.next()

    [message] = await told(ben)
    assert f"#{later.id} " in text_of(message)


async def test_an_assignment_with_the_bot_is_told_once(
    office: Office, turns: Turns, ben: Person, ana: Person
) -> None:
    issue = office.public_issue()
    await ana.ask(f"/issue {issue.id} to:@ben")
    assert len(await told(ben)) == 1

    await turns.next()
    await turns.next()

    assert len(await told(ben)) == 1


async def test_a_message_that_slack_does_not_take_comes_later(
    office: Office, turns: Turns, ben: Person
) -> None:
    turns.change(office.public_issue(), ANA, assigned_to_id=BEN)
    office.faulty_slack.lasting = {"chat.postMessage": "refuse:access_denied"}
    await turns.next()
    assert await told(ben) == []

    office.faulty_slack.lasting = {}
    await office.bot.worker.run_due()

    await ben.sees(lambda m: " to you." in text_of(m), DM)
    assert len(await told(ben)) == 1


@pytest.mark.parametrize("fault", ["500 before it", "500 after it", "lose the request", "lose the answer"])
async def test_a_message_of_unknown_outcome_arrives_once(
    office: Office, turns: Turns, ben: Person, fault: str
) -> None:
    turns.change(office.public_issue(), ANA, assigned_to_id=BEN)
    office.faulty_slack.faults = [("chat.postMessage", fault)]

    await turns.next()
    await until(partial(all_told, office))

    [message] = await told(ben)
    assert MAY_BE_REPEATED not in text_of(message)


async def test_a_second_assignment_is_told_although_the_first_may_be(
    office: Office, turns: Turns, ben: Person
) -> None:
    issue, slack = office.public_issue(), office.faulty_slack
    turns.change(issue, ANA, assigned_to_id=BEN)
    slack.faults = [("chat.postMessage", "lose the answer")]
    slack.lasting = {"conversations.history": "429:1"}
    await turns.next()
    for assignee in (ANA, BEN):
        turns.change(issue, ANA, assigned_to_id=assignee)
    slack.lasting, slack.faults = {}, [("chat.postMessage", "500 before it")]
    await turns.next()

    async def both() -> bool:
        return len(await told(ben)) == 2

    await until(both)


async def test_a_message_that_slack_does_not_let_be_looked_up_is_sent_again_after_a_day(
    office: Office, turns: Turns, ben: Person
) -> None:
    slack = office.faulty_slack
    turns.change(office.public_issue(), ANA, assigned_to_id=BEN)
    slack.faults = [("chat.postMessage", "500 before it")]
    slack.lasting = {"conversations.history": "refuse:missing_scope"}
    await turns.next()
    await until_so(lambda: slack.called("conversations.history"))
    for age in (timedelta(hours=23), timedelta(days=1)):
        await office.idle()
        assert await told(ben) == []
        then = dict.fromkeys(("due_since", "due_at", "unknown_since"), datetime.now(UTC) - age)
        await office.bot.database.execute(update(JobRow).where(JobRow.kind == PERSONAL_NOTICE).values(then))
        await office.bot.worker.run_due()

    await ben.sees(lambda m: " to you." in text_of(m), DM)
    [message] = await told(ben)
    assert MAY_BE_REPEATED in text_of(message)


async def test_a_message_that_another_process_did_not_finish_comes_later_once(
    office: Office, turns: Turns, ben: Person, ana: Person
) -> None:
    slack, stopping = office.faulty_slack, office.bot
    slack.lasting = {"chat.postMessage": "429:60"}
    await ana.command(f"/issue {office.public_issue().id} to:@ben")
    await until_so(lambda: slack.called("chat.postMessage"))
    office.port = free_port()
    await office.start_bot()
    async with asyncio.timeout(20):
        await turns.next()  # the other process notices the same assignment
        await stopping.stop(0.3)
        slack.lasting = {}
        await office.bot.worker.run_due()
        await ben.sees(lambda m: " to you." in text_of(m), DM)
    await office.bot.worker.run_due()
    await turns.next()
    assert len(await told(ben)) == 1


async def test_a_message_that_the_service_delays_comes_later(
    office: Office, turns: Turns, ben: Person, wire: Wire
) -> None:
    issue = office.public_issue()
    turns.change(issue, ANA, assigned_to_id=BEN)
    wire.fail("429", lasting=True)
    await turns.next()
    assert await told(ben) == []

    wire.heal()
    await turns.next()

    assert len(await told(ben)) == 1


async def test_a_message_whose_issue_the_service_fails_to_show_comes_later_once(
    office: Office, turns: Turns, ben: Person, ana: Person, wire: Wire
) -> None:
    wire.heal()
    await ana.ask(f"/issue {office.public_issue(0).id} to:@ben")
    assert len(await told(ben)) == 1
    reads_as_ben = len(wire.heal()) - 2
    wire.fail("503 before it", reads_as_ben, lasting=True)

    await ana.ask(f"/issue {office.public_issue(1).id} to:@ben")
    await until_so(lambda: len(wire.asked) > reads_as_ben + 1)
    assert len(await told(ben)) == 1
    wire.heal()

    async def told_of_both() -> bool:
        return len(await told(ben)) == 2

    await until(told_of_both)
    await turns.next()
    assert await told_of_both()


async def test_a_comment_days_later_tells_nobody_of_the_assignment_again(
    office: Office, turns: Turns, ben: Person
) -> None:
    issue = office.public_issue()
    turns.change(issue, ANA, assigned_to_id=BEN)
    for _ in range(3):
        await turns.next()
    assert len(await told(ben)) == 1

    turns.pass_time(timedelta(days=2))
    await turns.next()
    await office.bot.store.delete_expired()
    turns.change(issue, ANA, "Any news?")
    for _ in range(3):
        await turns.next()

    assert len(await told(ben)) == 1


async def test_what_is_assigned_while_the_service_fails_for_days_is_told(
    office: Office, turns: Turns, ben: Person, wire: Wire
) -> None:
    issue = office.public_issue()
    turns.change(issue, ANA, assigned_to_id=BEN)
    wire.fail("503 before it", f"GET /issues/{issue.id}.json", lasting=True)
    await turns.next()
    for _ in range(5):
        turns.pass_time(timedelta(hours=10))
        await turns.next()
    assert await told(ben) == []

    wire.heal()
    for _ in range(3):
        await turns.next()

    assert len(await told(ben)) == 1


async def test_a_process_with_another_encryption_key_drops_no_message(
    turns: Turns, ben: Person, wire: Wire
) -> None:
    office = turns.office
    issue = office.public_issue()
    turns.change(issue, ANA, assigned_to_id=BEN)
    wire.fail("503 before it", f"GET /issues/{issue.id}.json", lasting=True)
    await turns.next()
    assert await told(ben) == []

    settings = office.bot.settings.model_copy(update={"encryption_keys": [Vault.generate_key()]})
    wrong = Bot(settings, office.timings, office.delays, office.clock.query())
    await wrong.database.open()
    turns.pass_time(TURN)
    await run_due(wrong)
    await wrong._closing.aclose()
    wire.heal()
    for _ in range(3):
        await turns.next()

    assert len(await told(ben)) == 1
