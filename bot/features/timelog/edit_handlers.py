"""Editing logged time, and the post that announced it."""

import structlog

from bot.errors import BotError
from bot.features.timelog import views
from bot.features.timelog.buttons import EditTime
from bot.features.timelog.common import TimeMetadata, asked_again, confirmation, entered, shown
from bot.features.timelog.timelog import LongDay, TimeDraft, Timelog
from bot.slack import posting
from bot.slack.audience import Audiences
from bot.slack.buttons import Number
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.interaction import ButtonPress, FormSubmission
from bot.slack.replies import Reply
from bot.slack.retractable import retractable
from bot.store.time_entries import Entry

log = structlog.get_logger(__name__)


class EditMetadata(TimeMetadata):
    """Of the form that edits an entry: `replace` if its confirmation replaces the pressed message."""

    entry: Number
    replace: bool = False


class EditHandlers:
    """Changes what was logged."""

    def __init__(self, timelog: Timelog, audiences: Audiences) -> None:
        self._timelog = timelog
        self._audiences = audiences

    def feature(self) -> Feature:
        return Feature(
            buttons={EditTime: self.pressed},
            forms={"time.change": Form(self.submit, "Changing it in {service}…")},
        )

    async def pressed(self, press: ButtonPress[EditTime], reply: Reply) -> None:
        """The button *Edit*, below a confirmation or on the Home tab."""
        await self.open_form(reply, press.button.entry)

    async def open_form(self, reply: Reply, entry_id: int | None) -> None:
        """Open the form for one of the user's own entries; None opens the latest one."""
        await reply.open(loading("Edit time"))
        found = await self._timelog.changeable(reply.owner, entry_id)
        pressed = isinstance(reply.interaction, ButtonPress)
        metadata = EditMetadata(entry=found.entry.id, place=reply.place.as_json(), replace=pressed)
        await reply.show(views.change_form(found, reply.wording, metadata.dump()))

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the entry and its public post, and confirm the new values."""
        metadata = EditMetadata.of(form.view)
        wanted = await entered(form, reply, metadata)
        try:
            entry = await self._timelog.change(reply.owner, metadata.entry, wanted)
        except LongDay as long:
            return await asked_again(form, reply, metadata, long)
        stale = await self._update_post(reply, entry)

        async def confirm() -> None:
            summary = await confirmation(self._timelog, reply, "Changed to", entry, stale=stale)
            await reply.privately(summary, replace=metadata.replace)

        if reply.place.channel_id:
            return FormResult(then=confirm)
        return shown("Changed", await confirmation(self._timelog, reply, "Changed to", entry, stale=stale))

    async def _update_post(self, reply: Reply, entry: Entry) -> str:
        """Update the entry's public post, if everyone in that channel may still see it.

        Returns the channel whose post still shows the earlier entry, or an empty string.
        """
        post = entry.post
        if post is None:
            return ""
        project = None if entry.issue_id else f"#{entry.project_id}"
        try:
            on = await self._timelog.loggable(reply.owner, TimeDraft(issue=entry.issue_id, project=project))
        except BotError as error:
            log.info("time post not updated", action="time.post_not_updated", error=type(error).__name__)
            return post.channel_id
        blocked = await self._audiences.why_not_share(reply.slack, reply.owner.team_id, post.channel_id)
        if post.ts is None or on is None or not on.public or blocked:
            return post.channel_id
        message = await retractable(views.announced(entry, reply.wording, reply.owner.user_id), reply)
        updated = await posting.update(reply.slack, post.channel_id, post.ts, message)
        return "" if updated else post.channel_id
