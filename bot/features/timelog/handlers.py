"""Logging time: `/timelog`, the form however it is opened, and changing what was logged."""

import json
import time
from dataclasses import asdict, replace
from datetime import date
from decimal import Decimal

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, NotLinked, OutcomeUnknown, UserError
from bot.features.help import views as help_views
from bot.features.issues.announcement_views import takeable
from bot.features.issues.create_form import loading
from bot.features.name_matching import pick
from bot.features.timelog import views
from bot.features.timelog.commands import EditLastEntry, LogTime, OpenTimeForm, issue_named, timelog_command
from bot.features.timelog.timelog import ActivityNeeded, Loggable, Logged, LongDay, Wanted
from bot.service.models import Ref
from bot.slack import forms, posting
from bot.slack.blocks import JSON, Message, option, plain
from bot.slack.grammar.durations import hours
from bot.slack.grammar.requests import Help
from bot.slack.posting import SLACK_FAILED, Announced, Place
from bot.slack.submissions import Reply, claimed, metadata_of, once, refused, settle, text_in
from bot.slack.turn import Turn
from bot.store.time_entries import Entry, Post, Spent

log = structlog.get_logger(__name__)

LOGGED_ALREADY = "That time was logged already."
TRIGGER_LIFE = 2.0
"""Seconds after which no form is opened: a trigger lives 3 s (slack-rules, Time), its ways included."""


async def command(turn: Turn) -> None:
    """`/timelog …`."""
    started = time.monotonic()
    profile = await turn.profile()
    request = timelog_command(turn.own_text(), await turn.today(), profile.locale)
    match request:
        case OpenTimeForm():
            await open_form(turn, request.prefilled)
        case LogTime():
            await log_at_once(turn, request, started)
        case EditLastEntry():
            await open_change(turn, None)
        case Help():
            await turn.answer(help_views.of("timelog", turn.parts.command))


async def log_at_once(turn: Turn, request: LogTime, started: float) -> None:
    """Log what a command says."""
    wanted = Wanted(
        hours=request.hours or Decimal(),
        spent_on=request.on or await turn.today(),
        issue=request.issue,
        project=request.project,
        activity=request.activity,
        comment=request.comment,
    )
    await log_wanted(turn, wanted, started)


async def log_wanted(turn: Turn, wanted: Wanted, started: float) -> None:
    """Log time, and ask for an activity where the service needs one, or whether a long day is meant."""
    try:
        logged = await turn.parts.timelog.log(turn.owner, wanted)
    except ActivityNeeded as needed:
        await ask(turn, wanted, needed, started)
    except LongDay as long:
        kept = await _keep(turn, replace(wanted, agreed=long.minutes))
        await turn.answer(views.long_day(long, await turn.today(), kept))
    except OutcomeUnknown as error:
        await turn.answer(views.unknown(turn.style, wanted, error))
    else:
        await tell(turn, logged)


async def ask(turn: Turn, wanted: Wanted, needed: ActivityNeeded, started: float) -> None:
    """Open the form with all that was typed; where it is too late for that, offer it behind a button."""
    said = turn.sentence(needed.refused or needed)
    if turn.view_id or time.monotonic() - started < TRIGGER_LIFE:
        typed = views.Typed(wanted.spent_on, views.as_typed(wanted.hours), None, wanted.comment)
        try:
            metadata = _metadata(turn, needed.on, wanted.agreed)
            await turn.show(views.time_form(needed.on, typed, metadata, said))
        except SLACK_FAILED as error:
            log.info("form not opened", action="time.form_not_opened", error=type(error).__name__)
        else:
            return
    await turn.answer(views.needed(said, await _keep(turn, wanted)))


async def _keep(turn: Turn, wanted: Wanted) -> str:
    about = asdict(wanted) | {"hours": str(wanted.hours), "spent_on": wanted.spent_on.isoformat()}
    return await turn.parts.store.continuations.put(turn.owner, {"time": about})


async def _kept(turn: Turn) -> Wanted:
    """What the pressed button keeps. Raises UserError when it is no longer there."""
    kept = await turn.parts.store.continuations.get(turn.owner, turn.value)
    if kept is None or "time" not in kept:
        raise UserError("That was too long ago: type it once more.")
    about = kept["time"]
    return Wanted(
        **about | {"hours": Decimal(about["hours"]), "spent_on": date.fromisoformat(about["spent_on"])}
    )


async def fill_pressed(turn: Turn) -> None:
    """The buttons *Fill in the form* and *Edit time*: the form with what was typed before."""
    wanted = await _kept(turn)
    await open_form(
        turn,
        LogTime(
            issue=wanted.issue,
            project=wanted.project,
            hours=wanted.hours,
            activity=wanted.activity,
            on=wanted.spent_on,
            comment=wanted.comment,
        ),
    )


async def log_anyway_pressed(turn: Turn) -> None:
    """The button *Log time anyway*: log what was typed, once, and take the question away."""
    started = time.monotonic()
    wanted = await _kept(turn)
    async with claimed(turn, f"time:{turn.value}", LOGGED_ALREADY):
        await log_wanted(turn, wanted, started)
    await posting.dismiss(turn.slack, turn.place)


async def tell(turn: Turn, logged: Logged) -> None:
    """Announce logged time where it was asked for; tell the person what was understood."""
    why = "the issue is private, or its project is"
    if logged.on.public:
        announced, ts = await turn.post(views.announced(logged.spent, turn.style, turn.owner.user_id))
        why = "" if announced is Announced.YES else announced.value
        posted = announced in (Announced.YES, Announced.UNSURE)
        if posted and turn.place.channel_id and isinstance(logged.spent, Entry):
            post = Post(turn.place.channel_id, ts)
            await turn.parts.timelog.announced(turn.owner, logged.spent, post)
    await turn.answer(await _said_back(turn, "Logged", logged.spent, why))


async def _said_back(turn: Turn, did: str, spent: Spent, why_private: str = "", stale: str = "") -> Message:
    today = await turn.today()
    totals = await turn.parts.timelog.totals(turn.owner, today)
    return views.said_back(did, spent, totals, turn.style, today=today, why_private=why_private, stale=stale)


def _reply(title: str, message: Message) -> Reply:
    return Reply(view=forms.said(title, message.blocks), message=message)


# The form


async def open_pressed(turn: Turn) -> None:
    """The button *Log time*."""
    await open_form(turn, LogTime(issue=turn.number))


async def open_empty(turn: Turn) -> None:
    """The global shortcut."""
    await open_form(turn, LogTime())


async def open_from_message(turn: Turn) -> None:
    """The message shortcut: the issue that the message names, announced in its thread."""
    await turn.open(loading("Log time"))
    message = turn.message
    thread = Place(turn.place.channel_id, message.get("thread_ts") or message.get("ts"))
    number = issue_named(str(message.get("text") or ""), turn.parts.client.base_url)
    await fill(turn.at(thread), LogTime(issue=number), sure=False)


async def open_form(turn: Turn, request: LogTime) -> None:
    """Open the form at once, then fill it."""
    await turn.open(loading("Log time"))
    await fill(turn, request)


async def fill(turn: Turn, request: LogTime, *, sure: bool = True) -> None:
    """Fill the open form with what is known. Unless the issue is `sure` to be meant, one that the person
    doesn't see is only said.
    """
    said, on = None, None
    try:
        on = await _loggable(turn, request)
        if on is not None and request.activity is not None:
            pick("activity", request.activity, on.activities)
    except NotLinked:
        raise
    except UserError as error:
        if sure and on is None:
            raise
        said = turn.sentence(error)
    typed = views.Typed(
        request.on or await turn.today(),
        views.as_typed(request.hours) if request.hours else None,
        request.activity,
        request.comment,
    )
    await turn.show(views.time_form(on, typed, _metadata(turn, on), said))


async def _loggable(turn: Turn, request: LogTime) -> Loggable | None:
    if request.issue is not None or request.project is not None:
        return await turn.parts.timelog.loggable(turn.owner, request.issue, request.project)
    async with turn.parts.accounts.reading(turn.owner):
        return None


def _metadata(turn: Turn, on: Loggable | None, agreed: int = 0) -> str:
    project = f"#{on.project.id}" if on and on.issue is None else None
    return json.dumps({"project": project, "place": turn.place.as_json(), "agreed": agreed})


def _agreed(metadata: JSON) -> int:
    """How many minutes in a day the person has confirmed in this form."""
    agreed = metadata.get("agreed")
    return agreed if isinstance(agreed, int) else 0


async def _asked(turn: Turn, metadata: JSON, long: LongDay) -> Reply:
    """The form again with the question about a long day; sending it again is the answer."""
    said = views.adds_up(long, await turn.today())
    agreed = json.dumps(metadata | {"agreed": long.minutes})
    view = forms.refilled(turn.view, f"{said} Is that right?", agreed)
    return Reply(view=view | {"submit": plain("Log anyway", 24)}, said=said)


async def issue_chosen(turn: Turn) -> None:
    """Another issue was chosen in the form: offer its activities and keep what was typed."""
    view = turn.view
    chosen = turn.number
    on = await turn.parts.timelog.loggable(turn.owner, chosen, None)
    typed = views.typed_in(view, await turn.today())
    await turn.show(views.time_form(on, typed, json.dumps(metadata_of(view))))


async def issue_options(turn: Turn, text: str) -> list[JSON]:
    """Issues by number or subject, one's own before anything is typed."""
    found = await turn.parts.timelog.suggest(turn.owner, text)
    return [option(f"#{issue.id} {issue.subject}", str(issue.id)) for issue in found]


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """The form was submitted: log once, say back what was understood."""
    view = turn.view
    metadata, values = metadata_of(view), forms.Values(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    logged: list[Logged] = []

    async def work() -> Reply:
        try:
            amount = hours(values.text("hours") or "", (await turn.profile()).locale)
        except UserError as error:
            return Reply(errors={"hours": turn.sentence(error)})
        activity = values.number("activity")
        wanted = Wanted(
            hours=amount,
            spent_on=values.day("date") or await turn.today(),
            issue=values.number("issue"),
            project=text_in(metadata, "project"),
            activity=f"#{activity}" if activity else None,
            comment=values.text("comment") or "",
            agreed=_agreed(metadata),
        )
        try:
            async with once(turn):
                logged.append(await turn.parts.timelog.log(turn.owner, wanted))
        except ActivityNeeded as needed:  # the form was sent before the issue's activities were in it
            typed = views.typed_in(view, await turn.today())
            said = turn.sentence(needed.refused or needed)
            again = views.time_form(needed.on, typed, json.dumps(metadata), said)
            return Reply(view=again, said=said)
        except LongDay as long:
            return await _asked(turn, metadata, long)
        except OutcomeUnknown as error:
            # The interface can't list time entries: only the person can look, so the form isn't sent again.
            return _reply("Look first", views.unknown(turn.style, wanted, error))
        except BotError as error:
            return refused(turn, error)
        if turn.place.channel_id:
            return Reply()
        return _reply("Logged", await _said_back(turn, "Logged", logged[0].spent))

    await settle(turn, ack, work(), f"Logging it in {turn.service}…")
    if logged and turn.place.channel_id:
        await tell(turn, logged[0])


# Changing what was logged


async def edit_pressed(turn: Turn) -> None:
    """The button *Edit*, beside what was logged or on the Home tab."""
    await open_change(turn, turn.number)


async def open_change(turn: Turn, entry_id: int | None) -> None:
    """Open the form for an entry of the person's own, their last one for None."""
    await turn.open(loading("Edit time"))
    found = await turn.parts.timelog.changeable(turn.owner, entry_id)
    pressed = turn.body.get("type") == "block_actions"
    metadata = {"entry": found.entry.id, "place": turn.place.as_json(), "replace": pressed}
    await turn.show(views.change_form(found, turn.style, json.dumps(metadata)))


async def submit_change(turn: Turn, ack: AsyncAck) -> None:
    """The form was submitted: change the entry if it is the person's own, and say back what it is now."""
    view = turn.view
    metadata, values = metadata_of(view), forms.Values(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    changed: list[Entry] = []
    stale = ""

    async def work() -> Reply:
        nonlocal stale
        try:
            amount = hours(values.text("hours") or "", (await turn.profile()).locale)
        except UserError as error:
            return Reply(errors={"hours": turn.sentence(error)})
        activity = values.number("activity")
        try:
            async with once(turn):
                changed.append(
                    await turn.parts.timelog.change(
                        turn.owner,
                        forms.number_in(metadata.get("entry")),
                        hours=amount,
                        activity=Ref(id=activity, name=values.chosen("activity", "text") or "")
                        if activity
                        else None,
                        spent_on=values.day("date") or await turn.today(),
                        comment=values.text("comment") or "",
                        agreed=_agreed(metadata),
                    )
                )
        except LongDay as long:
            return await _asked(turn, metadata, long)
        except BotError as error:
            return refused(turn, error)
        stale = await update_post(turn, changed[0])
        if turn.place.channel_id:
            return Reply()
        return _reply("Changed", await _said_back(turn, "Changed to", changed[0], stale=stale))

    await settle(turn, ack, work(), f"Changing it in {turn.service}…")
    if changed and turn.place.channel_id:
        message = await _said_back(turn, "Changed to", changed[0], stale=stale)
        await turn.answer(message, replace=bool(metadata.get("replace")))


async def update_post(turn: Turn, entry: Entry) -> str:
    """Have the entry's public post show the entry as it is now, if everybody there may still see it.

    Returns the channel whose post still shows the earlier entry, or an empty string.
    """
    post = entry.post
    if post is None:
        return ""
    project = None if entry.issue_id else f"#{entry.project_id}"
    try:
        on = await turn.parts.timelog.loggable(turn.owner, entry.issue_id, project)
    except BotError as error:
        log.info("post not updated", action="time.post_not_updated", error=type(error).__name__)
        return post.channel_id
    overheard = await turn.parts.audiences.overheard(turn.slack, turn.owner.team_id, post.channel_id)
    if post.ts is None or not on.public or overheard:
        return post.channel_id
    message = takeable(views.announced(entry, turn.style, turn.owner.user_id), turn.owner)
    updated = await posting.update(turn.slack, post.channel_id, post.ts, message)
    return "" if updated else post.channel_id
