"""Announcing and sharing issues, and deleting those posts."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.store.tables import ClaimRow
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of
from tests.support.slackwire import SlackWire


async def wait_for_post(person: Person, text: str) -> JSON:
    return await person.sees(lambda m: text in m["text"] and not m["ephemeral"])


async def age_claims(office: Office, age: timedelta) -> None:
    """Makes claims older."""
    claimed = update(ClaimRow).values(at=datetime.now(UTC) - age)
    await office.bot.database.execute(claimed)


async def test_only_its_author_deletes_an_announcement(office: Office, ana: Person, ben: Person) -> None:
    await ana.command("/issue new It stays project:webshop")
    message = await wait_for_post(ben, "It stays")

    answer = await ben.after(ben.delete_post(message))

    assert answer["ephemeral"]
    assert "Only Ana can delete this post." in text_of(answer)
    assert (await wait_for_post(ana, "It stays"))["ts"] == message["ts"]
    await ana.delete_post(message)
    await ben.sees_no_more(message)
    assert office.newest_issue().subject == "It stays"


async def test_tells_the_outcome_of_a_post_and_retries_failures(tmp_path: Path) -> None:
    wire = SlackWire()
    async with Office(tmp_path, slack_wire=wire).opened("ana") as office:
        ana = Person(office, "U0ANA0001")
        card = await ana.ask("/issue 12")
        wire.faults = [("chat.postMessage", "refuse:is_archived")]
        assert "wasn't shared" in text_of(await ana.after(ana.press(card, "Share here")))
        await ana.press(card, "Share here")
        await wait_for_post(ana, "shared")
        await office.idle()

        await age_claims(office, timedelta(seconds=10))
        wire.faults = [("chat.postMessage", "lose the answer")]
        await ana.press(card, "Share here")
        await office.idle()
        assert "I just got the same request" in text_of(await ana.after(ana.press(card, "Share here")))
        texts = [text_of(message) for message in await ana.messages()]
        assert len([text for text in texts if "Ana Ruiz shared" in text]) == 2
        assert len([text for text in texts if "Slack didn't confirm that #12 was shared" in text]) == 1

        wire.faults = [("chat.postMessage", "lose the request")]
        answer = text_of(await ana.ask("/issue new Perhaps posted project:webshop"))

        assert "Slack didn't confirm the post. Check the channel before you share this again." in answer
        assert "I didn't post this" not in answer


@pytest.mark.parametrize("answered", [True, False])
async def test_a_post_follows_even_a_lost_private_answer(tmp_path: Path, *, answered: bool) -> None:
    wire, elsewhere = SlackWire(), ("chat.postEphemeral", "chat.postMessage")
    async with Office(tmp_path, slack_wire=wire).opened("ana") as office:
        ana = Person(office, "U0ANA0001")
        if not answered:
            wire.faults = [(way, "refuse:fatal_error") for way in ("response_url", *elsewhere)]
        await ana.command("/issue new Told at once project:webshop")
        await wait_for_post(ana, "Told at once")
        await office.idle()

        texts = [message["text"] for message in await ana.messages()]
        assert len([text for text in texts if text.startswith("Ana Ruiz created")]) == 1
        assert len([text for text in texts if text.startswith("Created")]) == answered
    methods = [call.method for call in wire.calls]
    assert methods.index("response_url") < methods.index("chat.postMessage")


async def test_mentions_only_a_linked_assignee(office: Office, ana: Person, linked_ben: Person) -> None:
    ben = linked_ben
    await ana.command("/issue new For Ben project:webshop to:ben")
    message = await wait_for_post(ben, "For Ben")
    assert message["text"].startswith("Ana Ruiz created <")
    assert message["text"].endswith(f"in Web Shop · Normal · assigned to <@{ben.user_id}>")

    await ana.press(await ana.ask(f"/issue {max(office.tracker.data.issues)}"), "Share here")
    assert f"<@{ben.user_id}>" in (await wait_for_post(ben, "Ana Ruiz shared"))["text"]
    await ben.press(await ben.ask(f"/issue {max(office.tracker.data.issues)}"), "Share here")
    assert "<@" not in (await wait_for_post(ana, "Ben Okafor shared"))["text"]
    chosen = ben.choose_from_menu(message, "For Ben", "Assign to me")
    assert "Assignee is already *Ben Okafor*" in text_of(await ben.after(chosen))


async def test_a_double_click_shares_once(office: Office, ana: Person, ben: Person) -> None:
    card = await ana.ask("/issue 12")
    await asyncio.gather(*(ana.press(card, "Share here") for _ in range(2)))
    await office.idle()
    assert ["Ana Ruiz shared" in m["text"] for m in await ben.messages()].count(True) == 1
    assert "I just got the same request" in text_of(await ana.after(ana.press(card, "Share here")))

    await age_claims(office, timedelta(hours=1))
    again = await ana.after(ana.press(card, "Share here"))

    assert not again["ephemeral"]
    assert "Ana Ruiz shared" in text_of(again)
