"""Scenarios with changes to issues."""

from bot.sandbox.tracker.defaults import CLOSED
from tests.faults.issue_scenarios import CARD, CARD_OF_NEW
from tests.faults.scenario import About, Steps, answer, command, press, scenario, submit
from tests.faults.scene import CHANNEL, IDS, NUMBER, Scene
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
    "confirmation": "Updated ",
    "typed": True,
    "refused": "doesn't let me change issues",
}
command("change", '/issue {issue} close to:me done:50% subject:"{word} again"', **CHANGED)


async def issues_closed(s: Scene) -> int:
    return sum(s.word in i.subject and i.status_id == CLOSED for i in s.data.issues.values())


@scenario("set status", "action:issue.set_status", effect=issues_closed, confirmation="Status: New → ")
async def set_status(s: Scene) -> Steps:
    """A card's select; posts one for a service that doesn't tell the statuses that a user may set."""
    card = await CARD_OF_NEW(s, "ana")
    if not any((block.get("accessory") or {}).get("options") for block in card["blocks"]):
        card = await card_with_status(s, max(s.data.issues))
    yield
    await s.ana.choose_in_message(card, "Closed")


async def card_with_status(s: Scene, number: int) -> JSON:
    chosen = {"text": {"type": "plain_text", "text": "Closed"}, "value": f"{number}:{CLOSED}"}
    select = {"type": "static_select", "action_id": "issue.set_status", "options": [chosen]}
    row = {"type": "actions", "elements": [select]}
    await s.office.bot.slack.chat_postEphemeral(channel=CHANNEL, user=IDS["ana"], text=s.word, blocks=[row])
    return (await s.ana.messages())[-1]


# A form opens without the choices of a custom field that the service refuses to filter by.
press("edit an issue", "issue.edit", CARD, "Edit", refused=r"Edit #\d+ Subject")
press(
    "open form with a change",
    "issue.open_edit",
    answer(f"/issue {NUMBER} done:50 priority:hihg"),
    "Open form",
    refused=r"Edit #\d+ :warning: No priority called",
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
    confirmation="Undid the change to ",
    refused="doesn't let me change issues",
)
press(
    "change two issues",
    "issue.change_several",
    answer(f"/issue {{issue}},{NUMBER} done:50%"),
    "Change both",
    **CHANGED | {"typed": False},
)
