"""Logging time with `/timelog` or its form."""

from functools import partial
from typing import Any

import structlog
from pydantic import ValidationError

from bot.errors import NotLinked, OutcomeUnknown, UserError
from bot.features.help import views as help_views
from bot.features.issues.views import issue_option
from bot.features.name_matching import pick
from bot.features.timelog import views
from bot.features.timelog.buttons import (
    ChooseIssue,
    FillTimeForm,
    LogTimeAnyway,
    OpenEmptyTimeForm,
    OpenTimeForm,
)
from bot.features.timelog.commands import EditLastEntry, timelog_command
from bot.features.timelog.common import TimeMetadata, asked_again, confirmation, entered, shown
from bot.features.timelog.edit_handlers import EditHandlers
from bot.features.timelog.timelog import (
    ActivityNeeded,
    Loggable,
    Logged,
    LongDay,
    TimeDraft,
    Timelog,
    TimeToLog,
)
from bot.slack import forms, posting
from bot.slack.blocks import JSON
from bot.slack.buttons import ActionExpired
from bot.slack.claims import claimed
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.grammar.requests import Help
from bot.slack.grammar.values import own_text
from bot.slack.interaction import ButtonPress, FormSubmission, OptionsRequest, Place, Shortcut, SlashCommand
from bot.slack.message_text import issue_named
from bot.slack.posting import SLACK_FAILED, Announced
from bot.slack.replies import Reply
from bot.slack.sentences import NOT_ANNOUNCED
from bot.store.deliveries import Deliveries
from bot.store.saved_input import SavedInput
from bot.store.time_entries import Entry, Post

log = structlog.get_logger(__name__)


class LoggedAlready(UserError):
    """*Log time anyway* was pressed before."""


class DraftExpired(UserError):
    """What was typed isn't stored any more."""


class LogMetadata(TimeMetadata):
    """Of the form that logs time: the project, if it isn't logged on an issue."""

    project: str | None = None


class TimelogHandlers:
    """Logs time from commands and forms."""

    def __init__(
        self,
        timelog: Timelog,
        saved: SavedInput,
        deliveries: Deliveries,
        editing: EditHandlers,
    ) -> None:
        self._timelog = timelog
        self._saved = saved
        self._deliveries = deliveries
        self._editing = editing

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
            },
            forms={"time.log": Form(self.submit, "Logging it in {service}…")},
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
                await self._editing.open_form(reply, None)
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
            why_private = "" if announced is Announced.YES else NOT_ANNOUNCED[announced]
            posted = announced in (Announced.YES, Announced.UNSURE)
            if posted and reply.place.channel_id and isinstance(logged.spent, Entry):
                await self._timelog.announced(reply.owner, logged.spent, Post(reply.place.channel_id, ts))
        said = await confirmation(self._timelog, reply, "Logged", logged.spent, why_private=why_private)
        await reply.privately(said)

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
        values = await entered(form, reply, metadata)
        wanted = TimeToLog(
            hours=values.hours,
            spent_on=values.spent_on,
            issue=forms.Values(form.view.json).number("issue"),
            project=metadata.project,
            activity=f"#{values.activity.id}" if values.activity else None,
            comment=values.comment,
            agreed=values.agreed,
        )
        try:
            logged = await self._timelog.log(reply.owner, wanted)
        except ActivityNeeded as needed:  # the form was sent before it showed the issue's activities
            fields, said = views.entered_in(form.view.json, values.spent_on), reply.wording.sentence(needed)
            return FormResult(view=views.time_form(needed.on, fields, metadata.dump(), said), said=said)
        except LongDay as long:
            return await asked_again(form, reply, metadata, long)
        except OutcomeUnknown as error:
            # Time entries can't be listed, so only the user can check: the form isn't offered again.
            return shown("Look first", views.unknown(reply.wording, wanted, error))
        reply.committed = True
        if reply.place.channel_id:
            return FormResult(then=partial(self._announce_and_confirm, reply, logged))
        return shown("Logged", await confirmation(self._timelog, reply, "Logged", logged.spent))
