"""Assigns an issue to the user who pressed *Assign to me*."""

from collections.abc import Sequence

from bot.features.assign_to_me.assigning import Assigning, Outcome, Taken
from bot.features.editing.handlers import undo_button
from bot.features.issues.buttons import AssignToMe
from bot.features.issues.views import ASSIGN, open_buttons, opening
from bot.features.parts import Parts
from bot.service.models import Issue
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import ButtonPress
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import Block, Element, Message, button_row, section, small_print
from bot.slack.text.mrkdwn import escape, line
from bot.slack.text.wording import Wording


class AssignHandlers:
    def __init__(self, parts: Parts) -> None:
        self.assigning = Assigning(parts)

    def feature(self) -> Feature:
        return Feature(buttons={AssignToMe: self.assign_pressed})

    async def assign_pressed(self, press: ButtonPress[AssignToMe], reply: Reply) -> None:
        """*Assign to me* on a card, in a row or on a post."""
        await self.assign(reply, press.button)

    async def assign(self, reply: Reply, asked: AssignToMe) -> None:
        """Assign the issue and tell only the user; if it is someone else's, ask first."""
        title, confirmed = f"#{asked.issue}", asked.holder is not None
        in_form = reply.in_form or reply.place.home
        if in_form and not confirmed:
            await reply.open(forms.loading(title))

        reply.recovery = opening(asked.issue, reply.wording)
        found = await self.assigning.take(reply.owner, asked.issue, agreed=asked.holder)
        undo: list[Element] = []
        if found.outcome is Outcome.DONE:
            undo = await undo_button(reply, found.before, found.issue, ["to"])
        said = taken(found, reply.wording, asked, undo)
        if in_form:
            await reply.show(forms.said(title, said.blocks))
        else:
            await reply.privately(said, replace=confirmed)


def taken(found: Taken, wording: Wording, again: AssignToMe, undo: Sequence[Element]) -> Message:
    """The outcome; for someone else's issue, a question whose button carries `again`."""
    _, issue, outcome = found
    said = _said(issue, outcome, wording)
    blocks: list[Block] = [section(said), small_print(issue.subject or f"#{issue.id}")]
    if outcome is Outcome.NEEDS_CONFIRMATION and issue.assigned_to:
        agreed = again.model_copy(update={"holder": issue.assigned_to.id})
        blocks.append(button_row(ASSIGN, agreed))
    blocks.append(open_buttons(issue.id, wording, *undo))
    return Message(said, tuple(blocks))


def _said(issue: Issue, outcome: Outcome, wording: Wording) -> str:
    holder = line((issue.assigned_to.name if issue.assigned_to else "") or "someone else")
    service = escape(wording.service)
    match outcome:
        case Outcome.DONE:
            return f"#{issue.id} is assigned to you now."
        case Outcome.ALREADY:
            return f"#{issue.id} is already assigned to you."
        case Outcome.NEEDS_CONFIRMATION:
            return f"#{issue.id} is assigned to {holder}. Assign it to yourself instead?"
        case Outcome.UNCHANGED:
            now = f"assigned to {holder}" if issue.assigned_to else "unassigned"
            return f"{service} left #{issue.id} {now}. Ask a project manager to assign it to you."
