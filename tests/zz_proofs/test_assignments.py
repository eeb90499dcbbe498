"""What goes wrong with messages about assignments."""

import asyncio
import copy
import time
from datetime import timedelta
from typing import Any

from bot.app import Bot
from bot.store.vault import Vault
from tests.features.assigned.in_the_service.turns import ANA, BEN, TURN, Turns
from tests.features.assigned.test_assigned import told
from tests.support.person import Person
from tests.support.reading import until_so
from tests.support.wire import Wire
from tests.support.work import run_due

MANY = 1000
LONGEST = 0.02


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


async def test_a_thousand_issues_assigned_at_once_block_nobody(turns: Turns) -> None:
    office = turns.office
    reads: Any = office.bot.features.jobs["assignee"]
    for nth in range(MANY):
        issue = copy.copy(office.public_issue())
        issue.id, issue.assigned_to_id, issue.notes = 50_000 + nth, BEN, []
        issue.updated_on = turns.now + TURN - timedelta(minutes=1)
        office.tracker.data.issues[issue.id] = issue
    seconds: list[float] = []
    post = reads.post

    async def timed(item: Any, content: Any) -> Any:
        next_turn = await reads._next_turn(item.owner)

        async def known(_: Any) -> Any:
            return next_turn

        reads._next_turn = known  # so that it waits for nothing
        before = time.thread_time()
        outcome = await post(item, content)
        if content.changed:
            seconds.append(time.thread_time() - before)
        return outcome

    reads.post = timed
    turns.pass_time(TURN)
    await office.bot.worker.run_due()
    await until_so(lambda: seconds)
    await office.bot.worker.stop(0)
    await asyncio.sleep(0)

    assert max(seconds) < LONGEST
