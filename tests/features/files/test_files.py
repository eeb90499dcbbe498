"""Attaching files from Slack to issues: none is lost silently or attached twice."""

import pytest

from bot.sandbox.tracker.server import Tracker
from bot.store.owner import Owner
from tests.features.files.attached import ANA, NUMBER, attached, buttons, names, said, shared
from tests.support.office import TEAM, Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, option_in_menus, text_of, values_of

SECURITY = 4
TOO_LARGE = bytes(5 * 1024 * 1024 + 1)


async def form_for(person: Person, message: JSON) -> JSON:
    await person.shortcut("files_to_issue", message)
    return await person.form("Attach files")


async def test_uploaded_files_are_attached_and_too_large_one_is_refused(office: Office, ana: Person) -> None:
    await ana.command(f"/issue attach {NUMBER}")
    form = await ana.form("Attach files")
    files = [
        await ana.upload(name, content)
        for name, content in (("one.log", b"1"), ("big.bin", TOO_LARGE), ("two.log", b"22"))
    ]

    await ana.submit(form, {"Files": files})

    form = await ana.form("Files")
    told = text_of(form)
    assert "*one.log* attached" in told
    assert "*two.log* attached" in told
    assert "*big.bin* wasn't attached. Tracker rejected it: This file cannot be uploaded" in told
    assert "Retry" not in buttons(form)
    assert names(office.tracker) == ["one.log", "two.log"]
    assert {file.author_id for file in attached(office.tracker)} == {ANA}


@pytest.mark.parametrize(("typed", "told"), [("", "You can rename"), (" 99999", "#99999")])
async def test_issue_can_be_chosen_in_the_form(office: Office, ana: Person, typed: str, told: str) -> None:
    await ana.command(f"/issue attach{typed}")
    form = await ana.form_saying("Attach files", told)

    await ana.submit(form, {"Issue": f"#{NUMBER}", "Files": [await ana.upload("a.log", b"1")]})

    assert "*a.log* attached" in await said(ana)
    assert names(office.tracker) == ["a.log"]


async def test_message_files_are_attached_to_the_chosen_issue(office: Office, ana: Person) -> None:
    message = await shared(ana, ("a.csv", b"a,b"), ("b.csv", b"c"), ("c.csv", b"d"))
    form = await form_for(ana, message)
    fields = [block["block_id"] for block in form["blocks"] if block["type"] == "input"]
    assert fields[:4] == ["files", "issue", "name_0", "description_0"]

    await ana.submit(
        form, {"Files": ["a.csv", "c.csv"], "Issue": "Delivery costs differ between cart and invoice"}
    )

    assert "*c.csv* attached" in await said(ana)
    assert names(office.tracker) == ["a.csv", "c.csv"]


async def test_files_are_renamed_and_described_before_and_after_attaching(
    office: Office, ana: Person
) -> None:
    form = await form_for(ana, await shared(ana, ("x.csv", b"a,b"), text=f"For #{NUMBER}, as asked"))
    assert values_of(form)["Issue"] == f"#{NUMBER} Delivery costs differ between cart and invoice"
    await ana.submit(form, {"File name": "sales.csv", "Description": "Sales of <May>"})
    told = await ana.form_saying("Files", "*sales.csv* attached · Sales of &lt;May&gt;")

    await ana.press_in_form(told, "Rename or describe")
    form = await ana.form("Rename or describe")
    assert values_of(form) == {"File name": "sales.csv", "Description": "Sales of <May>"}
    await ana.submit(form, {"File name": "june.csv", "Description": "x" * 255})

    assert "june.csv" in await said(ana)
    [file] = attached(office.tracker)
    assert (file.filename, file.description) == ("june.csv", "x" * 255)


async def test_only_the_uploader_can_rename_a_file(office: Office, ana: Person) -> None:
    form = await form_for(ana, await shared(ana, ("x.csv", b"a,b")))
    await ana.submit(form, {"Issue": f"#{NUMBER}"})
    told = await ana.form("Files")
    await office.link(ana.user_id, KEYS["ben"])  # another account; the button is unchanged

    await ana.press_in_form(told, "Rename or describe")

    await ana.form_saying("Files", "Someone else attached this file")
    assert names(office.tracker) == ["x.csv"]


async def test_same_file_is_attached_to_an_issue_once(office: Office, ana: Person) -> None:
    message = await shared(ana, ("once.log", b"1"))
    await ana.submit(await form_for(ana, message), {"Issue": f"#{NUMBER}"})
    await said(ana)

    await ana.submit(await form_for(ana, message), {"Issue": f"#{NUMBER}"})

    assert "*once.log* attached" in await said(ana)
    assert names(office.tracker) == ["once.log"]


async def test_same_file_is_attached_to_two_issues(office: Office, ana: Person) -> None:
    message = await shared(ana, ("once.log", b"1"))
    issues = office.tracker.data.issues.values()
    other = next(i.id for i in issues if i.project_id == 1 and not i.is_private and i.id != NUMBER)
    for number in (NUMBER, other):
        await ana.submit(await form_for(ana, message), {"Issue": f"#{number}"})
        form = await ana.form_saying("Files", "*once.log* attached")
        await ana.close(form)

    assert names(office.tracker, NUMBER) == names(office.tracker, other) == ["once.log"]


async def test_issue_from_message_gets_the_checked_files(office: Office, ana: Person) -> None:
    message = await shared(ana, ("keep.log", b"1"), ("drop.log", b"2"), ("big.bin", TOO_LARGE))
    await ana.shortcut("issue_from_message", message)
    form = await ana.form("New issue")
    assert values_of(form)["Files"] == ["keep.log", "drop.log", "big.bin"]
    await ana.choose(form, "Project", "Web Shop")
    form = await ana.form_saying("New issue", "More fields")
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

    await ana.press_in_form(form, "Create issue with files")
    new = await ana.form("New issue")
    assert values_of(new)["Subject"] == "The numbers are wrong"
    await ana.after(ana.submit(new, {"Project": "Web Shop"}))

    assert names(office.tracker, max(office.tracker.data.issues)) == ["a.csv"]


async def in_thread(person: Person, message: JSON) -> list[JSON]:
    """The bot's posts in the message's thread."""
    return [m for m in await person.messages() if m["thread_ts"] == message["ts"] and m["is_bot"]]


async def test_attaching_a_messages_files_is_announced_in_its_thread(office: Office, ana: Person) -> None:
    message = await shared(ana, ("a.csv", b"a"), ("b.csv", b"b"))
    for _ in range(2):  # the second time nothing is attached again
        await ana.submit(await form_for(ana, message), {"Issue": f"#{NUMBER}"})
        assert "*b.csv* attached" in await said(ana)
        await office.idle()
        await ana.close(await ana.form("Files"))

    [post] = await in_thread(ana, message)
    assert "Ana Ruiz attached 2 files from <" in post["text"]
    assert f"#{NUMBER} Delivery costs" in post["text"]
    option_in_menus(post["blocks"], "Follow in this thread")
    await ana.delete_post(post)
    await office.idle()
    assert not await in_thread(ana, message)


async def test_files_of_issues_that_some_cannot_see_are_told_privately(
    office: Office, ana: Person, ben: Person
) -> None:
    issues = office.tracker.data.issues
    private, exposed, *_ = (number for number, one in issues.items() if one.project_id == 1)
    other = next(number for number, one in issues.items() if one.project_id == SECURITY)
    issues[private].is_private, issues[exposed].is_private = True, False
    owner = Owner(None, TEAM, ana.user_id)
    await office.bot.store.created_issues.put(owner, exposed, "Exposed", privacy_refused=True)
    for number, why in (
        (private, "the issue is private"),
        (other, "Share here"),
        (exposed, "the issue was meant to be private"),
    ):
        form = await form_for(ana, await shared(ana, ("a.csv", b"a")))
        told = await ana.after(ana.submit(form, {"Issue": f"#{number}"}))
        assert told["ephemeral"]
        assert "Attached 1 file to" in text_of(told)
        assert why in text_of(told)
        await ana.close(await ana.form("Files"))
    assert not [text for m in await ben.messages() if "ttached" in (text := text_of(m))]


async def test_shared_channel_files_are_attached_or_explained(office: Office, ana: Person) -> None:
    ana.channel = "partners"
    form = await form_for(ana, await shared(ana, ("plan.txt", b"plan")))
    await ana.submit(form, {"Issue": f"#{NUMBER}"})
    assert "*plan.txt* attached" in await said(ana)

    ana.channel = "leadership"  # where the bot isn't a member
    form = await form_for(ana, await shared(ana, ("secret.txt", b"s")))
    await ana.submit(form, {"Issue": f"#{NUMBER}"})
    assert "*secret.txt* wasn't attached. I can't see it in Slack. Invite me" in await said(ana)
    assert names(office.tracker) == ["plan.txt"]


async def test_message_without_files_is_an_error(ana: Person) -> None:
    message = next(m for m in await ana.messages() if not m["files"] and not m["is_bot"])

    await ana.shortcut("files_to_issue", message)

    assert "This message has no files" in await said(ana, "That didn't work")


class TestServiceWithoutIssueUpdates:
    """A service that accepts files only with a new issue."""

    @pytest.fixture
    def tracker(self) -> Tracker:
        return demo_tracker(issue_updates=False)

    async def test_offers_a_new_issue_with_the_files(self, office: Office, ana: Person) -> None:
        await ana.command(f"/issue attach {NUMBER}")
        form = await ana.form("Attach files")
        await ana.submit(form, {"Files": [await ana.upload("a.log", b"1")]})
        told = await ana.form("Files")
        assert "can't add files to an existing issue" in text_of(told)
        assert names(office.tracker) == []
        sent = len(office.tracker.data.attachments)
        await ana.command(f"/issue attach {NUMBER}")  # the bot knows now, so it sends no request
        form = await ana.form("Attach files")
        await ana.submit(form, {"Files": [await ana.upload("a.log", b"1")]})
        told = await ana.form("Files")
        assert len(office.tracker.data.attachments) == sent

        await ana.press_in_form(told, "Create issue with files")
        new = await ana.form("New issue")
        held = values_of(new)
        assert held["Subject"] == f"Files for #{NUMBER} Delivery costs differ between cart and invoice"
        assert held["Files"] == ["a.log"]
        await ana.after(ana.submit(new, {}))

        assert names(office.tracker, max(office.tracker.data.issues)) == ["a.log"]
        assert office.newest_issue().project_id == 1
