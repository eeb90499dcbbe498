"""Linking an account, using it and losing it."""

import pytest

from bot.sandbox.people import PEOPLE
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import button_saying, text_of

KEY = next(person.api_key for person in PEOPLE if person.login == "ben")
CHRIS_KEY = next(person.api_key for person in PEOPLE if person.login == "chris")


async def test_runs_the_pending_command_after_linking(office: Office, ben: Person) -> None:
    await ben.command("/issue 28")
    form = await ben.form("Link account")
    assert "/issue 28" in text_of(form)

    answer = await ben.after(ben.submit(form, {"API key": KEY}))

    assert answer["ephemeral"]
    assert "#28" in answer["text"]
    assert "linked as *Ben Okafor*" in text_of(await ben.form("Account linked"))
    link = await office.bot.store.links.get(Owner(None, TEAM, ben.user_id))
    assert link is not None
    assert link.name == "Ben Okafor"


async def test_a_wrong_key_is_a_form_error_and_stores_nothing(office: Office, ben: Person) -> None:
    await ben.command("/tracker link")
    form = await ben.form("Link account")

    await ben.submit(form, {"API key": "0" * 40})

    assert "doesn't recognize this key" in (await ben.errors())["key"]
    assert await office.bot.store.links.get(Owner(None, TEAM, ben.user_id)) is None


async def linked_name(office: Office, person: Person) -> str | None:
    link = await office.bot.store.links.get(Owner(None, TEAM, person.user_id))
    return link.name if link else None


async def test_asks_before_linking_an_account_with_another_email(office: Office, ben: Person) -> None:
    await ben.command("/issue 28")
    await ben.submit(await ben.form("Link account"), {"API key": CHRIS_KEY})

    asked = await ben.form_saying("Link account", "This key belongs to Chris Lindqvist. Link it anyway?")
    assert await linked_name(office, ben) is None
    assert CHRIS_KEY not in str(office.workspace.calls)
    stored = [path.read_bytes() for path in office.directory.glob("bot.db*")]
    assert CHRIS_KEY.encode() not in b"".join(stored)
    answer = await ben.after(ben.submit(asked, {}))

    assert "#28" in answer["text"]
    assert await linked_name(office, ben) == "Chris Lindqvist"


async def test_canceling_the_question_links_nothing_and_keeps_the_pending_command(
    office: Office, ben: Person
) -> None:
    await ben.command("/issue 28")
    await ben.submit(await ben.form("Link account"), {"API key": CHRIS_KEY})

    offer = await ben.after(ben.close(await ben.form_saying("Link account", "Link it anyway?")))

    assert "/issue 28" in text_of(offer)
    assert await linked_name(office, ben) is None


async def test_asks_for_a_key_again_if_it_was_revoked_during_the_question(
    office: Office, ben: Person
) -> None:
    await ben.command("/tracker link")
    await ben.submit(await ben.form("Link account"), {"API key": CHRIS_KEY})
    asked = await ben.form_saying("Link account", "Link it anyway?")
    office.tracker.data.users[_user_id(office, "chris")].api_key = "f" * 40

    await ben.submit(asked, {})

    again = await ben.form_saying("Link account", "doesn't recognize this key")
    await ben.submit(again, {"API key": KEY})
    await ben.form("Account linked")
    assert await linked_name(office, ben) == "Ben Okafor"


async def test_the_first_answer_is_the_button_that_links(ben: Person) -> None:
    shown = await ben.ask("/tracker")

    button_saying(shown["blocks"][:2], "Link account")
    await ben.press(shown, "Help")
    assert "/issue new Login page is blank" in text_of(await ben.form("Help"))


async def test_shows_the_account_in_at_most_ten_lines(ana: Person) -> None:
    shown = await ana.ask("/tracker")

    assert "You're linked to Tracker as *Ana Ruiz*" in text_of(shown)
    assert text_of(shown).count("\n") < 10


@pytest.mark.parametrize("typed", ["login", "connect", "signin"])
async def test_understands_other_words_for_linking(ben: Person, typed: str) -> None:
    await ben.command(f"/tracker {typed}")

    await ben.form("Link account")


async def test_understands_other_words_for_the_account(ana: Person) -> None:
    assert "linked as *Ana Ruiz*" in text_of(await ana.ask("/tracker me"))
    assert "Ana Ruiz" in text_of(await ana.ask("/tracker user"))
    assert "*4 projects*" in text_of(await ana.ask("/tracker list"))
    assert "is deleted" in text_of(await ana.ask("/tracker logout"))


async def test_closing_the_link_form_keeps_the_pending_command(ben: Person) -> None:
    await ben.command("/issue 28")
    form = await ben.form("Link account")

    offer = await ben.after(ben.close(form))
    assert "/issue 28" in text_of(offer)
    await ben.press(offer, "Link account")
    answer = await ben.after(ben.submit(await ben.form("Link account"), {"API key": KEY}))

    assert "#28" in text_of(answer)
    assert not [m for m in await ben.messages() if "After you link" in text_of(m)]


async def test_opens_the_requested_form_after_linking(ben: Person) -> None:
    await ben.shortcut("create_issue")
    await ben.submit(await ben.form("Link account"), {"API key": KEY})

    form = await ben.form("New issue")

    assert form["blocks"][0]["label"]["text"] == "Project"


async def test_reports_a_rejected_key_once_and_deletes_it(office: Office, ana: Person) -> None:
    office.tracker.data.users[_user_id(office, "ana")].api_key = "f" * 40

    await ana.command("/issues")
    form = await ana.form("Link account")
    assert "no longer accepts your API key" in text_of(form)
    assert await office.bot.store.links.get(Owner(None, TEAM, ana.user_id)) is None
    await ana.close(form)
    await ana.command("/issues")

    assert "no longer accepts" not in text_of(await ana.form("Link account"))


async def test_whoami_shows_the_user_and_unlink_deletes_the_key(ana: Person) -> None:
    assert "Ana Ruiz" in (await ana.ask("/tracker whoami"))["text"]
    assert "is deleted" in (await ana.ask("/tracker unlink"))["text"]
    await ana.command("/tracker whoami")
    await ana.form("Link account")


async def test_rejects_a_key_in_a_command_without_repeating_it(office: Office, ben: Person) -> None:
    answer = await ben.ask(f"/tracker link {KEY}")

    assert "Never type your API key into a command" in answer["text"]
    assert KEY not in str(office.workspace.calls)
    assert KEY not in text_of(answer)


async def test_help_shows_command_examples(ana: Person) -> None:
    said = text_of(await ana.ask("/tracker help"))

    assert "/issue new Login page is blank" in said
    assert "/issues to:me sort:due" in said


def _user_id(office: Office, login: str) -> int:
    return next(user.id for user in office.tracker.data.users.values() if user.login == login)


@pytest.mark.parametrize(
    "typed", ["/tracker {key}", "/tracker login {key}", "/tracker whoami {key}", "/issue {key}"]
)
async def test_never_repeats_a_key_typed_in_any_command(ana: Person, typed: str) -> None:
    assert KEY not in text_of(await ana.ask(typed.format(key=KEY)))


async def test_never_repeats_a_typed_key_to_an_unlinked_user(ben: Person) -> None:
    await ben.command(f"/issue new Foo {KEY} project:webshop")
    form = await ben.form("Link account")
    assert "/issue new Foo … project:webshop" in text_of(form)

    offer = text_of(await ben.after(ben.close(form)))

    assert "/issue new Foo … project:webshop" in offer
