"""Scenarios with changes to issues."""

from tests.faults.issue_scenarios import CARD, CARD_OF_NEW
from tests.faults.scenario import About, answer, command, press, submit
from tests.faults.scene import NUMBER, Scene
from tests.support.reading import JSON


async def issues_half_done(s: Scene) -> int:
    return sum(s.word in i.subject and i.done_ratio == 50 for i in s.data.issues.values())


async def issues_undone(s: Scene) -> int:
    return sum(s.word in i.subject and i.done_ratio == 0 for i in s.data.issues.values())


async def form_of_new(s: Scene, who: str) -> JSON:
    await s.ana.press(await CARD_OF_NEW(s, who), "Edit")
    return await s.form(f"Edit #{max(s.data.issues)}")


CHANGED: About = {
    "effect": issues_half_done,
    "said": "Updated ",
    "typed": True,
    "refused": "doesn't let me change issues",
}
command("change", '/issue {issue} close to:me done:50% subject:"{word} again"', **CHANGED)
press("edit an issue", "issue.edit", CARD, "Edit")
press(
    "open form with a change",
    "issue.open_edit",
    answer(f"/issue {NUMBER} done:50 priority:hihg"),
    "Open form",
)
submit(
    "submit change",
    "issue.edit",
    form_of_new,
    {"Subject": "{word} again", "% done": "50%", "Status": "Closed"},
    **CHANGED,
)
press(
    "undo a change",
    "issue.undo",
    answer("/issue {issue} done:50%"),
    "Undo",
    effect=issues_undone,
    said="Undid the change to ",
    refused="doesn't let me change issues",
)
