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
