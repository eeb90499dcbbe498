"""Scenarios with files."""

from bot.sandbox.tracker.data import CLOSED_PROJECT
from tests.faults.issue_scenarios import CARD
from tests.faults.scenario import (
    TYPED,
    About,
    Steps,
    command,
    form,
    press,
    press_in_form,
    scenario,
    shortcut,
    submit,
    suggest,
)
from tests.faults.scene import NUMBER, WEBSHOP, Scene
from tests.support.reading import JSON

FORM = form("Attach files", f"/issue attach {NUMBER}")


async def files_attached(s: Scene) -> int:
    rows = s.data.attachments.values()
    return sum(row.filename.startswith(s.slug) and row.issue_id is not None for row in rows)


async def files_described(s: Scene) -> int:
    return sum(row.description == s.word for row in s.data.attachments.values())


async def message(s: Scene) -> JSON:
    return await s.message(s.file, text=f"For #{NUMBER}")


async def form_for_message(s: Scene, _who: str) -> JSON:
    await s.ana.shortcut("files_to_issue", await message(s))
    return await s.form("Attach files")


async def attached(s: Scene, who: str) -> JSON:
    """Attaches a file and returns the form that reports the result."""
    await s.ana.submit(await FORM(s, who), {"Files": [await s.ana.upload(s.file, b"1")]})
    return await s.form("Files")


async def not_attached(s: Scene, who: str) -> JSON:
    project = s.data.projects[WEBSHOP]
    before, project.status = project.status, CLOSED_PROJECT
    reply = await attached(s, who)
    project.status = before
    return reply


async def describing(s: Scene, who: str) -> JSON:
    await s.ana.press_in_form(await attached(s, who), "Rename or describe")
    return await s.form("Rename or describe")


ATTACHED: About = {"effect": files_attached, "confirmation": r"\.log\* attached"}
command("attach form", f"/issue attach {NUMBER}")
press("attach button", "files.open", CARD, "Attach files")
shortcut("attach from message", "files_to_issue", message)
submit("submit a message's files", "files.attach", form_for_message, {}, **ATTACHED)
press_in_form("retry files", "files.retry", not_attached, "Retry", **ATTACHED)
press_in_form("describe button", "files.open_describe", attached, "Rename or describe")
submit(
    "submit description",
    "files.describe",
    describing,
    {"Description": "{word}"},
    effect=files_described,
    confirmation="check_mark",
    typed=True,
)
press_in_form("new issue with files", "files.new", form_for_message, "Create issue with files")
suggest("offer issues for files", "files.issue", form_for_message, "Issue", str(NUMBER))


@scenario("submit files", "form:files.attach", **ATTACHED | TYPED)
async def submit_files(s: Scene) -> Steps:
    view, file = await FORM(s, "ana"), await s.ana.upload(s.file, b"1")
    yield
    await s.ana.submit(view, {"Files": [file]})
