"""Time tracking in Slack: the forms, the confirmation and the public post."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pydantic import Field

from bot.access.name_matching import pick
from bot.access.projects import KnownProject
from bot.errors import OutcomeUnknown, UserError
from bot.features.issues.fields import MINUTES_IN_HOUR, typed_hours
from bot.features.issues.views import format_hours, issue_field, open_row, post_menu
from bot.features.timelog.drafts import TimeDraft, TimeToLog
from bot.features.timelog.lookups import LoggedIn
from bot.features.timelog.timelog import Loggable, LongDay
from bot.service.conventions import COMMENT_LENGTH, project_url
from bot.service.models import Ref
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Element,
    Message,
    actions,
    button,
    button_row,
    confirm,
    context,
    link_button,
    section,
    shortened,
)
from bot.slack.surfaces.buttons import Button, Number
from bot.slack.surfaces.drafts import FormExpired, SavedDraft
from bot.slack.surfaces.view import Metadata
from bot.slack.text.mrkdwn import bold, day, escape, line, link, prose
from bot.slack.text.wording import Wording
from bot.slack_limits import MAX_SELECT_OPTIONS
from bot.store.activity import Entry, Spent

NAME_LENGTH, TITLE_LENGTH = 60, 150
LOGGED, CHANGED = "Logged {time} on {on}.", "Changed the entry on {on} to {time}."
PRIVATE = "I didn't post this because the issue or its project isn't public."  # why time wasn't announced


class OpenEmptyTimeForm(Button):
    action = "home.time"


class ChooseTimeIssue(Button):
    action = "time.issue"
    issue: Number


class SavedTime(SavedDraft):
    @classmethod
    def expired(cls) -> UserError:
        return FormExpired("timelog", "This request has expired.")


class FillTimeForm(SavedTime):
    action = "time.fill"
    time: TimeToLog | TimeDraft


class LogTimeAnyway(SavedTime):
    action = "time.log_anyway"
    time: TimeToLog


class LogTimeToday(LogTimeAnyway):
    """In place of a day in the future, whose words stay in the comment."""

    action = "time.log_today"


class ShareTime(Button):
    """Posts an entry in the channel; `agreed_project` is the project that isn't public which the user agrees
    to show.
    """

    action = "time.share"
    entry: Number
    agreed_project: Number | None = None


class EditTime(Button):
    action = "time.edit"
    entry: Number


class DeleteTime(Button):
    action = "time.delete"
    entry: Number


class TimeMetadata(Metadata):
    """Of both forms that take time: how many minutes on a day the user has confirmed."""

    confirmed_minutes: Number = 0


class EntryMetadata(TimeMetadata):
    """Of the form that edits an entry: `replace` if its confirmation replaces the pressed message, `initial`
    as in `forms.shown_in`.
    """

    entry: Number
    initial: dict[str, str] = Field(default_factory=dict)
    replace: bool = False


class LogMetadata(TimeMetadata):
    """Of the form that logs time: the project, if it isn't logged on an issue.

    `announce` if the form came from a message, whose thread the result is posted in. `activity` is what the
    user typed for an issue that isn't known yet.
    """

    project: str | None = None
    announce: bool = False
    activity: str | None = None


@dataclass(frozen=True)
class EnteredTime:
    """The values of the form's fields: the activity by name or ID, None for an empty field."""

    day: date | None
    hours: str | None = None
    activity: str | None = None
    comment: str | None = None


def entered(draft: TimeDraft, today: date | None) -> EnteredTime:
    hours = typed_hours(draft.hours) if draft.hours else None
    return EnteredTime(draft.spent_on or today, hours, draft.activity, draft.comment)


def entered_in(view: JSON) -> EnteredTime:
    """The form's values, to copy into the form for another issue, whose activities have different ids."""
    values = forms.Values(view)
    activity = values.chosen("activity", "text")
    return EnteredTime(values.day("date"), values.text("hours"), activity, values.text("comment"))


def time_form(on: Loggable | None, values: EnteredTime, metadata: str, warning: str | None = None) -> JSON:
    """The form that logs time: on a project, or on an issue chosen in it (`on` is None until then)."""
    if on is not None and on.issue is None:
        blocks = [section(f"On {bold(on.project.name)}")]
    else:
        blocks = [issue_field(ChooseTimeIssue.action, on.issue if on else None, dispatch=True)]

    if on is None:
        fields = _fields(values)
        fields.insert(1, context("Choose an issue to see its activities."))
    else:
        fields = _fields(values, on.activities, _activity(values.activity, on), on.project.id)
    blocks += fields
    view = forms.form("time.log", "Log time", blocks, submit="Log time", metadata=metadata)
    return forms.warned(view, warning) if warning else view


def change_form(entry: Entry, activities: Sequence[Ref], wording: Wording) -> JSON:
    values = EnteredTime(
        entry.spent_on, typed_hours(Decimal(entry.minutes) / MINUTES_IN_HOUR), comment=entry.comments
    )
    blocks = [
        section(f"On {_what(entry, wording)}"),
        *_fields(values, activities, entry.activity_id, entry.project_id),
        actions([delete_button(entry, wording)]),
    ]
    return forms.form("time.change", "Edit time", blocks, submit="Save")


def _fields(
    values: EnteredTime,
    activities: Sequence[Ref] = (),
    chosen: int | None = None,
    project_id: int | None = None,
) -> list[Block]:
    """The fields that both forms have; `chosen` is the ID of an activity."""
    hours = forms.text("hours", values.hours, placeholder="e.g. 1.5, 90m, or 1h30", most=20)
    comment = forms.text("comment", values.comment, most=COMMENT_LENGTH)
    blocks = [
        forms.field("hours", "Hours", hours, optional=False),
        forms.field("date", "Date", forms.day("date", values.day), optional=False),
        forms.field("comment", "Comment", comment),
    ]
    if activities:
        choices = [(str(ref.id), ref.name) for ref in activities[:MAX_SELECT_OPTIONS]]
        select = forms.choice("activity", choices, str(chosen), "Choose an activity")
        name, hint = f"activity:{project_id}", "Required. I'll remember your choice."
        blocks.insert(1, forms.field(name, "Activity", select, optional=False, hint=hint))
    return blocks


def _activity(name: str | None, on: Loggable) -> int | None:
    """The ID of the activity that is chosen at first."""
    if not name:
        return next((ref.id for ref in (on.usual, *on.activities) if ref), None)
    with suppress(UserError):
        return pick("activity", name, on.activities).id
    return None


def summary(
    did: str,
    spent: Spent,
    totals: tuple[int, int] | None,
    wording: Wording,
    *,
    shareable: bool,
    note: str = "",
) -> Message:
    """The private confirmation: the time, the user's totals, and buttons to share, edit and delete the entry.

    `did` is LOGGED or CHANGED; `note` is more to say, in mrkdwn.
    """
    below: list[Element] = []
    if isinstance(spent, Entry):
        share = [button("Share here", ShareTime(entry=spent.id))] if shareable else []
        below = [*share, button("Edit", EditTime(entry=spent.id)), delete_button(spent, wording)]
    else:
        note = f"{escape(wording.service)} didn't confirm the entry, so you can't edit it from Slack. {note}"
    text = did.format(time=_long(spent.minutes), on=_what(spent, wording))
    blocks = [section(text), context(_details(spent)), *_totals(totals, note)]
    return Message(text, (*blocks, actions(below)) if below else tuple(blocks))


def deleted(entry: Entry, totals: tuple[int, int] | None, wording: Wording, note: str) -> Message:
    """The reply once an entry is deleted; `note` as in `summary`."""
    text = f"Deleted {_long(entry.minutes)} on {_what(entry, wording)}."
    return Message(text, (section(text), *_totals(totals, note)))


def logged_in(
    logged: LoggedIn, totals: tuple[int, int] | None, since: date, until: date, wording: Wording
) -> Message:
    """What the user logged with the bot in a period; with `totals`, today and this week."""
    if totals:
        today, week = map(_some, totals)
        text = f"You logged {today} today and {week} this week with Issue Bot."
        below = button("Log time", OpenEmptyTimeForm())
    else:
        ends = dict.fromkeys(map(day, (since, until)))
        text = f"Logged with Issue Bot: {_some(logged.minutes)} · {' – '.join(ends)}"
        below = _time_page(wording)
    return Message(
        text, (section(text), *(_listed(one, wording) for one in logged.entries), actions([below]))
    )


def _listed(entry: Entry, wording: Wording) -> Block:
    """An entry with *Edit*."""
    text = f"{_long(entry.minutes)} on {_what(entry, wording)}\n{_details(entry)}"
    return section(text, button("Edit", EditTime(entry=entry.id)))


def _some(minutes: int) -> str:
    return _long(minutes) if minutes else "nothing"


def time_of_others(issue: int | None, wording: Wording) -> Message:
    text = "I can't show other people's time."
    if issue:
        text = f"{text} Issue #{issue} shows the total."
        return Message(text, (section(text), open_row(issue, wording)))
    return Message(text, (section(text), actions([_time_page(wording)])))


def _time_page(wording: Wording) -> Element:
    return link_button(f"Open time in {wording.service}", f"{wording.base_url}/time_entries")


def _totals(totals: tuple[int, int] | None, note: str) -> list[Block]:
    notes = [note.strip()] if note else []
    if totals:
        today, week = map(_some, totals)
        notes.insert(0, f"Logged with Issue Bot: {today} today · {week} this week")
    return [context(each) for each in notes]


def _details(spent: Spent) -> str:
    """`Design · yesterday · Pairing with Ben`, in mrkdwn."""
    return " · ".join(filter(None, (line(spent.activity), day(spent.spent_on), line(spent.comments))))


def delete_button(entry: Entry, wording: Wording) -> Element:
    """*Delete entry*, which asks first."""
    on = f"#{entry.issue_id}" if entry.issue_id else entry.title
    question = confirm(
        "Delete this time entry?",
        f"This removes {_long(entry.minutes)} on {shortened(on, NAME_LENGTH)} from {wording.service}.",
        "Delete entry",
        style="danger",
    )
    return button("Delete entry", DeleteTime(entry=entry.id), style="danger", confirm=question)


def stale_post(channel_id: str) -> str:
    """The note for `summary` that a channel's post still shows the old time."""
    return f"I couldn't update the post in <#{channel_id}>. Delete it there if it's wrong."


def share_anyway(entry: Entry, project: KnownProject) -> Message:
    name = line(project.name)
    text = f"{name} isn't public, so people here may not have access to it. Share this time entry anyway?"
    carried = ShareTime(entry=entry.id, agreed_project=project.id)
    return Message(text, (section(text), button_row("Share here", carried)))


def announced(spent: Spent, wording: Wording, name: str, thread: str | None) -> Message:
    """The public post about logged time, in a `thread` or not; `name` is who logged it."""
    text = f"{line(name)} logged {_long(spent.minutes)} on {_what(spent, wording)}"
    menu = post_menu(spent.issue_id, wording, thread=thread) if spent.issue_id else None
    return Message(text, (section(f"{text} · {_details(spent)}", menu),))


def adds_up(error: LongDay, today: date | None) -> str:
    return f"That adds up to {_long(error.minutes)} for {_day(error.day, today)}."


def long_day(error: LongDay, today: date | None, anyway: LogTimeAnyway) -> Message:
    """The question before more than 24 hours are logged for one day."""
    text = f"{adds_up(error, today)} Log it anyway?"
    edit = button("Edit", FillTimeForm(id=anyway.id, time=anyway.time))
    log = button("Log anyway", anyway, style="primary")
    return Message(text, (section(text), actions([log, edit])))


def day_ahead(ahead: LogTimeAnyway, today: LogTimeToday | None) -> Message:
    """The question before time is logged for a day in the future, with the time of each choice."""
    text = f"{day(ahead.time.spent_on)} is in the future. Log {format_hours(ahead.time.hours)} for that day?"
    below = [button("Log anyway", ahead, style="primary")]
    if today:
        below.append(button("Log for today", today))
    edit = button("Edit", FillTimeForm(id=ahead.id, time=ahead.time))
    return Message(text, (section(text), actions([*below, edit])))


def unconfirmed(wording: Wording, time: TimeToLog, error: OutcomeUnknown, again: FillTimeForm) -> Message:
    """The reply when it isn't known whether the time was logged."""
    text = f":warning: {prose(wording.sentence(error))}"
    comment = f" · {line(time.comment, COMMENT_LENGTH)}" if time.comment else ""
    there = wording.url(time.issue) if time.issue else wording.base_url
    below = [
        link_button(f"Open #{time.issue}" if time.issue else f"Open {wording.service}", there),
        button("Open form", again),
    ]
    entered = context(f"You entered {format_hours(time.hours)}{comment}")
    return Message(text, (section(text), entered, actions(below)))


def elsewhere(entry: Entry, wording: Wording) -> Element:
    return link_button(f"Open in {wording.service}", _url(entry, wording))


def _what(spent: Spent, wording: Wording) -> str:
    name = f"#{spent.issue_id} {spent.title}" if spent.issue_id else spent.title
    return link(_url(spent, wording), shortened(name, TITLE_LENGTH))


def _url(spent: Spent, wording: Wording) -> str:
    if spent.issue_id:
        return wording.url(spent.issue_id)
    return project_url(wording.base_url, spent.project_id)


def _long(minutes: int) -> str:
    return format_hours(Decimal(minutes) / MINUTES_IN_HOUR)


def _day(value: date, today: date | None) -> str:
    """A day in plain text: `today`, `yesterday` or `Jan 5, 2026`."""
    ago = (today - value).days if today else None
    return ("today", "yesterday")[ago] if ago in (0, 1) else f"{value:%b} {value.day}, {value.year}"
