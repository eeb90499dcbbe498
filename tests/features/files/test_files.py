"""Attaching files from Slack to issues: none is lost silently or attached twice."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.tracker.data import Attachment
from bot.sandbox.tracker.server import Tracker
from bot.slack.waits import Waits
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.prepared import demo
from tests.support.reading import JSON, text_of, until, values_of
from tests.support.wire import Fault, Wire

ANA, NUMBER = 1, 12
TOO_LARGE = bytes(5 * 1024 * 1024 + 1)


def attached(tracker: Tracker, number: int = NUMBER) -> list[Attachment]:
    return [file for file in tracker.data.attachments.values() if file.issue_id == number]


def names(tracker: Tracker, number: int = NUMBER) -> list[str]:
    return sorted(file.filename for file in attached(tracker, number))


async def shared(person: Person, *files: tuple[str, bytes], text: str = "Here they are") -> JSON:
    """A message with files."""
    ids = [(await person.upload(name, content))["id"] for name, content in files]
    channel = person.office.channel_id(person.channel)
    await person._post("message", channel=channel, text=text, file_ids=ids)
    return next(m for m in reversed(await person.messages()) if m["files"])


def buttons(shown: JSON) -> list[str]:
    rows = ([*block.get("elements", ()), block.get("accessory")] for block in shown["blocks"])
    return [part["text"]["text"] for row in rows for part in row if part and part["type"] == "button"]


async def form_for(person: Person, message: JSON) -> JSON:
    await person.shortcut("files_to_issue", message)
    return await person.form("Attach files")


async def said(person: Person, title: str = "Files") -> str:
    return text_of(await person.form(title))


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
    assert "*big.bin* refused: This file cannot be uploaded" in told
    assert "Retry" not in buttons(form)
    assert names(office.tracker) == ["one.log", "two.log"]
    assert {file.author_id for file in attached(office.tracker)} == {ANA}


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


async def test_issue_named_in_the_message_is_preselected(ana: Person) -> None:
    form = await form_for(ana, await shared(ana, ("a.csv", b"a"), text=f"For #{NUMBER}, as asked"))

    assert values_of(form)["Issue"] == f"#{NUMBER} Delivery costs differ between cart and invoice"


async def test_files_are_renamed_and_described_before_and_after_attaching(
    office: Office, ana: Person
) -> None:
    form = await form_for(ana, await shared(ana, ("x.csv", b"a,b")))
    await ana.submit(form, {"Issue": f"#{NUMBER}", "File name": "sales.csv", "Description": "Sales of <May>"})
    told = await ana.form("Files")
    assert "*sales.csv* attached: Sales of &lt;May&gt;" in text_of(told)

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

    async def refused() -> bool:
        views = (await ana.state())["views"]
        return "Somebody else attached that file" in text_of(views[-1])

    await until(refused)
    assert names(office.tracker) == ["x.csv"]


async def test_same_file_is_attached_to_an_issue_once(office: Office, ana: Person) -> None:
    message = await shared(ana, ("once.log", b"1"))
    await ana.submit(await form_for(ana, message), {"Issue": f"#{NUMBER}"})
    await said(ana)

    await ana.submit(await form_for(ana, message), {"Issue": f"#{NUMBER}"})

    assert "*once.log* attached" in await said(ana)
    assert names(office.tracker) == ["once.log"]


async def test_issue_from_message_gets_the_checked_files(office: Office, ana: Person) -> None:
    message = await shared(ana, ("keep.log", b"1"), ("drop.log", b"2"), ("big.bin", TOO_LARGE))
    await ana.shortcut("issue_from_message", message)
    form = await ana.form("New issue")
    assert values_of(form)["Files"] == ["keep.log", "drop.log", "big.bin"]
    await ana.choose(form, "Project", "Web Shop")

    async def refreshed() -> bool:
        return "Tracker" in values_of(await ana.form("New issue"))

    await until(refreshed)
    await ana.submit(await ana.form("New issue"), {"Files": ["keep.log", "big.bin"]})

    async def told() -> str | None:
        private = [text_of(m) for m in await ana.messages() if m["ephemeral"]]
        return next((text for text in private if "keep.log" in text), None)

    answer = await until(told)
    number = max(office.tracker.data.issues)
    assert "*keep.log* attached" in answer
    assert "*big.bin* refused" in answer
    assert names(office.tracker, number) == ["keep.log"]

    async def announced() -> bool:
        return any(m["thread_ts"] == message["ts"] and "created" in m["text"] for m in await ana.messages())

    await until(announced)


async def test_message_files_can_create_a_new_issue(office: Office, ana: Person) -> None:
    ana.channel = "webshop"
    await ana.ask("/tracker default webshop")
    form = await form_for(ana, await shared(ana, ("a.csv", b"a"), text="The numbers are wrong"))

    await ana.press_in_form(form, "Create a new issue with them")
    new = await ana.form("New issue")
    assert values_of(new)["Subject"] == "The numbers are wrong"
    announced = ana.submit(new, {"Tracker": "Support"})
    await announced

    async def made() -> bool:
        return names(office.tracker, max(office.tracker.data.issues)) == ["a.csv"]

    await until(made)


async def test_shared_channel_files_are_attached_or_explained(office: Office, ana: Person) -> None:
    ana.channel = "partners"
    form = await form_for(ana, await shared(ana, ("plan.txt", b"plan")))
    await ana.submit(form, {"Issue": f"#{NUMBER}"})
    assert "*plan.txt* attached" in await said(ana)

    ana.channel = "leadership"  # where the bot isn't a member
    form = await form_for(ana, await shared(ana, ("secret.txt", b"s")))
    await ana.submit(form, {"Issue": f"#{NUMBER}"})
    assert "*secret.txt* lost on the way: Slack doesn't show it to me: invite me" in await said(ana)
    assert names(office.tracker) == ["plan.txt"]


async def test_message_without_files_is_an_error(ana: Person) -> None:
    message = next(m for m in await ana.messages() if not m["files"] and not m["is_bot"])

    await ana.shortcut("files_to_issue", message)

    assert "This message has no files" in await said(ana, "That didn't work")


class TestServiceWithoutIssueUpdates:
    """A service that accepts files only with a new issue."""

    @pytest.fixture
    async def office(self, tmp_path: Path) -> AsyncIterator[Office]:
        office = Office(tmp_path, issue_updates=False)
        await office.open()
        await office.link("U0ANA0001", KEYS["ana"])
        yield office
        await office.close()
        assert office.violations() == []

    async def test_offers_a_new_issue_with_the_files(self, office: Office, ana: Person) -> None:
        await ana.command(f"/issue attach {NUMBER}")
        form = await ana.form("Attach files")
        await ana.submit(form, {"Files": [await ana.upload("a.log", b"1")]})
        told = await ana.form("Files")
        assert "can't attach files to an issue that exists" in text_of(told)
        assert names(office.tracker) == []
        sent = len(office.tracker.data.attachments)
        await ana.command(f"/issue attach {NUMBER}")  # the bot knows now, so it sends no request
        form = await ana.form("Attach files")
        await ana.submit(form, {"Files": [await ana.upload("a.log", b"1")]})
        told = await ana.form("Files")
        assert len(office.tracker.data.attachments) == sent

        await ana.press_in_form(told, "Create a new issue with them")
        new = await ana.form("New issue")
        held = values_of(new)
        assert held["Subject"] == f"Files for #{NUMBER} Delivery costs differ between cart and invoice"
        assert held["Files"] == ["a.log"]
        await ana.submit(new, {})

        async def made() -> bool:
            return names(office.tracker, max(office.tracker.data.issues)) == ["a.log"]

        await until(made)
        assert office.tracker.data.issues[max(office.tracker.data.issues)].project_id == 1


class TestUnreliableService:
    """Requests or answers of the service are lost."""

    @pytest.fixture
    async def service(self) -> AsyncIterator[Tracker]:
        tracker = Tracker(demo(), issue_updates=True)
        await tracker.start()
        yield tracker
        await tracker.stop()

    @pytest.fixture
    async def office(
        self, wire: Wire, tmp_path: Path, request: pytest.FixtureRequest
    ) -> AsyncIterator[Office]:
        office = Office(tmp_path, service_url=wire.url, waits=getattr(request, "param", None))
        await office.open()
        await office.link("U0ANA0001", KEYS["ana"])
        yield office
        await office.close()
        assert office.violations() == []

    async def form(self, ana: Person) -> tuple[JSON, JSON]:
        await ana.command(f"/issue attach {NUMBER}")
        return await ana.form("Attach files"), await ana.upload("a.log", b"1")

    async def test_lost_upload_is_reported_and_retried_alone(
        self, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        form, file = await self.form(ana)
        other = await ana.upload("b.log", b"22")
        wire.faults = ["lose the request"]
        await ana.submit(form, {"Files": [file, other]})
        told = await ana.form("Files")
        assert "lost on the way" in text_of(told)
        assert len(names(service)) == 1

        await ana.press_in_form(told, "Retry")

        async def done() -> bool:
            return names(service) == ["a.log", "b.log"]

        await until(done)
        assert "lost" not in await self.text_after_retry(ana)

    async def test_retry_keeps_the_rows_of_other_files(
        self, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        form, file = await self.form(ana)
        other = await ana.upload("b.log", b"22")
        wire.faults = ["lose the request"]
        await ana.submit(form, {"Files": [file, other]})
        told = await ana.form("Files")
        assert buttons(told) == ["Rename or describe", "Retry", "Open in Tracker"]

        await ana.press_in_form(told, "Retry")

        async def done() -> JSON | None:
            view = (await ana.state())["views"][-1]
            return view if buttons(view).count("Rename or describe") == 2 else None

        told = await until(done)
        assert buttons(told) == ["Rename or describe", "Rename or describe", "Open in Tracker"]
        assert names(service) == ["a.log", "b.log"]

    async def text_after_retry(self, ana: Person) -> str:
        async def shown() -> str | None:
            views = (await ana.state())["views"]
            text = text_of(views[-1])
            return text if views[-1]["title"]["text"] == "Files" and "lost" not in text else None

        return await until(shown)

    async def test_files_that_failed_to_attach_can_be_retried(
        self, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        form, file = await self.form(ana)
        wire.fail("502 before it", at=3, lasting=True)
        await ana.submit(form, {"Files": [file]})
        told = await ana.form("Files")
        assert names(service) == []
        wire.heal()

        await ana.press_in_form(told, "Retry")

        async def done() -> bool:
            return names(service) == ["a.log"]

        await until(done)

    async def test_file_named_like_a_key_is_held_back(self, ana: Person, service: Tracker) -> None:
        form, file = await self.form(ana)
        key = await ana.upload(f"{KEYS['ana']}.log", b"1")

        await ana.submit(form, {"Files": [key, file]})

        assert "your account anew" in await said(ana)
        assert names(service) == ["a.log"]

    @pytest.mark.parametrize("office", [Waits(lookups=(0.5,))], indirect=True)
    async def test_create_is_not_repeated_after_the_key_was_revoked(
        self, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        await ana.shortcut("issue_from_message", await shared(ana, ("a.csv", b"a"), text="Wrong numbers"))
        form = await ana.form("New issue")
        wire.heal()
        wire.faults = ["pass", "lose the request"]
        await ana.submit(form, {"Project": "Web Shop"})

        async def lost() -> bool:
            return "POST /issues.json" in wire.asked

        await until(lost)
        service.data.users[ANA].api_key = "0" * 40

        assert "may have been done or not" in text_of(await ana.form_saying("New issue", "not"))
        assert wire.asked.count("POST /issues.json") == 1

    async def test_relinking_during_an_upload_stops_the_files(
        self, office: Office, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        form, file = await self.form(ana)
        await self.relinked_during_upload(office, ana, wire, form, {"Files": [file]})

        await ana.form_saying("Attach files", "linked another Tracker account meanwhile")
        assert names(service) == []

    async def test_relinking_during_an_upload_stops_the_issue(
        self, office: Office, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        count = len(service.data.issues)
        await ana.shortcut("issue_from_message", await shared(ana, ("a.csv", b"a"), text="Wrong numbers"))
        form = await ana.form("New issue")
        await self.relinked_during_upload(office, ana, wire, form, {"Project": "Web Shop"})

        await ana.form_saying("New issue", "linked another Tracker account meanwhile")
        assert len(service.data.issues) == count

    async def relinked_during_upload(
        self, office: Office, ana: Person, wire: Wire, form: JSON, typed: JSON
    ) -> None:
        wire.heal()
        wire.faults, wire.seconds = ["slow"], 20
        await ana.submit(form, typed)

        async def uploading() -> bool:
            return "POST /uploads.json" in wire.asked

        await until(uploading)
        await office.link(ana.user_id, KEYS["ben"])
        wire.released.set()

    async def test_lost_answer_does_not_attach_a_file_twice(
        self, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        form, file = await self.form(ana)
        wire.faults = ["pass", "lose the answer"]

        await ana.submit(form, {"Files": [file]})

        assert "*a.log* attached" in await said(ana)
        assert names(service) == ["a.log"]

    async def test_retry_looks_up_unsure_files_before_uploading(
        self, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        form, file = await self.form(ana)
        wire.faults = ["pass", "lose the request", "lose the request"]
        await ana.submit(form, {"Files": [file]})
        told = await ana.form("Files")
        assert "I couldn't learn whether it was attached" in text_of(told)

        await ana.press_in_form(told, "Retry")

        async def done() -> bool:
            return "*a.log* attached" in text_of((await ana.state())["views"][-1])

        await until(done)
        assert names(service) == ["a.log"]

    @pytest.mark.parametrize("fault", ["lose the request", "lose the answer"])
    async def test_issue_with_files_is_created_once_despite_lost_messages(
        self, ana: Person, wire: Wire, service: Tracker, fault: Fault
    ) -> None:
        count = len(service.data.issues)
        ana.channel = "webshop"
        await ana.ask("/tracker default webshop")
        await ana.shortcut("issue_from_message", await shared(ana, ("a.csv", b"a"), text="Wrong numbers"))
        form = await ana.form("New issue")
        wire.faults = ["pass", fault]

        await ana.submit(form, {})

        async def told() -> bool:
            return any("*a.csv* attached" in text_of(m) for m in await ana.messages())

        await until(told)
        assert len(service.data.issues) == count + 1
        assert names(service, max(service.data.issues)) == ["a.csv"]

    @pytest.mark.usefixtures("impatient")
    async def test_closed_form_moves_progress_to_a_message(
        self, ana: Person, wire: Wire, service: Tracker
    ) -> None:
        ana.office.wait(progress=0.2)
        form, file = await self.form(ana)
        wire.faults = ["slow"]
        await ana.submit(form, {"Files": [file]})

        async def moving() -> JSON | None:
            views = (await ana.state())["views"]
            return views[-1] if views and ":arrow_up: a.log" in text_of(views[-1]) else None

        await ana.close(await until(moving))

        async def told() -> bool:
            return any("*a.log* attached" in text_of(m) for m in await ana.messages())

        await until(told)
        assert names(service) == ["a.log"]
