"""Logging time: `/timelog`, the form however it is opened, and changing what was logged."""

import json
import time
from dataclasses import asdict, replace
from datetime import date
from decimal import Decimal

import structlog

from bot.errors import BotError, NotLinked, OutcomeUnknown, UserError
from bot.features.help import views as help_views
from bot.features.issues.announcement_views import takeable
from bot.features.name_matching import pick
from bot.features.timelog import views
from bot.features.timelog.commands import EditLastEntry, LogTime, OpenTimeForm, issue_named, timelog_command
from bot.features.timelog.timelog import ActivityNeeded, Loggable, Logged, LongDay, Wanted
from bot.service.models import Ref
from bot.slack import forms, posting
from bot.slack.blocks import JSON, Message, option, plain
from bot.slack.forms import FormResult, loading, number_in
from bot.slack.grammar.durations import hours
from bot.slack.grammar.requests import Help
from bot.slack.interaction import (
    ButtonPress,
    FormSubmission,
    OptionsRequest,
    Place,
    Shortcut,
    SlashCommand,
)
from bot.slack.posting import SLACK_FAILED, Announced, Place
from bot.slack.replies import Reply
from bot.store.time_entries import Entry, Post, Spent

log = structlog.get_logger(__name__)

LOGGED_ALREADY = "That time was logged already."
TRIGGER_LIFE = 2.0
"""Seconds after which no form is opened: a trigger lives 3 s (slack-rules, Time), its ways included."""


def _reply(title: str, message: Message) -> Reply:
    return Reply(view=forms.said(title, message.blocks), message=message)


# The form


def _agreed(metadata: JSON) -> int:
    """How many minutes in a day the person has confirmed in this form."""
    agreed = metadata.get("agreed")
    return agreed if isinstance(agreed, int) else 0


# Changing what was logged


class TimelogHandlers:
    """TODO"""

    def __init__(
        self, timelog: TODO_timelog, saved: TODO_saved, accounts: TODO_accounts, audiences: TODO_audiences
    ) -> None:
        self._timelog = timelog
        self._saved = saved
        self._accounts = accounts
        self._audiences = audiences

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/timelog …`."""
        started = time.monotonic()
        profile = await reply.profile()
        request = timelog_command(
            own_text(command, reply.wording.base_url), await reply.today(), profile.locale
        )
        match request:
            case OpenTimeForm():
                await self.open_form(reply, request.prefilled)
            case LogTime():
                await self.log_at_once(reply, request, started)
            case EditLastEntry():
                await self.open_change(reply, None)
            case Help():
                await reply.privately(help_views.of("timelog", reply.wording.command))

    async def log_at_once(self, reply: Reply, request: LogTime, started: float) -> None:
        """Log what a command says."""
        wanted = Wanted(
            hours=request.hours or Decimal(),
            spent_on=request.on or await reply.today(),
            issue=request.issue,
            project=request.project,
            activity=request.activity,
            comment=request.comment,
        )
        await self.log_wanted(reply, wanted, started)

    async def log_wanted(self, reply: Reply, wanted: Wanted, started: float) -> None:
        """Log time, and ask for an activity where the service needs one, or whether a long day is meant."""
        try:
            logged = await self._timelog.log(reply.owner, wanted)
        except ActivityNeeded as needed:
            await self.ask(reply, wanted, needed, started)
        except LongDay as long:
            kept = await self._keep(reply, replace(wanted, agreed=long.minutes))
            await reply.privately(views.long_day(long, await reply.today(), kept))
        except OutcomeUnknown as error:
            await reply.privately(views.unknown(reply.wording, wanted, error))
        else:
            await self.tell(reply, logged)

    async def ask(self, reply: Reply, wanted: Wanted, needed: ActivityNeeded, started: float) -> None:
        """Open the form with all that was typed; where it is too late for that, offer it behind a button."""
        said = reply.wording.sentence(needed.refused or needed)
        if reply.view_id or time.monotonic() - started < TRIGGER_LIFE:
            typed = views.Typed(wanted.spent_on, views.as_typed(wanted.hours), None, wanted.comment)
            try:
                metadata = self._metadata(reply, needed.on, wanted.agreed)
                await reply.show(views.time_form(needed.on, typed, metadata, said))
            except SLACK_FAILED as error:
                log.info("form not opened", action="time.form_not_opened", error=type(error).__name__)
            else:
                return
        await reply.privately(views.needed(said, await self._keep(reply, wanted)))

    async def _keep(self, reply: Reply, wanted: Wanted) -> str:
        about = asdict(wanted) | {"hours": str(wanted.hours), "spent_on": wanted.spent_on.isoformat()}
        return await self._saved.put(reply.owner, {"time": about})

    async def _kept(self, reply: Reply) -> Wanted:
        """What the pressed button keeps. Raises UserError when it is no longer there."""
        kept = await self._saved.get(reply.owner, reply.value)
        if kept is None or "time" not in kept:
            raise UserError("That was too long ago: type it once more.")
        about = kept["time"]
        return Wanted(
            **about | {"hours": Decimal(about["hours"]), "spent_on": date.fromisoformat(about["spent_on"])}
        )

    async def fill_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The buttons *Fill in the form* and *Edit time*: the form with what was typed before."""
        wanted = await self._kept(reply)
        await open_form(
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

    async def log_anyway_pressed(self, reply: Reply) -> None:
        """The button *Log time anyway*: log what was typed, once, and take the question away."""
        started = time.monotonic()
        wanted = await self._kept(reply)
        async with claimed(reply, f"time:{reply.value}", LOGGED_ALREADY):
            await self.log_wanted(reply, wanted, started)
        await posting.dismiss(reply.slack, reply.place)

    async def tell(self, reply: Reply, logged: Logged) -> None:
        """Announce logged time where it was asked for; tell the person what was understood."""
        why = "the issue is private, or its project is"
        if logged.on.public:
            announced, ts = await reply.post(
                views.announced(logged.spent, reply.wording, reply.owner.user_id)
            )
            why = "" if announced is Announced.YES else announced.value
            posted = announced in (Announced.YES, Announced.UNSURE)
            if posted and reply.place.channel_id and isinstance(logged.spent, Entry):
                post = Post(reply.place.channel_id, ts)
                await self._timelog.announced(reply.owner, logged.spent, post)
        await reply.privately(await self._said_back(reply, "Logged", logged.spent, why))

    async def _said_back(
        self, reply: Reply, did: str, spent: Spent, why_private: str = "", stale: str = ""
    ) -> Message:
        today = await reply.today()
        totals = await self._timelog.totals(reply.owner, today)
        return views.said_back(
            did, spent, totals, reply.wording, today=today, why_private=why_private, stale=stale
        )

    async def open_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Log time*."""
        await self.open_form(reply, LogTime(issue=number_in(press.value)))

    async def open_empty(self, reply: Reply) -> None:
        """The global shortcut."""
        await self.open_form(reply, LogTime())

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: the issue that the message names, announced in its thread."""
        await reply.open(loading("Log time"))
        message = shortcut.message
        thread = Place(reply.place.channel_id, message.get("thread_ts") or message.get("ts"))
        number = issue_named(str(message.get("text") or ""), reply.wording.base_url)
        await self.fill(reply.at(thread), LogTime(issue=number), sure=False)

    async def open_form(self, reply: Reply, request: LogTime) -> None:
        """Open the form at once, then fill it."""
        await reply.open(loading("Log time"))
        await self.fill(reply, request)

    async def fill(self, reply: Reply, request: LogTime, *, sure: bool = True) -> None:
        """Fill the open form with what is known. Unless the issue is `sure` to be meant, one that the person
        doesn't see is only said.
        """
        said, on = None, None
        try:
            on = await self._loggable(reply, request)
            if on is not None and request.activity is not None:
                pick("activity", request.activity, on.activities)
        except NotLinked:
            raise
        except UserError as error:
            if sure and on is None:
                raise
            said = reply.wording.sentence(error)
        typed = views.Typed(
            request.on or await reply.today(),
            views.as_typed(request.hours) if request.hours else None,
            request.activity,
            request.comment,
        )
        await reply.show(views.time_form(on, typed, self._metadata(reply, on), said))

    async def _loggable(self, reply: Reply, request: LogTime) -> Loggable | None:
        if request.issue is not None or request.project is not None:
            return await self._timelog.loggable(reply.owner, request.issue, request.project)
        async with self._accounts.reading(reply.owner):
            return None

    def _metadata(self, reply: Reply, on: Loggable | None, agreed: int = 0) -> str:
        project = f"#{on.project.id}" if on and on.issue is None else None
        return json.dumps({"project": project, "place": reply.place.as_json(), "agreed": agreed})

    async def _asked(self, reply: Reply, metadata: JSON, long: LongDay) -> Reply:
        """The form again with the question about a long day; sending it again is the answer."""
        said = views.adds_up(long, await reply.today())
        agreed = json.dumps(metadata | {"agreed": long.minutes})
        view = forms.refilled(reply.view, f"{said} Is that right?", agreed)
        return Reply(view=view | {"submit": plain("Log anyway", 24)}, said=said)

    async def issue_chosen(self, press: ButtonPress, reply: Reply) -> None:
        """Another issue was chosen in the form: offer its activities and keep what was typed."""
        view = press.view.json
        chosen = number_in(press.value)
        on = await self._timelog.loggable(reply.owner, chosen, None)
        typed = views.typed_in(view, await reply.today())
        await reply.show(views.time_form(on, typed, json.dumps(metadata_of(view))))

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, one's own before anything is typed."""
        found = await self._timelog.suggest(reply.owner, request.text)
        return [option(f"#{issue.id} {issue.subject}", str(issue.id)) for issue in found]

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The form was submitted: log once, say back what was understood."""
        view = form.view.json
        metadata, values = metadata_of(view), forms.Values(view)
        pass
        logged: list[Logged] = []

        async def work() -> Reply:
            try:
                amount = hours(values.text("hours") or "", (await reply.profile()).locale)
            except UserError as error:
                return Reply(errors={"hours": reply.wording.sentence(error)})
            activity = values.number("activity")
            wanted = Wanted(
                hours=amount,
                spent_on=values.day("date") or await reply.today(),
                issue=values.number("issue"),
                project=text_in(metadata, "project"),
                activity=f"#{activity}" if activity else None,
                comment=values.text("comment") or "",
                agreed=_agreed(metadata),
            )
            try:
                async with once(reply):
                    logged.append(await self._timelog.log(reply.owner, wanted))
            except ActivityNeeded as needed:  # the form was sent before the issue's activities were in it
                typed = views.typed_in(view, await reply.today())
                said = reply.wording.sentence(needed.refused or needed)
                again = views.time_form(needed.on, typed, json.dumps(metadata), said)
                return Reply(view=again, said=said)
            except LongDay as long:
                return await self._asked(reply, metadata, long)
            except OutcomeUnknown as error:
                # The interface can't list time entries: only the person can look, so the form isn't sent again.
                return _reply("Look first", views.unknown(reply.wording, wanted, error))
            except BotError as error:
                return refused(reply, error)
            if reply.place.channel_id:
                return Reply()
            return _reply("Logged", await self._said_back(reply, "Logged", logged[0].spent))

        await settle(reply, ack, work(), f"Logging it in {reply.wording.service}…")
        if logged and reply.place.channel_id:
            await self.tell(reply, logged[0])

    async def edit_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Edit*, beside what was logged or on the Home tab."""
        await self.open_change(reply, number_in(press.value))

    async def open_change(self, reply: Reply, entry_id: int | None) -> None:
        """Open the form for an entry of the person's own, their last one for None."""
        await reply.open(loading("Edit time"))
        found = await self._timelog.changeable(reply.owner, entry_id)
        pressed = reply.body.get("type") == "block_actions"
        metadata = {"entry": found.entry.id, "place": reply.place.as_json(), "replace": pressed}
        await reply.show(views.change_form(found, reply.wording, json.dumps(metadata)))

    async def submit_change(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The form was submitted: change the entry if it is the person's own, and say back what it is now."""
        view = form.view.json
        metadata, values = metadata_of(view), forms.Values(view)
        pass
        changed: list[Entry] = []
        stale = ""

        async def work() -> Reply:
            nonlocal stale
            try:
                amount = hours(values.text("hours") or "", (await reply.profile()).locale)
            except UserError as error:
                return Reply(errors={"hours": reply.wording.sentence(error)})
            activity = values.number("activity")
            try:
                async with once(reply):
                    changed.append(
                        await self._timelog.change(
                            reply.owner,
                            forms.number_in(metadata.get("entry")),
                            hours=amount,
                            activity=Ref(id=activity, name=values.chosen("activity", "text") or "")
                            if activity
                            else None,
                            spent_on=values.day("date") or await reply.today(),
                            comment=values.text("comment") or "",
                            agreed=_agreed(metadata),
                        )
                    )
            except LongDay as long:
                return await self._asked(reply, metadata, long)
            except BotError as error:
                return refused(reply, error)
            stale = await self.update_post(reply, changed[0])
            if reply.place.channel_id:
                return Reply()
            return _reply("Changed", await self._said_back(reply, "Changed to", changed[0], stale=stale))

        await settle(reply, ack, work(), f"Changing it in {reply.wording.service}…")
        if changed and reply.place.channel_id:
            message = await self._said_back(reply, "Changed to", changed[0], stale=stale)
            await reply.privately(message, replace=bool(metadata.get("replace")))

    async def update_post(self, reply: Reply, entry: Entry) -> str:
        """Have the entry's public post show the entry as it is now, if everybody there may still see it.

        Returns the channel whose post still shows the earlier entry, or an empty string.
        """
        post = entry.post
        if post is None:
            return ""
        project = None if entry.issue_id else f"#{entry.project_id}"
        try:
            on = await self._timelog.loggable(reply.owner, entry.issue_id, project)
        except BotError as error:
            log.info("post not updated", action="time.post_not_updated", error=type(error).__name__)
            return post.channel_id
        overheard = await self._audiences.overheard(reply.slack, reply.owner.team_id, post.channel_id)
        if post.ts is None or not on.public or overheard:
            return post.channel_id
        message = takeable(views.announced(entry, reply.wording, reply.owner.user_id), reply.owner)
        updated = await posting.update(reply.slack, post.channel_id, post.ts, message)
        return "" if updated else post.channel_id
