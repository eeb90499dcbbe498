"""Scenarios with changes to issues."""

from collections.abc import AsyncGenerator

from tests.faults.scene import NUMBER, Scene, scenario

Steps = AsyncGenerator[None, None]
CHANGED, UNSUPPORTED = r"Changed ", "doesn't let me change issues"


async def issues_half_done(s: Scene) -> int:
    return sum(s.word in i.subject and i.done_ratio == 50 for i in s.data.issues.values())


@scenario("change", "command:issue", effect=issues_half_done, said=CHANGED, typed=True, refused=UNSUPPORTED)
async def change(s: Scene) -> Steps:
    number = s.issue().id
    yield
    await s.ana.command(f'/issue {number} close to:me done:50% subject:"{s.word} again"')


@scenario("edit an issue", "action:issue.edit")
async def edit(s: Scene) -> Steps:
    shown = await s.after(s.ana.command(f"/issue {NUMBER}"))
    yield
    await s.ana.press(shown, "Edit")


@scenario("open form with a change", "action:issue.open_edit")
async def open_edit(s: Scene) -> Steps:
    answer = await s.after(s.ana.command(f"/issue {NUMBER} done:50 priority:hihg"))
    yield
    await s.ana.press(answer, "Open form")


@scenario(
    "submit change", "form:issue.edit", effect=issues_half_done, said=CHANGED, typed=True, refused=UNSUPPORTED
)
async def submit(s: Scene) -> Steps:
    number = s.issue().id
    await s.ana.press(await s.after(s.ana.command(f"/issue {number}")), "Edit")
    form = await s.form(f"Edit #{number}")
    yield
    await s.ana.submit(form, {"Subject": f"{s.word} again", "% done": "50%", "Status": "Closed"})
