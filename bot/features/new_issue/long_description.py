"""Keeps the rest of a description that Slack's form can't hold, so that it is added when the form is sent."""

from dataclasses import dataclass

from bot.features.issues.fields import DESCRIPTION, Draft
from bot.slack import forms
from bot.slack.blocks import JSON, Block, shortened
from bot.slack.errors import FormExpired
from bot.slack.interaction import View
from bot.slack.replies import Reply
from bot.slack.rich_input import LONGEST
from bot.store.saved_input import SavedInput

FIELD = "rest"
BREAKS = ("\n\n", "\n", " ")
CODE = (("```", "```"), ("<pre>", "</pre>"))
EXCERPT = 150


@dataclass(frozen=True)
class LongDescriptions:
    """Splits descriptions that are longer than the form's input."""

    saved: SavedInput

    async def started(self, reply: Reply, draft: Draft, metadata: JSON) -> tuple[str, JSON]:
        """What the input starts with, and the form's metadata with the rest, if there is any."""
        start, rest = split(str(draft.values.get(DESCRIPTION.key) or ""))
        if rest:
            metadata = metadata | {FIELD: await self.saved.put(reply.owner, {FIELD: rest})}
        return start, metadata

    async def field(self, reply: Reply, metadata: JSON) -> list[Block]:
        """A checkbox for the rest; empty without one. Raises FormExpired."""
        if not (rest := await self._rest(reply, metadata)):
            return []
        box = forms.checkbox(FIELD, f"Add the other {len(rest.strip()):,} characters", checked=True)
        starts = f"They start with “{shortened(' '.join(rest.split()), EXCERPT)}”"
        return [forms.field(FIELD, "Rest of the description", box, hint=starts)]

    async def complete(self, reply: Reply, view: View, draft: Draft) -> Draft:
        """The submitted draft with the rest, if its box is checked. Raises FormExpired."""
        rest = await self._rest(reply, view.metadata)
        if not rest or not forms.Values(view.json).all_chosen(FIELD):
            return draft
        whole = str(draft.values.get(DESCRIPTION.key) or "") + rest
        return draft.model_copy(update={"values": draft.values | {DESCRIPTION.key: whole.strip()}})

    async def _rest(self, reply: Reply, metadata: JSON) -> str:
        if not (saved_id := metadata.get(FIELD)):
            return ""
        saved = await self.saved.get(reply.owner, str(saved_id))
        if saved is None:
            raise FormExpired("issue")
        return str(saved[FIELD])


def split(text: str) -> tuple[str, str]:
    """What of a text fits into the input, and the rest: cut between paragraphs, lines or words, and not in a
    block of code.
    """
    if len(text) <= LONGEST:
        return text, ""
    start = text[:LONGEST]
    at = next((found for mark in BREAKS if (found := start.rfind(mark)) > LONGEST // 2), LONGEST)
    for opening, closing in CODE:
        opened, closed = start.rfind(opening, 0, at), start.rfind(closing, 0, at)
        is_open = start.count(opening, 0, at) % 2 if opening == closing else opened > closed
        at = opened if is_open and opened > 0 else at
    start = start[:at].rstrip()
    return start, text[len(start) :]
