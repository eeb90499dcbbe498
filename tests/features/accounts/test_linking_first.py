"""Users without a linked account link it before any form opens, and what they asked for follows."""

import pytest

from bot.slack.surfaces.manifest import manifest_yaml, parsed
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import text_of, waiting

SHORTCUTS = {each["callback_id"]: each["type"] for each in parsed(manifest_yaml())["features"]["shortcuts"]}
MESSAGES = {name for name, kind in SHORTCUTS.items() if kind == "message"}
COMMANDS = (
    *("/issue", "/issue comment", "/issue 12 comment", "/issue 12 edit", "/issue attach"),
    *("/issue template new", "/timelog", "/timelog edit", "/digest add webshop", "/digest me daily"),
    *("/tracker project new", "/tracker user new"),
)


async def test_no_form_opens_before_the_account_is_linked(office: Office, ana: Person, ben: Person) -> None:
    message = await ana.say("The cart is empty")
    for asked in (*SHORTCUTS, *COMMANDS):
        office.workspace.calls.clear()
        await (
            ben.command(asked)
            if asked.startswith("/")
            else ben.shortcut(asked, message if asked in MESSAGES else None)
        )

        view = await ben.view(lambda view: not waiting(view))
        assert view["title"]["text"] == "Link account", asked
        calls = [call.method for call in office.workspace.calls if call.method.startswith("views.")]
        assert calls == ["views.open"], asked
        await ben.close(view)
        await office.idle()


@pytest.mark.parametrize(
    ("asked", "title", "text"),
    [("create_issue", "New issue", "Project"), ("comment_from_message", "Comment", "The cart is empty")],
)
async def test_the_form_opens_after_linking(
    ana: Person, ben: Person, asked: str, title: str, text: str
) -> None:
    await ben.shortcut(asked, await ana.say("The cart is empty") if asked in MESSAGES else None)
    await ben.submit(await ben.form("Link account"), {"API key": KEYS["ben"]})

    assert text in text_of(await ben.form(title))
