"""Scenarios with changes to issues."""

from collections.abc import AsyncGenerator

from tests.faults.scene import Scene, scenario
from tests.support.reading import JSON

Steps = AsyncGenerator[None, None]
CHANGED = r"Changed "


async def issues_half_done(s: Scene) -> int:
    return sum(s.word in i.subject and i.done_ratio == 50 for i in s.data.issues.values())


async def card(s: Scene) -> JSON:
    """Shows a new issue's card and returns it."""
    return await s.after(s.ana.command(f"/issue {s.issue().id}"))


@scenario("change", "command:issue", effect=issues_half_done, said=CHANGED, typed=True)
async def change(s: Scene) -> Steps:
    number = s.issue().id
    yield
    await s.ana.command(f'/issue {number} close to:me done:50% subject:"{s.word} again"')


@scenario("edit an issue", "action:issue.edit")
async def edit(s: Scene) -> Steps:
    shown = await card(s)
    yield
    await s.ana.press(shown, "Edit")


@scenario("open form with a change", "action:issue.open_edit")
async def open_edit(s: Scene) -> Steps:
    answer = await s.after(s.ana.command(f"/issue {s.issue().id} done:50 priority:hihg"))
    yield
    await s.ana.press(answer, "Open form")


@scenario("submit change", "form:issue.edit", effect=issues_half_done, said=CHANGED, typed=True)
async def submit(s: Scene) -> Steps:
    shown = await card(s)
    number = max(s.data.issues)
    await s.ana.press(shown, "Edit")
    form = await s.form(f"Edit #{number}")
    yield
    await s.ana.submit(form, {"Subject": f"{s.word} again", "% done": "50%", "Status": "Closed"})
