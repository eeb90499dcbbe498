"""Scenarios with files."""

from collections.abc import AsyncGenerator

from bot.sandbox.tracker.data import CLOSED_PROJECT
from tests.faults.issue_scenarios import message
from tests.faults.scene import NUMBER, WEBSHOP, Scene, scenario
from tests.support.reading import JSON

Steps = AsyncGenerator[None, None]


async def files_attached(s: Scene) -> int:
    rows = s.data.attachments.values()
    return sum(row.filename.startswith(s.slug) and row.issue_id is not None for row in rows)


async def files_described(s: Scene) -> int:
    return sum(row.description == s.word for row in s.data.attachments.values())


@scenario("attach form", "command:issue")
async def attach(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/issue attach {NUMBER}")


@scenario("attach button", "action:files.open")
async def attach_pressed(s: Scene) -> Steps:
    card = await s.after(s.ana.command(f"/issue {NUMBER}"))
    yield
    await s.ana.press(card, "Attach files")


@scenario("attach from message", "shortcut:files_to_issue")
async def attach_from_message(s: Scene) -> Steps:
    found = await message(s, f"{s.slug}.log", text=f"For #{NUMBER}")
    yield
    await s.ana.shortcut("files_to_issue", found)


@scenario("submit files", "form:files.attach", effect=files_attached, said=r"\.log\* attached", typed=True)
async def submit_files(s: Scene) -> Steps:
    await s.ana.command(f"/issue attach {NUMBER}")
    form, file = await s.form("Attach files"), await s.ana.upload(f"{s.slug}.log", b"1")
    yield
    await s.ana.submit(form, {"Files": [file]})


@scenario("submit a message's files", "form:files.attach", effect=files_attached, said=r"\.log\* attached")
async def submit_message_files(s: Scene) -> Steps:
    found = await message(s, f"{s.slug}.log", text=f"For #{NUMBER}")
    await s.ana.shortcut("files_to_issue", found)
    form = await s.form("Attach files")
    yield
    await s.ana.submit(form, {})


async def attached(s: Scene) -> JSON:
    """Attaches a file and returns the form that reports the result."""
    await s.ana.command(f"/issue attach {NUMBER}")
    form = await s.form("Attach files")
    await s.ana.submit(form, {"Files": [await s.ana.upload(f"{s.slug}.log", b"1")]})
    return await s.form("Files")


@scenario("retry files", "action:files.retry", effect=files_attached, said=r"\.log\* attached")
async def retry(s: Scene) -> Steps:
    project = s.data.projects[WEBSHOP]
    before, project.status = project.status, CLOSED_PROJECT
    told = await attached(s)
    project.status = before
    yield
    await s.ana.press_in_form(told, "Retry")


@scenario("describe button", "action:files.open_describe")
async def describe(s: Scene) -> Steps:
    told = await attached(s)
    yield
    await s.ana.press_in_form(told, "Rename or describe")


@scenario("submit description", "form:files.describe", effect=files_described, said="check_mark", typed=True)
async def submit_description(s: Scene) -> Steps:
    await s.ana.press_in_form(await attached(s), "Rename or describe")
    form = await s.form("Rename or describe")
    yield
    await s.ana.submit(form, {"Description": s.word})


@scenario("new issue with files", "action:files.new")
async def new_with_files(s: Scene) -> Steps:
    await s.ana.shortcut("files_to_issue", await message(s, f"{s.slug}.log"))
    form = await s.form("Attach files")
    yield
    await s.ana.press_in_form(form, "Create issue with files")


@scenario("offer issues for files", "options:files.issue", expects_answer=False)
async def offer_issues(s: Scene) -> Steps:
    await s.ana.shortcut("files_to_issue", await message(s, f"{s.slug}.log"))
    form = await s.form("Attach files")
    yield
    s.offered = await s.ana.suggest(form, "Issue", str(NUMBER))
