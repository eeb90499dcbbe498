"""Which messages are answered, how often and in which order."""

import asyncio
from typing import Any

import pytest

from bot.slack.surfaces.drafts import saveable
from tests.features.mentions.talking import Talker, deliver
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import DM, Person
from tests.support.reading import text_of, until_so

GENERAL = "C0GENERAL01"
SAID: dict[str, Any] = {"user": "U0ANA0001", "channel": GENERAL, "ts": "1700000000.000100"}
MENTION: dict[str, Any] = SAID | {"text": "<@U0ISSUEBOT> whoami"}


async def answers(talker: Talker, channel: str = GENERAL) -> list[str]:
    await talker.office.idle()
    said = (text_of(m) for m in await talker.messages(channel) if m["is_bot"])
    return [text for text in said if "linked as" in text]


@pytest.mark.parametrize(
    "about",
    [
        {"subtype": "message_changed", "hidden": True},
        {"subtype": "message_deleted"},
        {"subtype": "bot_message"},
        {"subtype": "channel_join"},
        {"edited": {"user": "U0ANA0001", "ts": "1.1"}},
        {"bot_id": "B0OTHER"},
        {"hidden": True},
        {"user": "U0ISSUEBOT"},
        {"user": "USLACKBOT"},
        {"user": None},
        {"ts": None},
        {"user_team": "T0OTHER"},
        {"source_team": "T0OTHER"},
        {"team": "T0OTHER"},
        {"channel": None},
    ],
)
async def test_old_or_foreign_text_is_ignored(office: Office, talker: Talker, about: dict[str, Any]) -> None:
    await deliver(office, "app_mention", **MENTION | about)
    direct = SAID | {"channel": talker.direct_channel, "channel_type": "im", "text": "whoami"}
    await deliver(office, "message", **direct | about)

    assert await answers(talker) == []
    assert await answers(talker, talker.direct_channel) == []


@pytest.mark.parametrize(("team", "answered"), [("T0HARBOR01", 1), ("T0OTHER", 0), (None, 0)])
async def test_outsiders_are_ignored(office: Office, talker: Talker, team: str | None, answered: int) -> None:
    envelope = {"team_id": "T0OTHER"}  # where the event happened

    await deliver(office, "app_mention", shared=True, about=envelope, **MENTION, user_team=team)

    assert len(await answers(talker)) == answered


@pytest.mark.parametrize("about", [{"subtype": "file_share"}, {"subtype": "thread_broadcast"}, {}])
async def test_every_event_is_answered_once(office: Office, talker: Talker, about: dict[str, Any]) -> None:
    direct = SAID | {"channel": talker.direct_channel, "text": "<@U0ISSUEBOT> whoami"} | about
    for name in ("message", "app_mention", "message"):  # each has its own event ID
        await deliver(office, name, channel_type="im", **direct)

    assert len(await answers(talker, talker.direct_channel)) == 1


async def test_messages_of_a_channel_without_a_mention_are_ignored(office: Office, talker: Talker) -> None:
    await deliver(office, "message", channel_type="channel", **SAID | {"text": "whoami"})

    assert await answers(talker) == []


async def test_an_edited_message_is_not_answered_again(office: Office, talker: Talker, ana: Person) -> None:
    ts = await talker.send(talker.direct_channel, "whoami")
    mention = await talker.send(GENERAL, "@Issue Bot whoami")
    await office.idle()

    await ana._post("edit", channel=talker.direct_channel, ts=ts, text="whoami please")
    await ana._post("edit", channel=GENERAL, ts=mention, text="@Issue Bot whoami please")

    assert len(await answers(talker, talker.direct_channel)) == 1
    assert len(await answers(talker)) == 1


async def test_the_mention_of_an_unknown_bot_user_is_removed(office: Office, talker: Talker) -> None:
    of_a_person = [{"team_id": "T0HARBOR01", "user_id": "U0ANA0001", "is_bot": False}]

    await deliver(office, "app_mention", about={"authorizations": of_a_person}, **MENTION)

    assert len(await answers(talker)) == 1


@pytest.mark.usefixtures("url")
async def test_a_persons_messages_are_answered_in_their_order(office: Office, talker: Talker) -> None:
    words = [f"gadget{n}" for n in range(8)]
    direct = SAID | {"channel": talker.direct_channel, "channel_type": "im"}
    sent = [direct | {"ts": f"1700000000.00010{n}", "text": f"search {word}"} for n, word in enumerate(words)]
    await asyncio.gather(*(deliver(office, "message", **message) for message in sent))

    said = [text_of(m) for m in await talker.messages(talker.direct_channel) if m["is_bot"]]
    found = [next(word for word in words if word in text) for text in said if "gadget" in text]
    assert found == words


async def test_a_message_waits_for_a_while_and_holds_up_nobody_else(wired: Person) -> None:
    office, talker, wire = wired.office, Talker(wired), wired.office.wire
    assert wire is not None
    office.wait(turn=0.5)
    await office.link("U0CHRIS01", KEYS["chris"])
    other = Talker(Person(office, "U0CHRIS01"))
    wire.seconds = 60
    wire.fail("slow")
    for _ in range(2):
        await talker.send(talker.direct_channel, "12")
    await wired.sees(lambda m: "still answering your earlier messages" in text_of(m), DM)

    assert "Chris" in await _said(other, "whoami")
    wire.released.set()
    await office.idle()

    said = [text_of(m) for m in await talker.messages(talker.direct_channel) if m["is_bot"]]
    assert sum("still answering your earlier messages" in text for text in said) == 1
    assert sum("#12 Delivery costs" in text for text in said) == 1


async def test_a_new_message_waits_for_all_that_came_before(wired: Person) -> None:
    office, talker, wire = wired.office, Talker(wired), wired.office.wire
    assert wire is not None
    await office.link("U0CHRIS01", KEYS["chris"])
    wire.seconds = 60
    wire.fail("slow", "GET /users/current")
    for text in ("whoami", "search gadget2", "search gadget3"):
        await talker.send(talker.direct_channel, text)
    await until_so(lambda: wire.slowed == 1 and len(office.bot.in_flight) == 3)

    wire.released.set()
    wire.fail("slow", "GET /issues")
    await until_so(lambda: wire.slowed == 2)
    await talker.send(talker.direct_channel, "search gadget4")
    assert "gadget" in await _said(Talker(Person(office, "U0CHRIS01")), "search gadget5")
    wire.released.set()
    await office.idle()

    said = [text_of(m) for m in await talker.messages(talker.direct_channel) if m["is_bot"]]
    assert [n for text in said for n in (2, 3, 4) if f"gadget{n}" in text] == [2, 3, 4]


async def _said(talker: Talker, text: str) -> str:
    """The answer while other work is in flight."""
    await talker.send(talker.direct_channel, text)

    return text_of(await talker.person.sees(lambda message: message["is_bot"], DM))


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("link {key}", "link …"),
        ("Link {key}", "Link …"),
        ("<@U0BOT> My key is {key}", "<@U0BOT> My key is …"),
        ("Link 0123456789abcdef", "Link …"),
        ("new Login broken by {key}", "new Login broken by {key}"),
        ("Link broken", "Link broken"),
    ],
)
def test_a_saved_message_has_no_key(typed: str, kept: str) -> None:
    key = KEYS["ben"]
    event = {"type": "message", "channel_type": "im", "text": typed.format(key=key), **SAID}
    payload = {"type": "event_callback", "token": "t", "authorizations": [{"user_id": "U1", "is_bot": True}]}

    saved = saveable(payload | {"event": event | {"blocks": [{"text": "link"}]}})

    assert "blocks" not in saved["event"]
    assert saved["event"]["text"] == kept.format(key=key)
    assert saved["event"]["channel"] == GENERAL


async def test_an_unclear_message_gets_its_buttons_although_the_service_fails(wired: Person) -> None:
    wire = wired.office.wire
    assert wire
    wire.fail("503 before it", lasting=True)

    reply = await Talker(wired).mention("the login page is broken")

    assert "Create issue “the login page is broken”" in text_of(reply)
