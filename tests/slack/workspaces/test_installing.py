"""Workspaces install the bot through OAuth, and each is served with its own token."""

import asyncio
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import Connection, text, update
from structlog.testing import capture_logs
from yarl import URL

from bot.check import check
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import INSTALLATIONS, OAUTH_STATES, Table
from bot.store.vault import Vault
from bot.timings import Delays
from tests.slack.workspaces.company import OF_ONE_WORKSPACE, Company
from tests.slack.workspaces.slack import CLIENT_ID, Place, Slack
from tests.support.slackwire import SlackWire

ONE, TWO = Place("T1"), Place("T2", "E2")
GROUP = Place(None, "E9")


async def test_each_installation_is_answered_with_its_own_token(company: Company, slack: Slack) -> None:
    for place in (ONE, TWO, GROUP):
        assert await slack.install(company.port, place) == 200
    for who in (ONE.of_user("U1"), TWO.of_user("U1"), GROUP.of_user("U1", "T91"), GROUP.of_user("U1", "T92")):
        await slack.command(company.port, who, "link")
    await company.idle()

    assert len(slack.called("views.open")) == 4
    for place, teams in ((ONE, ["T1"]), (TWO, ["T2"]), (GROUP, ["T91", "T92"])):
        opened = slack.with_tokens_of(place, "views.open")
        assert [call.arguments["team_id"] for call in opened] == teams


async def test_a_workspaces_own_token_precedes_its_organizations(company: Company, slack: Slack) -> None:
    for place in (TWO, Place(None, TWO.enterprise)):
        await slack.install(company.port, place)

    await slack.command(company.port, TWO.of_user("U1"), "link")
    await company.idle()

    assert slack.called("views.open") == slack.with_tokens_of(TWO, "views.open") != []


async def test_the_same_user_id_in_two_workspaces_is_two_users(company: Company, slack: Slack) -> None:
    for place, enterprise, login in ((ONE, None, "ana"), (TWO, "E2", "ben")):
        await slack.install(company.port, place)
        await company.link(Owner(enterprise, place.team or "", "U1"), login)

    assert "Ana Ruiz" in await company.ask(ONE.of_user("U1"), "whoami")
    assert "Ben" in await company.ask(TWO.of_user("U1"), "whoami")
    assert "Link your" in await company.ask(TWO.of_user("U2"), "")
    assert "ask a workspace admin to install me" in await company.ask(Place("T3").of_user("U1"), "whoami")


async def test_a_database_failure_is_explained_to_the_user(company: Company, slack: Slack) -> None:
    await slack.install(company.port, ONE)

    for table in ("slack_bots", "jobs"):
        await company.bot.database.execute(text(f"drop table {table}"))

    assert "I can't reach my database" in await company.ask(ONE.of_user("U1"), "whoami")


async def test_only_a_workspace_id_is_passed_to_slacks_install_url(company: Company, slack: Slack) -> None:
    async def installing(team: str) -> tuple[int, str]:
        url = f"http://127.0.0.1:{company.port}/slack/install?team={team}"
        async with slack.http.get(URL(url, encoded=True), allow_redirects=False) as answer:
            return answer.status, answer.headers.get("Location", "")

    for team in ("T0HARBOR01", "E9"):
        status, location = await installing(team)
        assert (status, parse_qs(urlsplit(location).query)["team"]) == (302, [team])
    hostile = ("", "T1%26user_scope=admin", "T1%0D%0AX-Smuggled:1", "t1", "T1&team=T1%26user_scope=admin")
    assert [await installing(team) for team in hostile] == [(400, "")] * len(hostile)


async def test_install_pages_explain_errors_and_escape_input(company: Company, slack: Slack) -> None:
    cookie, state = await slack.begin(company.port)
    status, page = await slack.end(company.port, cookie, code=slack.code(ONE), state=state)
    assert status == 200
    assert "The &lt;b&gt;T1&lt;/b&gt;" in page

    _, page = await slack.end(company.port, error="<script>alert(1)</script>")
    assert "<script>" not in page
    assert "was canceled" in (await slack.end(company.port, error="access_denied"))[1]


async def test_an_installation_follows_no_redirect(company: Company, slack: Slack) -> None:
    wire = SlackWire()
    api = await wire.up(slack.api_url.removesuffix("/api/")) + "api/"
    wire.lasting = {"oauth.v2.access": "307 elsewhere"}
    bot = await company.start(slack_api_url=api)

    assert await slack.install(bot.port, ONE) == 500
    assert wire.elsewhere == []
    await wire.down()


@pytest.mark.usefixtures("url")
async def test_only_installations_started_here_are_accepted(company: Company, slack: Slack) -> None:
    code = slack.code(ONE)
    cookie, state = await slack.begin(company.port)
    others = (await slack.begin(company.port))[0]
    for wrong in ("", others, f"{cookie}x"):
        status, page = await slack.end(company.port, wrong, code=code, state=state)
        assert (status, "where you started it" in page) == (400, True)
    forged = cookie.partition("=")[0] + "=forged"
    assert (await slack.end(company.port, forged, code=code, state="forged"))[0] == 401

    taken = await asyncio.gather(
        *(slack.end(company.port, cookie, code=slack.code(ONE), state=state) for _ in range(4))
    )
    assert sorted(status for status, _ in taken) == [200, 401, 401, 401]

    cookie, state = await slack.begin(company.port)
    database, expired = company.bot.database, text("'2020-01-01 00:00:00'")
    await database.execute(update(OAUTH_STATES).values(expire_at=expired))
    assert (await slack.end(company.port, cookie, code=code, state=state))[0] == 401
    await company.bot.store.installations.states.prune()
    assert await database.read(lambda connection: connection.execute(OAUTH_STATES.select()).all()) == []
    assert code in slack.codes
    assert (await company.bot.store.installations.latest(1))[0] == 1

    cookie, state = await slack.begin(company.port)
    assert (await slack.end(company.port, cookie, code="never-given", state=state))[0] == 401
    assert (await company.bot.store.installations.latest(1))[0] == 1


async def test_stored_tokens_are_encrypted_and_survive_key_rotation(company: Company, slack: Slack) -> None:
    for place in (ONE, TWO, GROUP, ONE):
        await slack.install(company.port, place)
    database, installations = company.bot.database, company.bot.store.installations

    dump = await _dump(database)
    for secret in (*slack.tokens, *slack.refresh, "xoxp-of-a-person", "a-webhook"):
        assert secret not in dump
    assert (await installations.latest(9))[0] == 3

    new = Vault.generate_key()
    progress = [one async for one in Store(database, Vault([new, company.key])).encrypted_values.rotate()]
    assert (progress[-1].rewritten, progress[-1].current) == (6, 0)
    renewed = Store(database, Vault([new]), CLIENT_ID)
    assert await renewed.encrypted_values.unreadable() == 0
    bot = await renewed.installations.find(None, "T1")
    assert bot
    assert slack.tokens[bot.bot_token] == ONE


async def test_tokens_copied_to_another_row_are_not_used(company: Company, slack: Slack) -> None:
    for place in (ONE, TWO):
        await slack.install(company.port, place)

    def swap(connection: Connection) -> None:
        rows = {row.team_id: row for row in connection.execute(INSTALLATIONS.select())}
        for team, other in (("T1", "T2"), ("T2", "T1")):
            statement = INSTALLATIONS.update().where(INSTALLATIONS.c.team_id == team)
            connection.execute(statement.values(bot_token=rows[other].bot_token))

    await company.bot.database.write(swap)

    with capture_logs() as logs:
        assert "don't have a valid token" in await company.ask(ONE.of_user("U1"), "link")

    assert [line["action"] for line in logs if line["log_level"] == "error"] == ["slack.token_unreadable"]
    assert slack.called("views.open") == []


@pytest.fixture
def expiring(slack: Slack) -> Iterator[None]:
    """The first tokens expire at once; renewed ones are long-lived."""
    slack.lives = -1
    yield
    slack.lives = 0


async def _open_forms(company: Company, slack: Slack, times: int) -> set[str]:
    """Open forms over all replicas at once; returns the tokens that were used."""
    before = len(slack.called("views.open"))
    await asyncio.gather(
        *(slack.command(bot.port, ONE.of_user(f"U{n}"), "link") for bot in company.bots for n in range(times))
    )
    await company.idle()
    opened = slack.called("views.open")[before:]
    assert len(opened) == times * len(company.bots)
    return {call.token for call in opened}


@pytest.mark.usefixtures("url", "expiring")
async def test_replicas_renew_an_expired_token_only_once(company: Company, slack: Slack) -> None:
    await slack.install(company.port, ONE)
    (old,) = slack.tokens
    slack.lives = 43_200
    for _ in range(2):
        await company.start()

    (token,) = await _open_forms(company, slack, 5)

    assert token != old
    renewals = [call for call in slack.called("oauth.v2.access") if "refresh_token" in call.arguments]
    assert len(renewals) == 1
    assert await _open_forms(company, slack, 2) == {token}


async def test_a_token_is_renewed_early_without_delaying_calls(company: Company, slack: Slack) -> None:
    slack.lives = 3_000
    await slack.install(company.port, ONE)
    (old,) = slack.tokens
    slack.lives = 43_200

    assert await _open_forms(company, slack, 1) == {old}
    (new,) = await _open_forms(company, slack, 1)

    assert new != old


@pytest.mark.parametrize("company", [Delays(renewal=-1)], indirect=True)  # retries at once
async def test_a_lost_renewal_is_logged_while_the_old_token_works(company: Company, slack: Slack) -> None:
    slack.lives = 3_000
    await slack.install(company.port, ONE)
    (old,) = slack.tokens
    slack.loses_answers = True

    with capture_logs() as logs:
        assert await _open_forms(company, slack, 1) == {old}
        assert await _open_forms(company, slack, 1) == {old}

    actions = [line["action"] for line in logs if line["log_level"] in ("warning", "error")]
    assert actions == ["slack.token_not_renewed", "slack.token_lost"]
    lost = next(line for line in logs if line["action"] == "slack.token_lost")
    assert "/slack/install" in lost["event"]
    assert lost["team"] == "T1"


@pytest.mark.usefixtures("expiring")
async def test_a_workspace_with_a_lost_token_must_reinstall(company: Company, slack: Slack) -> None:
    await slack.install(company.port, ONE)
    slack.refresh.clear()

    assert "install me again" in await company.ask(ONE.of_user("U1"), "link")
    slack.lives = 43_200
    await slack.install(company.port, ONE)
    assert len(await _open_forms(company, slack, 1)) == 1


async def test_readiness_and_check_report_on_all_workspaces(company: Company, slack: Slack) -> None:
    async def findings(**changes: object) -> dict[str, str]:
        return {f.name: str(f) async for f in check(company.settings(**changes))}

    assert "No workspace has installed the app yet" in (await findings())["SLACK_CLIENT_ID"]
    for place in (ONE, GROUP):
        await slack.install(company.port, place)
    report = await findings()
    assert report["SLACK_CLIENT_ID"] == (
        "ok    SLACK_CLIENT_ID: 2 installed. All tokens work and have every required scope."
    )
    assert report["SLACK_CLIENT_SECRET"].startswith("ok ")

    slack.revoke(GROUP)
    slack.scopes.discard("users:read")
    report = await findings(slack_client_secret="f" * 32)
    assert "Problems: The group (invalid_auth), " in report["SLACK_CLIENT_ID"]
    assert "(missing scopes: users:read)." in report["SLACK_CLIENT_ID"]
    assert "Paste the output of `issuebot manifest`" in report["SLACK_CLIENT_ID"]
    assert "Slack returned bad_client_secret" in report["SLACK_CLIENT_SECRET"]
    async with slack.http.get(f"http://127.0.0.1:{company.port}/readyz") as answer:
        assert (await answer.json())["slack"] is True


@pytest.mark.parametrize("company", [Delays(connect=0.1)], indirect=True)
async def test_in_socket_mode_http_serves_only_installation(company: Company, slack: Slack) -> None:
    bot = await company.start(slack_app_token="xapp-1")

    assert await slack.install(bot.port, ONE) == 200
    async with slack.http.post(f"http://127.0.0.1:{bot.port}/slack/events") as answer:
        assert answer.status == 404


async def test_installation_requires_a_client_id(company: Company) -> None:
    bot = await company.start(slack_bot_token="xoxb-1", **OF_ONE_WORKSPACE)
    for path in ("install", "oauth_redirect"):
        async with company.slack.http.get(f"http://127.0.0.1:{bot.port}/slack/{path}") as answer:
            assert answer.status == 404


async def _dump(database: Database) -> str:
    def rows(connection: Connection) -> list[object]:
        return [connection.execute(table.select()).all() for table in Table.metadata.sorted_tables]

    return re.sub(r"\s+", " ", repr(await database.read(rows)))
