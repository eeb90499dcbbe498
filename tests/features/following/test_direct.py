"""People follow issues by a command: in the thread where they say it, else in a direct message."""

from typing import Any

import pytest

from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Detail
from tests.features.following.threads import change, create_from_message, follow, in_thread, read_followed
from tests.features.mentions.talking import Talker
from tests.support.digesting import ANA
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.reading import JSON, text_of


async def follow_directly(office: Office, ana: Person, number: int) -> JSON:
    """Returns the post in the direct messages."""
    answer = await ana.ask(f"/issue {number} follow")
    assert f"You're now following #{number} in a direct message." in text_of(answer)
    await office.idle()
    return (await ana.messages(DM))[-1]


@pytest.mark.parametrize("words", ["{} follow", "follow {}", "{} watch", "watch #{}"])
async def test_follow_updates_a_post_in_a_direct_message(office: Office, ana: Person, words: str) -> None:
    issue = office.public_issue()

    answer = await ana.ask(f"/issue {words.format(issue.id)}")
    assert answer["ephemeral"]
    assert f"You're now following #{issue.id}" in text_of(answer)
    (post,) = await ana.messages(DM)
    change(issue, status_id=defaults.CLOSED, subject="Cart forgets items")
    await read_followed(office)

    message, line = await ana.messages(DM)
    assert message["ts"] == post["ts"] == line["thread_ts"]
    assert "Cart forgets items" in message["text"]
    assert ":white_check_mark: Closed" in message["text"]
    assert line["text"].startswith(":white_check_mark: Closed: ")


@pytest.mark.parametrize("words", ["{} unfollow", "unfollow {}", "unwatch {}"])
async def test_unfollow_stops_it_wherever_it_is_followed(office: Office, ana: Person, words: str) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()
    await follow_directly(office, ana, issue.id)
    assert len(await office.bot.store.followed.of(ANA)) == 2

    stopped = await ana.ask(f"/issue {words.format(issue.id)}")
    again = await ana.ask(f"/issue {words.format(issue.id)}")

    assert f"You're no longer following #{issue.id}." in text_of(stopped)
    assert f"You aren't following #{issue.id}." in text_of(again)
    change(issue, status_id=defaults.CLOSED)
    await read_followed(office)
    assert [m["text"] for m in await in_thread(ana, post)] == [post["text"]]
    assert len(await ana.messages(DM)) == 1


async def test_following_again_says_so_and_offers_to_stop(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    await follow_directly(office, ana, issue.id)

    answer = await ana.ask(f"/issue {issue.id} follow")
    assert f"You're already following #{issue.id}" in text_of(answer)
    stopped = await ana.after(ana.press(answer, "Stop following"))

    assert f"I stopped updating #{issue.id} in that thread." in text_of(stopped)
    assert await office.bot.store.followed.of(ANA) == ()
    assert len(await ana.messages(DM)) == 1


async def test_a_card_and_the_menu_of_the_post_follow_and_stop(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    card = await ana.ask(f"/issue {issue.id}")
    await ana.after(ana.press(card, "Follow"))
    (post,) = await ana.messages(DM)

    stopped = await ana.after(ana.choose_from_menu(post, str(issue.id), "Stop following"), DM)
    assert await office.bot.store.followed.of(ANA) == ()
    await ana.after(ana.choose_from_menu(stopped, str(issue.id), "Follow"), DM)

    change(issue, subject="Cart forgets items")
    await read_followed(office)
    assert "Cart forgets items" in (await ana.messages(DM))[-1]["text"]


async def test_a_deleted_post_can_be_followed_again(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    slack, channel = office.bot.slack, office.workspace.state.im(ana.user_id).id
    ts = str((await slack.chat_postMessage(channel=channel, text="#42"))["ts"])
    await follow(office.bot.store, issue, channel, ts, ts, direct=True)
    await slack.chat_delete(channel=channel, ts=ts)

    assert str(issue.id) in (await follow_directly(office, ana, issue.id))["text"]
    assert len(await office.bot.store.followed.of(ANA)) == 1


async def test_a_private_issue_is_followed_only_in_a_direct_message(office: Office, ana: Person) -> None:
    talker = Talker(ana)
    ana.channel = "webshop"
    issue = office.public_issue()
    issue.is_private = True
    thread = await talker.thread()

    refused = await talker.mention(f"follow {issue.id}", thread)
    assert "is private, so a thread can't follow it" in text_of(refused)
    await ana.press(await talker.mention(str(issue.id), thread), "Follow")
    await office.idle()
    change(issue, subject="Still secret")
    await read_followed(office)

    assert "Still secret" in (await ana.messages(DM))[-1]["text"]
    assert not any("Still secret" in m["text"] for m in await ana.messages("webshop"))

    del office.tracker.data.issues[issue.id]
    await read_followed(office)
    assert len(await ana.messages(DM)) == 1


async def test_a_mention_follows_in_its_thread(office: Office, ana: Person) -> None:
    talker = Talker(ana)
    ana.channel = "webshop"
    issue = office.public_issue()
    thread = await talker.thread()

    post = await talker.mention(f"follow {issue.id}", thread)
    assert "Updates to <" in text_of(post)
    again = await talker.mention(f"#{issue.id} follow", thread)
    assert f"This thread already follows #{issue.id}." in text_of(again)

    change(issue, subject="Cart forgets items")
    await read_followed(office)
    assert any("Cart forgets items" in m["text"] for m in await in_thread(ana, post))
    assert await ana.messages(DM) == []


async def test_a_card_in_a_direct_thread_stays_as_it_is(office: Office, ana: Person) -> None:
    talker, issue = Talker(ana), office.public_issue()
    issue.is_private = True
    first = await talker.direct("whoami")
    card = await talker.direct(str(issue.id), first)

    post = await ana.after(ana.press(card, "Follow"), DM)

    assert post["ts"] != card["ts"]
    assert card in await ana.messages(DM)


async def test_a_direct_message_follows_there(office: Office, ana: Person) -> None:
    issue = office.public_issue()

    post = await Talker(ana).direct(f"follow {issue.id}")

    assert str(issue.id) in post["text"]
    assert [one.ts for one in await office.bot.store.followed.of(ANA)] == [post["ts"]]


async def test_the_post_says_who_changed_what(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()
    assert "appear in this thread." in text_of(post)
    status = Detail("attr", "status_id", str(defaults.NEW), str(defaults.RESOLVED))
    due = Detail("attr", "due_date", "2026-12-01", None)
    hidden = Detail("cf", "7", None, "secret")

    async def sentence(**what: Any) -> str:
        change(issue, **what)
        await read_followed(office)
        return str((await in_thread(ana, post))[0]["text"]).split("\n", 2)[-1]

    done: JSON = {"status_id": defaults.RESOLVED, "comment_by": 2, "details": (status, hidden, due)}
    assert (
        await sentence(**done) == "Ben Okafor set the status to Resolved, cleared the due date, and commented"
    )
    # A private note isn't told, nor that there is one.
    secret: JSON = {"comment_by": 2, "comment": "Secret", "private": True}
    assert (await sentence(**secret)).startswith("Ben Okafor set the status")
    nobody = office.tracker.data.users[3]
    nobody.firstname = nobody.lastname = ""
    assert await sentence(comment_by=3) == "Someone commented"
    # A later change by somebody who isn't named says only what is known.
    assert await sentence(comment_by=1, comment="", details=(status,), status_id=defaults.NEW) == (
        "Ana Ruiz changed the status"
    )
