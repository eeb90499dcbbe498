"""Possible duplicates as the create form shows them."""

from bot.features.issues.views import title
from bot.features.new_issue.duplicates import PossibleDuplicates
from bot.service.models import Issue
from bot.slack import forms
from bot.slack.blocks import JSON, Block, section
from bot.slack.text import line
from bot.slack.wording import Wording

KNOWN = "known"


def notes(known: PossibleDuplicates, wording: Wording) -> list[Block]:
    """Notes for below the subject: issues made from the same message, and open issues like it."""
    parts = []
    if known.of_message:
        made = ", ".join(title(issue, wording) for issue in known.of_message)
        parts.append(
            f":information_source: Already created from this message: {made}. "
            "You can still create another issue."
        )
    if known.similar:
        lines = "\n".join(f"• {_similar(issue, wording)}" for issue in known.similar)
        leads = (
            "*Is it this one?* It's open and has a similar subject."
            if len(known.similar) == 1
            else "*Is it one of these?* They're open and have similar subjects."
        )
        parts.append(f":mag: {leads}\n{lines}")
    return [section("\n".join(parts), block_id=KNOWN)] if parts else []


def with_notes(view: JSON, blocks: list[Block]) -> JSON:
    """A payload's form with other notes below its subject; what was typed stays."""
    kept = [block for block in view["blocks"] if block.get("block_id") != KNOWN]
    names = [str(block.get("block_id")).partition(":")[0] for block in kept]
    below = names.index("subject") + 1 if "subject" in names else len(kept)
    return forms.redefined(view, [*kept[:below], *blocks, *kept[below:]])


def shown(view: JSON) -> str:
    """The notes that a form shows."""
    return next((b["text"]["text"] for b in view["blocks"] if b.get("block_id") == KNOWN), "")


def _similar(issue: Issue, wording: Wording) -> str:
    refs = (issue.status, issue.assigned_to)
    return " · ".join([title(issue, wording), *(line(ref.name) for ref in refs if ref and ref.name)])
