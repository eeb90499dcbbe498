"""Users without a linked account link it before any form opens, and what they asked for follows."""

import pytest

from bot.slack.manifest import SHORTCUTS
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, waiting

MESSAGES = {shortcut.callback_id for shortcut in SHORTCUTS if shortcut.kind == "message"}
COMMANDS = (
    *("/issue", "/issue comment", "/issue 12 comment", "/issue 12 edit", "/issue attach"),
    *("/issue template new", "/timelog", "/timelog edit", "/digest add webshop", "/digest me daily"),
    *("/tracker project new", "/tracker user new"),
)


async def first_form(person: Person) -> JSON:
    """Waits for a form and returns it."""

    async def shown() -> JSON | None:
        views = (await person.state())["views"]
        return views[-1] if views and not waiting(views[-1]) else None

    return await until(shown)


@pytest.mark.parametrize("asked", [*(shortcut.callback_id for shortcut in SHORTCUTS), *COMMANDS])
async def test_no_form_opens_before_the_account_is_linked(
    office: Office, ana: Person, ben: Person, asked: str
) -> None:
    message = await ana.say("The cart is empty") if asked in MESSAGES else None

    await (ben.command(asked) if asked.startswith("/") else ben.shortcut(asked, message))

    assert (await first_form(ben))["title"]["text"] == "Link account"
    calls = [call.method for call in office.workspace.calls if call.method.startswith("views.")]
    assert calls == ["views.open"]


async def test_a_message_is_added_as_a_comment_after_linking(ana: Person, ben: Person) -> None:
    await ben.shortcut("comment_from_message", await ana.say("The cart is empty"))
    await ben.submit(await ben.form("Link account"), {"API key": KEYS["ben"]})

    assert "The cart is empty" in text_of(await ben.form("Comment"))
