"""Time tracking in Slack: the forms, the confirmation and the public post."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from bot.errors import OutcomeUnknown, UserError
from bot.features.issues.views import format_hours
from bot.features.name_matching import pick
from bot.features.timelog.timelog import Changeable, Loggable, LongDay, TimeToLog, Totals
from bot.service.conventions import COMMENT_LENGTH, project_url
from bot.service.models import Ref
from bot.slack import forms, rich_text
from bot.slack.blocks import JSON, Block, Message, actions, button, context, option, section, small_print
from bot.slack.text import bold, escape, line, link, prose
from bot.slack.wording import Wording
from bot.store.time_entries import Entry, Spent

MINUTES = 60
CENTS = 100
WEEK = 7
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Typed:
    """The form's values: the activity by name or id, None for an empty field."""

    day: date
    hours: str | None = None
    activity: str | None = None
    comment: str | None = None


def time_form(on: Loggable | None, typed: Typed, metadata: str, said: str | None = None) -> JSON:
    """The form that logs time: on a project, or on an issue chosen in it (`on` is None until then)."""
    blocks: list[Block] = [section(f":warning: {prose(said)}", block_id=forms.BANNER)] if said else []
    if on is not None and on.issue is None:
        blocks.append(section(f"On the project {bold(on.project.name)}"))
    else:
        issue = on.issue if on else None
        chosen = option(f"#{issue.id} {issue.subject}", str(issue.id)) if issue else None
        blocks.append(
            forms.field(
                "issue",
                "Issue",
                forms.searched("time.issue", chosen, "A number or part of a subject"),
                optional=False,
                dispatch=True,
            )
        )
    blocks.append(_hours(typed.hours))
    if on is None:
        blocks.append(context("Choose an issue to see its activities."))
    elif on.activities:
        chosen_activity = _matching(typed.activity, on.activities) if typed.activity else on.activities[0]
        blocks.append(_activity(on.activities, chosen_activity, on.project.id))
    blocks += _when_and_why(typed.day, typed.comment)
    return forms.form("time.log", "Log time", blocks, submit="Log", metadata=metadata)


def change_form(found: Changeable, wording: Wording, metadata: str) -> JSON:
    """The form that changes an entry."""
    entry = found.entry
    blocks: list[Block] = [
        section(f"On {_what(entry, wording)} {line(entry.title) if entry.issue_id else ''}".strip()),
        _hours(as_typed(_hours_of(entry.minutes))),
    ]
    if found.activities:
        chosen = next((ref for ref in found.activities if ref.id == entry.activity_id), None)
        blocks.append(_activity(found.activities, chosen, entry.project_id))
    blocks += _when_and_why(entry.spent_on, entry.comments)
    return forms.form("time.change", "Edit time", blocks, submit="Save", metadata=metadata)


def typed_in(view: JSON, today: date) -> Typed:
    """The form's values, to copy into the form for another issue, whose activities have different ids."""
    values = forms.Values(view)
    return Typed(
        values.day("date") or today,
        values.text("hours"),
        values.chosen("activity", "text"),
        values.text("comment"),
    )


def _hours(typed: str | None) -> Block:
    element = forms.text("hours", typed, placeholder="1.5, 90m, 1h30 or 1:30", most=20)
    return forms.field("hours", "Hours", element, optional=False)


def _activity(known: Sequence[Ref], chosen: Ref | None, project_id: int) -> Block:
    choices = [(str(ref.id), ref.name) for ref in known][: forms.LIST]
    element = forms.choice("activity", choices, str(chosen.id) if chosen else None, "What you did")
    return forms.field(f"activity:{project_id}", "Activity", element, optional=False)


def _when_and_why(day: date, comment: str | None) -> list[Block]:
    return [
        forms.field("date", "Date", forms.day("date", day), optional=False),
        forms.field("comment", "Comment", forms.text("comment", comment, most=COMMENT_LENGTH)),
    ]


def _matching(wanted: str, known: Sequence[Ref]) -> Ref | None:
    try:
        return pick("activity", wanted, known)
    except UserError:
        return None


def as_typed(amount: Decimal) -> str:
    """Hours as people type them: `1.5`, or `0:20` if two decimals can't express them."""
    minutes = round(amount * MINUTES)
    if minutes * CENTS % MINUTES == 0:
        return f"{_hours_of(minutes).normalize():f}"
    return f"{minutes // MINUTES}:{minutes % MINUTES:02}"


def _in_words(spent: Spent, wording: Wording, today: date) -> str:
    """`1 h 30 min on #42, Design, yesterday`, in mrkdwn."""
    parts = (
        f"{_long(spent.minutes)} on {_what(spent, wording)}",
        line(spent.activity),
        _day(spent.spent_on, today),
    )
    return ", ".join(part for part in parts if part)


def summary(
    did: str,
    spent: Spent,
    totals: Totals,
    wording: Wording,
    *,
    today: date,
    why_private: str = "",
    stale: str = "",
) -> Message:
    """The private confirmation: the logged time, the user's totals, and a button to edit the entry.

    `did` is `Logged` or `Changed to`; `why_private` says why nothing was posted; `stale` is the channel whose
    post still shows the entry as it was before.
    """
    text = f"{did} {_in_words(spent, wording, today)}."
    about = [part for part in (spent.title if spent.issue_id else "", spent.comments) if part]
    blocks: list[Block] = [section(text)]
    if about:
        blocks.append(small_print(" · ".join(about)))
    blocks.append(context(f"Through me: {_long(totals.today)} today, {_long(totals.week)} this week"))
    if why_private:
        blocks.append(context(f"Only you see this: {prose(why_private)}."))
    if stale:
        not_updated = f"I couldn't update the post in <#{stale}>, so it shows the earlier entry."
        blocks.append(context(f"{not_updated} Take it back there if it's wrong."))
    if isinstance(spent, Entry):
        blocks.append(actions([button("Edit", "time.edit", str(spent.id))]))
    else:
        blocks.append(
            context(
                f"I don't know its number in {escape(wording.service)}, so it can't be changed from here."
            )
        )
    return Message(text, tuple(blocks))


def announced(spent: Spent, wording: Wording, user_id: str) -> Message:
    """The public post in the conversation that time was logged from."""
    url = wording.url(spent.issue_id) if spent.issue_id else project_url(wording.base_url, spent.project_id)
    name = f"#{spent.issue_id} {spent.title}" if spent.issue_id else spent.title
    did = f" logged {_long(spent.minutes)} on "
    details = (spent.activity, spent.spent_on.isoformat(), spent.comments)
    return Message(
        f"<@{user_id}>{did}{link(url, name)}",
        (
            rich_text.paragraph(rich_text.person(user_id), did, rich_text.link(url, name)),
            small_print(" · ".join(filter(None, details))),
        ),
    )


def needed(said: str, saved: str) -> Message:
    """The answer when the trigger has expired: a button that opens the form; `saved` is what was typed."""
    text = prose(said)
    return Message(text, (section(text), actions([button("Fill in the form", "time.fill", saved)])))


def adds_up(error: LongDay, today: date) -> str:
    """The total for the day, in plain text."""
    return f"That adds up to {_long(error.minutes)} for {_day(error.day, today)}."


def long_day(error: LongDay, today: date, saved: str) -> Message:
    """The question before more than 24 hours are logged for one day; `saved` is what was typed."""
    text = f"{adds_up(error, today)} Log it anyway?"
    anyway = button("Log time anyway", "time.log_anyway", saved, style="primary")
    return Message(text, (section(text), actions([anyway, button("Edit time", "time.fill", saved)])))


def unknown(wording: Wording, wanted: TimeToLog, error: OutcomeUnknown) -> Message:
    """The answer when it isn't known whether the time was logged, with what was typed."""
    text = f":warning: {prose(wording.sentence(error))}"
    if wanted.issue:
        text += f"\n{link(wording.url(wanted.issue), f'Look at #{wanted.issue}')}"
    comment = f": {line(wanted.comment, COMMENT_LENGTH)}" if wanted.comment else ""
    return Message(text, (section(text), context(f"You entered {format_hours(wanted.hours)}{comment}.")))


def _what(spent: Spent, wording: Wording) -> str:
    if spent.issue_id is None:
        return link(project_url(wording.base_url, spent.project_id), spent.title)
    return link(wording.url(spent.issue_id), f"#{spent.issue_id}")


def _hours_of(minutes: int) -> Decimal:
    return Decimal(minutes) / MINUTES


def _long(minutes: int) -> str:
    return format_hours(_hours_of(minutes))


def _day(day: date, today: date) -> str:
    ago = (today - day).days
    if ago in (0, 1):
        return ("today", "yesterday")[ago]
    return f"{WEEKDAYS[day.weekday()]} {day.isoformat()}" if 0 < ago <= WEEK else day.isoformat()
