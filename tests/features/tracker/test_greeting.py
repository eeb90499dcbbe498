"""The bot is invited to a channel."""

import pytest

from bot.sandbox.workspace import payloads
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import button_saying, text_of


async def test_greets_only_the_person_who_invites_it(office: Office, ana: Person, ben: Person) -> None:
    state, channel = office.workspace.state, office.channel_id("webshop")
    bot, ana.channel, ben.channel = state.app.bot_user_id, "webshop", "webshop"

    state.kick(channel, bot)
    await ben.command("/invite @Issue Bot")
    greeting = await ben.sees(lambda message: "Thanks for inviting me" in text_of(message))

    assert greeting["ephemeral"]
    assert "1. Link your Tracker account." in text_of(greeting)
    assert "2. Set this channel's project: `/tracker default &lt;project&gt;`" in text_of(greeting)
    assert button_saying(greeting["blocks"], "Link account")
    assert not [m for m in await ana.messages() if "Thanks for inviting me" in text_of(m)]

    await ana.ask("/tracker default webshop")
    state.kick(channel, bot)
    await ana.command("/invite @Issue Bot")
    greeting = await ana.sees(lambda message: "Thanks for inviting me" in text_of(message))

    assert "1. Create an issue: `/issue new" in text_of(greeting)
    assert "Link account" not in str(greeting["blocks"])


@pytest.mark.parametrize("inviter", ["U0LENA0001", "U0BEN0001"])
async def test_greets_no_person_of_another_company(office: Office, inviter: str) -> None:
    workspace, channel = office.workspace, office.channel_id("partners")
    about = {"type": "member_joined_channel", "user": workspace.state.app.bot_user_id, "channel": channel}
    event = payloads.event(workspace.state, about | {"inviter": inviter, "event_ts": "1.1"}, shared=True)

    await workspace._delivery.deliver("events_api", event, takes_answer=False)
    await office.idle()

    greeted = "chat.postEphemeral" in {call.method for call in workspace.calls}
    assert greeted is (inviter == "U0BEN0001")


async def test_greets_nobody_when_a_person_joins(office: Office, ana: Person) -> None:
    office.workspace.state.kick(office.channel_id("webshop"), "U0BEN0001")
    ana.channel = "webshop"

    await ana.command("/invite @Ben Okafor")
    await office.idle()

    assert not [m for m in await ana.messages() if "Thanks for inviting me" in text_of(m)]
