"""Messages about assigning an issue to oneself."""

from bot.features.issues.actions import ASSIGN, open_buttons
from bot.features.issues.assign import AssignResult, Outcome
from bot.features.issues.buttons import AssignToMe
from bot.service.models import Issue
from bot.slack.blocks import Block, Message, button_row, section, small_print
from bot.slack.text import escape, line
from bot.slack.wording import Wording


def taken(result: AssignResult, wording: Wording, again: AssignToMe) -> Message:
    """The outcome; for someone else's issue, a question whose button carries `again`."""
    issue = result.issue
    said = _said(result, wording)
    blocks: list[Block] = [section(said), small_print(issue.subject or f"#{issue.id}")]
    if result.outcome is Outcome.NEEDS_CONFIRMATION and issue.assigned_to:
        agreed = again.model_copy(update={"holder": issue.assigned_to.id})
        blocks.append(button_row(ASSIGN, agreed))
    blocks.append(open_buttons(issue.id, wording))
    return Message(said, tuple(blocks))


def _said(result: AssignResult, wording: Wording) -> str:
    issue, service = result.issue, escape(wording.service)
    match result.outcome:
        case Outcome.DONE:
            return f"#{issue.id} is assigned to you now."
        case Outcome.ALREADY:
            return f"#{issue.id} is already assigned to you."
        case Outcome.NEEDS_CONFIRMATION:
            return f"#{issue.id} is assigned to {line(_holder(issue))}. Assign it to yourself instead?"
        case Outcome.UNCHANGED:
            now = f"assigned to {line(_holder(issue))}" if issue.assigned_to else "unassigned"
            return f"{service} left #{issue.id} {now}. Ask a manager of its project to assign it to you."


def _holder(issue: Issue) -> str:
    return (issue.assigned_to.name if issue.assigned_to else "") or "someone else"
