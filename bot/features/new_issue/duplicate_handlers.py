"""Looks up similar issues while a user types the subject of a new one."""

from dataclasses import dataclass

import structlog

from bot.errors import BotError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.issues.buttons import TypeSubject
from bot.features.issues.creating import Source
from bot.features.new_issue import form as create_form
from bot.features.new_issue.duplicates import Duplicates
from bot.features.new_issue.metadata import NewIssueMetadata
from bot.slack import forms
from bot.slack.blocks import Block
from bot.slack.buttons import ActionExpired
from bot.slack.debounce import Debouncer
from bot.slack.feature import Feature
from bot.slack.interaction import ButtonPress
from bot.slack.posting import SLACK_FAILED, reason
from bot.slack.replies import Reply

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class DuplicateHandlers:
    """Looks for similar issues while a user types a new one."""

    duplicates: Duplicates
    pauses: Debouncer
    accounts: Accounts

    def feature(self) -> Feature:
        return Feature(buttons={TypeSubject: self.subject_typed})

    async def notes(
        self, reply: Reply, session: Session, subject: str, project_id: int | None, source: Source | None
    ) -> list[Block]:
        """The notes below the form's subject; none on an error, so that the form still opens."""
        try:
            known = await self.duplicates.find(session, subject, project_id, source)
        except BotError as error:
            log.info("similar issues not looked up", action="duplicates.unknown", error=type(error).__name__)
            return []
        return create_form.duplicate_notes(known, reply.wording)

    async def subject_typed(self, press: ButtonPress[TypeSubject], reply: Reply) -> None:
        """The subject changed: once the user pauses, look for similar issues."""
        if press.view is None:
            raise ActionExpired
        key, view, pauses, typed_at = press.form_key, press.view.json, self.pauses, press.pressed_at
        source = NewIssueMetadata.of(press.view).source
        if not await pauses.wait(key, typed_at):
            return
        try:
            project = forms.Values(view).number("project")
            async with self.accounts.reading(reply.owner) as session:
                found = await self.notes(reply, session, press.button.subject, project, source)
        except BotError as error:  # submitting the form reports it, if it persists
            log.info("similar issues not looked up", action="duplicates.unknown", error=type(error).__name__)
            return
        updated = create_form.with_notes(view, found)
        now = pauses.hash_now(key, view["hash"])
        if not pauses.is_latest(key, typed_at):
            return
        if now == view["hash"] and create_form.notes_in(updated) == create_form.notes_in(view):
            return
        try:
            answer = await reply.slack.views_update(view_id=view["id"], view=updated, hash=now)
        except SLACK_FAILED as error:  # another project was chosen, or the form was submitted or closed
            log.info("form changed before the update", action="duplicates.form_moved_on", error=reason(error))
            return
        pauses.updated(key, now, (answer.get("view") or {}).get("hash") or now)
