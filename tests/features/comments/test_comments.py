"""Comments on issues: typed, written in the form, and made of a message with its files."""

import pytest
from sqlalchemy import delete

from bot.sandbox.tracker.data import Note
from bot.sandbox.tracker.defaults import REPORTER
from bot.sandbox.tracker.server import Tracker
from bot.store.tables import ClaimRow
from tests.features.files.attached import names, shared
from tests.support.digesting import ANA as OWNER
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, button_saying, labels_of, rich_section, rich_text, text_of, values_of

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
    return await person.form_after(person.shortcut("comment_from_message", message), "Comment")


async def refused(person: Person, message: JSON, values: JSON) -> JSON:
    """The form after a message that is on the issue already."""
    await person.submit(await comment_form(person, message), values)
    return await person.form_saying("Comment", "already on #")


PRIVATE = (
    "{n} comment (private) they won't pay",
    "{n} comment [Private] they won't pay",
    "{n} comment private - they won't pay",
    "{n} comment private they won't pay",
    "{n} comment *internal* they won't pay",
    "{n} comment this is confidential, they won't pay",
    "{n} comment for internal use only: they won't pay",
    "{n} reply they won't pay (internal)",
    "{n} note internal note – they won't pay",
    "{n} note internal note they won't pay",
    "{n} note internal, they won't pay",
    "note {n} internal they won't pay",
    "{n} comment _private_ they won't pay",
    "{n} comment :lock: private: they won't pay",
    "{n} comment this is a private note: they won't pay",
    "{n} comment please keep this private: they won't pay",
    "{n} comment note: confidential, they won't pay",
    "{n} comment they won't pay (internal only)",
    "{n} comment they won't pay (private, please)",
    "{n} comment they won't pay - private",
    "{n} comment they won't pay. Confidential.",
    "{n} comment they won't pay #private",
    "{n} comment secret: they won't pay",
    "{n} comment team only: they won't pay",
    "{n} comment for the team only - they won't pay",
    "{n} comment internal only they won't pay",
    "{n} comment just for us: they won't pay",
    "{n} comment they won't pay (only for the team)",
    "{n} add a private note they won't pay",
    "comment {n} (internal) they won't pay",
    "add an internal comment to {n} they won't pay",
)


async def test_what_may_be_private_is_written_in_the_form(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    before = len(notes(office))
    for typed in PRIVATE:
        form = await ana.form_after(ana.command(f"/issue {typed.format(n=NUMBER)}"), "Comment")
        assert labels_of(form) == {"Comment", "Private note"}, typed
        assert "they won't pay" in values_of(form)["Comment"]
        await ana.close(form)
    assert len(notes(office)) == before

    for typed in ("comment (private) secret", "private note secret"):
        form = await ana.form_after(ana.command(f"/issue {NUMBER} {typed}"), "Comment")
        await ana.after(ana.submit(form, {}))
        assert notes(office)[-1].is_private
    form = await ana.form_after(ana.command(f"/issue comment {NUMBER}, 13 (private) secret"), "Comment")
    await ana.choose(form, "Issue", f"#{NUMBER}")
    form = await ana.form("Comment", lambda view: "Private note" in labels_of(view))
    await ana.after(ana.submit(form, {}))
    assert notes(office)[-1].is_private
    form = await ana.form_after(ana.command(f"/issue {NUMBER} private note now for all"), "Comment")
    await ana.after(ana.submit(form, {"Private note": False}))
    assert not notes(office)[-1].is_private

    await linked_ben.command(f"/issue {NUMBER} comment (private) secret")
    assert "doesn't let you write private notes" in text_of(await linked_ben.form("Comment"))
    public = (
        "internal server error again",
        "Internally, we call it private/public",
        "fixed (see internal server error)",
        "private_key is missing",
        "secret key rotation fails: retry",
        "the team only saw it once",
        "the field is private.",
    )
    for typed in public:
        await ana.ask(f"/issue {NUMBER} comment {typed}")
    assert len(notes(office)) == before + 4 + len(public)


async def test_a_comment_is_added_as_it_is_written(office: Office, ana: Person, linked_ben: Person) -> None:
    url, before = f"{office.tracker.url}/issues/{NUMBER}", len(notes(office))
    for typed in (f"{NUMBER} comment", f"comment {NUMBER}", f"#{NUMBER} note", f"Comment on {url}"):
        text = text_of(
            await ana.ask(f'/issue {typed} It\'s the "second" one:\n- see https://example.com/issues/7')
        )

        note = notes(office)[-1]
        assert note.text.split("\r\n") == ['It\'s the "second" one:', "- see https://example.com/issues/7"]
        assert (note.user_id, note.is_private) == (ANA, False)
        assert f"Commented on <{url}|#{NUMBER} Delivery" in text
        assert '“It\'s the "second" one: - see' in text
    assert len(notes(office)) == before + 4

    form = await ana.form_after(ana.command("/issue comment"), "Comment")
    assert labels_of(form) == {"Issue", "Comment"}
    await ana.close(form)
    form = await ana.form_after(ana.command(f"/issue {NUMBER} comment"), "Comment")
    assert labels_of(form) == {"Comment", "Private note"}
    await ana.close(form)

    await ana.press(await ana.ask(f"/issue {NUMBER}"), "Comment")
    rich = {"type": "text", "text": "bold", "style": {"bold": True}}
    values = {"Comment": rich_text(rich_section(rich, " words")), "Private note": True}
    answer = await ana.after(ana.submit(await ana.form("Comment"), values))

    note = notes(office)[-1]
    assert (note.text, note.is_private) == ("**bold** words", True)
    assert "Added a private note to" in text_of(answer)
    await linked_ben.press(await linked_ben.ask(f"/issue {NUMBER}"), "Comment")
    assert labels_of(await linked_ben.form("Comment")) == {"Comment"}


async def test_a_message_with_files_is_one_change(office: Office, ana: Person, ben: Person) -> None:
    first = await ben.say("The cart is empty again")
    await ana.shortcut("issue_from_message", first)
    await ana.after(ana.submit(await ana.form("New issue"), {"Project": "Web Shop"}))
    number = max(office.tracker.data.issues)
    text = "Only in *Safari*\n1. open\n2. pay"
    reply = await shared(ben, ("cart.log", b"empty"), text=text, thread=first)

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

    again = await refused(ana, reply, {})
    assert f"already on #{number}" in text_of(again)
    assert "Open in Tracker" in text_of(again)
    assert "Only in " in str(values_of(again)["Comment"])
    await office.bot.database.execute(delete(ClaimRow))  # as a day later
    await ana.form_after(ana.submit(again, {}), "Comment", f"already on #{number}")
    await office.idle()
    assert len(office.tracker.data.issues[number].notes) == 1


async def test_comments_are_posted_where_everyone_sees_them(office: Office, ana: Person, ben: Person) -> None:
    issues = office.tracker.data.issues
    own, exposed, *_ = (
        n for n, issue in issues.items() if (issue.project_id, issue.is_private) == (1, False) and n != NUMBER
    )
    other = next(number for number, issue in issues.items() if issue.project_id == SECURITY)
    issues[own].is_private, issues[own].author_id = True, ANA
    await office.bot.store.created_issues.put(OWNER, exposed, issues[exposed].subject, privacy_refused=True)
    for number, values, why in (
        (own, {}, "the issue is private"),
        (other, {}, "Share here"),
        (exposed, {}, "the issue was meant to be private"),
        (NUMBER, {"Private note": True}, "the comment is private"),
    ):
        form = await comment_form(ana, await ana.say(f"For #{number}"))
        answers = [await ana.after(ana.submit(form, values))]
        assert notes(office, number)
        if not values:
            await ana.shortcut("files_to_issue", await shared(ana, ("a.csv", b"a"), text=f"For #{number}"))
            answers.append(await ana.after(ana.submit(await ana.form("Attach files"), {})))
            assert "Attached 1 file to" in text_of(answers[-1])
            await ana.close(await ana.form("Files"))
        assert [each["ephemeral"] and why in text_of(each) for each in answers] == [True] * len(answers)

    texts = [text_of(message) for message in await ben.messages()]
    assert not [text for text in texts if "added" in text or "ttached" in text]


async def test_a_private_note_stays_unknown_to_those_who_cannot_see_it(
    office: Office, ana: Person, linked_ben: Person, chris: Person
) -> None:
    role = office.tracker.data.roles[REPORTER]
    role.rights = (role.rights | {"add_issue_notes"}) - {"view_private_notes"}
    message, private = await ana.say(f"For #{NUMBER}"), {"Private note": True}
    await ana.after(ana.submit(await comment_form(ana, message), private))

    answer = await linked_ben.after(linked_ben.submit(await comment_form(linked_ben, message), {}))

    assert "Ben Okafor added" in text_of(answer)
    assert [note.is_private for note in notes(office)[-2:]] == [True, False]
    await refused(chris, message, {})
    await ana.close(await refused(ana, message, private))
    assert len([note for note in notes(office) if f"For #{NUMBER}" in note.text]) == 2

    form = await comment_form(ana, await ana.say(f"Also for #{NUMBER}"))
    for role in office.tracker.data.roles.values():
        role.rights = role.rights - {"set_notes_private"}
    text = text_of(await ana.after(ana.submit(form, private)))
    assert "didn't make your comment private" in text  # the service shows it to everyone
    assert "Only you" not in text


@pytest.mark.parametrize("tracker", ["no updates"], indirect=True)
async def test_a_service_without_updates_is_named_and_the_buttons_go(ana: Person) -> None:
    for typed in (f"/issue {NUMBER} comment See above", f"/issue {NUMBER} close"):
        answer = await ana.ask(typed)

        answer_text = text_of(answer)
        assert f"doesn't let me change issues. Open #{NUMBER} to change it there." in answer_text
        assert typed in answer_text
        button_saying(answer["blocks"], "Open in Tracker")

    card = str(await ana.ask(f"/issue {NUMBER}"))
    assert [text for text in ("Edit", "Comment", "Assign to me") if f"'{text}'" in card] == []
