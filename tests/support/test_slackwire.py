"""Tests of the faulty proxy for Slack: the bot works through it, and every fault does what its name says."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.people import PEOPLE
from tests.support.office import Office
from tests.support.person import Person
from tests.support.slackwire import SlackWire

POST = "chat.postMessage"
ANA = next(person for person in PEOPLE if person.login == "ana")


@pytest.fixture
def wire() -> SlackWire:
    return SlackWire()


@pytest.fixture
async def ana(wire: SlackWire, tmp_path: Path) -> AsyncIterator[Person]:
    async with Office(tmp_path, slack_wire=wire).opened() as office:
        yield Person(office, ANA.slack_id, channel="webshop")


@pytest.fixture
async def slack(ana: Person) -> AsyncIterator[AsyncWebClient]:
    """A client without the bot's retries."""
    async with aiohttp.ClientSession() as session:
        workspace = ana.office.workspace
        yield AsyncWebClient(
            token=workspace.bot_token, base_url=workspace.api_url, session=session, retry_handlers=[]
        )


async def test_faults_apply_to_the_calls_of_their_method_in_order(
    ana: Person, slack: AsyncWebClient, wire: SlackWire
) -> None:
    general = ana.office.channel_id("general")
    wire.faults = [
        (POST, "lose the request"),
        (POST, "lose the answer"),
        ("auth.test", "refuse:account_inactive"),
        (POST, "500 before it"),
        (POST, "500 after it"),
        (POST, "refuse:is_archived"),
        (POST, "429:30"),
        (POST, "slow:0.2"),
    ]
    came = []
    for number in range(7):
        try:
            await slack.chat_postMessage(channel=general, text=f"Number {number}")
            came.append("ok")
        except SlackApiError as refused:
            answer = refused.response
            said = answer.data if isinstance(answer.data, dict) else {}
            came.append(str(answer.headers.get("Retry-After") or said.get("error") or answer.status_code))
        except aiohttp.ClientError:
            came.append("broken")
    with pytest.raises(SlackApiError, match="account_inactive"):
        await slack.auth_test()

    assert came == ["broken", "broken", "500", "500", "is_archived", "30", "ok"]
    there = [message["text"] for message in await Person(ana.office, ANA.slack_id).messages()]
    assert [text for text in there if text.startswith("Number")] == ["Number 1", "Number 3", "Number 6"]
    calls = wire.called(POST)
    assert [call.arguments["text"] for call in calls] == [f"Number {number}" for number in range(7)]
    assert time.monotonic() - calls[-1].at >= 0.2
    assert wire.faults == []
