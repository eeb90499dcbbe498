"""Messages that the bot sends on its own use the token of their workspace."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from bot.sandbox.tracker.data import Issue, free_id, put
from bot.sandbox.tracker.defaults import BUG, HIGH, NEW
from bot.sandbox.tracker.server import Tracker
from bot.store.channels import Channel
from bot.store.digests import Digest
from bot.store.owner import Owner
from bot.store.plans import DIGEST
from bot.store.tables import JobRow
from bot.store.vault import Vault
from bot.timings import Timings
from tests.slack.workspaces.company import Company
from tests.slack.workspaces.slack import Place, Slack
from tests.support.digesting import requested_plan
from tests.support.office import digests_of
from tests.support.work import run_due_after

PLACES = {Place("T1"): Owner(None, "T1", "U1"), Place(None, "E9"): Owner("E9", "T91", "U1")}


async def _add(company: Company) -> list[Digest]:
    """Adds a digest to each workspace, and a new issue."""
    added = []
    for owner in PLACES.values():
        await company.link(owner, "ana")
        where = Channel(owner.team_id, "C1")
        added.append((await digests_of(company.bot).add(owner, where, requested_plan("webshop"))).digest)
    now = datetime.now(UTC).replace(microsecond=0)
    issues = company.tracker.data.issues
    put(issues, Issue(free_id(issues), 1, BUG, NEW, HIGH, 2, "The till", created_on=now, updated_on=now))
    return added


async def test_digests_are_posted_with_their_workspaces_token(company: Company, slack: Slack) -> None:
    for place in PLACES:
        await slack.install(company.port, place)
    await _add(company)

    await run_due_after(company, timedelta(hours=1))

    for place, owner in PLACES.items():
        (listed,) = slack.with_tokens_of(place, "users.conversations")
        (post,) = slack.with_tokens_of(place, "chat.postMessage")
        assert [call.arguments["team_id"] for call in (listed, post)] == [owner.team_id] * 2


@pytest.mark.parametrize("paused", [False, True])
async def test_a_digest_is_posted_once_despite_slow_token_renewal(
    slack: Slack, tracker: Tracker, tmp_path: Path, *, paused: bool
) -> None:
    slack.lives = 50  # too short for a call, so that each one renews the token first
    url = f"sqlite:///{tmp_path}/bot.db"
    company = Company(slack, tracker, url, Vault.generate_key(), Timings(longest_post=2, fresh=60))
    await company.start()
    await slack.install(company.port, Place("T1"))
    digest, _ = await _add(company)
    slow_ones: list[int] = []

    async def before_renewal() -> None:
        announced = select(JobRow.key).where(JobRow.kind == DIGEST, JobRow.request_began.is_not(None))
        if not slow_ones and await company.bot.database.read(lambda connection: connection.scalar(announced)):
            slow_ones.append(len(slack.calls))
            if paused:
                await digests_of(company.bot).pause(digest)
            await asyncio.sleep(1.3)

    slack.before_renewal = before_renewal
    await run_due_after(company, timedelta(hours=1))
    after = [call.method for call in slack.calls[slow_ones[0] :]]
    await company.close()

    assert after.count("chat.postMessage") == (not paused)


async def test_a_digest_waits_until_its_workspace_has_a_token(company: Company, slack: Slack) -> None:
    first, second = PLACES
    await slack.install(company.port, first)
    await _add(company)
    await run_due_after(company, timedelta(hours=1))
    assert len(slack.with_tokens_of(first, "chat.postMessage")) == 1

    await slack.install(company.port, second)
    await run_due_after(company, timedelta(hours=1))

    assert len(slack.with_tokens_of(second, "chat.postMessage")) == 1


async def test_a_failing_workspace_delays_no_notices_of_others(company: Company, slack: Slack) -> None:
    closed, other = PLACES
    for place in PLACES:
        await slack.install(company.port, place)
    await _add(company)
    slack.revoke(closed)
    for place, owner in PLACES.items():
        left = {"type": "user_change", "user": {"id": owner.user_id, "deleted": True}}
        where: dict[str, Any] = {"team_id": owner.team_id, "enterprise_id": owner.enterprise_id}
        grants = [{**where, "is_enterprise_install": place.team is None}]
        assert await company.send_event(left, **where, authorizations=grants) == 200

    await run_due_after(company, timedelta(minutes=1))

    (notice,) = slack.with_tokens_of(other, "chat.postMessage")
    assert "Take ownership" in str(notice.arguments)
