"""Linking an account, using it and losing it."""

import asyncio

import pytest

from bot.sandbox.tracker.data import User
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import button_saying, text_of

KEY = KEYS["ben"]
NEW_KEY = "f" * 40


def user(office: Office, login: str) -> User:
    return next(user for user in office.tracker.data.users.values() if user.login == login)


async def linked_name(office: Office, person: Person) -> str | None:
    link = await office.bot.store.links.get(Owner(None, TEAM, person.user_id))
    return link.name if link else None


async def test_asks_before_linking_an_account_with_another_email(office: Office, ben: Person) -> None:
    await ben.command("/issue 28")
    await ben.submit(await ben.form("Link account"), {"API key": KEYS["chris"]})

    asked = await ben.form_saying("Link account", "This key belongs to Chris Lindqvist. Link it anyway?")
    assert await linked_name(office, ben) is None
    assert KEYS["chris"] not in str(office.workspace.calls)
    stored = [path.read_bytes() for path in office.directory.glob("bot.db*")]
    assert KEYS["chris"].encode() not in b"".join(stored)

    user(office, "chris").api_key = NEW_KEY
    again = await ben.form_after(ben.submit(asked, {}), "Link account", "doesn't recognize this key")
    asked = await ben.form_after(ben.submit(again, {"API key": NEW_KEY}), "Link account", "Link it anyway?")
    answer = await ben.after(ben.submit(asked, {}))

    assert "#28" in answer["text"]
    assert await linked_name(office, ben) == "Chris Lindqvist"


async def test_a_wrong_key_or_a_canceled_question_links_nothing(office: Office, ben: Person) -> None:
    form = await ben.form_after(ben.command("/issue 28"), "Link account")
    assert "/issue 28" in text_of(form)
    await ben.submit(form, {"API key": "0" * 40})
    assert "doesn't recognize this key" in (await ben.errors())["key"]
    await ben.submit(form, {"API key": KEYS["chris"]})
    offer = await ben.after(ben.close(await ben.form_saying("Link account", "Link it anyway?")))
    assert "/issue 28" in text_of(offer)
    assert await linked_name(office, ben) is None

    await ben.press(offer, "Link account")
    answer = await ben.after(ben.submit(await ben.form("Link account"), {"API key": KEY}))

    assert answer["ephemeral"]
    assert "#28" in text_of(answer)
    assert "linked as *Ben Okafor*" in text_of(await ben.form("Account linked"))
    assert await linked_name(office, ben) == "Ben Okafor"
    assert not [m for m in await ben.messages() if "After you link" in text_of(m)]


async def test_shows_the_account_and_deletes_its_key(ana: Person, ben: Person) -> None:
    answer = await ana.ask("/tracker")
    assert "You're linked to Tracker as *Ana Ruiz*" in text_of(answer)
    assert text_of(answer).count("\n") < 10
    assert "Ana Ruiz" in (await ana.ask("/tracker whoami"))["text"]
    asked = await ana.ask("/tracker logout")
    assert "pause your digests, and stop following your issues. Direct messages stop" in text_of(asked)
    assert "I deleted my copy" in (await ana.after(ana.press(asked, "Unlink account")))["text"]
    await ana.form_after(ana.command("/tracker whoami"), "Link account")

    answer = await ben.ask("/tracker")
    button_saying(answer["blocks"][:2], "Link account")
    await ben.press(answer, "Help")
    assert "/issue new Login page is blank" in text_of(await ben.form("Help"))


async def test_an_older_link_button_runs_its_command_once_linked(office: Office, ben: Person) -> None:
    await ben.command("/issue 28")
    offer = await ben.after(ben.close(await ben.form("Link account")))
    await office.link(ben.user_id, KEY)

    await asyncio.gather(*(ben.press(offer, "Link account") for _ in range(2)))
    await office.idle()

    texts = [message["text"] for message in await ben.messages()]
    assert sum("#28" in text for text in texts) == 1
    assert any("already did this" in text or "already working" in text for text in texts)
    assert offer["ts"] not in [message["ts"] for message in await ben.messages()]


async def test_never_repeats_a_key_typed_in_any_command(office: Office, ana: Person, ben: Person) -> None:
    for typed in ("tracker", "tracker link", "tracker login", "tracker whoami"):
        answer = await ana.ask(f"/{typed} {KEY}")
        assert "Never type your API key into a command" in answer["text"]
    assert "s3cret" not in text_of(await ana.ask("/tracker Link s3cret"))
    for typed in (f"issue {KEY}", f"digest add {KEY} daily 9", f"digest add webshop daily {KEY}"):
        await ana.ask(f"/{typed}")

    form = await ben.form_after(ben.command(f"/issue new Foo {KEY} project:webshop"), "Link account")
    assert "/issue new Foo … project:webshop" in text_of(form)
    assert "/issue new Foo … project:webshop" in text_of(await ben.after(ben.close(form)))

    await office.link(ben.user_id, KEY)
    for typed in ("issues to:", "timelog 12 1h activity:"):
        assert "“…”" in text_of(await ben.ask(f"/{typed}{KEY}")), typed
    for typed in ("issue 12 comment It's", "timelog 12 1h activity:design It's"):
        assert "Open form" not in str((await ben.ask(f"/{typed} {KEY}"))["blocks"]), typed

    assert KEY not in str(office.workspace.calls)


@pytest.mark.parametrize("typed", ["disconnect me", "logout", "unlink"])
async def test_there_is_nothing_to_unlink_without_a_link(ben: Person, typed: str) -> None:
    answer = await ben.ask(f"/tracker {typed}")

    assert "Your account isn't linked, so there's nothing to unlink." in answer["text"]
    assert button_saying(answer["blocks"], "Link account")
