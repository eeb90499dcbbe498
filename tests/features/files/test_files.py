"""Attaching files from Slack to issues: none is lost silently or attached twice."""

import pytest

from bot.sandbox.tracker.server import Tracker
from tests.features.files.attached import ANA, NUMBER, attached, buttons, names, shared
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, option_in_menus, text_of, values_of

TOO_LARGE = bytes(5 * 1024 * 1024 + 1)


@pytest.fixture(params=[True])
def tracker(request: pytest.FixtureRequest) -> Tracker:
    """The parameter tells whether the service lets users change issues."""
    return demo_tracker(issue_updates=request.param)


async def form_for(person: Person, message: JSON) -> JSON:
    return await person.form_after(person.shortcut("files_to_issue", message), "Attach files")


async def attach(person: Person, message: JSON, number: int = NUMBER) -> JSON:
    """What the form says when all of a message's files are attached to the issue, or aren't."""
    await person.submit(await form_for(person, message), {"Issue": f"#{number}"})
    return await person.form("Files")


async def test_uploaded_files_are_attached_and_too_large_one_is_refused(office: Office, ana: Person) -> None:
    form = await ana.form_after(ana.command(f"/issue attach {NUMBER}"), "Attach files")
    assert f"#{NUMBER} {office.tracker.data.issues[NUMBER].subject}" in text_of(form)
    contents = {"one.log": b"1", "big.bin": TOO_LARGE, "two.log": b"22"}

    await ana.submit(form, {"Files": [await ana.upload(*file) for file in contents.items()]})

    form = await ana.form("Files")
    text = text_of(form)
    assert "*one.log* attached" in text
    assert "*two.log* attached" in text
    assert "*big.bin* wasn't attached. Tracker rejected it: This file cannot be uploaded" in text
    assert "Retry" not in buttons(form)
    assert names(office.tracker) == ["one.log", "two.log"]
    assert {file.author_id for file in attached(office.tracker)} == {ANA}
    await ana.close(form)

    for typed, text in (("", "You can rename"), (" 99999", "#99999")):
        form = await ana.form_after(ana.command(f"/issue attach{typed}"), "Attach files", text)
        name = f"chosen{typed}.log"
        await ana.submit(form, {"Issue": f"#{NUMBER}", "Files": [await ana.upload(name, b"1")]})
        await ana.close(await ana.form_saying("Files", f"*{name}* attached"))
    assert names(office.tracker) == ["chosen 99999.log", "chosen.log", "one.log", "two.log"]


async def test_the_uploader_renames_and_describes_files(office: Office, ana: Person) -> None:
    form = await form_for(ana, await shared(ana, ("x.csv", b"a,b"), text=f"For #{NUMBER}, as asked"))
    assert values_of(form)["Issue"] == f"#{NUMBER} Delivery costs differ between cart and invoice"
    await ana.submit(form, {"File name": "sales.csv", "Description": "Sales of <May>"})
    next_form = await ana.form_saying("Files", "*sales.csv* attached · Sales of &lt;May&gt;")

    form = await ana.form_after(ana.press_in_form(next_form, "Rename or describe"), "Rename or describe")
    assert values_of(form) == {"File name": "sales.csv", "Description": "Sales of <May>"}
    await ana.submit(form, {"File name": "june.csv", "Description": "x" * 255})

    await ana.close(await ana.form_saying("Files", "june.csv"))
    [file] = attached(office.tracker)
    assert (file.filename, file.description) == ("june.csv", "x" * 255)
    next_form = await attach(ana, await shared(ana, ("y.csv", b"a,b")))
    await office.link(ana.user_id, KEYS["ben"])  # another account; the button is unchanged
    await ana.press_in_form(next_form, "Rename or describe")
    await ana.form_saying("Files", "Someone else attached this file")
    assert names(office.tracker) == ["june.csv", "y.csv"]


async def test_issue_from_message_gets_the_checked_files(office: Office, ana: Person) -> None:
    message = await shared(ana, ("keep.log", b"1"), ("drop.log", b"2"), ("big.bin", TOO_LARGE))
    form = await ana.form_after(ana.shortcut("issue_from_message", message), "New issue")
    assert values_of(form)["Files"] == ["keep.log", "drop.log", "big.bin"]
    form = await ana.form_after(ana.choose(form, "Project", "Web Shop"), "New issue", "More fields")
    await ana.submit(form, {"Files": ["keep.log", "big.bin"]})
    await office.idle()

    messages = await ana.messages()
    answer = next(text_of(m) for m in messages if m["ephemeral"] and "keep.log" in text_of(m))
    assert "*keep.log* attached" in answer
    assert "*big.bin* wasn't attached" in answer
    assert names(office.tracker, max(office.tracker.data.issues)) == ["keep.log"]
    assert any(m["thread_ts"] == message["ts"] and "created" in m["text"] for m in messages)


async def test_message_files_can_create_a_new_issue(office: Office, ana: Person) -> None:
    form = await form_for(ana, await shared(ana, ("a.csv", b"a"), text="The numbers are wrong"))

    new = await ana.form_after(ana.press_in_form(form, "Create issue with files"), "New issue")
    assert values_of(new)["Subject"] == "The numbers are wrong"
    await ana.after(ana.submit(new, {"Project": "Web Shop"}))

    assert names(office.tracker, max(office.tracker.data.issues)) == ["a.csv"]


async def in_thread(person: Person, message: JSON) -> list[JSON]:
    """The bot's posts in the message's thread."""
    return [m for m in await person.messages() if m["thread_ts"] == message["ts"] and m["is_bot"]]


async def test_a_messages_files_are_attached_and_announced_once(office: Office, ana: Person) -> None:
    message = await shared(ana, ("a.csv", b"a"), ("b.csv", b"b"), ("c.csv", b"c"))
    subject = "Delivery costs differ between cart and invoice"
    for _ in range(2):  # the second time nothing is attached again
        form = await form_for(ana, message)
        fields = [block["block_id"] for block in form["blocks"] if block["type"] == "input"]
        assert fields[:4] == ["files", "issue", "name_0", "description_0"]
        await ana.submit(form, {"Files": ["a.csv", "c.csv"], "Issue": subject})
        form = await ana.form_saying("Files", "*c.csv* attached")
        await office.idle()
        await ana.close(form)
    assert names(office.tracker) == ["a.csv", "c.csv"]

    [post] = await in_thread(ana, message)
    assert "Ana Ruiz attached 2 files from <" in post["text"]
    assert f"#{NUMBER} Delivery costs" in post["text"]
    option_in_menus(post["blocks"], "Follow in this thread")
    await ana.delete_post(post)
    await office.idle()
    assert not await in_thread(ana, message)

    issues = office.tracker.data.issues.values()
    other = next(i.id for i in issues if i.project_id == 1 and not i.is_private and i.id != NUMBER)
    assert "*a.csv* attached" in text_of(await attach(ana, message, other))
    assert names(office.tracker, other) == ["a.csv", "b.csv", "c.csv"]


async def test_shared_channel_files_are_attached_or_explained(office: Office, ana: Person) -> None:
    message = next(m for m in await ana.messages() if not m["files"] and not m["is_bot"])
    await ana.shortcut("files_to_issue", message)
    form = await ana.form_saying("That didn't work", "This message has no files")
    await ana.close(form)

    ana.channel = "partners"
    form = await attach(ana, await shared(ana, ("plan.txt", b"plan")))
    assert "*plan.txt* attached" in text_of(form)
    await ana.close(form)

    ana.channel = "leadership"  # where the bot isn't a member
    form = await attach(ana, await shared(ana, ("secret.txt", b"s")))
    assert "*secret.txt* wasn't attached. I can't see it in Slack. Invite me" in text_of(form)
    assert names(office.tracker) == ["plan.txt"]


@pytest.mark.parametrize("tracker", [False], indirect=True)
async def test_a_service_without_updates_gets_a_new_issue_with_the_files(office: Office, ana: Person) -> None:
    data = office.tracker.data
    sent = []
    for _ in range(2):
        form = await ana.form_after(ana.command(f"/issue attach {NUMBER}"), "Attach files")
        await ana.submit(form, {"Files": [await ana.upload("a.log", b"1")]})
        next_form = await ana.form_saying("Files", "can't add files to an existing issue")
        assert names(office.tracker) == []
        sent.append(len(data.attachments))
    assert sent[0] == sent[1]  # the bot knows now, so it sends no request

    new = await ana.form_after(ana.press_in_form(next_form, "Create issue with files"), "New issue")
    values = values_of(new)
    assert values["Subject"] == f"Files for #{NUMBER} Delivery costs differ between cart and invoice"
    assert values["Files"] == ["a.log"]
    await ana.after(ana.submit(new, {}))

    assert names(office.tracker, max(data.issues)) == ["a.log"]
    assert office.newest_issue().project_id == 1
