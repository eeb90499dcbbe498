"""Logging time with `/timelog` or its form, and sharing, editing and deleting what was logged."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import structlog

from bot.access.name_matching import pick
from bot.errors import BotError, Forbidden, NotLinked, OutcomeUnknown, UserError, WrongField
from bot.features.help import views as help_views
from bot.features.issues.buttons import OpenTimeForm
from bot.features.issues.handlers import IssueHandlers
from bot.features.issues.publicity import Exposure, Publicity
from bot.features.parts import Parts
from bot.features.reading import vocabulary
from bot.features.timelog import commands, lookups, views
from bot.features.timelog.commands import Misread, may_name_project, timelog_command
from bot.features.timelog.drafts import TimeDraft, TimeToLog
from bot.features.timelog.lookups import Guesses
from bot.features.timelog.time_reader import beside_duration
from bot.features.timelog.timelog import ActivityNeeded, Loggable, Logged, LongDay, TimeChange, Timelog
from bot.features.timelog.views import EntryMetadata, LogMetadata, TimeMetadata
from bot.service.models import Ref
from bot.slack.incoming.debounce import Debouncer
from bot.slack.incoming.feature import Feature, Form
from bot.slack.language.durations import hours
from bot.slack.language.marks import Vocabulary
from bot.slack.language.values import Help
from bot.slack.outgoing import posting
from bot.slack.outgoing.outcomes import NOT_ANNOUNCED, PostOutcome, not_posted
from bot.slack.outgoing.replies import Reply, always
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import Message, plain
from bot.slack.surfaces.forms import FormResult, loading
from bot.slack.surfaces.interaction import ButtonPress, Destination, FormSubmission, Shortcut, SlashCommand
from bot.slack.text.mrkdwn import prose
from bot.slack_limits import VIEW_BUTTON_LENGTH
from bot.store.activity import Entry, Spent
from bot.store.plans import EntryPost

log = structlog.get_logger(__name__)


class TimelogHandlers:
    def __init__(self, parts: Parts) -> None:
        self.timelog, self.publicity = parts.shared(Timelog), parts.shared(Publicity)
        self.issues, self.pauses = parts.shared(IssueHandlers), Debouncer(parts.delays.typing)
        self.guesses = Guesses(parts, self.timelog)

    def feature(self) -> Feature:
        return Feature(
            commands={"timelog": self.command},
            shortcuts={"log_time": self.open_empty, "time_from_message": self.open_from_message},
            buttons={
                OpenTimeForm: lambda press, reply: self.open_form(reply, TimeDraft(issue=press.button.issue)),
                views.OpenEmptyTimeForm: self.open_empty,
                views.ChooseTimeIssue: self.issue_chosen,
                views.FillTimeForm: lambda press, reply: self.open_form(
                    reply, press.button.time, press.button.warning
                ),
                views.LogTimeAnyway: self.log_anyway_pressed,
                views.LogTimeToday: self.log_anyway_pressed,
                views.ShareTime: self.share_pressed,
                views.EditTime: lambda press, reply: self.open_entry(reply, press.button.entry),
                views.DeleteTime: self.delete_pressed,
            },
            forms={
                "time.log": Form(self.submit, "Logging time in {service}…"),
                "time.change": Form(self.submit_change, "Saving to {service}…"),
            },
            options={views.ChooseTimeIssue.action: partial(self.issues.options, own_first=True)},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        typed, typist = commands.typed_time(command.text), await reply.typist()
        request = timelog_command(typed, typist)
        if isinstance(request, TimeDraft) and request.issue is None and may_name_project(typed):
            names = await vocabulary(self.timelog.access, reply.owner, None, None, ["project"])
            request = timelog_command(typed, typist, Vocabulary(names))

        if isinstance(request, TimeDraft) and not (request.issue or request.project) and request.comment:
            runs = {" ".join(w.text for w in run): run for run in beside_duration(typed.asked)}
            guess = await self.guesses.meant(
                reply.owner,
                reply.channel,
                request,
                runs,
                lambda words, project: timelog_command(typed.on_project(runs[words], project), typist),
            )
            with suppress(Forbidden):  # where the user can't log time, the words are a comment
                await self._answer(reply, guess)
                return
        await self._answer(reply, request)

    async def _answer(self, reply: Reply, request: commands.TimelogRequest) -> None:
        match request:
            case Misread(draft, error):
                reply.fallback = partial(reply.leading_on, draft=views.FillTimeForm(time=draft))
                raise error
            case TimeToLog() as time:
                if logged := await self._log(reply, time):
                    await self._confirm(reply, logged)
            case TimeDraft() as draft:
                await self.open_form(reply, draft)
            case commands.WhoLogged(issue):
                await reply.privately(views.time_of_others(issue, reply.wording))
            case commands.EditLast(issue):
                last = await lookups.last_on(self.timelog, reply.owner, issue) if issue else None
                await self.open_entry(reply, last.id if last else None)
            case commands.ShowTotal(since, until, lately):
                period = await lookups.logged_in(self.timelog, reply.owner, since, until)
                totals = await self._totals(reply) if lately else None
                await reply.privately(views.logged_in(period, totals, since, until, reply.wording))
            case Help():
                await reply.privately(help_views.of("timelog", reply.wording.command))

    async def _log(self, reply: Reply, time: TimeToLog, *, look: bool = False) -> Logged | None:
        """Log time; None if the user was asked for the activity, or to confirm a long day or one ahead."""
        reply.fallback = partial(reply.leading_on, draft=views.FillTimeForm(time=time))
        if not time.ahead and (await reply.typist()).is_ahead(time.spent_on):
            await self._ask_ahead(reply, time)
            return None

        try:
            logged = await self.timelog.log(reply.owner, time, look=look)
        except ActivityNeeded as needed:
            message = _another_reason(reply, needed)
            await self._show_form(reply, needed.on, time, message, confirmed_minutes=time.confirmed_minutes)
        except LongDay as long:
            anyway = time.model_copy(update={"confirmed_minutes": long.minutes, "spent": long.spent})
            saved = await reply.save(views.LogTimeAnyway(time=anyway))
            await reply.privately(views.long_day(long, await reply.today(), saved))
        except OutcomeUnknown as error:
            again = await reply.save(views.FillTimeForm(time=time))
            await reply.privately(views.unconfirmed(reply.wording, time, error, again))
        else:
            reply.fallback = always()  # the form would log it again
            return logged
        return None

    async def _ask_ahead(self, reply: Reply, time: TimeToLog) -> None:
        """Ask before time is logged for a day in the future, which may also be a part of the comment."""
        await self.timelog.loggable(reply.owner, time)
        ahead = await reply.save(views.LogTimeAnyway(time=time.model_copy(update={"ahead": True})))
        for_today = None
        if time.other and (today := await reply.today()):
            meant = {"spent_on": today, "comment": time.other.comment, "other": None}
            for_today = await reply.save(views.LogTimeToday(time=time.model_copy(update=meant)))
        await reply.privately(views.day_ahead(ahead, for_today))

    async def log_anyway_pressed(self, press: ButtonPress[views.LogTimeAnyway], reply: Reply) -> None:
        """*Log anyway*, *Log for today*: log the time once, and delete the question."""
        logged_already = UserError("You've already logged this time.")
        async with reply.claim(f"time:{press.button.id}", logged_already) as claim:
            logged = await self._log(reply, press.button.time, look=claim.tried_at is not None)
        if logged:
            await self._confirm(reply, logged)
        await posting.dismiss(reply.slack, reply.place)

    async def confirmation(
        self, reply: Reply, did: str, spent: Spent, *, shareable: bool = True, note: str = ""
    ) -> Message:
        """The private confirmation with the user's totals; the arguments are those of `views.summary`."""
        totals = await self._totals(reply)
        shareable = shareable and reply.place.channel_id is not None
        return views.summary(did, spent, totals, reply.wording, shareable=shareable, note=note)

    async def _totals(self, reply: Reply) -> tuple[int, int] | None:
        today = await reply.today()
        return await self.timelog.totals(reply.owner, today) if today else None

    async def _confirm(self, reply: Reply, logged: Logged, *, announce: bool = False) -> None:
        """Confirm logged time to the user, and `announce` it in the thread that it came from."""
        posted, note = None, ""
        if announce and not logged.on.private:
            posted = await self.post(reply, logged.spent, logged.on.exposure)
        if announce and posted in (None, PostOutcome.HIDDEN):
            note = prose(views.PRIVATE)
        elif posted and posted is not PostOutcome.YES:
            note = prose(not_posted(posted))
        shareable = not logged.on.private and posted is not PostOutcome.YES
        await reply.privately(
            await self.confirmation(reply, views.LOGGED, logged.spent, shareable=shareable, note=note)
        )

    # The form

    async def open_empty(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        await self.open_form(reply, TimeDraft())

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: log time on the issue it names, announced in its thread."""
        await reply.open(loading("Log time"))
        message = shortcut.message
        thread = Destination(reply.place.channel_id, message.get("thread_ts") or message.get("ts"))
        about = await self.issues.about(reply, message)
        await self.open_form(reply.at(thread), TimeDraft(issue=about.id if about else None), announce=True)

    async def open_form(
        self, reply: Reply, draft: TimeDraft, message: str | None = None, *, announce: bool = False
    ) -> None:
        """Open the form right away, then fill in the draft, and show its errors."""
        if not announce:  # it is open
            await reply.open(loading("Log time"))

        on = None
        try:
            on = await self.timelog.loggable(reply.owner, draft)
            if on is not None and draft.activity is not None:
                pick("activity", draft.activity, on.activities)
        except NotLinked:
            raise
        except UserError as error:
            if not announce:  # an issue in a message was only a guess
                message = message or reply.wording.sentence(error)
        await self._show_form(reply, on, draft, message, announce=announce)

    async def _show_form(
        self,
        reply: Reply,
        on: Loggable | None,
        draft: TimeDraft,
        message: str | None = None,
        *,
        confirmed_minutes: int = 0,
        announce: bool = False,
    ) -> None:
        metadata = LogMetadata(
            place=reply.place.as_json(),
            project=f"#{on.project.id}" if on and on.issue is None else None,
            confirmed_minutes=confirmed_minutes,
            announce=announce,
            activity=None if on else draft.activity,
        )
        values = views.entered(draft, await reply.today())
        await reply.show(views.time_form(on, values, metadata.dump(), message))

    async def issue_chosen(self, press: ButtonPress[views.ChooseTimeIssue], reply: Reply) -> None:
        """Offer the activities of the issue that was chosen in the form, and keep the user's input.

        Only the last choice counts, whatever order the lookups end in.
        """
        metadata = LogMetadata.of(press.form)
        if not self.pauses.begin(press.form_key, press.pressed_at):
            return
        on = await self.timelog.loggable(reply.owner, TimeDraft(issue=press.button.issue))
        values = views.entered_in(press.form.json)
        values = replace(values, activity=values.activity or metadata.activity)
        if self.pauses.is_latest(press.form_key, press.pressed_at):
            await reply.show(views.time_form(on, values, metadata.dump()))

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Log the time, and confirm it where the form was opened from, or else in the form."""
        metadata = LogMetadata.of(form.view)
        values = await _entered(form, reply, metadata)
        time = TimeToLog(
            hours=values.hours,
            spent_on=values.spent_on,
            issue=forms.Values(form.view.json).number("issue"),
            project=metadata.project,
            activity=f"#{values.activity.id}" if values.activity else metadata.activity,
            comment=values.comment,
            confirmed_minutes=values.confirmed_minutes,
        )

        try:
            logged = await self.timelog.log(reply.owner, time)
        except ActivityNeeded as needed:  # the form was sent before it showed the issue's activities
            fields = views.entered_in(form.view.json)
            message = _another_reason(reply, needed) or reply.wording.sentence(needed)
            return FormResult(
                view=views.time_form(needed.on, fields, metadata.dump(), message), warning=message
            )
        except LongDay as long:
            return await _asked_again(form, reply, metadata, long)
        except OutcomeUnknown as error:
            # The time may be logged, and only the user can look, so the form isn't left open.
            saved = await reply.save(views.FillTimeForm(time=time))
            return FormResult.notice("Not confirmed", views.unconfirmed(reply.wording, time, error, saved))

        reply.committed = True
        if reply.place.channel_id:
            return FormResult(then=partial(self._confirm, reply, logged, announce=metadata.announce))
        return FormResult.notice("Time logged", await self.confirmation(reply, views.LOGGED, logged.spent))

    async def share_pressed(self, press: ButtonPress[views.ShareTime], reply: Reply) -> None:
        """*Share here*; asks first unless everyone can see the project."""
        entry = await self.timelog.one(reply.owner, press.button.entry)
        on = await self.timelog.target_of(reply.owner, entry)
        if on.private:
            raise UserError("This issue is private, so its time can't be shared.")
        agreed_project = press.button.agreed_project
        exposure = await self.publicity.now(reply.owner, replace(on.exposure, agreed_project=agreed_project))
        if exposure.asks:
            await reply.privately(views.share_anyway(entry, on.project))
            return

        twice = f"share_time:{entry.id}:{reply.owner.team_id}:{reply.place.channel_id}"
        announce = partial(self.post, reply, replace(entry, title=on.title), exposure)
        await reply.announce_once(twice, announce, _not_shared)
        if agreed_project:
            await posting.dismiss(reply.slack, reply.place)

    async def post(self, reply: Reply, spent: Spent, exposure: Exposure) -> PostOutcome:
        """Post logged time where the user asked."""
        place = reply.place
        message = views.announced(spent, reply.wording, (await reply.profile()).name, place.thread_ts)
        why_not_show = partial(self.publicity.why_not_show, reply.owner, exposure)
        announced, ts = await reply.post(message, why_not_show)
        posted = announced in (PostOutcome.YES, PostOutcome.UNCONFIRMED)
        if posted and place.channel_id and isinstance(spent, Entry):
            await self.timelog.posted(reply.owner, spent, EntryPost(place.channel_id, ts, place.thread_ts))
        return announced

    # Editing

    async def open_entry(self, reply: Reply, entry_id: int | None) -> None:
        """Open the form for one of the user's own entries; None opens the latest one."""
        await reply.open(loading("Edit time"))
        entry, activities = await self.timelog.changeable(reply.owner, entry_id)
        pressed = isinstance(reply.interaction, ButtonPress)
        view = views.change_form(entry, activities, reply.wording)
        metadata = EntryMetadata(
            entry=entry.id, place=reply.place.as_json(), replace=pressed, initial=forms.shown_in(view)
        )
        await reply.show(view | {"private_metadata": metadata.dump()})

    async def submit_change(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the entry and its public post, and confirm the new values."""
        metadata = EntryMetadata.of(form.view)
        change = await _entered(form, reply, metadata, metadata.initial)
        try:
            entry = await self.timelog.change(reply.owner, metadata.entry, change)
        except LongDay as long:
            return await _asked_again(form, reply, metadata, long)
        note = await self._update_post(reply, entry)
        changed = await self.confirmation(reply, views.CHANGED, entry, note=note)
        if reply.place.channel_id:
            return FormResult(then=partial(reply.privately, changed, replace=metadata.replace))
        return FormResult.notice("Time updated", changed)

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

        blocked = await reply.platform.conversations.why_not_share(
            reply.slack, reply.owner.team_id, post.channel_id
        )
        name = (await reply.profile()).name
        announcement = views.announced(replace(entry, title=on.title), reply.wording, name, post.thread_ts)
        message = await reply.deletable(announcement)
        if post.ts is None or on.private or blocked:
            return stale
        if await self.publicity.why_not_show(reply.owner, on.exposure):
            return stale
        return "" if await posting.update(reply.slack, post.channel_id, post.ts, message) else stale

    # Deleting

    async def delete_pressed(self, press: ButtonPress[views.DeleteTime], reply: Reply) -> None:
        """*Delete entry*, below a confirmation or in the form: delete the entry and its post."""
        entry = await self.timelog.one(reply.owner, press.button.entry)
        reply.fallback = always(views.elsewhere(entry, reply.wording))
        if reply.in_form:
            await reply.show(loading("Delete entry"))
        await self.timelog.delete(reply.owner, entry)
        note = ""
        if (post := entry.post) is not None:
            place = Destination(post.channel_id)
            if post.ts is None or not await posting.delete_post(reply.slack, place, post.ts):
                note = views.stale_post(post.channel_id)

        totals = await self._totals(reply)
        confirmation = views.deleted(entry, totals, reply.wording, note)
        if not reply.in_form:
            await reply.privately(confirmation, replace=True)
            return
        shown_in_form = await reply.try_show(forms.result("Time deleted", confirmation.blocks))
        metadata = EntryMetadata.of(reply.interaction.modal)
        place = Destination.from_json(metadata.place)
        if not shown_in_form or (metadata.replace and place.channel_id):
            await reply.at(place).privately(confirmation, replace=metadata.replace)


def _another_reason(reply: Reply, needed: ActivityNeeded) -> str | None:
    """What the service refused beside the missing activity, if anything."""
    refused = needed.refused
    return reply.wording.sentence(refused) if refused and len(refused.errors) > 1 else None


async def _entered(
    form: FormSubmission, reply: Reply, metadata: TimeMetadata, initial: Mapping[str, str] | None = None
) -> TimeChange:
    """Return the values of the fields that both forms have, without unchanged ones (`initial`).

    Raises WrongField for an unreadable duration.
    """
    values, change = forms.Values(form.view.json), TimeChange(confirmed_minutes=metadata.confirmed_minutes)
    if values.changed("hours", initial):
        try:
            amount = hours(values.text("hours") or "", (await reply.profile()).locale)
        except UserError as error:
            raise WrongField("hours", error) from error
        change = replace(change, hours=amount)

    if values.changed("date", initial):
        change = replace(change, spent_on=values.day("date") or (await reply.typist()).today())
    if (activity := values.number("activity")) and values.changed("activity", initial):
        ref = Ref(id=activity, name=values.chosen("activity", "text") or "")
        change = replace(change, activity=ref)
    if values.changed("comment", initial):
        change = replace(change, comment=values.text("comment") or "")
    return change


def _not_shared(why: PostOutcome) -> UserError:
    reason = NOT_ANNOUNCED[why]
    return UserError("{reason}.", reason=reason[0].upper() + reason[1:])


async def _asked_again(
    form: FormSubmission, reply: Reply, metadata: TimeMetadata, long: LongDay
) -> FormResult:
    """The form again with a question; submitting it once more confirms the long day."""
    question = f"{views.adds_up(long, await reply.today())} Is that right?"
    confirmed = metadata.model_copy(update={"confirmed_minutes": long.minutes})
    view = form.view.json | {"submit": plain("Log anyway", VIEW_BUTTON_LENGTH)}
    return FormResult.again(view, question, confirmed.dump())
