"""Logging time with `/timelog` or its form, and editing logged time."""

import json
import time
from dataclasses import asdict, replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

import structlog

from bot.errors import BotError, NotLinked, OutcomeUnknown, UserError
from bot.features.accounts.accounts import Accounts
from bot.features.help import views as help_views
from bot.features.name_matching import pick
from bot.features.timelog import views
from bot.features.timelog.commands import EditLastEntry, LogTime, OpenTimeForm, issue_named, timelog_command
from bot.features.timelog.timelog import ActivityNeeded, Loggable, Logged, LongDay, Timelog, TimeToLog
from bot.service.models import Ref
from bot.slack import forms, posting
from bot.slack.audience import Audiences
from bot.slack.blocks import JSON, Message, option, plain
from bot.slack.claims import claimed
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading, number_in
from bot.slack.grammar.durations import hours
from bot.slack.grammar.requests import Help
from bot.slack.grammar.values import own_text
from bot.slack.interaction import (
    EXPIRED,
    ButtonPress,
    FormSubmission,
    OptionsRequest,
    Place,
    Shortcut,
    SlashCommand,
    View,
)
from bot.slack.posting import SLACK_FAILED, Announced
from bot.slack.replies import Reply
from bot.slack.retractable import retractable
from bot.store.deliveries import Deliveries
from bot.store.owner import Owner
from bot.store.saved_input import SavedInput
from bot.store.time_entries import Entry, Post, Spent

log = structlog.get_logger(__name__)

LOGGED_ALREADY = "That time was logged already."
"""Seconds after which the form isn't opened: a trigger expires after 3, including the time on the network."""


class TimelogHandlers:
    """Logs time from commands and forms, and edits what was logged."""

    def __init__(
        self,
        timelog: Timelog,
        accounts: Accounts,
        saved: SavedInput,
        deliveries: Deliveries,
        audiences: Audiences,
        *,
        trigger_seconds: float,
    ) -> None:
        self._timelog = timelog
        self._trigger_seconds = trigger_seconds
        self._accounts = accounts
        self._saved = saved
        self._deliveries = deliveries
        self._audiences = audiences

    def feature(self) -> Feature:
        return Feature(
            commands={"timelog": self.command},
            shortcuts={"log_time": self.open_empty, "time_from_message": self.open_from_message},
            buttons={
                "time.open": self.open_pressed,
                "time.issue": self.issue_chosen,
                "time.fill": self.fill_pressed,
                "time.edit": self.edit_pressed,
                "time.log_anyway": self.log_anyway_pressed,
                "home.time": self.open_empty,
            },
            forms={
                "time.log": Form(self.submit, "Logging it in {service}…"),
                "time.change": Form(self.submit_change, "Changing it in {service}…"),
            },
            options={"time.issue": self.issue_options},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/timelog …`."""
        started = time.monotonic()
        profile = await reply.profile()
        text = own_text(command.text, reply.wording.base_url)
        match timelog_command(text, await reply.today(), profile.locale):
            case OpenTimeForm(prefilled=prefilled):
                await self.open_form(reply, prefilled)
            case LogTime() as request:
                await self.log_typed(reply, request, started)
            case EditLastEntry():
                await self.open_change(reply, None)
            case Help():
                await reply.privately(help_views.of("timelog", reply.wording.command))

    # Logging without the form

    async def log_typed(self, reply: Reply, request: LogTime, started: float) -> None:
        """Log the time in a command."""
        wanted = TimeToLog(
            hours=request.hours or Decimal(),
            spent_on=request.on or await reply.today(),
            issue=request.issue,
            project=request.project,
            activity=request.activity,
            comment=request.comment,
        )
        await self.log_wanted(reply, wanted, started)

    async def log_wanted(self, reply: Reply, wanted: TimeToLog, started: float) -> None:
        """Log time, or ask for the missing activity, or to confirm a day of more than 24 hours."""
        try:
            logged = await self._timelog.log(reply.owner, wanted)
        except ActivityNeeded as needed:
            await self.ask_activity(reply, wanted, needed, started)
        except LongDay as long:
            saved = await self._save(reply.owner, replace(wanted, agreed=long.minutes))
            await reply.privately(views.long_day(long, await reply.today(), saved))
        except OutcomeUnknown as error:
            await reply.privately(views.unknown(reply.wording, wanted, error))
        else:
            await self.announce_and_confirm(reply, logged)

    async def ask_activity(
        self, reply: Reply, wanted: TimeToLog, needed: ActivityNeeded, started: float
    ) -> None:
        """Open the form with everything that was typed, or offer a button if the trigger has expired."""
        said = reply.wording.sentence(needed.refused or needed)
        if reply.view_id or time.monotonic() - started < self._trigger_seconds:
            typed = views.Typed(wanted.spent_on, views.as_typed(wanted.hours), None, wanted.comment)
            metadata = _metadata(reply.place, needed.on, wanted.agreed)
            try:
                await reply.show(views.time_form(needed.on, typed, metadata, said))
            except SLACK_FAILED as error:
                log.info("time form not opened", action="time.form_not_opened", error=type(error).__name__)
            else:
                return
        await reply.privately(views.needed(said, await self._save(reply.owner, wanted)))

    async def fill_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The buttons *Fill in the form* and *Edit time*: the form with what was typed before."""
        wanted = await self._saved_time(press)
        await self.open_form(
            reply,
            LogTime(
                issue=wanted.issue,
                project=wanted.project,
                hours=wanted.hours,
                activity=wanted.activity,
                on=wanted.spent_on,
                comment=wanted.comment,
            ),
        )

    async def log_anyway_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The button *Log time anyway*: log what was typed, once, and delete the question."""
        started = time.monotonic()
        wanted = await self._saved_time(press)
        async with claimed(self._deliveries, f"time:{press.value}", LOGGED_ALREADY):
            await self.log_wanted(reply, wanted, started)
        await posting.dismiss(reply.slack, reply.place)

    async def _save(self, owner: Owner, wanted: TimeToLog) -> str:
        about = asdict(wanted) | {"hours": str(wanted.hours), "spent_on": wanted.spent_on.isoformat()}
        return await self._saved.put(owner, {"time": about})

    async def _saved_time(self, press: ButtonPress[Any]) -> TimeToLog:
        """What was typed before the button was offered. Raises UserError once that has expired."""
        saved = await self._saved.get(press.owner, press.value)
        if saved is None or "time" not in saved:
            raise UserError("That was too long ago: type it once more.")
        about = saved["time"]
        return TimeToLog(
            **about | {"hours": Decimal(about["hours"]), "spent_on": date.fromisoformat(about["spent_on"])}
        )

    # Answers

    async def announce_and_confirm(self, reply: Reply, logged: Logged) -> None:
        """Announce logged time in the conversation, and confirm it to the user."""
        why_private = "the issue is private, or its project is"
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

    async def open_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The button *Log time*."""
        await self.open_form(reply, LogTime(issue=number_in(press.value)))

    async def open_empty(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        """The global shortcut, and the Home tab's button."""
        await self.open_form(reply, LogTime())

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: log time on the issue it names, announced in its thread."""
        await reply.open(loading("Log time"))
        message = shortcut.message
        thread = Place(reply.place.channel_id, message.get("thread_ts") or message.get("ts"))
        number = issue_named(str(message.get("text") or ""), reply.wording.base_url)
        await self.fill(reply.at(thread), LogTime(issue=number), guessed=True)

    async def open_form(self, reply: Reply, request: LogTime) -> None:
        """Open the form at once, then fill it."""
        await reply.open(loading("Log time"))
        await self.fill(reply, request)

    async def fill(self, reply: Reply, request: LogTime, *, guessed: bool = False) -> None:
        """Fill the open form with the request's values.

        If the user can't see a `guessed` issue, the form shows a warning; otherwise that raises UserError.
        """
        said, on = None, None
        try:
            on = await self._loggable(reply.owner, request)
            if on is not None and request.activity is not None:
                pick("activity", request.activity, on.activities)
        except NotLinked:
            raise
        except UserError as error:
            if not guessed and on is None:
                raise
            said = reply.wording.sentence(error)
        typed = views.Typed(
            request.on or await reply.today(),
            views.as_typed(request.hours) if request.hours else None,
            request.activity,
            request.comment,
        )
        await reply.show(views.time_form(on, typed, _metadata(reply.place, on), said))

    async def _loggable(self, owner: Owner, request: LogTime) -> Loggable | None:
        """The issue or project of the form, None if none was given. Raises NotLinked either way."""
        if request.issue is not None or request.project is not None:
            return await self._timelog.loggable(owner, request.issue, request.project)
        async with self._accounts.reading(owner):
            return None

    async def issue_chosen(self, press: ButtonPress[Any], reply: Reply) -> None:
        """Another issue was chosen in the form: offer its activities and keep what was typed."""
        if press.view is None:
            raise UserError(EXPIRED)
        on = await self._timelog.loggable(reply.owner, number_in(press.value), None)
        typed = views.typed_in(press.view.json, await reply.today())
        await reply.show(views.time_form(on, typed, json.dumps(press.view.metadata)))

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, the user's own before anything is typed."""
        found = await self._timelog.suggest(reply.owner, request.text)
        return [option(f"#{issue.id} {issue.subject}", str(issue.id)) for issue in found]

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Log the time, then announce and confirm it; without a conversation, confirm it in the form."""
        values = forms.Values(form.view.json)
        try:
            amount = hours(values.text("hours") or "", (await reply.profile()).locale)
        except UserError as error:
            return FormResult(errors={"hours": reply.wording.sentence(error)})
        activity = values.number("activity")
        wanted = TimeToLog(
            hours=amount,
            spent_on=values.day("date") or await reply.today(),
            issue=values.number("issue"),
            project=form.view.text("project"),
            activity=f"#{activity}" if activity else None,
            comment=values.text("comment") or "",
            agreed=_agreed(form.view),
        )
        try:
            logged = await self._timelog.log(reply.owner, wanted)
        except ActivityNeeded as needed:  # the form was sent before it showed the issue's activities
            typed = views.typed_in(form.view.json, await reply.today())
            said = reply.wording.sentence(needed.refused or needed)
            again = views.time_form(needed.on, typed, json.dumps(form.view.metadata), said)
            return FormResult(view=again, said=said)
        except LongDay as long:
            return await self._ask_about_long_day(form, reply, long)
        except OutcomeUnknown as error:
            # Time entries can't be listed, so only the user can check: the form isn't offered again.
            return _shown("Look first", views.unknown(reply.wording, wanted, error))
        reply.committed = True
        if reply.place.channel_id:
            return FormResult(then=partial(self.announce_and_confirm, reply, logged))
        return _shown("Logged", await self._summary(reply, "Logged", logged.spent))

    async def _ask_about_long_day(self, form: FormSubmission, reply: Reply, long: LongDay) -> FormResult:
        """The form again with a question; submitting it once more confirms the long day."""
        said = views.adds_up(long, await reply.today())
        agreed = json.dumps(form.view.metadata | {"agreed": long.minutes})
        view = forms.refilled(form.view.json, f"{said} Is that right?", agreed)
        return FormResult(view=view | {"submit": plain("Log anyway", 24)}, said=said)

    # Editing an entry

    async def edit_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The button *Edit*, below a confirmation or on the Home tab."""
        await self.open_change(reply, number_in(press.value))

    async def open_change(self, reply: Reply, entry_id: int | None) -> None:
        """Open the form for one of the user's own entries; None opens the latest one."""
        await reply.open(loading("Edit time"))
        found = await self._timelog.changeable(reply.owner, entry_id)
        pressed = isinstance(reply.interaction, ButtonPress)
        metadata = {"entry": found.entry.id, "place": reply.place.as_json(), "replace": pressed}
        await reply.show(views.change_form(found, reply.wording, json.dumps(metadata)))

    async def submit_change(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the entry and its public post, and confirm the new values."""
        values, metadata = forms.Values(form.view.json), form.view.metadata
        try:
            amount = hours(values.text("hours") or "", (await reply.profile()).locale)
        except UserError as error:
            return FormResult(errors={"hours": reply.wording.sentence(error)})
        activity = values.number("activity")
        try:
            entry = await self._timelog.change(
                reply.owner,
                number_in(metadata.get("entry")),
                hours=amount,
                activity=Ref(id=activity, name=values.chosen("activity", "text") or "") if activity else None,
                spent_on=values.day("date") or await reply.today(),
                comment=values.text("comment") or "",
                agreed=_agreed(form.view),
            )
        except LongDay as long:
            return await self._ask_about_long_day(form, reply, long)
        stale = await self.update_post(reply, entry)

        async def confirm() -> None:
            summary = await self._summary(reply, "Changed to", entry, stale=stale)
            await reply.privately(summary, replace=bool(metadata.get("replace")))

        if reply.place.channel_id:
            return FormResult(then=confirm)
        return _shown("Changed", await self._summary(reply, "Changed to", entry, stale=stale))

    async def update_post(self, reply: Reply, entry: Entry) -> str:
        """Update the entry's public post, if everyone in that channel may still see it.

        Returns the channel whose post still shows the earlier entry, or an empty string.
        """
        post = entry.post
        if post is None:
            return ""
        project = None if entry.issue_id else f"#{entry.project_id}"
        try:
            on = await self._timelog.loggable(reply.owner, entry.issue_id, project)
        except BotError as error:
            log.info("time post not updated", action="time.post_not_updated", error=type(error).__name__)
            return post.channel_id
        blocked = await self._audiences.why_not_share(reply.slack, reply.owner.team_id, post.channel_id)
        if post.ts is None or not on.public or blocked:
            return post.channel_id
        message = retractable(views.announced(entry, reply.wording, reply.owner.user_id), reply.owner)
        updated = await posting.update(reply.slack, post.channel_id, post.ts, message)
        return "" if updated else post.channel_id


def _metadata(place: Place, on: Loggable | None, agreed: int = 0) -> str:
    project = f"#{on.project.id}" if on and on.issue is None else None
    return json.dumps({"project": project, "place": place.as_json(), "agreed": agreed})


def _agreed(view: View) -> int:
    """How many minutes in a day the user has confirmed in this form."""
    agreed = view.metadata.get("agreed")
    return agreed if isinstance(agreed, int) else 0


def _shown(title: str, message: Message) -> FormResult:
    return FormResult(view=forms.said(title, message.blocks), message=message)
