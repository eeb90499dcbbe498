"""Sharing, editing and deleting logged time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import structlog
from pydantic import Field

from bot.errors import BotError, UserError, WrongField
from bot.features.issues.publicity import Exposure, Publicity
from bot.features.timelog import views
from bot.features.timelog.buttons import DeleteTime, EditTime, ShareTime
from bot.features.timelog.own_entries import LongDay, OwnEntries, TimeChange
from bot.features.timelog.timelog import Timelog
from bot.service.models import Ref
from bot.slack import forms, posting
from bot.slack.audience import Audiences
from bot.slack.blocks import Block, Message, plain
from bot.slack.buttons import Number
from bot.slack.claims import announced_once
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.grammar.durations import hours
from bot.slack.interaction import ButtonPress, FormSubmission, Place
from bot.slack.metadata import Metadata
from bot.slack.posting import Announced, NotAnnounced
from bot.slack.replies import Reply
from bot.slack.retractable import retractable
from bot.store.claims import Claims
from bot.store.time_entries import Entry, Post, Spent

log = structlog.get_logger(__name__)


class PrivateTimeNotShared(UserError):
    """Time on a private issue is never shared."""


class TimeNotShared(UserError):
    """The time wasn't shared, or it is unknown whether it was."""

    why: NotAnnounced


class TimeMetadata(Metadata):
    """Of both forms: how many minutes on a day the user has confirmed."""

    agreed: Number = 0


class EditMetadata(TimeMetadata):
    """Of the form that edits an entry: `replace` if its confirmation replaces the pressed message, `shown` as
    in `forms.shown_in`.
    """

    entry: Number
    shown: dict[str, str] = Field(default_factory=dict)
    replace: bool = False


@dataclass(frozen=True)
class EntryHandlers:
    """Shares, changes and deletes what was logged."""

    timelog: Timelog
    entries: OwnEntries
    audiences: Audiences
    claims: Claims
    publicity: Publicity

    def feature(self) -> Feature:
        return Feature(
            buttons={
                ShareTime: self.share_pressed,
                EditTime: self.edit_pressed,
                DeleteTime: self.delete_pressed,
            },
            forms={"time.change": Form(self.submit, "Saving to {service}…")},
        )

    async def confirmation(
        self, reply: Reply, did: str, spent: Spent, *, shareable: bool = True, note: str = ""
    ) -> Message:
        """The private confirmation with the user's totals; the arguments are those of `views.summary`."""
        totals = await self.entries.totals(reply.owner, await reply.today())
        shareable = shareable and reply.place.channel_id is not None
        return views.summary(did, spent, totals, reply.wording, shareable=shareable, note=note)

    # Sharing

    async def share_pressed(self, press: ButtonPress[ShareTime], reply: Reply) -> None:
        """*Share here*; asks first unless everyone can see the project."""
        entry = await self.entries.one(reply.owner, press.button.entry)
        on = await self.timelog.target_of(reply.owner, entry)
        if on.private:
            raise PrivateTimeNotShared
        seen = await self.publicity.now(reply.owner, on.exposure)
        agreed = press.button.agreed
        if seen.asks(agreed):
            await reply.privately(views.share_anyway(entry, on.project))
            return
        twice = f"share_time:{entry.id}:{reply.owner.team_id}:{reply.place.channel_id}"
        announced = await announced_once(
            self.claims, twice, partial(self.post, reply, replace(entry, title=on.title), seen, agreed)
        )
        if announced is not Announced.YES:
            raise TimeNotShared(announced)
        if agreed:
            await posting.dismiss(reply.slack, reply.place)

    async def post(self, reply: Reply, spent: Spent, seen: Exposure, agreed: int | None = None) -> Announced:
        """Post logged time where the user asked; `agreed` as in `ShareTime`."""
        place = reply.place
        message = views.announced(spent, reply.wording, (await reply.profile()).name, place.thread_ts)
        may_post = partial(self.publicity.may_post, reply.owner, seen, agreed)
        announced, ts = await reply.post(message, may_post)
        posted = announced in (Announced.YES, Announced.UNSURE)
        if posted and place.channel_id and isinstance(spent, Entry):
            await self.entries.posted(reply.owner, spent, Post(place.channel_id, ts, place.thread_ts))
        return announced

    # Editing

    async def edit_pressed(self, press: ButtonPress[EditTime], reply: Reply) -> None:
        """*Edit*, below a confirmation or on the Home tab."""
        await self.open_form(reply, press.button.entry)

    async def open_form(self, reply: Reply, entry_id: int | None) -> None:
        """Open the form for one of the user's own entries; None opens the latest one."""
        await reply.open(loading("Edit time"))
        entry, activities = await self.entries.changeable(reply.owner, entry_id)
        pressed = isinstance(reply.interaction, ButtonPress)
        view = views.change_form(entry, activities, reply.wording)
        metadata = EditMetadata(
            entry=entry.id, place=reply.place.as_json(), replace=pressed, shown=forms.shown_in(view)
        )
        await reply.show(view | {"private_metadata": metadata.dump()})

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the entry and its public post, and confirm the new values."""
        metadata = EditMetadata.of(form.view)
        wanted = await entered(form, reply, metadata, metadata.shown)
        try:
            entry = await self.entries.change(reply.owner, metadata.entry, wanted)
        except LongDay as long:
            return await asked_again(form, reply, metadata, long)
        note = await self._update_post(reply, entry)

        async def confirm() -> None:
            summary = await self.confirmation(reply, "Changed to", entry, note=note)
            await reply.privately(summary, replace=metadata.replace)

        if reply.place.channel_id:
            return FormResult(then=confirm)
        return shown("Time changed", await self.confirmation(reply, "Changed to", entry, note=note))

    async def _update_post(self, reply: Reply, entry: Entry) -> str:
        """Update the entry's public post, if everyone in that channel may still see it; returns a note if it
        still shows the earlier entry.
        """
        post = entry.post
        if post is None:
            return ""
        stale = views.stale_post(post.channel_id)
        try:
            on = await self.timelog.target_of(reply.owner, entry)
        except BotError as error:
            log.info("time post not updated", action="time.post_not_updated", error=type(error).__name__)
            return stale
        blocked = await self.audiences.why_not_share(reply.slack, reply.owner.team_id, post.channel_id)
        name = (await reply.profile()).name
        said = views.announced(replace(entry, title=on.title), reply.wording, name, post.thread_ts)
        message = await retractable(said, reply)
        if post.ts is None or on.private or blocked:
            return stale
        if not await self.publicity.may_post(reply.owner, on.exposure):
            return stale
        return "" if await posting.update(reply.slack, post.channel_id, post.ts, message) else stale

    # Deleting

    async def delete_pressed(self, press: ButtonPress[DeleteTime], reply: Reply) -> None:
        """*Delete entry*, below a confirmation or in the form: delete the entry and its post."""
        entry = await self.entries.one(reply.owner, press.button.entry)

        async def elsewhere(_: BotError) -> Block:
            return views.elsewhere(entry, reply.wording)

        reply.recovery = elsewhere
        if reply.in_form:
            await reply.show(loading("Delete entry"))
        await self.entries.delete(reply.owner, entry)
        note = ""
        if (post := entry.post) is not None:
            place = Place(post.channel_id)
            if post.ts is None or not await posting.delete_post(reply.slack, place, post.ts):
                note = views.stale_post(post.channel_id)
        totals = await self.entries.totals(reply.owner, await reply.today())
        told = views.deleted(entry, totals, reply.wording, note)
        if not reply.in_form:
            await reply.privately(told, replace=True)
            return
        shown_in_form = await reply.shown(forms.said("Time deleted", told.blocks))
        metadata = EditMetadata.of(reply.interaction.modal)
        place = Place.from_json(metadata.place)
        if not shown_in_form or (metadata.replace and place.channel_id):
            await reply.at(place).privately(told, replace=metadata.replace)


# Shared with the form that logs time


async def entered(
    form: FormSubmission, reply: Reply, metadata: TimeMetadata, shown: Mapping[str, str] | None = None
) -> TimeChange:
    """What is in the fields that both forms have, without what is as it was `shown`.

    Raises WrongField for an unreadable duration.
    """
    values, found = forms.Values(form.view.json), TimeChange(agreed=metadata.agreed)
    if values.changed("hours", shown):
        try:
            amount = hours(values.text("hours") or "", (await reply.profile()).locale)
        except UserError as error:
            raise WrongField("hours", error) from error
        found = replace(found, hours=amount)
    if values.changed("date", shown):
        found = replace(found, spent_on=values.day("date") or await reply.today())
    if (activity := values.number("activity")) and values.changed("activity", shown):
        ref = Ref(id=activity, name=values.chosen("activity", "text") or "")
        found = replace(found, activity=ref)
    if values.changed("comment", shown):
        found = replace(found, comment=values.text("comment") or "")
    return found


async def asked_again(
    form: FormSubmission, reply: Reply, metadata: TimeMetadata, long: LongDay
) -> FormResult:
    """The form again with a question; submitting it once more confirms the long day."""
    said = f"{views.adds_up(long, await reply.today())} Is that right?"
    agreed = metadata.model_copy(update={"agreed": long.minutes})
    view = forms.refilled(form.view.json, said, agreed.dump())
    return FormResult(view=view | {"submit": plain("Log anyway", 24)}, said=said)


def shown(title: str, message: Message) -> FormResult:
    return FormResult(view=forms.said(title, message.blocks), message=message)
