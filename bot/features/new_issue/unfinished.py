"""Keeps what a form for a new issue holds for a day, so that the next form can continue it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Optional

import structlog
from pydantic import BaseModel, Field, ValidationError

from bot.errors import StoredTextError
from bot.features.issues.buttons import ContinueDraft, DiscardDraft
from bot.features.issues.fields import DESCRIPTION
from bot.features.new_issue.form import NewIssueMetadata
from bot.slack.language.keys import types_key
from bot.slack.surfaces import forms, rich_input
from bot.slack.surfaces.blocks import JSON, Block, actions, button, section, shortened
from bot.slack.surfaces.view import View
from bot.slack.text.mrkdwn import line
from bot.store.owner import Owner
from bot.store.saved_input import LIFETIME, SavedInput

log = structlog.get_logger(__name__)

NAME = "new_issue"
OFFER, CHOICES = "draft", "draft_buttons"
SUBJECT = 60
KEY_LEFT_OUT = "I didn't keep what looks like an API key. If it isn't one, type it again."


class UnfinishedForm(BaseModel):
    """A form's input `at` a time; `before` is the input that it offered to continue, and `sent` the last form
    whose issue was created. `said` tells the user what isn't kept.
    """

    form: str = ""
    at: float = 0
    subject: str = ""
    view: dict[str, Any] = Field(default_factory=dict)
    before: Optional["UnfinishedForm"] = None
    sent: str = ""
    said: str = ""

    def offer(self) -> list[Block]:
        subject = f": “{line(shortened(self.subject, SUBJECT))}”" if self.subject else ""
        text = f"You have an unfinished draft{subject}, <!date^{int(self.at)}^{{ago}}|from before>."
        buttons = [button("Continue draft", ContinueDraft()), button("Discard", DiscardDraft())]
        return [section(text, block_id=OFFER), actions(buttons, block_id=CHOICES)]


@dataclass(frozen=True)
class UnfinishedForms:
    """At most one form for each user: the last one, until its issue is created."""

    saved: SavedInput

    async def offered(self, owner: Owner, form: str) -> UnfinishedForm | None:
        """What a form can continue: the one that the user filled in before it."""
        kept = None
        with suppress(StoredTextError):  # of other encryption keys
            kept = await self.saved.kept(owner, NAME)
        return _offered(_read(kept), form)

    async def keep(self, owner: Owner, view: View, at: float) -> None:
        """Keep what a form held at Slack's time, unless it has neither subject nor description."""
        held, form = unfinished(view, at), NewIssueMetadata.of(view).form

        def kept(before: UnfinishedForm | None) -> UnfinishedForm | None:
            if held is None or (before and before.sent == form):  # the choice came late
                return None
            return held.model_copy(update={"before": _offered(before, form)})

        with _logged():
            await self._change(owner, kept, at)

    async def created(self, owner: Owner, view: View) -> None:
        """Forget a form's content, because its issue is created; nothing of it is kept later."""
        form = NewIssueMetadata.of(view).form

        def sent(before: UnfinishedForm | None) -> UnfinishedForm:
            return (_offered(before, form) or UnfinishedForm()).model_copy(update={"sent": form})

        with _logged():
            await self._change(owner, sent)

    async def discard(self, owner: Owner, view: View) -> None:
        """Forget what a form offered to continue."""
        form = NewIssueMetadata.of(view).form

        def own(before: UnfinishedForm | None) -> UnfinishedForm:
            mine = before if before and before.form == form else UnfinishedForm()
            return mine.model_copy(update={"before": None, "sent": ""})

        await self._change(owner, own)

    async def put(self, owner: Owner, form: UnfinishedForm) -> None:
        """Keep a form in place of the earlier one."""
        await self._change(owner, lambda _: form.model_copy(update={"sent": ""}))

    async def _change(
        self,
        owner: Owner,
        change: Callable[[UnfinishedForm | None], UnfinishedForm | None],
        at: float | None = None,
    ) -> None:
        """Replace the form that was kept before that time, by default now."""
        now = time.time()
        then = datetime.fromtimestamp(min(at or now, now), UTC)

        def changed(before: dict[str, Any] | None) -> dict[str, Any] | None:
            form = change(_read(before))
            return form.model_dump(mode="json") if form else None

        await self.saved.keep(owner, NAME, then, changed)


def _read(kept: dict[str, Any] | None) -> UnfinishedForm | None:
    with suppress(ValidationError):  # of another version
        return UnfinishedForm.model_validate(kept) if kept else None
    return None


def _offered(kept: UnfinishedForm | None, form: str) -> UnfinishedForm | None:
    """Return the kept form that a new one can continue."""
    found = kept.before if kept and kept.form == form else kept
    if found is None or found.at < time.time() - LIFETIME.total_seconds():
        return None
    return found.model_copy(update={"before": None})


@contextmanager
def _logged() -> Iterator[None]:
    """Log errors: keeping or forgetting a draft runs in the background."""
    try:
        yield
    except Exception:
        log.exception("draft not kept", action="draft.not_kept")


def unfinished(view: View, at: float) -> UnfinishedForm | None:
    """What a form held at a time; None if it has neither subject nor description."""
    entered = view.json.get("state", {}).get("values") or {}
    kept = {block_id: state for block_id, state in entered.items() if not types_key(_text(state))}
    held = _held(view, kept)
    values = forms.Values(held)
    subject = values.text("subject") or ""
    if not subject and not rich_input.has_content(values.rich_text(DESCRIPTION.name) or {}):
        return None
    said = "" if len(kept) == len(entered) else KEY_LEFT_OUT
    return UnfinishedForm(form=NewIssueMetadata.of(view).form, at=at, subject=subject, view=held, said=said)


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
            return " ".join(_text(held) for name, held in part.items() if name not in ("type", "action_id"))
        case list():
            return " ".join(map(_text, part))
    return part if isinstance(part, str) else ""


def with_offer(view: JSON, offered: list[Block]) -> JSON:
    """Return the form with these blocks at the top, below its errors, instead of its own offer."""
    blocks = [block for block in view["blocks"] if block.get("block_id") not in (OFFER, CHOICES)]
    at = sum(block.get("block_id") == forms.BANNER for block in blocks[:1])
    return view | {"blocks": [*blocks[:at], *offered, *blocks[at:]][: forms.LIST]}


def offer_in(view: JSON) -> list[Block]:
    return [block for block in view["blocks"] if block.get("block_id") in (OFFER, CHOICES)]
