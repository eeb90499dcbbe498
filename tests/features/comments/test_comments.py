"""Comments on issues: typed, written in the form, and made of a message with its files."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.sandbox.tracker.data import Note
from bot.sandbox.tracker.defaults import REPORTER
from bot.sandbox.tracker.server import Tracker
from tests.features.files.attached import names
from tests.support.digesting import ANA as OWNER
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, button_saying, labels_of, text_of, values_of

NUMBER, SECURITY = 12, 4
ANA = 1


@pytest.fixture(params=["history"])
def tracker(request: pytest.FixtureRequest) -> Tracker:
    """By default, a service that tells an issue's history and everyone's permissions."""
    tells = request.param == "history"
    return demo_tracker(issue_reads=tells, roles=tells, issue_updates=request.param != "no updates")


def notes(office: Office, number: int = NUMBER) -> list[Note]:
    return [note for note in office.tracker.data.issues[number].notes if note.text]


async def comment_form(person: Person, message: JSON) -> JSON:
    """Opens the form for a message."""
    await person.shortcut("comment_from_message", message)
    return await person.form("Comment")


async def texts(person: Person, channel: str = "general") -> list[str]:
    return [text_of(message) for message in await person.messages(channel)]


async def test_a_typed_comment_is_added_as_it_is_written(office: Office, ana: Person) -> None:
    url, before = f"{office.tracker.url}/issues/{NUMBER}", len(notes(office))
    for typed in (f"{NUMBER} comment", f"comment {NUMBER}", f"#{NUMBER} note", f"Comment on {url}"):
        said = text_of(
            await ana.ask(f'/issue {typed} It\'s the "second" one:\n- see https://example.com/issues/7')
        )

        note = notes(office)[-1]
        assert note.text.split("\r\n") == ['It\'s the "second" one:', "- see https://example.com/issues/7"]
        assert (note.user_id, note.is_private) == (ANA, False)
        assert f"Commented on <{url}|#{NUMBER} Delivery" in said
        assert '“It\'s the "second" one: - see' in said
    assert len(notes(office)) == before + 4


async def test_a_command_without_a_text_opens_the_form(ana: Person) -> None:
    for typed, fields in (
        ("comment", {"Issue", "Comment"}),
        (f"{NUMBER} comment", {"Comment", "Private note"}),
    ):
        await ana.command(f"/issue {typed}")

        form = await ana.form("Comment")
        assert labels_of(form) == fields
        await ana.close(form)


async def test_the_form_on_a_card_offers_private_notes_to_those_who_may_write_them(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    card = await ana.ask(f"/issue {NUMBER}")
    await ana.press(card, "Comment")
    form = await ana.form("Comment")
    rich = {"type": "text", "text": "bold", "style": {"bold": True}}
    section = {"type": "rich_text_section", "elements": [rich, {"type": "text", "text": " words"}]}

    answer = await ana.after(
        ana.submit(form, {"Comment": {"type": "rich_text", "elements": [section]}, "Private note": True})
    )

    note = notes(office)[-1]
    assert (note.text, note.is_private) == ("**bold** words", True)
    assert "Added a private note to" in text_of(answer)
    await linked_ben.press(await linked_ben.ask(f"/issue {NUMBER}"), "Comment")
    assert labels_of(await linked_ben.form("Comment")) == {"Comment"}


async def test_a_message_reaches_its_threads_issue_with_its_files_in_one_change(
    office: Office, ana: Person, ben: Person
) -> None:
    first = await ben.say("The cart is empty again")
    await ana.shortcut("issue_from_message", first)
    await ana.after(ana.submit(await ana.form("New issue"), {"Project": "Web Shop"}))
    number = max(office.tracker.data.issues)
    ids = [(await ben.upload("cart.log", b"empty"))["id"]]
    about = {"channel": office.channel_id("general"), "thread_ts": first["ts"], "file_ids": ids}
    await ben._post("message", text="Only in *Safari*\n1. open\n2. pay", **about)
    reply = next(m for m in reversed(await ana.messages()) if m["files"])

    form = await comment_form(ana, reply)
    assert f"#{number}" in str(values_of(form)["Issue"])
    await ana.submit(form, {})
    await office.idle()

    [note] = office.tracker.data.issues[number].notes
    assert "[Ben Okafor in Slack](" in note.text
    assert "> Only in **Safari**  \r\n>  \r\n> 1. open" in note.text
    assert [detail.new_value for detail in note.details] == ["cart.log"]
    assert names(office.tracker, number) == ["cart.log"]
    posted = [m for m in await ben.messages() if "this message" in text_of(m)]
    assert [m["thread_ts"] for m in posted] == [first["ts"]]
    assert "Ana Ruiz added <" in text_of(posted[0])

    form = await comment_form(ana, reply)
    await ana.submit(form, {})

    again = await ana.form_saying("Comment", f"already on #{number}")
    assert "Open in Tracker" in text_of(again)
    assert "Only in " in str(values_of(again)["Comment"])
    await office.bot.store.claims.prune(datetime.now(UTC), timedelta(0))  # as a day later
    await ana.submit(again, {})
    await ana.form_saying("Comment", f"already on #{number}")
    await office.idle()
    assert len(office.tracker.data.issues[number].notes) == 1


@pytest.mark.parametrize("where", ["thread", "message", "nowhere"])
async def test_the_form_for_a_message_finds_its_issue_or_asks_for_it(
    office: Office, ana: Person, where: str
) -> None:
    url = f"{office.tracker.url}/issues/{NUMBER}"
    first = await ana.say(f"About {url}" if where == "thread" else "Hello")
    reply = await ana.say("See #14" if where != "nowhere" else "Me too", first)

    form = await comment_form(ana, reply)

    expected = {"thread": f"#{NUMBER} ", "message": "#14 ", "nowhere": "None"}[where]
    assert expected in str(values_of(form)["Issue"])
    if where == "nowhere":
        assert labels_of(form) == {"Issue", "Comment"}
        await ana.choose(form, "Issue", f"#{NUMBER}")
        form = await ana.form_saying("Comment", "Private note")
        await ana.after(ana.submit(form, {"Issue": f"#{NUMBER}"}))
        assert "> Me too" in notes(office)[-1].text


async def test_a_message_is_announced_only_where_everyone_may_see_the_comment(
    office: Office, ana: Person, ben: Person
) -> None:
    issues = office.tracker.data.issues
    hidden = next(
        number for number, issue in issues.items() if (issue.project_id, issue.author_id) == (1, ANA)
    )
    other = next(number for number, issue in issues.items() if issue.project_id == SECURITY)
    issues[hidden].is_private = True
    exposed = next(n for n, issue in issues.items() if issue.project_id == 1 and n not in (hidden, NUMBER))
    await office.bot.store.created_issues.put(OWNER, exposed, issues[exposed].subject, privacy_refused=True)
    answers = {}
    for number, values in ((hidden, {}), (NUMBER, {"Private note": True}), (other, {}), (exposed, {})):
        form = await comment_form(ana, await ana.say(f"For #{number}"))
        answers[number] = text_of(await ana.after(ana.submit(form, values)))
        assert notes(office, number)

    assert "the issue is private" in answers[hidden]
    assert "the issue was meant to be private" in answers[exposed]
    assert "the comment is private" in answers[NUMBER]
    assert "Share here" in answers[other]
    assert not [text for text in await texts(ben) if "added" in text]


async def test_a_private_note_stays_unknown_to_those_who_cannot_see_it(
    office: Office, ana: Person, linked_ben: Person, chris: Person
) -> None:
    role = office.tracker.data.roles[REPORTER]
    role.rights = (role.rights | {"add_notes"}) - {"view_private_notes"}
    message = await ana.say(f"For #{NUMBER}")
    await ana.after(ana.submit(await comment_form(ana, message), {"Private note": True}))

    answer = await linked_ben.after(linked_ben.submit(await comment_form(linked_ben, message), {}))

    assert "Ben Okafor added" in text_of(answer)
    assert [note.is_private for note in notes(office)[-2:]] == [True, False]
    await chris.submit(await comment_form(chris, message), {})
    await chris.form_saying("Comment", "already")
    await ana.submit(await comment_form(ana, message), {"Private note": True})
    await ana.form_saying("Comment", "already")
    assert len([note for note in notes(office) if f"For #{NUMBER}" in note.text]) == 2


@pytest.mark.parametrize("tracker", ["no updates"], indirect=True)
async def test_a_service_without_updates_is_named_and_the_buttons_go(ana: Person) -> None:
    for typed in (f"/issue {NUMBER} comment See above", f"/issue {NUMBER} close"):
        answer = await ana.ask(typed)

        said = text_of(answer)
        assert f"doesn't let me change issues. Open #{NUMBER} to change it there." in said
        assert typed in said
        button_saying(answer["blocks"], "Open in Tracker")

    card = str(await ana.ask(f"/issue {NUMBER}"))
    assert [text for text in ("Edit", "Comment", "Assign to me") if f"'{text}'" in card] == []


async def test_a_private_note_that_the_service_shows_to_everyone_is_not_called_private(
    office: Office, ana: Person
) -> None:
    form = await comment_form(ana, await ana.say(f"For #{NUMBER}"))
    for role in office.tracker.data.roles.values():
        role.rights = role.rights - {"set_notes_private"}

    said = text_of(await ana.after(ana.submit(form, {"Private note": True})))

    assert "can see your comment" in said
    assert "Only you" not in said
