"""Keeps what a form for a new issue holds for a day, so that the next form can continue it."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import structlog
from pydantic import BaseModel, TypeAdapter, ValidationError

from bot.access.access import Access
from bot.errors import StoredSecretError
from bot.features.issues.buttons import ContinueDraft, DiscardDraft
from bot.features.issues.fields import DESCRIPTION
from bot.features.new_issue.form import CALLBACK_ID, NewIssueMetadata
from bot.slack.language.keys import types_key
from bot.slack.surfaces import forms, rich_input
from bot.slack.surfaces.blocks import JSON, Block, actions, button, section, shortened
from bot.slack.surfaces.interaction import form_claim
from bot.slack.surfaces.view import View
from bot.slack.text.mrkdwn import line
from bot.slack_limits import MAX_VIEW_BLOCKS
from bot.store.owner import Owner
from bot.store.saved_input import LIFETIME

log = structlog.get_logger(__name__)

NAME = "new_issue"
OFFER, CHOICES = "draft", "draft_buttons"
SUBJECT, MOST = 60, 3
KEY_LEFT_OUT = "I didn't keep what looks like an API key. If it isn't one, type it again."


class UnfinishedForm(BaseModel):
    """A form's input `at` a time. `warning` tells the user what isn't kept."""

    form: str
    at: float
    subject: str
    view: dict[str, Any]
    warning: str = ""

    def offer(self) -> list[Block]:
        subject = f": “{line(shortened(self.subject, SUBJECT))}”" if self.subject else ""
        text = f"You have an unfinished draft from <!date^{int(self.at)}^{{ago}}|earlier>{subject}."
        buttons = [button("Continue draft", ContinueDraft()), button("Discard", DiscardDraft())]
        return [section(text, block_id=OFFER), actions(buttons, block_id=CHOICES)]


FORMS = TypeAdapter(tuple[UnfinishedForm, ...])
"""What is kept of a user: their last forms, the latest first."""


Change = Callable[[Sequence[UnfinishedForm]], Sequence[UnfinishedForm]]


class UnfinishedForms:
    """Each user's last forms; a form's claim tells whether its issue is created."""

    def __init__(self, access: Access) -> None:
        self.saved, self.claims = access.store.saved_input, access.store.claims

    async def offered(self, owner: Owner, form: str) -> UnfinishedForm | None:
        """What a form can continue: the latest other one whose issue isn't created."""
        content = None
        with suppress(StoredSecretError):  # of other encryption keys
            content = await self.saved.kept(owner, NAME)
        for kept in _forms_in(content):
            if kept.form == form or kept.at < time.time() - LIFETIME.total_seconds():
                continue
            if not await self.claims.is_done(form_claim(owner, kept.form, CALLBACK_ID)):
                return kept
        return None

    async def keep(self, owner: Owner, view: View, at: float) -> None:
        """Keep what a form held at Slack's time, unless it has neither subject nor description."""
        form = unfinished(view, at)
        if form is None:
            return
        try:
            await self._change(
                owner, lambda kept: [form, *(one for one in kept if one.form != form.form)], at
            )
        except Exception:  # keeping a draft runs in the background
            log.exception("draft not kept", action="draft.not_kept")

    async def discard(self, owner: Owner, view: View) -> None:
        """Forget what a form offered to continue."""
        form = NewIssueMetadata.of(view).form
        await self._change(owner, lambda kept: [one for one in kept if one.form == form])

    async def put(self, owner: Owner, *forms: UnfinishedForm | None) -> None:
        """Keep these forms in place of the earlier ones."""
        await self._change(owner, lambda _: list(filter(None, forms)))

    async def _change(self, owner: Owner, change: Change, at: float = math.inf) -> None:
        """Change the forms that were kept before that time, by default now."""
        then = datetime.fromtimestamp(min(at, time.time()), UTC)

        def changed(content: dict[str, Any] | None) -> dict[str, Any]:
            return {"forms": FORMS.dump_python(tuple(change(_forms_in(content))[:MOST]), mode="json")}

        await self.saved.keep(owner, NAME, then, changed)


def _forms_in(content: dict[str, Any] | None) -> tuple[UnfinishedForm, ...]:
    with suppress(ValidationError):  # of another version
        return FORMS.validate_python((content or {}).get("forms", ()))
    return ()


def unfinished(view: View, at: float) -> UnfinishedForm | None:
    """What a form held at a time; None if it has neither subject nor description."""
    entered = view.json.get("state", {}).get("values") or {}
    kept = {block_id: state for block_id, state in entered.items() if not types_key(_text(state))}
    refilled = _held(view, kept)
    values = forms.Values(refilled)
    subject = values.text("subject") or ""
    if not subject and not rich_input.has_content(values.rich_text(DESCRIPTION.name) or {}):
        return None
    warning = "" if len(kept) == len(entered) else KEY_LEFT_OUT
    form = NewIssueMetadata.of(view).form
    return UnfinishedForm(form=form, at=at, subject=subject, view=refilled, warning=warning)


def _held(view: View, entered: JSON) -> JSON:
    """The parts of a form that are needed to fill in again what was entered."""
    inputs = [block["block_id"] for block in view.json["blocks"] if block["type"] == "input"]
    return {
        "blocks": [{"type": "input", "block_id": block_id} for block_id in inputs],
        "state": {"values": entered},
        "private_metadata": view.json.get("private_metadata", ""),
    }


def _text(part: Any) -> str:  # noqa: ANN401 - JSON of any shape
    """All text in a field's state."""
    match part:
        case dict():
            return " ".join(_text(inner) for name, inner in part.items() if name not in ("type", "action_id"))
        case list():
            return " ".join(map(_text, part))
    return part if isinstance(part, str) else ""


def with_offer(view: JSON, offered: list[Block]) -> JSON:
    """Return the form with these blocks at the top, below its errors, instead of its own offer."""
    blocks = [block for block in view["blocks"] if block.get("block_id") not in (OFFER, CHOICES)]
    at = sum(block.get("block_id") == forms.BANNER for block in blocks[:1])
    return view | {"blocks": [*blocks[:at], *offered, *blocks[at:]][:MAX_VIEW_BLOCKS]}


def offer_in(view: JSON) -> list[Block]:
    return [block for block in view["blocks"] if block.get("block_id") in (OFFER, CHOICES)]
