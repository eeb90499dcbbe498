"""Events are attributed to the same person as their commands."""

from typing import Any

import pytest

from bot.store.owner import Owner
from tests.slack.workspaces.company import Company
from tests.slack.workspaces.slack import Place, Slack

OPENED = {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "home", "event_ts": "1.0"}
MESSAGE = {
    "type": "message",
    "channel_type": "im",
    "user": "U1",
    "channel": "D1",
    "ts": "1.1",
    "text": "help",
}
ONE, IN_GROUP, GROUP = Place("T1"), Place("T2", "E2"), Place(None, "E9")
BY_WORKSPACE = {"enterprise_id": "E2", "team_id": "T2", "is_enterprise_install": False}
BY_GROUP = {"enterprise_id": "E9", "team_id": None, "is_enterprise_install": True}
IN_A_SHARED_CHANNEL = {"team_id": "T8", "is_ext_shared_channel": True, "authorizations": [BY_WORKSPACE]}


@pytest.mark.parametrize(
    ("place", "owner", "about", "hers"),
    [
        (ONE, Owner(None, "T1", "U1"), {"team_id": "T1"}, True),
        (IN_GROUP, Owner("E2", "T2", "U1"), {"team_id": "T2", "enterprise_id": "E2"}, True),
        (IN_GROUP, Owner("E2", "T2", "U1"), {"team_id": "T2", "authorizations": [BY_WORKSPACE]}, True),
        (IN_GROUP, Owner("E2", "T2", "U1"), {"authorizations": [BY_WORKSPACE]}, True),
        (GROUP, Owner("E9", "T91", "U1"), {"team_id": "T91", "authorizations": [BY_GROUP]}, True),
        (IN_GROUP, Owner("E2", "T8", "U1"), IN_A_SHARED_CHANNEL, False),  # who isn't in the enterprise
    ],
)
async def test_the_home_tab_shows_the_account_that_commands_use(
    company: Company, slack: Slack, place: Place, owner: Owner, about: dict[str, Any], *, hers: bool
) -> None:
    await slack.install(company.port, place)
    await company.link(owner, "ana")

    await company.send_event(OPENED, **about)

    [*_, home] = slack.with_tokens_of(place, "views.publish")
    text = str(home.arguments["view"])
    assert ("as *Ana Ruiz*" in text, "My open issues" in text) == (hers, hers)
    assert ("Link your" in text) is not hers
    assert ":warning:" not in text


async def test_the_same_ids_in_two_workspaces_are_two_requests(company: Company, slack: Slack) -> None:
    places = (ONE, Place("T8"))
    for place in places:
        await slack.install(company.port, place)
        await slack.event(company.port, OPENED, team_id=place.team)
        assert "Link your" in await company.ask(place.of_user("U1") | {"trigger_id": "1.1"}, "")
        await slack.event(company.port, MESSAGE, team_id=place.team)
    await company.idle()

    for method in ("views.publish", "chat.postMessage"):
        assert [len(slack.with_tokens_of(place, method)) for place in places] == [1, 1]


@pytest.mark.parametrize(
    ("about", "of", "left"),
    [
        ({"team_id": "T91", "authorizations": [BY_GROUP]}, "T91", {Owner("E9", "T91", "U1")}),
        ({"team_id": "T1"}, "T1", {Owner(None, "T1", "U1")}),
        ({"team_id": "T1"}, "T7", set()),  # another company's user isn't this workspace's to unlink
    ],
)
async def test_deactivation_unlinks_one_user_of_one_workspace(
    company: Company, slack: Slack, about: dict[str, Any], of: str, left: set[Owner]
) -> None:
    owners = {
        *(Owner("E9", team, user) for team, user in (("T91", "U1"), ("T92", "U1"), ("T91", "U2"))),
        *(Owner(None, team, "U1") for team in ("T1", "T7")),
    }
    for place in (ONE, GROUP):
        await slack.install(company.port, place)
    for owner in owners:
        await company.link(owner, "ana")

    for user in ({"id": "U2", "deleted": False}, {"id": "U1", "deleted": True, "team_id": of}):
        await company.send_event({"type": "user_change", "user": user, "event_ts": "1.0"}, **about)

    links = company.bot.store.links
    assert {owner for owner in owners if await links.get(owner) is None} == left
