"""Messages about assigning an issue to oneself."""

from bot.features.issues.assign import AssignResult, Outcome
from bot.features.issues.buttons import TakeIssue
from bot.features.issues.views import open_buttons
from bot.service.models import Issue
from bot.slack.blocks import Block, Message, button_row, section, small_print
from bot.slack.text import escape, line
from bot.slack.wording import Wording


def taken(result: AssignResult, wording: Wording, digest_ts: str) -> Message:
    """The outcome; for someone else's issue, a question with a button to confirm.

    `digest_ts` is the `ts` of the digest that lists the issue.
    """
    issue = result.issue
    said = _said(result, wording)
    blocks: list[Block] = [section(said), small_print(issue.subject or f"#{issue.id}")]
    if result.outcome is Outcome.NEEDS_CONFIRMATION and issue.assigned_to:
        agreed = TakeIssue(issue=issue.id, holder=issue.assigned_to.id, digest=digest_ts)
        blocks.append(button_row(f"Take it from {_holder(issue)}", agreed))
    blocks.append(open_buttons(issue, wording))
    return Message(said, tuple(blocks))


def _said(result: AssignResult, wording: Wording) -> str:
    issue, service = result.issue, escape(wording.service)
    match result.outcome:
        case Outcome.DONE:
            return f"#{issue.id} is yours now."
        case Outcome.ALREADY:
            return f"#{issue.id} is yours already."
        case Outcome.NEEDS_CONFIRMATION:
            return f"#{issue.id} is assigned to {line(_holder(issue))}: do you want to take it?"
        case Outcome.UNCHANGED:
            left = f"with {line(_holder(issue))}" if issue.assigned_to else "unassigned"
            return (
                f"{service} left #{issue.id} {left}: "
                "ask a manager of its project whether you may have it assigned to you."
            )
        case Outcome.UNSUPPORTED:
            return f"{service} doesn't let me assign an issue that exists: open #{issue.id} and do it there."


def _holder(issue: Issue) -> str:
    return (issue.assigned_to.name if issue.assigned_to else "") or "somebody else"
