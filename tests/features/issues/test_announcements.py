"""Announcing and sharing issues, and deleting those posts."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import update

from bot.sandbox.people import ANA
from bot.slack.blocks import actions, button
from bot.slack.buttons import DeletePost
from bot.store.tables import ClaimRow
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until
from tests.support.slackwire import SlackWire


async def wait_for_post(person: Person, text: str) -> JSON:
    async def poll() -> JSON | None:
        return next((m for m in await person.messages() if text in m["text"] and not m["ephemeral"]), None)

    return await until(poll)


async def wait_until_deleted(person: Person, message: JSON) -> None:
    async def poll() -> bool:
        return all(m["ts"] != message["ts"] for m in await person.messages())

    await until(poll)


async def age_claims(office: Office, age: timedelta) -> None:
    """Makes claims older; younger if the clock was set back by the age."""
    claimed = update(ClaimRow).values(claimed_at=datetime.now(UTC) - age)
    await office.bot.database.execute(claimed)


async def test_only_its_author_deletes_an_announcement(office: Office, ana: Person, ben: Person) -> None:
    await ana.command("/issue new It stays project:webshop")
    message = await wait_for_post(ben, "It stays")

    said = await ben.after(ben.delete_post(message))

    assert said["ephemeral"]
    assert "Only Ana can delete this post." in text_of(said)
    assert (await wait_for_post(ana, "It stays"))["ts"] == message["ts"]
    await ana.delete_post(message)
    await wait_until_deleted(ben, message)
    assert office.newest_issue().subject == "It stays"


async def test_older_posts_are_still_deleted_by_button(office: Office, ana: Person, ben: Person) -> None:
    await ana.command("/issue new Posted long ago project:webshop")
    message = await wait_for_post(ben, "Posted long ago")
    old = button("Take back", DeletePost(team_id=TEAM, user_id=ana.user_id))
    slack = AsyncWebClient(token=office.workspace.bot_token, base_url=office.workspace.api_url)
    post = {"channel": message["channel"], "ts": message["ts"], "text": message["text"]}
    await slack.chat_update(**post, blocks=[actions([old])])
    message = await wait_for_post(ben, "Posted long ago")

    await ana.press(message, "Take back")

    await wait_until_deleted(ben, message)


async def test_asks_before_sharing_an_issue_that_left_its_public_project(office: Office, ana: Person) -> None:
    data = office.tracker.data
    issue = next(i for i in data.issues.values() if i.project_id == 1 and not i.is_private)
    hidden = next(p for p in data.projects.values() if not p.is_public)
    card = await ana.ask(f"/issue {issue.id}")
    issue.project_id = hidden.id

    answer = await ana.after(ana.press(card, "Share here"))

    assert answer["ephemeral"]
    assert "*Share here* asks first" in text_of(answer)


async def test_tells_the_outcome_of_a_post_and_retries_failures(tmp_path: Path) -> None:
    wire = SlackWire()
    office = Office(tmp_path, slack_wire=wire)
    await office.open()
    await office.link(ANA.slack_id, ANA.api_key)
    ana = Person(office, ANA.slack_id)
    card = await ana.ask("/issue 12")
    wire.faults = [("chat.postMessage", "refuse:is_archived")]
    assert "wasn't shared" in text_of(await ana.after(ana.press(card, "Share here")))
    await ana.press(card, "Share here")
    await wait_for_post(ana, "shared")

    await age_claims(office, timedelta(seconds=10))
    wire.faults = [("chat.postMessage", "lose the answer")]
    await ana.press(card, "Share here")
    await office.idle()
    assert "You just did that" in text_of(await ana.after(ana.press(card, "Share here")))
    told = [text_of(message) for message in await ana.messages()]
    assert len([text for text in told if "Ana Ruiz shared" in text]) == 2
    assert len([text for text in told if "Slack didn't confirm that #12 was shared" in text]) == 1

    wire.faults = [("chat.postMessage", "lose the request")]
    answer = text_of(await ana.ask("/issue new Perhaps posted project:webshop"))

    assert "Slack didn't confirm the post. Check the channel before you share this again." in answer
    assert "Only you can see this" not in answer
    await office.close()


async def test_mentions_a_linked_assignee_but_not_the_actor(
    office: Office, ana: Person, linked_ben: Person
) -> None:
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
    assert "is already assigned to you" in text_of(await ben.after(chosen))


async def test_a_press_is_answered_after_the_clock_was_set_back(office: Office, ana: Person) -> None:
    card = await ana.ask("/issue 12")
    await ana.press(card, "Share here")
    await wait_for_post(ana, "shared")
    await office.idle()
    assert "You just did that" in text_of(await ana.after(ana.press(card, "Share here")))

    await age_claims(office, timedelta(hours=-1))
    again = await ana.after(ana.press(card, "Share here"))

    assert not again["ephemeral"]
    assert "Ana Ruiz shared" in text_of(again)
