"""What people see of logging time."""

from datetime import date
from decimal import Decimal

from bot.errors import OutcomeUnknown
from bot.service.conventions import COMMENT_LENGTH
from bot.slack.mrkdwn import escape, line, link
from bot.slack.views import forms
from bot.slack.views.blocks import JSON, Message, context, section
from bot.slack.views.issues import Style, hours
from bot.usecases.timelog import Loggable, Logged


def time_form(loggable: Loggable, today: date, metadata: str) -> JSON:
    """The form that logs time on one issue."""
    issue = loggable.issue
    blocks = [
        section(f"On *#{issue.id} {line(issue.subject)}*"),
        forms.field(
            "hours",
            "Hours",
            forms.text("hours", placeholder="1.5, 90m, 1h30 or 1:30", most=20),
            optional=False,
        ),
    ]
    if loggable.activities:
        known = [(str(ref.id), ref.name) for ref in loggable.activities][: forms.LIST]
        blocks.append(
            forms.field(
                "activity",
                "Activity",
                forms.choice("activity", known, known[0][0], "Activity"),
                optional=False,
            )
        )
    blocks += [
        forms.field("date", "Date", forms.day("date", today), optional=False),
        forms.field("comment", "Comment", forms.text("comment", most=COMMENT_LENGTH)),
    ]
    return forms.form("time.log", "Log time", blocks, submit="Log", metadata=metadata)


def announced(logged: Logged, style: Style, user_id: str | None, why_private: str | None = None) -> Message:
    """What was logged, said back; to a conversation with who logged it, else to the person."""
    entry, issue = logged.entry, logged.issue
    who = f"<@{user_id}> logged" if user_id else "Logged"
    amount = hours(entry.hours) if entry.hours is not None else "time"
    text = f"{who} {amount} on {link(style.url(issue.id), f'#{issue.id} {issue.subject}')}"
    details = [
        line(entry.activity.name) if entry.activity else "",
        entry.spent_on.isoformat() if entry.spent_on else "",
    ]
    blocks = [
        section(text),
        context(" · ".join(d for d in (*details, line(entry.comments or "")) if d) or "–"),
    ]
    if why_private:
        blocks.append(context(f"Only you see this: {why_private}."))
    return Message(text, tuple(blocks))


def unknown(style: Style, number: int, amount: Decimal, comment: str | None, error: OutcomeUnknown) -> JSON:
    """What the form becomes when the outcome is unknown; what was typed is said back."""
    typed = f"You entered {hours(amount)}" + (f": {line(comment)}" if comment else "") + "."
    where = link(style.url(number), f"Look at #{number}")
    return forms.said(
        "Look first", [section(f":warning: {escape(error.sentence(style.service))}\n{where}"), context(typed)]
    )
