"""Calls while Slack is failing: only what is safe is repeated, and done work is never reported as failed."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.outgoing import posting
from bot.slack.outgoing.conversations import Conversations
from bot.slack.outgoing.outcomes import PostOutcome
from bot.slack.surfaces.blocks import Message, section, sentence
from bot.slack.surfaces.interaction import Destination
from bot.slack.workspaces.tokens import OneWorkspace
from bot.timings import Delays
from tests.support.office import Office
from tests.support.people import IDS
from tests.support.person import DM, Person
from tests.support.proxying import proxying
from tests.support.reading import JSON, text_of, until, values_of, waiting
from tests.support.serving import serving
from tests.support.slackwire import SlackWire
from tests.support.wire import app

POST, CREATED = "chat.postMessage", "Created #1."
SHOWN = pytest.mark.parametrize("fault", ["lose the answer", "page after it"])


@pytest.fixture
def wire() -> SlackWire:
    return SlackWire()


@pytest.fixture
async def ana(wire: SlackWire, tmp_path: Path) -> AsyncIterator[Person]:
    async with Office(tmp_path, slack_wire=wire, rate_limits=False).opened("ana") as office:
        yield Person(office, IDS["ana"])
    assert office.violations() == []


def calls(wire: SlackWire) -> list[str]:
    """The methods called since the last time."""
    called = [call.method for call in wire.calls]
    wire.calls.clear()
    return called


@pytest.mark.parametrize(
    ("fault", "became", "arrives"),
    [
        ("", PostOutcome.YES, True),
        ("slow:0.2", PostOutcome.YES, True),
        ("late answer:0.2", PostOutcome.YES, True),
        ("lose the request", PostOutcome.UNCONFIRMED, False),
        ("lose the answer", PostOutcome.UNCONFIRMED, True),
        ("500 before it", PostOutcome.UNCONFIRMED, False),
        ("500 after it", PostOutcome.UNCONFIRMED, True),
        ("503 before it", PostOutcome.UNCONFIRMED, False),
        ("page", PostOutcome.UNCONFIRMED, False),
        ("page after it", PostOutcome.UNCONFIRMED, True),
        ("307 elsewhere", PostOutcome.UNCONFIRMED, False),
        ("truncate", PostOutcome.UNCONFIRMED, True),
        ("429:600", PostOutcome.DELAYED, False),
        ("429", PostOutcome.DELAYED, False),
        ("refuse:fatal_error", PostOutcome.UNCONFIRMED, False),
        ("refuse:is_archived", PostOutcome.FAILED, False),
    ],
)
async def test_failed_posts_are_reported_and_never_retried(
    ana: Person, wire: SlackWire, fault: str, became: PostOutcome, *, arrives: bool
) -> None:
    wire.lasting, began = {POST: fault}, time.monotonic()
    calls(wire)
    place = Destination(ana.office.channel_id("general"))

    announced, _ = await posting.publicly(ana.office.bot.slack, place, sentence(CREATED))

    assert announced is became
    assert calls(wire) == [POST]
    assert wire.elsewhere == []
    assert [text_of(message) for message in await ana.messages()].count(CREATED) == arrives
    if fault.endswith(":0.2"):
        assert time.monotonic() - began >= 0.2


async def test_reads_are_retried_and_wait_for_short_rate_limits(ana: Person, wire: SlackWire) -> None:
    slack, channel = ana.office.bot.slack, ana.office.channel_id("general")
    calls(wire)
    wire.faults = [("users.info", "lose the request"), (POST, "429:0")]

    await slack.users_info(user=ana.user_id)
    assert calls(wire) == ["users.info"] * 2
    await slack.chat_postMessage(channel=channel, text="waits")
    assert calls(wire) == [POST] * 2
    assert wire.faults == []
    wire.faults = [(POST, "429:30")]
    with pytest.raises(SlackApiError, match="ratelimited"):
        await slack.chat_postMessage(channel=channel, text="doesn't wait")
    assert calls(wire) == [POST]


@pytest.mark.parametrize(
    ("channel", "expected"),
    [
        ({}, PostOutcome.AUDIENCE_UNREAD),
        ({"is_ext_shared": None}, PostOutcome.AUDIENCE_UNREAD),
        ({"is_pending_ext_shared": True}, PostOutcome.SHARED),
        ({"is_ext_shared": True}, PostOutcome.SHARED),
        ({"is_ext_shared": False}, None),
        ({"is_im": True}, None),
    ],
)
async def test_a_channel_is_internal_only_if_slack_says_so(
    channel: JSON, expected: PostOutcome | None
) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "channel": {"id": "C1"} | channel})

    async with serving(app(answer)) as url:
        client = AsyncWebClient(base_url=f"{url}/")
        conversations = Conversations(OneWorkspace(client), Delays.channels)
        why = await conversations.why_not_share(client, "T1", "C1")

    assert why is expected


async def test_posts_use_the_response_url_if_not_a_member(ana: Person, wire: SlackWire) -> None:
    channel = ana.office.channel_id("general")
    url = ana.office.workspace._response_urls.issue("commands", ana.user_id, channel)
    wire.lasting = {POST: "refuse:not_in_channel"}

    place = Destination(channel, response_url=url)
    assert await posting.publicly(ana.office.bot.slack, place, sentence(CREATED)) == (PostOutcome.YES, None)

    posted = (await ana.messages())[-1]
    assert (text_of(posted), posted["ephemeral"]) == (CREATED, False)


async def test_the_response_url_is_reached_through_the_proxy(ana: Person, wire: SlackWire) -> None:
    slack, channel = ana.office.bot.slack, ana.office.channel_id("general")
    url = ana.office.workspace._response_urls.issue("commands", ana.user_id, channel)
    wire.lasting = {POST: "refuse:not_in_channel"}

    async with proxying() as proxy:
        slack.proxy = proxy.url
        outcome, _ = await posting.publicly(slack, Destination(channel, response_url=url), sentence(CREATED))

    assert outcome is PostOutcome.YES
    assert url in proxy.passed


@pytest.mark.parametrize("fault", ["lose the request", "307 elsewhere"])
async def test_a_private_answer_tries_every_way_but_follows_no_redirect(
    ana: Person, wire: SlackWire, fault: str
) -> None:
    channel = ana.office.channel_id("general")
    url = ana.office.workspace._response_urls.issue("commands", ana.user_id, channel)
    place, ways = Destination(channel, response_url=url), ["response_url", "chat.postEphemeral", POST]
    wire.lasting = dict.fromkeys(ways, fault)
    calls(wire)

    with pytest.raises(posting.NotDelivered):
        await posting.privately(ana.office.bot.slack, place, ana.user_id, sentence("Between us."))

    assert calls(wire) == ways
    assert wire.elsewhere == []


async def test_a_direct_answer_waits_out_a_rate_limit(ana: Person, wire: SlackWire) -> None:
    place = Destination(ana.office.workspace.state.im(ana.user_id).id, said_there=True)
    wire.faults = [(POST, "429:4"), (POST, "429:4")]  # longer than the Web API client waits itself

    await posting.privately(ana.office.bot.slack, place, ana.user_id, sentence("Between us."))

    assert [text_of(message) for message in await ana.messages(DM)] == ["Between us."]


async def test_a_direct_answer_is_found_although_its_first_block_has_an_id(
    ana: Person, wire: SlackWire
) -> None:
    im, message = (
        ana.office.workspace.state.im(ana.user_id).id,
        Message("Once.", (section("Once.", block_id="own"),)),
    )
    url = ana.office.workspace._response_urls.issue("commands", ana.user_id, im)
    place = Destination(im, response_url=url, said_there=True)
    wire.faults = [(POST, "lose the answer")]

    await posting.privately(ana.office.bot.slack, place, ana.user_id, message)

    assert [text_of(message) for message in await ana.messages(DM)] == ["Once."]


async def results(ana: Person) -> tuple[JSON, JSON, str]:
    """A form of search results, its first row of an issue that isn't Ana's, and that issue's number."""
    await ana.shortcut("search_issues")
    await ana.submit(await ana.form("Search issues"), {"Project": "Web Shop"})
    form = await ana.form("Search results")
    line = next(block for block in form["blocks"] if "Assign to me" in str(block.get("accessory")))
    return form, line, line["accessory"]["options"][0]["value"].split()[1].rstrip(":")


@SHOWN
async def test_a_form_works_after_its_response_was_lost(ana: Person, wire: SlackWire, fault: str) -> None:
    wire.faults = [("views.open", fault)]
    await ana.command("/issue new project:webshop")

    form = await ana.form("New issue")
    assert values_of(form)["Project"] == "Web Shop"
    assert not any("didn't open" in text_of(message) for message in await ana.messages())
    answer = await ana.after(ana.submit(form, {"Subject": "The answer was lost"}))
    assert "The answer was lost" in text_of(answer)

    search_results, line, number = await results(ana)
    wire.faults = [("views.push", fault)]
    await ana.choose_in_form(search_results, line, "Assign to me")

    assert "Assignee: Unassigned → *Ana Ruiz*" in text_of(await ana.form(f"#{number}"))
    views = (await ana.state())["views"]
    assert [view["title"]["text"] for view in views] == ["Search results", f"#{number}"]
    assert not any("didn't show" in text_of(view) for view in views)


@pytest.mark.parametrize("fault", ["lose the request", "500 before it"])
async def test_a_form_that_fails_to_open_is_reported(ana: Person, wire: SlackWire, fault: str) -> None:
    form, line, _ = await results(ana)
    wire.faults = [("views.push", fault), ("views.open", fault)]

    await ana.choose_in_form(form, line, "Assign to me")

    async def explanation() -> JSON | None:
        (view,) = (await ana.state())["views"]
        return view if "Slack didn't open the form" in text_of(view) else None

    assert not waiting(await until(explanation))
    assert "Slack didn't open the form" in text_of(await ana.ask("/issue new project:webshop"))
