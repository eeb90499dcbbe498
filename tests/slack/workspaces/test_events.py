"""Events are attributed to the same person as their commands."""

from typing import Any

import pytest

from bot.store.owner import Owner
from tests.slack.workspaces.company import Company
from tests.slack.workspaces.slack import Place, Slack

OPENED = {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "home", "event_ts": "1.0"}
ONE, IN_GROUP, GROUP = Place("T1"), Place("T2", "E2"), Place(None, "E9")
BY_WORKSPACE = {"enterprise_id": "E2", "team_id": "T2", "is_enterprise_install": False}
BY_GROUP = {"enterprise_id": "E9", "team_id": None, "is_enterprise_install": True}


@pytest.mark.parametrize(
    ("place", "owner", "about"),
    [
        (ONE, Owner(None, "T1", "U1"), {"team_id": "T1"}),
        (IN_GROUP, Owner("E2", "T2", "U1"), {"team_id": "T2", "enterprise_id": "E2"}),
        (IN_GROUP, Owner("E2", "T2", "U1"), {"team_id": "T2", "authorizations": [BY_WORKSPACE]}),
        (IN_GROUP, Owner("E2", "T2", "U1"), {"authorizations": [BY_WORKSPACE]}),
        (GROUP, Owner("E9", "T91", "U1"), {"team_id": "T91", "authorizations": [BY_GROUP]}),
    ],
    ids=["workspace", "enterprise", "enterprise in authorizations", "only authorizations", "organization"],
)
async def test_the_home_tab_shows_the_account_that_commands_use(
    company: Company, slack: Slack, place: Place, owner: Owner, about: dict[str, Any]
) -> None:
    await slack.install(company.port, place)
    await company.link(owner, "ana")

    await slack.event(company.port, OPENED, **about)
    await company.idle()

    [*_, home] = slack.with_tokens_of(place, "views.publish")
    shown = str(home.arguments["view"])
    assert "as *Ana Ruiz*" in shown
    assert "My open issues" in shown
    assert ":warning:" not in shown


async def test_the_same_ids_in_two_workspaces_are_two_requests(company: Company, slack: Slack) -> None:
    places = (ONE, Place("T8"))
    for place in places:
        await slack.install(company.port, place)
        await slack.event(company.port, OPENED, team_id=place.team)
        assert "Link your" in await company.ask(place.of_user("U1") | {"trigger_id": "1.1"}, "")
    await company.idle()

    assert [len(slack.with_tokens_of(place, "views.publish")) for place in places] == [1, 1]


async def test_users_in_shared_channels_are_not_in_the_enterprise(company: Company, slack: Slack) -> None:
    await slack.install(company.port, IN_GROUP)
    await company.link(Owner("E2", "T8", "U1"), "ana")

    about = {"team_id": "T8", "is_ext_shared_channel": True, "authorizations": [BY_WORKSPACE]}
    await slack.event(company.port, OPENED, **about)
    await company.idle()

    [home] = slack.with_tokens_of(IN_GROUP, "views.publish")
    shown = str(home.arguments["view"])
    assert "Link your" in shown
    assert "Ana Ruiz" not in shown


@pytest.mark.parametrize(
    ("team", "left"),
    [
        ("T91", {Owner("E9", "T91", "U1")}),
        ("T1", {Owner(None, "T1", "U1")}),
    ],
)
async def test_deactivation_unlinks_one_user_of_one_workspace(
    company: Company, slack: Slack, team: str, left: set[Owner]
) -> None:
    owners = {
        Owner("E9", "T91", "U1"),
        Owner("E9", "T92", "U1"),
        Owner("E9", "T91", "U2"),
        Owner(None, "T1", "U1"),
    }
    for place in (ONE, GROUP):
        await slack.install(company.port, place)
    for owner in owners:
        await company.link(owner, "ana")
    about: dict[str, Any] = {"team_id": team}
    if team != "T1":
        about["authorizations"] = [BY_GROUP]

    for user in ({"id": "U2", "deleted": False}, {"id": "U1", "deleted": True, "team_id": team}):
        await slack.event(company.port, {"type": "user_change", "user": user, "event_ts": "1.0"}, **about)
    await company.idle()

    links = company.bot.store.links
    assert {owner for owner in owners if await links.get(owner) is None} == left


async def test_another_companys_user_is_not_this_workspaces_to_unlink(company: Company, slack: Slack) -> None:
    await slack.install(company.port, ONE)
    await company.link(Owner(None, "T7", "U1"), "ana")

    stranger = {"id": "U1", "team_id": "T7", "deleted": True}
    await slack.event(company.port, {"type": "user_change", "user": stranger}, team_id="T1")

    assert await company.bot.store.links.get(Owner(None, "T7", "U1")) is not None
