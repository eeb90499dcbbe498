"""What a user typed or did survives slow services, closed forms, revoked keys and hasty clicks.

It comes back by its button: to its user alone, and for a request once.
"""

import pytest

from bot.slack.surfaces.drafts import saveable
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.people import IDS, KEYS
from tests.support.person import Person
from tests.support.reading import button_saying, text_of, values_of

KEY = "0123456789abcdef" * 2
TYPED = "/timelog 99999 1h activity:design Pairing"
UNSEARCHABLE = ("²", "|", "0", "9" * 30)


@pytest.mark.parametrize(
    ("command", "typed", "saved"),
    [
        ("/tracker", f"link {KEY}", "link …"),
        ("/tracker", f"Link {KEY}", "Link …"),
        ("/acme-tracker", f"link {KEY}", "link …"),
        ("/issue", f"new Reverts {KEY}", f"new Reverts {KEY}"),
    ],
)
def test_a_key_typed_into_a_command_is_not_stored(command: str, typed: str, saved: str) -> None:
    stored = saveable({"command": command, "text": typed, "trigger_id": "1.2"})

    assert stored == {"command": command, "text": saved}


@pytest.mark.parametrize(
    ("of", "action", "expected"),
    [
        ("nobody", "time.fill", "This request has expired. Start over with `/timelog`."),
        ("ben", "time.fill", "This request has expired. Start over with `/timelog`."),
        ("ana", "comment.open_saved", "This form has expired. Start over with `/issue`."),
    ],
)
async def test_a_draft_that_is_gone_or_of_another_user_or_kind_says_how_to_start_over(
    office: Office, ana: Person, linked_ben: Person, *, of: str, action: str, expected: str
) -> None:
    reply = await (linked_ben if of == "ben" else ana).ask(TYPED)
    saved = button_saying(reply["blocks"], "Open form")[1]["value"]
    if of == "nobody":
        assert await office.bot.store.saved_input.take(Owner(None, TEAM, ana.user_id), saved)
    text = {"type": "plain_text", "text": "Go on"}
    button = {"type": "button", "text": text, "action_id": action, "value": saved}
    row, channel = {"type": "actions", "elements": [button]}, office.channel_id("general")
    await office.bot.slack.chat_postEphemeral(channel=channel, user=IDS["ana"], text="Go on?", blocks=[row])

    answer = await ana.after(ana.press((await ana.messages())[-1], "Go on"))

    assert text_of(answer) == expected


async def test_a_request_resumes_once_and_says_what_it_did(office: Office, ana: Person) -> None:
    answer = await ana.ask("/issue new Slow cart project:webshop priority:hgih")
    await ana.after(ana.press(answer, "Use High"))
    made = office.newest_issue()

    text = text_of(await ana.after(ana.press(answer, "Use High")))

    assert text.startswith("I already did this. Check the conversation for my reply.")
    assert "/issue new Slow cart project:webshop priority:High" in text
    assert office.newest_issue() is made


async def test_a_resumed_form_opens_at_each_press(ana: Person) -> None:
    asked = await ana.ask("/issue crate priority:high project:webshop")
    for _ in range(2):
        await ana.press(asked, "Use create")
        form = await ana.form("New issue")
        assert values_of(form)["Priority"] == "High"
        await ana.close(form)


async def test_a_resumed_request_that_needs_an_account_resumes_once(office: Office, ben: Person) -> None:
    await office.link(ben.user_id, KEYS["ben"])
    asked = await ben.ask("/issue new Slow cart project:webshop priority:hgih")
    await office.bot.store.links.delete(Owner(None, TEAM, ben.user_id))
    await ben.press(asked, "Use High")
    await ben.after(ben.submit(await ben.form("Link account"), {"API key": KEYS["ben"]}))
    made = office.newest_issue()

    answer = await ben.after(ben.press(asked, "Use High"))

    assert "I already did this" in text_of(answer)
    assert (made.subject, office.newest_issue()) == ("Slow cart", made)


async def test_a_resumed_command_that_fails_is_quoted(ben: Person) -> None:
    await ben.command("/issue new Very important project:webshop priority:nonsense")

    await ben.submit(await ben.form("Link account"), {"API key": KEYS["ben"]})

    text = text_of(await ben.form("That didn't work"))
    assert "No priority called “nonsense”" in text
    assert "/issue new Very important project:webshop priority:nonsense" in text


async def test_a_form_submitted_before_linking_returns_after_linking(office: Office, ana: Person) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.with_more_fields(await ana.form("New issue"))
    await office.bot.store.links.delete(Owner(None, TEAM, ana.user_id))
    await ana.submit(form, {"Subject": "Typed with care", "Due date": "2030-01-02"})

    await ana.submit(await ana.form("Link account"), {"API key": KEYS["ana"]})

    again = values_of(await ana.form("New issue"))
    assert (again["Subject"], again["Due date"]) == ("Typed with care", "2030-01-02")


async def test_a_revoked_key_is_reported_when_the_form_is_submitted(office: Office, ana: Person) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    office.tracker.data.users[1].api_key = "f" * 40

    assert (await ana.suggest(form, "Project", "web"))["options"] == []
    await ana.submit(form, {"Subject": "Typed with care"})

    assert "refused your API key" in text_of(await ana.form("Link account"))


async def test_choices_of_another_project_are_never_sent(office: Office, ana: Person) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    count = len(office.tracker.data.issues)

    await ana.submit(form, {"Subject": "Hasty", "Category": "Search", "Project": "Infrastructure"})

    await ana.form_saying("New issue", "changed with the project")
    assert len(office.tracker.data.issues) == count
    await ana.after(ana.submit(await ana.form("New issue"), {}))
    assert len(office.tracker.data.issues) == count + 1


async def test_unsearchable_fields_offer_no_options(ana: Person) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.with_more_fields(await ana.form("New issue"))

    offered = {typed: await ana.suggest(form, "Parent issue", typed) for typed in ("1", *UNSEARCHABLE)}

    assert {typed for typed, options in offered.items() if options["options"]} == {"1"}


@pytest.mark.parametrize(
    ("typed", "label", "done"),
    [
        ("/issue new Slow cart project:webshop priority:hgih", "Use High", "created <"),
        ("/issue new Slow cart project:webshop priorty:high", "Use priority:", "created <"),
        ("/issue 12 status:reslved", "Use Resolved", "*Resolved*"),
        ("/issue 12 status:“in porgress”", "Use In progress", "*In progress*"),
        ("/timelog 12 1h30 activity:desgin Pairing", "Use Design", "Logged 1h 30m"),
        ("/digest add webshop daily 9 -tracker:suport", "Use Support", "Excluding issue type Support"),
    ],
)
async def test_a_press_corrects_a_misspelled_name(ana: Person, *, typed: str, label: str, done: str) -> None:
    asked = await ana.ask(typed)
    assert button_saying(asked["blocks"], "Open form")

    await ana.press(asked, label)

    await ana.sees(lambda message: done in text_of(message))


async def test_a_name_that_is_typed_twice_has_no_button(ana: Person) -> None:
    asked = await ana.ask("/issue new Set hgih priority:hgih project:webshop")

    assert "Did you mean High?" in text_of(asked)
    assert "Use High" not in str(asked["blocks"])


@pytest.mark.parametrize(
    ("typed", "label", "done"),
    [
        ("/digest puase", "Use pause", "is paused"),
        ("/digest me dialy 9am", "Use daily", "Your digest is set up"),
        ("/issue commnet 12 Fixed since Monday", "Use comment", "“Fixed since Monday”"),
        ("/issue 12 folow", "Use follow", "following #12"),
        ("/issue serach cart", "Use search", "Subject contains the word: cart"),
    ],
)
async def test_a_press_corrects_a_misspelled_verb(ana: Person, *, typed: str, label: str, done: str) -> None:
    await ana.ask("/digest add webshop daily 9")
    asked = await ana.ask(typed)
    assert "Did you mean `/" in text_of(asked)

    await ana.press(asked, label)

    await ana.sees(lambda message: done in text_of(message))
