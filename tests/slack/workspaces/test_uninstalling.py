"""Uninstalling the bot deletes exactly that workspace's data."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from structlog.testing import capture_logs

from bot.store.activity import Entry
from bot.store.channels import Channel
from bot.store.digests import Start
from bot.store.owner import Owner
from bot.store.plans import Plan
from bot.store.tables import Table
from bot.store.vault import Vault
from tests.slack.workspaces.company import OF_ONE_WORKSPACE, Company
from tests.slack.workspaces.slack import Place, Slack

ONE, TWO, GROUP, IN_GROUP = Place("T1"), Place("T2", "E2"), Place(None, "E9"), Place("T93", "E9")
PEOPLE = [
    *(Owner(None, "T1", "U1"), Owner("E2", "T2", "U1")),
    *(Owner("E9", team, "U1") for team in ("T91", "T92", "T93")),
]
UNINSTALLED = {"type": "app_uninstalled"}
REVOKED = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["UBOT"]}}
HERS = {"type": "tokens_revoked", "tokens": {"oauth": ["U1"], "bot": []}}


PLAN = Plan(project_id=1, project="Web shop", schedule="hourly", zone="UTC")
SPENT = Entry(
    id=1,
    project_id=1,
    issue_id=None,
    title="Web shop",
    minutes=30,
    activity_id=None,
    activity="",
    spent_on=date(2026, 7, 13),
    comments="",
)


@pytest.fixture
async def remembered(company: Company, slack: Slack) -> None:
    """One of everything that is stored, for a user in each workspace."""
    for place in (ONE, TWO, GROUP, IN_GROUP):
        await slack.install(company.port, place)
    for number, owner in enumerate(PEOPLE, 1):
        await _remember(company, owner, number)


async def _remember(company: Company, owner: Owner, number: int) -> None:
    store, now = company.bot.store, datetime.now(UTC)
    await company.link(owner, "ana")
    await store.channels.set_default(owner, Channel(owner.team_id, "C1"), 1)
    await store.created_issues.put(owner, number, "The till rings twice")
    await store.time_entries.add(owner, replace(SPENT, id=number))
    await store.saved_input.put(owner, {"command": "/issue"})
    start, due = Start(covered_to=now, covered={1: now}), now + timedelta(days=365)
    await store.digests.add(owner, "Ana Ruiz", "C1", PLAN, next_due=due, start=start, now=now)


async def _left(company: Company) -> Counter[str]:
    """How many rows each team, or a whole organization, still has."""

    def count(connection: Connection) -> Counter[str]:
        rows: Counter[str] = Counter()
        for table in Table.metadata.sorted_tables:
            if "team_id" in table.c:
                for row in connection.execute(table.select()):
                    rows[row.team_id or row.enterprise_id] += 1
            elif table.name == "digest_issues":
                rows[table.name] += len(connection.execute(table.select()).all())
        return rows

    return await company.bot.database.read(count)


ALL = Counter({"T1": 7, "T2": 7, "T91": 6, "T92": 6, "T93": 7, "E9": 1, "digest_issues": 5})


@pytest.mark.usefixtures("remembered")
@pytest.mark.parametrize(
    ("place", "gone"),
    [
        (ONE, {"T1": 7, "digest_issues": 1}),
        (TWO, {"T2": 7, "digest_issues": 1}),
        (GROUP, {"E9": 1, "T91": 6, "T92": 6, "digest_issues": 2}),
        (IN_GROUP, {"T93": 1}),  # still served by the organization's installation
    ],
    ids=["a workspace", "in an organization", "an organization", "one that its organization still has"],
)
async def test_uninstalling_deletes_the_workspaces_data(
    company: Company, slack: Slack, place: Place, gone: Mapping[str, int]
) -> None:
    slack.revoke(place)

    await company.send_event(UNINSTALLED, **_of(place))

    assert await _left(company) == ALL - Counter(gone)


@pytest.mark.usefixtures("url", "remembered")
@pytest.mark.parametrize("about", [{"team_id": None}, {"team_id": "T91"}], ids=["no team", "a team"])
async def test_revoking_access_deletes_data(company: Company, slack: Slack, about: dict[str, Any]) -> None:
    slack.taken_out = {"T91", "T93"}

    await company.send_event(_taken_out("T91", "T93"), **_of(GROUP) | about)

    gone = Counter({"T91": 6, "digest_issues": 1})  # T93 has an installation of its own
    assert await _left(company) == ALL - gone
    assert "Ana Ruiz" in await company.ask(IN_GROUP.of_user("U1"), "whoami")


@pytest.mark.usefixtures("remembered")
async def test_events_for_a_working_installation_delete_nothing(company: Company, slack: Slack) -> None:
    for event in (UNINSTALLED, REVOKED):  # repeated by Slack after a reinstall
        await slack.event(company.port, event, **_of(ONE))
    await slack.event(company.port, _taken_out("T91", "T92"), **_of(GROUP))
    slack.revoke(TWO)
    await slack.event(company.port, HERS, **_of(TWO))
    slack.revoke(IN_GROUP)  # reported by a separate event
    await slack.event(company.port, _taken_out("T93"), **_of(GROUP))
    await company.idle()

    assert await _left(company) == ALL


@pytest.mark.usefixtures("remembered")
@pytest.mark.parametrize(
    "trouble", ["503", "429", "broken", "ratelimited", "internal_error", "token_expired"]
)
async def test_data_is_kept_while_a_token_works(company: Company, slack: Slack, trouble: str) -> None:
    slack.revoke(ONE)
    slack.taken_out = {"T91"}
    slack.trouble = trouble
    for _ in range(2):
        assert await slack.event(company.port, UNINSTALLED, **_of(ONE)) == 503
        assert await slack.event(company.port, _taken_out("T91"), **_of(GROUP)) == 503
    assert await _left(company) == ALL

    slack.trouble = ""
    assert await slack.event(company.port, UNINSTALLED, **_of(ONE)) == 200
    assert await slack.event(company.port, _taken_out("T91"), **_of(GROUP)) == 200
    assert await _left(company) == ALL - Counter({"T1": 7, "T91": 6, "digest_issues": 2})


@pytest.mark.usefixtures("remembered")
async def test_a_token_that_cannot_be_decrypted_deletes_nothing(company: Company, slack: Slack) -> None:
    replica = await company.start(encryption_keys=(Vault.generate_key(),))
    slack.revoke(ONE)

    assert await slack.event(replica.port, UNINSTALLED, **_of(ONE)) == 503

    assert await _left(company) == ALL


@pytest.mark.usefixtures("remembered")
async def test_a_revoked_token_is_reported_and_deletes_nothing(company: Company, slack: Slack) -> None:
    slack.revoke(ONE)

    with capture_logs() as logs:
        await company.send_event(REVOKED, **_of(ONE))

    assert await _left(company) == ALL
    assert [line["team"] for line in logs if line["action"] == "slack.token_revoked"] == ["T1"]
    await slack.event(company.port, UNINSTALLED, **_of(ONE))
    assert await _left(company) == ALL - Counter({"T1": 7, "digest_issues": 1})


async def test_replacing_a_fixed_token_deletes_nothing(company: Company, slack: Slack) -> None:
    slack.tokens["xoxb-old"] = ONE
    bot = await company.start(slack_bot_token="xoxb-old", **OF_ONE_WORKSPACE)
    await company.link(PEOPLE[0], "ana")

    slack.tokens = {"xoxb-new": ONE}
    await company.send_event(REVOKED, bot, **_of(ONE))
    renewed = await company.start(slack_bot_token="xoxb-new", **OF_ONE_WORKSPACE)
    for event in (REVOKED, UNINSTALLED):  # repeated because they weren't acknowledged in time
        assert await company.send_event(event, renewed, **_of(ONE)) == 200

    assert (await _left(company))["T1"] == 1


async def test_uninstalling_with_a_fixed_token_deletes_the_data(company: Company, slack: Slack) -> None:
    slack.tokens["xoxb-plain"] = ONE
    bot = await company.start(slack_bot_token="xoxb-plain", **OF_ONE_WORKSPACE)
    for owner in PEOPLE[:2]:
        await company.link(owner, "ana")
    await company.send_event(UNINSTALLED, bot, **_of(ONE))
    assert (await _left(company))["T1"] == 1

    slack.tokens.clear()
    with capture_logs() as logs:
        await company.send_event(UNINSTALLED, bot, **_of(ONE))

    left = await _left(company)
    assert (left["T1"], left["T2"]) == (0, 1)
    assert "slack.uninstalled" in [line["action"] for line in logs]


def _taken_out(*teams: str) -> dict[str, Any]:
    return {"type": "team_access_revoked", "team_ids": list(teams)}


def _of(place: Place) -> dict[str, Any]:
    ids = {"enterprise_id": place.enterprise, "team_id": place.team}
    return ids | {"authorizations": [ids | {"is_enterprise_install": place.team is None}]}
