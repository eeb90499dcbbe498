"""Assigns an issue to the user who pressed *Assign to me*."""

import time
from collections.abc import Sequence

from bot.features.assign_to_me.assigning import Assigning, Outcome, Taken
from bot.features.digests.channels import FRESH, DigestRows
from bot.features.editing.handlers import undo_button
from bot.features.issues.buttons import AssignToMe, TakeIssue
from bot.features.issues.publicity import Exposure, Publicity, exposure_of
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
    """Assigns issues to the user who pressed the button, and updates the digest that lists the issue."""

    def __init__(self, parts: Parts) -> None:
        self.assigning = Assigning(parts)
        self.rows = DigestRows(parts.store.digests, Publicity(parts))

    def feature(self) -> Feature:
        return Feature(buttons={AssignToMe: self.assign_pressed, TakeIssue: self.take_pressed})

    async def assign_pressed(self, press: ButtonPress[AssignToMe], reply: Reply) -> None:
        """*Assign to me* on a card, in a row or on a post."""
        await self.assign(reply, press.button)

    async def take_pressed(self, press: ButtonPress[TakeIssue], reply: Reply) -> None:
        """*Assign to me* in a digest's row, which is updated."""
        asked, digest = press.button, None
        if asked.holder is None:
            digest = press.message
            asked = asked.model_copy(update={"digest": str(digest.get("ts") or "")})
        seen = await self.assign(reply, asked)
        if reply.place.channel_id and asked.digest:
            fresh = time.time() - press.pressed_at < FRESH
            await self.rows.show(reply, asked.digest, seen, digest if fresh else None)

    async def assign(self, reply: Reply, asked: AssignToMe) -> Exposure:
        """Assign the issue and tell only the user; if it is someone else's, ask first."""
        title, confirmed = f"#{asked.issue}", asked.holder is not None
        in_form = reply.in_form or reply.place.home
        if in_form and not confirmed:
            await reply.open(forms.loading(title))

        reply.recovery = opening(asked.issue, reply.wording)
        found = await self.assigning.take(reply.owner, asked.issue, agreed=asked.holder)
        seen, undo = exposure_of(found.issue), []
        if found.outcome is Outcome.DONE:
            undo = await undo_button(reply, found.before, found.issue, ["to"])
        said = taken(found, reply.wording, asked, undo)
        if in_form:
            await reply.show(forms.said(title, said.blocks))
        else:
            await reply.privately(said, replace=confirmed)
        return seen


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
