"""Logging time with `/timelog` or its form, and editing logged time."""

from functools import partial
from typing import Any

import structlog
from pydantic import ValidationError

from bot.errors import BotError, NotLinked, OutcomeUnknown, UserError, WrongField
from bot.features.help import views as help_views
from bot.features.issues.views import issue_option
from bot.features.name_matching import pick
from bot.features.timelog import views
from bot.features.timelog.buttons import (
    ChooseIssue,
    EditTime,
    FillTimeForm,
    LogTimeAnyway,
    OpenEmptyTimeForm,
    OpenTimeForm,
)
from bot.features.timelog.commands import EditLastEntry, timelog_command
from bot.features.timelog.timelog import (
    ActivityNeeded,
    Loggable,
    Logged,
    LongDay,
    TimeChange,
    TimeDraft,
    Timelog,
    TimeToLog,
)
from bot.service.models import Ref
from bot.slack import forms, posting
from bot.slack.audience import Audiences
from bot.slack.blocks import JSON, Message, plain
from bot.slack.buttons import ActionExpired, Number
from bot.slack.claims import claimed
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.grammar.durations import hours
from bot.slack.grammar.requests import Help
from bot.slack.grammar.values import own_text
from bot.slack.interaction import ButtonPress, FormSubmission, OptionsRequest, Place, Shortcut, SlashCommand
from bot.slack.message_text import issue_named
from bot.slack.metadata import Metadata
from bot.slack.posting import SLACK_FAILED, Announced
from bot.slack.replies import Reply
from bot.slack.retractable import retractable
from bot.store.deliveries import Deliveries
from bot.store.saved_input import SavedInput
from bot.store.time_entries import Entry, Post, Spent

log = structlog.get_logger(__name__)


class LoggedAlready(UserError):
    """*Log time anyway* was pressed before."""


class DraftExpired(UserError):
    """What was typed isn't stored any more."""


class TimeMetadata(Metadata):
    """Of both forms: how many minutes on a day the user has confirmed."""

    agreed: Number = 0


class LogMetadata(TimeMetadata):
    """Of the form that logs time: the project, if it isn't logged on an issue."""

    project: str | None = None


class EditMetadata(TimeMetadata):
    """Of the form that edits an entry: `replace` if its confirmation replaces the pressed message."""

    entry: Number
    replace: bool = False


class TimelogHandlers:
    """Logs time from commands and forms, and edits what was logged."""

    def __init__(
        self,
        timelog: Timelog,
        saved: SavedInput,
        deliveries: Deliveries,
        audiences: Audiences,
    ) -> None:
        self._timelog = timelog
        self._saved = saved
        self._deliveries = deliveries
        self._audiences = audiences

    def feature(self) -> Feature:
        return Feature(
            commands={"timelog": self.command},
            shortcuts={"log_time": self.open_empty, "time_from_message": self.open_from_message},
            buttons={
                OpenTimeForm: self.open_pressed,
                OpenEmptyTimeForm: self.open_empty,
                ChooseIssue: self.issue_chosen,
                FillTimeForm: self.fill_pressed,
                LogTimeAnyway: self.log_anyway_pressed,
                EditTime: self.edit_pressed,
            },
            forms={
                "time.log": Form(self.submit, "Logging it in {service}…"),
                "time.change": Form(self.submit_change, "Changing it in {service}…"),
            },
            options={ChooseIssue.action: self.issue_options},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/timelog …`."""
        text, profile = own_text(command.text, reply.wording.base_url), await reply.profile()
        match timelog_command(text, await reply.today(), profile.locale):
            case TimeToLog() as wanted:
                await self._log(reply, wanted)
            case TimeDraft() as draft:
                await self.open_form(reply, draft)
            case EditLastEntry():
                await self._open_change(reply, None)
            case Help():
                await reply.privately(help_views.of("timelog", reply.wording.command))

    # Logging without the form

    async def _log(self, reply: Reply, wanted: TimeToLog) -> None:
        """Log time, or ask for the missing activity, or to confirm a day of more than 24 hours."""
        try:
            logged = await self._timelog.log(reply.owner, wanted)
        except ActivityNeeded as needed:
            await self._ask_activity(reply, wanted, needed)
        except LongDay as long:
            saved = await self._save(reply, wanted.model_copy(update={"agreed": long.minutes}))
            await reply.privately(views.long_day(long, await reply.today(), saved))
        except OutcomeUnknown as error:
            await reply.privately(views.unknown(reply.wording, wanted, error))
        else:
            await self._announce_and_confirm(reply, logged)

    async def _ask_activity(self, reply: Reply, wanted: TimeToLog, needed: ActivityNeeded) -> None:
        """Open the form with everything that was typed, or offer a button if the trigger has expired."""
        said = reply.wording.sentence(needed)
        draft = wanted.model_copy(update={"activity": None})
        try:
            await self._show_form(reply, needed.on, draft, said, agreed=wanted.agreed)
        except SLACK_FAILED as error:
            log.info("time form not opened", action="time.form_not_opened", error=type(error).__name__)
            await reply.privately(views.needed(said, await self._save(reply, wanted)))

    async def fill_pressed(self, press: ButtonPress[FillTimeForm], reply: Reply) -> None:
        """The buttons *Fill in the form* and *Edit time*: the form with what was typed before."""
        await self.open_form(reply, await self._saved_time(reply, press.button.saved))

    async def log_anyway_pressed(self, press: ButtonPress[LogTimeAnyway], reply: Reply) -> None:
        """The button *Log time anyway*: log what was typed, once, and delete the question."""
        saved = press.button.saved
        wanted = await self._saved_time(reply, saved)
        async with claimed(self._deliveries, f"time:{saved}", LoggedAlready()):
            await self._log(reply, wanted)
        await posting.dismiss(reply.slack, reply.place)

    async def _save(self, reply: Reply, wanted: TimeToLog) -> str:
        return await self._saved.put(reply.owner, {"time": wanted.model_dump(mode="json")})

    async def _saved_time(self, reply: Reply, saved_id: str) -> TimeToLog:
        saved = await self._saved.get(reply.owner, saved_id)
        try:
            return TimeToLog.model_validate((saved or {}).get("time"))
        except ValidationError:
            raise DraftExpired from None

    # Answers

    async def _announce_and_confirm(self, reply: Reply, logged: Logged) -> None:
        """Announce logged time in the conversation, and confirm it to the user."""
        why_private = views.PRIVATE
        if logged.on.public:
            post = views.announced(logged.spent, reply.wording, reply.owner.user_id)
            announced, ts = await reply.post(post)
            why_private = "" if announced is Announced.YES else announced.value
            posted = announced in (Announced.YES, Announced.UNSURE)
            if posted and reply.place.channel_id and isinstance(logged.spent, Entry):
                await self._timelog.announced(reply.owner, logged.spent, Post(reply.place.channel_id, ts))
        await reply.privately(await self._summary(reply, "Logged", logged.spent, why_private=why_private))

    async def _summary(
        self, reply: Reply, did: str, spent: Spent, *, why_private: str = "", stale: str = ""
    ) -> Message:
        today = await reply.today()
        totals = await self._timelog.totals(reply.owner, today)
        return views.summary(
            did, spent, totals, reply.wording, today=today, why_private=why_private, stale=stale
        )

    # The form

    async def open_pressed(self, press: ButtonPress[OpenTimeForm], reply: Reply) -> None:
        """The button *Log time*."""
        await self.open_form(reply, TimeDraft(issue=press.button.issue))

    async def open_empty(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        """The global shortcut, and the Home tab's button."""
        await self.open_form(reply, TimeDraft())

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: log time on the issue it names, announced in its thread."""
        await reply.open(loading("Log time"))
        message = shortcut.message
        thread = Place(reply.place.channel_id, message.get("thread_ts") or message.get("ts"))
        number = issue_named(str(message.get("text") or ""), reply.wording.base_url)
        await self._fill(reply.at(thread), TimeDraft(issue=number), guessed=True)

    async def open_form(self, reply: Reply, draft: TimeDraft) -> None:
        """Open the form at once, then fill it."""
        await reply.open(loading("Log time"))
        await self._fill(reply, draft)

    async def _fill(self, reply: Reply, draft: TimeDraft, *, guessed: bool = False) -> None:
        """Fill the open form with what was typed.

        If the user can't see a `guessed` issue, the form shows a warning; otherwise that raises UserError.
        """
        said, on = None, None
        try:
            on = await self._timelog.loggable(reply.owner, draft)
            if on is not None and draft.activity is not None:
                pick("activity", draft.activity, on.activities)
        except NotLinked:
            raise
        except UserError as error:
            if not guessed and on is None:
                raise
            said = reply.wording.sentence(error)
        await self._show_form(reply, on, draft, said)

    async def _show_form(
        self, reply: Reply, on: Loggable | None, draft: TimeDraft, said: str | None, agreed: int = 0
    ) -> None:
        project = f"#{on.project.id}" if on and on.issue is None else None
        metadata = LogMetadata(place=reply.place.as_json(), project=project, agreed=agreed)
        values = views.entered(draft, await reply.today())
        await reply.show(views.time_form(on, values, metadata.dump(), said))

    async def issue_chosen(self, press: ButtonPress[ChooseIssue], reply: Reply) -> None:
        """Another issue was chosen in the form: offer its activities and keep what was typed."""
        if press.view is None:
            raise ActionExpired
        metadata = LogMetadata.of(press.view)
        on = await self._timelog.loggable(reply.owner, TimeDraft(issue=press.button.issue))
        values = views.entered_in(press.view.json, await reply.today())
        await reply.show(views.time_form(on, values, metadata.dump()))

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, the user's own before anything is typed."""
        found = await self._timelog.suggest(reply.owner, request.text)
        return [issue_option(issue) for issue in found]

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Log the time, then announce and confirm it; without a conversation, confirm it in the form."""
        metadata = LogMetadata.of(form.view)
        entered = await _entered(form, reply, metadata)
        wanted = TimeToLog(
            hours=entered.hours,
            spent_on=entered.spent_on,
            issue=forms.Values(form.view.json).number("issue"),
            project=metadata.project,
            activity=f"#{entered.activity.id}" if entered.activity else None,
            comment=entered.comment,
            agreed=entered.agreed,
        )
        try:
            logged = await self._timelog.log(reply.owner, wanted)
        except ActivityNeeded as needed:  # the form was sent before it showed the issue's activities
            values, said = views.entered_in(form.view.json, entered.spent_on), reply.wording.sentence(needed)
            return FormResult(view=views.time_form(needed.on, values, metadata.dump(), said), said=said)
        except LongDay as long:
            return await _asked_again(form, reply, metadata, long)
        except OutcomeUnknown as error:
            # Time entries can't be listed, so only the user can check: the form isn't offered again.
            return _shown("Look first", views.unknown(reply.wording, wanted, error))
        reply.committed = True
        if reply.place.channel_id:
            return FormResult(then=partial(self._announce_and_confirm, reply, logged))
        return _shown("Logged", await self._summary(reply, "Logged", logged.spent))

    # Editing an entry

    async def edit_pressed(self, press: ButtonPress[EditTime], reply: Reply) -> None:
        """The button *Edit*, below a confirmation or on the Home tab."""
        await self._open_change(reply, press.button.entry)

    async def _open_change(self, reply: Reply, entry_id: int | None) -> None:
        """Open the form for one of the user's own entries; None opens the latest one."""
        await reply.open(loading("Edit time"))
        found = await self._timelog.changeable(reply.owner, entry_id)
        pressed = isinstance(reply.interaction, ButtonPress)
        metadata = EditMetadata(entry=found.entry.id, place=reply.place.as_json(), replace=pressed)
        await reply.show(views.change_form(found, reply.wording, metadata.dump()))

    async def submit_change(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the entry and its public post, and confirm the new values."""
        metadata = EditMetadata.of(form.view)
        wanted = await _entered(form, reply, metadata)
        try:
            entry = await self._timelog.change(reply.owner, metadata.entry, wanted)
        except LongDay as long:
            return await _asked_again(form, reply, metadata, long)
        stale = await self._update_post(reply, entry)

        async def confirm() -> None:
            summary = await self._summary(reply, "Changed to", entry, stale=stale)
            await reply.privately(summary, replace=metadata.replace)

        if reply.place.channel_id:
            return FormResult(then=confirm)
        return _shown("Changed", await self._summary(reply, "Changed to", entry, stale=stale))

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
        message = retractable(views.announced(entry, reply.wording, reply.owner.user_id), reply.owner)
        updated = await posting.update(reply.slack, post.channel_id, post.ts, message)
        return "" if updated else post.channel_id


async def _entered(form: FormSubmission, reply: Reply, metadata: TimeMetadata) -> TimeChange:
    """What is in the fields that both forms have. Raises WrongField for an unreadable duration."""
    values = forms.Values(form.view.json)
    try:
        amount = hours(values.text("hours") or "", (await reply.profile()).locale)
    except UserError as error:
        raise WrongField("hours", reply.wording.sentence(error)) from error
    activity = values.number("activity")
    return TimeChange(
        hours=amount,
        spent_on=values.day("date") or await reply.today(),
        activity=Ref(id=activity, name=values.chosen("activity", "text") or "") if activity else None,
        comment=values.text("comment") or "",
        agreed=metadata.agreed,
    )


async def _asked_again(
    form: FormSubmission, reply: Reply, metadata: TimeMetadata, long: LongDay
) -> FormResult:
    """The form again with a question; submitting it once more confirms the long day."""
    said = views.adds_up(long, await reply.today())
    agreed = metadata.model_copy(update={"agreed": long.minutes})
    view = forms.refilled(form.view.json, f"{said} Is that right?", agreed.dump())
    return FormResult(view=view | {"submit": plain("Log anyway", 24)}, said=said)


def _shown(title: str, message: Message) -> FormResult:
    return FormResult(view=forms.said(title, message.blocks), message=message)
