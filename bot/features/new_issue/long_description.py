"""Keeps the rest of a description that Slack's form can't hold, so that it is added when the form is sent."""

from bot.features.issues.fields import Draft
from bot.features.new_issue.form import NewIssueMetadata
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import Block, shortened
from bot.slack.surfaces.drafts import FormExpired
from bot.slack.surfaces.rich_input import RICH_INPUT_LENGTH
from bot.slack.surfaces.view import View
from bot.store.owner import Owner
from bot.store.saved_input import SavedInput

FIELD = "rest"
BREAKS = ("\n\n", "\n", " ")
CODE = (("```", "```"), ("<pre>", "</pre>"))
EXCERPT_LENGTH = 150


async def started(
    saved: SavedInput, owner: Owner, draft: Draft, metadata: NewIssueMetadata
) -> tuple[str, NewIssueMetadata]:
    """Return the input's initial text, and the form's metadata with the rest, if there is any."""
    start, rest = split(draft.description)
    if rest:
        metadata = metadata.model_copy(update={"rest": await saved.put(owner, {FIELD: rest})})
    return start, metadata


async def field(saved: SavedInput, owner: Owner, metadata: NewIssueMetadata) -> list[Block]:
    """A checkbox for the rest; empty without one. Raises FormExpired."""
    if not (rest := await _rest(saved, owner, metadata)):
        return []
    box = forms.checkbox(FIELD, f"Include the last {len(rest.strip()):,} characters", checked=True)
    starts = f"Starts with “{shortened(' '.join(rest.split()), EXCERPT_LENGTH)}”"
    return [forms.field(FIELD, "Remaining description", box, hint=starts)]


async def complete(saved: SavedInput, owner: Owner, view: View, draft: Draft) -> Draft:
    """The submitted draft with the rest, if its box is checked. Raises FormExpired."""
    rest = await _rest(saved, owner, NewIssueMetadata.of(view))
    if not rest or not forms.Values(view.json).all_chosen(FIELD):
        return draft
    return draft.described((draft.description + rest).strip())


async def _rest(saved: SavedInput, owner: Owner, metadata: NewIssueMetadata) -> str:
    if metadata.rest is None:
        return ""
    if (values := await saved.get(owner, metadata.rest)) is None:
        raise FormExpired("issue")
    return str(values[FIELD])


def split(text: str) -> tuple[str, str]:
    """What of a text fits into the input, and the rest: cut between paragraphs, lines or words, and not in a
    block of code.
    """
    if len(text) <= RICH_INPUT_LENGTH:
        return text, ""
    start = text[:RICH_INPUT_LENGTH]
    at = next(
        (position for mark in BREAKS if (position := start.rfind(mark)) > RICH_INPUT_LENGTH // 2),
        RICH_INPUT_LENGTH,
    )
    for opening, closing in CODE:
        opened, closed = start.rfind(opening, 0, at), start.rfind(closing, 0, at)
        is_open = start.count(opening, 0, at) % 2 if opening == closing else opened > closed
        at = opened if is_open and opened > 0 else at
    start = start[:at].rstrip()
    return start, text[len(start) :]
