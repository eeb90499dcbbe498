"""Logging time with `/timelog` or its form."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from bot.errors import BotError, NotLinked, OutcomeUnknown, UserError
from bot.features.help import views as help_views
from bot.features.issues.views import issue_option
from bot.features.name_matching import pick
from bot.features.timelog import views
from bot.features.timelog.buttons import (
    ChooseIssue,
    FillTimeForm,
    LogTimeAnyway,
    LogTimeToday,
    OpenEmptyTimeForm,
    OpenTimeForm,
)
from bot.features.timelog.commands import EditLastEntry, Misread, timelog_command
from bot.features.timelog.entry_handlers import EntryHandlers, TimeMetadata, asked_again, entered, shown
from bot.features.timelog.own_entries import LongDay
from bot.features.timelog.timelog import ActivityNeeded, Loggable, Logged, TimeDraft, Timelog, TimeToLog
from bot.slack import forms, posting
from bot.slack.blocks import JSON, Block, button_row
from bot.slack.buttons import ActionExpired
from bot.slack.claims import claimed
from bot.slack.debounce import Debouncer
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.grammar.requests import Help
from bot.slack.grammar.values import own_text
from bot.slack.interaction import ButtonPress, FormSubmission, OptionsRequest, Place, Shortcut, SlashCommand
from bot.slack.message_text import issue_named, text_of
from bot.slack.posting import Announced
from bot.slack.replies import Reply
from bot.slack.sentences import not_posted
from bot.slack.text import prose
from bot.store.claims import Claims
from bot.store.saved_input import SavedInput

D = TypeVar("D", bound=TimeDraft)


class LoggedAlready(UserError):
    """*Log anyway* was pressed before."""


class DraftExpired(UserError):
    """What was typed isn't stored any more."""


class LogMetadata(TimeMetadata):
    """Of the form that logs time: the project, if it isn't logged on an issue.

    `announce` if the form came from a message, whose thread the result is posted in. `activity` is what the
    user typed for an issue that isn't known yet.
    """

    project: str | None = None
    announce: bool = False
    activity: str | None = None


@dataclass(frozen=True)
class TimelogHandlers:
    """Logs time from commands and forms."""

    timelog: Timelog
    saved: SavedInput
    claims: Claims
    entries: EntryHandlers
    pauses: Debouncer

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
                LogTimeToday: self.log_anyway_pressed,
            },
            forms={"time.log": Form(self.submit, "Logging time in {service}…")},
            options={ChooseIssue.action: self.issue_options},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/timelog …`."""
        text, profile = own_text(command.text, reply.wording.base_url), await reply.profile()
        match timelog_command(text, await reply.today(), profile.locale):
            case Misread(draft, error):
                reply.recovery = partial(self._open_form_row, reply, draft)
                raise error
            case TimeToLog() as wanted:
                if logged := await self._log(reply, wanted):
                    await self._confirm(reply, logged)
            case TimeDraft() as draft:
                await self.open_form(reply, draft)
            case EditLastEntry():
                await self.entries.open_form(reply, None)
            case Help():
                await reply.privately(help_views.of("timelog", reply.wording.command))

    # Logging without the form

    async def _log(self, reply: Reply, wanted: TimeToLog, *, look: bool = False) -> Logged | None:
        """Log time; None if the user was asked for the activity, or to confirm a long day or one ahead."""
        reply.recovery = partial(self._open_form_row, reply, wanted)
        if wanted.spent_on > await reply.today() and not wanted.ahead:
            await self._ask_ahead(reply, wanted)
            return None
        try:
            logged = await self.timelog.log(reply.owner, wanted, look=look)
        except ActivityNeeded as needed:
            said = _another_reason(reply, needed)
            await self._show_form(reply, needed.on, wanted, said, agreed=wanted.agreed)
        except LongDay as long:
            saved = await self._save(
                reply, wanted.model_copy(update={"agreed": long.minutes, "spent": long.spent})
            )
            await reply.privately(views.long_day(long, await reply.today(), saved))
        except OutcomeUnknown as error:
            saved = await self._save(reply, wanted)
            await reply.privately(views.unknown(reply.wording, wanted, error, saved))
        else:
            reply.recovery = None  # the form would log it again
            return logged
        return None

    async def _ask_ahead(self, reply: Reply, wanted: TimeToLog) -> None:
        """Ask before time is logged for a day in the future, which may also be a part of the comment."""
        await self.timelog.loggable(reply.owner, wanted)
        ahead = await self._save(reply, wanted.model_copy(update={"ahead": True}))
        today = None
        if wanted.with_day:
            meant = {"spent_on": await reply.today(), "comment": wanted.with_day, "with_day": None}
            today = await self._save(reply, wanted.model_copy(update=meant))
        await reply.privately(views.day_ahead(wanted, ahead, today))

    async def fill_pressed(self, press: ButtonPress[FillTimeForm], reply: Reply) -> None:
        """*Open form*: the form with what was typed before, and what was wrong with it."""
        draft, said = await self._saved_draft(reply, press.button.saved, TimeDraft)
        await self.open_form(reply, draft, said)

    async def log_anyway_pressed(self, press: ButtonPress[LogTimeAnyway], reply: Reply) -> None:
        """*Log anyway*, *Log for today*: log what was typed, once, and delete the question."""
        saved = press.button.saved
        wanted, _ = await self._saved_draft(reply, saved, TimeToLog)
        async with claimed(self.claims, f"time:{saved}", LoggedAlready()) as claim:
            logged = await self._log(reply, wanted, look=claim.tried_at is not None)
        if logged:
            await self._confirm(reply, logged)
        await posting.dismiss(reply.slack, reply.place)

    async def _open_form_row(self, reply: Reply, draft: TimeDraft, error: BotError) -> Block:
        saved = await self._save(reply, draft, reply.wording.sentence(error))
        return button_row("Open form", FillTimeForm(saved=saved))

    async def _save(self, reply: Reply, draft: TimeDraft, said: str | None = None) -> str:
        return await self.saved.put(reply.owner, {"time": draft.model_dump(mode="json"), "said": said})

    async def _saved_draft(self, reply: Reply, saved_id: str, kind: type[D]) -> tuple[D, str | None]:
        """What was typed, and what was wrong with it. Raises DraftExpired."""
        saved = await self.saved.get(reply.owner, saved_id) or {}
        try:
            return kind.model_validate(saved.get("time")), saved.get("said")
        except ValidationError:
            raise DraftExpired from None

    # Answers

    async def _confirm(self, reply: Reply, logged: Logged, *, announce: bool = False) -> None:
        """Confirm logged time to the user, and `announce` it in the thread that it came from."""
        posted, note = None, ""
        if announce and not logged.on.private:
            posted = await self.entries.post(reply, logged.spent, logged.on.exposure)
        if announce and posted in (None, Announced.HIDDEN):
            note = prose(views.PRIVATE)
        elif posted and posted is not Announced.YES:
            note = prose(not_posted(posted))
        shareable = not logged.on.private and posted is not Announced.YES
        await reply.privately(
            await self.entries.confirmation(reply, "Logged", logged.spent, shareable=shareable, note=note)
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
        number = issue_named(text_of(message), reply.wording.base_url)
        await self._fill_form(reply.at(thread), TimeDraft(issue=number), announce=True)

    async def open_form(self, reply: Reply, draft: TimeDraft, said: str | None = None) -> None:
        """Open the form at once, then fill it with the draft, and say what is wrong with it."""
        await reply.open(loading("Log time"))
        await self._fill_form(reply, draft, said)

    async def _fill_form(
        self, reply: Reply, draft: TimeDraft, said: str | None = None, *, announce: bool = False
    ) -> None:
        on = None
        try:
            on = await self.timelog.loggable(reply.owner, draft)
            if on is not None and draft.activity is not None:
                pick("activity", draft.activity, on.activities)
        except NotLinked:
            raise
        except UserError as error:
            if not announce:  # an issue in a message was only a guess
                said = said or reply.wording.sentence(error)
        await self._show_form(reply, on, draft, said, announce=announce)

    async def _show_form(
        self,
        reply: Reply,
        on: Loggable | None,
        draft: TimeDraft,
        said: str | None = None,
        *,
        agreed: int = 0,
        announce: bool = False,
    ) -> None:
        metadata = LogMetadata(
            place=reply.place.as_json(),
            project=f"#{on.project.id}" if on and on.issue is None else None,
            agreed=agreed,
            announce=announce,
            activity=None if on else draft.activity,
        )
        values = views.entered(draft, await reply.today())
        await reply.show(views.time_form(on, values, metadata.dump(), said))

    async def issue_chosen(self, press: ButtonPress[ChooseIssue], reply: Reply) -> None:
        """Another issue was chosen in the form: offer its activities and keep what was typed.

        Only the last choice counts, whatever order the lookups end in.
        """
        if press.view is None:
            raise ActionExpired
        if not self.pauses.begin(press.form_key, press.pressed_at):
            return
        metadata = LogMetadata.of(press.view)
        on = await self.timelog.loggable(reply.owner, TimeDraft(issue=press.button.issue))
        values = views.entered_in(press.view.json, await reply.today())
        values = replace(values, activity=values.activity or metadata.activity)
        if self.pauses.is_latest(press.form_key, press.pressed_at):
            await reply.show(views.time_form(on, values, metadata.dump()))

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, the user's own before anything is typed."""
        return [issue_option(issue) for issue in await self.timelog.suggest(reply.owner, request.text)]

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Log the time, and confirm it where the form was opened from, or else in the form."""
        metadata = LogMetadata.of(form.view)
        values = await entered(form, reply, metadata)
        wanted = TimeToLog(
            hours=values.hours,
            spent_on=values.spent_on,
            issue=forms.Values(form.view.json).number("issue"),
            project=metadata.project,
            activity=f"#{values.activity.id}" if values.activity else metadata.activity,
            comment=values.comment,
            agreed=values.agreed,
        )
        try:
            logged = await self.timelog.log(reply.owner, wanted)
        except ActivityNeeded as needed:  # the form was sent before it showed the issue's activities
            fields = views.entered_in(form.view.json, wanted.spent_on)
            said = _another_reason(reply, needed) or "Choose an activity."
            return FormResult(view=views.time_form(needed.on, fields, metadata.dump(), said), said=said)
        except LongDay as long:
            return await asked_again(form, reply, metadata, long)
        except OutcomeUnknown as error:
            # The time may be logged, and only the user can look, so the form isn't left open.
            saved = await self._save(reply, wanted)
            return shown("Check first", views.unknown(reply.wording, wanted, error, saved))
        reply.committed = True
        if reply.place.channel_id:
            return FormResult(then=partial(self._confirm, reply, logged, announce=metadata.announce))
        return shown("Time logged", await self.entries.confirmation(reply, "Logged", logged.spent))


def _another_reason(reply: Reply, needed: ActivityNeeded) -> str | None:
    """What the service refused beside the missing activity, if anything."""
    refused = needed.refused
    return reply.wording.sentence(refused) if refused and len(refused.errors) > 1 else None
