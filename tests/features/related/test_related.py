"""*Find related issues* on a message."""

from bot.sandbox.tracker import defaults
from tests.features.files.attached import attached, shared
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of

TITLE = "Related issues"
REPORTS = {
    "Discount code is applied twice": "Her SPRING10 code took 10 off two times, it was applied again",
    "Delivery costs differ between cart and invoice": "Why do people pay 5.90 when the cart promised 4.90? "
    "The invoice is always higher than quoted",
    "Search finds nothing for words with an umlaut": "I searched for Gemüse: no results. Umlauts broken?",
    "Password reset link works only once a day": "Two people can't reset their password a second time today",
    "Customer was charged twice": "Mr Lang wrote that we are charging his card two times for one order",
    "Barcode scanner finds the wrong product": "It showed a different product when scanning this barcode",
    "Office VPN drops after an hour": "My VPN keeps disconnecting every hour when I'm at home",
    "Replica lags after the nightly import": "heads-up: the replica is 40 minutes behind :warning:",
    "Dark mode shows black text on black": "In dark mode I can't read a thing, the text is nearly invisible",
    "Gift cards that are sent by mail": "People want to buy a gift card online that we mail to a friend",
}
"""Messages that talk about an issue in other words, by its subject."""


async def find(person: Person, message: JSON) -> JSON:
    """Returns the list of issues that a message may be about, without any list that was open before."""
    for view in reversed((await person.state())["views"]):
        await person.close(view)
    return await person.form_after(person.shortcut("find_from_message", message), TITLE)


def rows_of(view: JSON) -> list[JSON]:
    return [block for block in view["blocks"] if (block.get("accessory") or {}).get("type") == "overflow"]


def row_with(view: JSON, text: str) -> JSON:
    return next(block for block in rows_of(view) if text in text_of({"blocks": [block]}))


async def replies_to(person: Person, message: JSON) -> list[str]:
    await person.office.idle()
    thread = [m for m in await person.messages() if m.get("thread_ts") == message["ts"]]
    return [text_of(reply) for reply in thread if reply["ts"] != message["ts"]]


async def test_an_issue_in_other_words_is_among_the_first_three(office: Office, ana: Person) -> None:
    for issue in office.tracker.data.issues.values():
        if issue.subject in REPORTS:  # closed ones come later
            issue.status_id = defaults.NEW
    missed = []
    for subject, text in REPORTS.items():
        rows = rows_of(await find(ana, await ana.say(text)))
        if not any(subject in text_of({"blocks": [row]}) for row in rows[:3]):
            missed.append(subject)

    assert missed == []


async def test_named_issues_come_first_and_open_ones_before_closed_ones(office: Office, ana: Person) -> None:
    data = office.tracker.data
    message = await ana.say("#12 again? The umlaut is lost in search, as in #99999")

    view = await find(ana, message)

    numbers = [int(row["text"]["text"].partition("#")[2].partition(" ")[0]) for row in rows_of(view)]
    closed = [data.statuses[data.issues[number].status_id].is_closed for number in numbers]
    assert numbers[0] == 12
    assert closed == sorted(closed)
    assert {True, False} == set(closed)
    assert len(numbers) <= 10


async def test_searches_the_channels_project_first_and_then_all(ana: Person) -> None:
    await ana.ask("/tracker default webshop")
    message = await ana.say("The product picture is rotated")
    view = await find(ana, message)
    assert "in Web Shop" in text_of(view)
    assert "App crashes when rotating" not in text_of(view)

    await ana.press_in_form(view, "Search all projects")
    assert "App crashes when rotating" in text_of(await ana.form_saying(TITLE, "in all projects"))

    assert "VPN drops" in text_of(await find(ana, await ana.say("The VPN hangs")))


async def test_a_message_and_its_files_are_added_to_an_issue(office: Office, ana: Person) -> None:
    files = ("a.csv", b"a"), ("b.csv", b"b")
    view = await find(ana, await shared(ana, *files, text="Delivery costs differ again"))
    await ana.choose_in_form(view, row_with(view, "#12 "), "Attach files")
    form = await ana.form("Attach files")
    assert values_of(form)["Issue"].startswith("#12 ")
    await ana.submit(form, {"Files": ["b.csv"]})
    await ana.close(await ana.form("Files"))
    assert [file.filename for file in attached(office.tracker)] == ["b.csv"]

    await ana.choose_in_form(view, row_with(view, "#12 "), "Comment")
    await ana.submit(await ana.form("Comment"), {})
    await office.idle()
    assert "Delivery costs differ again" in office.tracker.data.issues[12].notes[-1].text


async def test_shares_in_the_thread_what_everyone_may_see(office: Office, ana: Person) -> None:
    public, hidden = office.tracker.data.issues[12], office.tracker.data.issues[42]
    hidden.is_private, message = True, await ana.say("#12 or #42? Or session after a password change")
    view = await find(ana, message)
    assert "Share in thread" not in str(row_with(view, f"#{hidden.id} "))

    await ana.choose_in_form(view, row_with(view, f"#{public.id} "), "Share in thread")
    await ana.form_saying("Share issue", "in the thread.")
    (reply,) = await replies_to(ana, message)
    assert "shared" in reply
    assert public.subject in reply

    view = await find(ana, message)
    await ana.choose_in_form(view, row_with(view, "Session stays valid"), "Share in thread")
    question = await ana.form_saying("Share issue", "isn't public")
    assert len(await replies_to(ana, message)) == 1
    await ana.form_after(ana.press_in_form(question, "Share issue"), "Share issue", "in the thread.")
    assert "Session stays valid" in (await replies_to(ana, message))[1]


async def test_creates_an_issue_where_none_fits(office: Office, ana: Person) -> None:
    message = await ana.say("Zeppelins hover over the quay")
    view = await find(ana, message)
    assert "No related issues found in any project" in text_of(view)

    await ana.press_in_form(view, "Create an issue")
    await ana.choose(await ana.form("New issue"), "Project", "Web Shop")
    form = await ana.form_saying("New issue", "Assignee")
    assert values_of(form)["Subject"] == "Zeppelins hover over the quay"
    await ana.submit(form, {})

    assert "created" in (await until(lambda: replies_to(ana, message)))[0]
    assert office.newest_issue().subject == "Zeppelins hover over the quay"
