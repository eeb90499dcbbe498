"""How issues look in Slack: list rows, posts and confirmations; cards are in `card`."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from bot.features.following.buttons import FollowIssue, StopFollowing
from bot.features.issues.actions import SHARE, open_buttons, post_menu, row_menu
from bot.features.issues.buttons import DeleteAnnouncement, ShareIssue, ShowIssue
from bot.features.issues.creating import Created
from bot.features.issues.fields import Field, Kind, Meant
from bot.features.issues.publicity import seemed_public
from bot.features.issues.service_changes import ServiceChange
from bot.service.models import Issue, Ref
from bot.slack import rich_text
from bot.slack.blocks import (
    JSON,
    Block,
    Element,
    Message,
    actions,
    button,
    confirm,
    context,
    option,
    section,
    shortened,
)
from bot.slack.posting import Announced
from bot.slack.retractable import delete_question
from bot.slack.sentences import not_posted
from bot.slack.text import day, escape, line, link, prose
from bot.slack.wording import Wording

NOTHING: Mapping[str, int] = {}
PROJECT = 200
KILOBYTE = 1000


def title(issue: Issue, wording: Wording) -> str:
    """`#42 Subject`, linked."""
    return link(wording.url(issue.id), f"#{issue.id} {issue.subject}")


def rich_title(issue: Issue, wording: Wording, **marks: bool) -> JSON:
    """As `title`, for rich text."""
    return rich_text.link(wording.url(issue.id), f"#{issue.id} {issue.subject}", **marks)


def posted(
    does: str, issue: Issue, wording: Wording, mention: str | None, follow: FollowIssue | StopFollowing | None
) -> Message:
    """The post of an issue, such as what `Ana created`: one line with its menu.

    `mention` is the assignee's Slack user, if they are to be mentioned; `follow` is for a post in a thread.
    """
    project = f" in {line(issue.project.name)}" if issue.project else ""
    said = f"{line(does)} {title(issue, wording)}{project}"
    assignee = f"<@{mention}>" if mention else name_of(issue.assigned_to)
    facts = (said, name_of(issue.priority), assignee and f"assigned to {assignee}")
    text = " · ".join(fact for fact in facts if fact)
    return Message(text, (section(text, post_menu(issue.id, wording, follow=follow)),))


def told(text: str, issue: Issue, wording: Wording, thread: str | None) -> Message:
    """The post of something else that was done about an issue, in a thread, as mrkdwn, with its menu."""
    return Message(text, (section(text, post_menu(issue.id, wording, thread=thread)),))


def with_reason(
    answer: Message, issue: Issue, announced: Announced | None, *, private: bool = False
) -> Message:
    """The private answer with why it wasn't announced, if it should have been. A button shares the issue if
    that is only a question of who may see its project.

    What wasn't tried is private itself, or its issue is, or was meant to be.
    """
    match announced:
        case Announced.YES | Announced.NOWHERE:
            return answer
        case None if issue.is_private or private:
            why = f"Only you can see this: the {'issue' if issue.is_private else 'comment'} is private."
        case None:
            why = "Only you can see this: the issue was meant to be private."
        case _:
            why = not_posted(announced)
    hidden = announced is Announced.HIDDEN
    share = [actions([share_button(issue, public=False)])] if hidden else []
    return Message(answer.text, (*answer.blocks, context(prose(why)), *share))


def created(
    made: Created,
    wording: Wording,
    announced: Announced | None,
    delete: DeleteAnnouncement | None = None,
    notes: Sequence[str] = (),
) -> Message:
    """The private confirmation of a created issue: what was understood, what the service changed, possible
    duplicates, and why it wasn't announced; or a warning if others can see an issue requested as private.

    `delete` deletes the announcement. `notes` say more in plain text.
    """
    issue, service = made.issue, escape(wording.service)
    text = f"Created {title(issue, wording)} in {line(made.project.name)}."
    first = rich_text.paragraph(
        "Created ", rich_title(issue, wording), f" in {shortened(made.project.name, PROJECT)}."
    )
    if made.exposed:
        who = "Everyone" if seemed_public(issue, made.project) else f"Everyone in {line(made.project.name)}"
        text = (
            f"{who} can see {title(issue, wording)}: {service} didn't make it private. "
            f"Open it in {service} to delete it."
        )
        first = section(text)
    blocks: list[Block] = [first, section(_understood(issue))]
    if made.changes:
        changed = "\n".join(f"• {service_change(change)}" for change in made.changes)
        blocks.append(section(f"{service} changed what you asked for:\n{changed}"))
    for other in made.similar:
        said = f":mag: Possible duplicate: {title(other, wording)} · {priority_and_assignee(other)}"
        blocks.append(section(said, button("Show it", ShowIssue(issue=other.id))))
    blocks += [context(prose(note)) for note in filter(None, (*notes, _why_private(made, announced)))]
    question = delete_question(f"The issue stays in {wording.service}.")
    more = [button("Delete post", delete, confirm=question)] if delete else []
    blocks.append(open_buttons(issue.id, wording, *more))
    return Message(text, tuple(blocks))


def _understood(issue: Issue) -> str:
    due = f"due {day(issue.due_date)}" if issue.due_date else ""
    private = ":lock: private" if issue.is_private else ""
    return " · ".join(filter(None, (name_of(issue.tracker), priority_and_assignee(issue), due, private)))


def _why_private(made: Created, announced: Announced | None) -> str | None:
    if made.exposed or announced in (Announced.YES, Announced.NOWHERE):
        return None
    if announced is None:
        return "Only you can see this: the issue is private."
    return not_posted(announced)


def service_change(change: ServiceChange) -> str:
    """What the service made of a value that it replaced or dropped."""
    label = line(change.label)
    if change.wanted is None:
        return (
            f"{label} is still {value_text(change.field, change.got)}."
            if change.got
            else f"{label} wasn't saved."
        )
    wanted = value_text(change.field, change.wanted)
    if change.got is not None:
        return f"{label} is {value_text(change.field, change.got)}, not {wanted}."
    return f"{label} {wanted} wasn't saved." if change.field else f"{label} wasn't saved."


def value_text(field: Field | None, value: Meant) -> str:
    """A field's value, as mrkdwn; `field` is None for a custom field."""
    match value:
        case Ref():
            return line(value.name)
        case Decimal():
            return format_hours(value)
        case date():
            return day(value)
    kind = field.kind if field else None
    if kind is Kind.PERCENT:
        return f"{value}%"
    return f"#{value}" if kind is Kind.ISSUE else line(str(value))


def listed(
    issue: Issue,
    wording: Wording,
    today: date,
    *,
    shareable: bool = False,
    fixed: Mapping[str, int] = NOTHING,
    menu: Element | None = None,
) -> Block:
    """A list row, with its menu, or `menu` in its place.

    Fields with the value in `fixed` (an ID, 0 for nobody) aren't repeated.
    """

    def name(field: str) -> str:
        ref: Ref | None = getattr(issue, field)
        if field in fixed and fixed[field] == (ref.id if ref else 0):
            return ""
        return name_of(ref) if ref or field != "assigned_to" else "Unassigned"

    facts = [name(field) for field in ("project", "tracker", "status", "priority", "assigned_to")]
    facts += [due(issue, today), ":lock: private" if issue.is_private else ""]
    below = " · ".join(fact for fact in facts if fact)
    menu = menu or row_menu(issue.id, wording, share=shareable and not issue.is_private)
    return section(f"*{title(issue, wording)}*\n{below}".rstrip(), menu)


def due(issue: Issue, today: date) -> str:
    """`due Nov 3`, marked if it is overdue; empty without a due date."""
    if issue.due_date is None:
        return ""
    late = issue.is_open and issue.due_date < today
    return f"{':warning: overdue since' if late else 'due'} {day(issue.due_date)}"


def kind(issue: Issue, *, with_status: bool = True) -> str:
    """Project, tracker and status: `Web Shop · Bug · New`."""
    refs = (issue.project, issue.tracker, issue.status if with_status else None)
    parts = [ref.name for ref in refs if ref and ref.name]
    return " · ".join(line(part) for part in parts) + (" · :lock: private" if issue.is_private else "")


def priority_and_assignee(issue: Issue) -> str:
    """Priority and assignee."""
    assignee = f"assigned to {line(issue.assigned_to.name)}" if issue.assigned_to else "Unassigned"
    return " · ".join(part for part in (name_of(issue.priority), assignee) if part)


def name_of(ref: Ref | None) -> str:
    return line(ref.name) if ref else ""


def spent_and_estimated(issue: Issue) -> str:
    """Spent and estimated time, as far as there is any: `1h 30m of 4h`."""
    spent = issue.total_spent_hours if issue.total_spent_hours is not None else issue.spent_hours
    estimated = issue.estimated_hours
    if spent and estimated:
        return f"{format_hours(spent)} spent of {format_hours(estimated)}"
    if spent:
        return f"{format_hours(spent)} spent"
    return f"{format_hours(estimated)} estimated" if estimated else ""


def format_hours(value: Decimal) -> str:
    """`1h 30m`."""
    whole, rest = divmod(round(value * 60), 60)
    if not rest:
        return f"{whole}h"
    return f"{whole}h {rest}m" if whole else f"{rest}m"


def format_size(size: int) -> str:
    """A size in bytes, such as `12 KB`."""
    if size < KILOBYTE:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilobytes = round(size / KILOBYTE)
    return f"{kilobytes} KB" if kilobytes < KILOBYTE else f"{size / KILOBYTE**2:.1f} MB"


def share_button(issue: Issue, *, public: bool) -> Element:
    """The button that shares an issue; unless everyone can see the issue, it asks first."""
    question = confirm_exposing("Share this issue here?", "Share issue", public=public)
    return button(SHARE, ShareIssue(issue=issue.id, agreed=agreed(issue, public=public)), confirm=question)


def agreed(issue: Issue, *, public: bool) -> int | None:
    """The project that a button which asks first carries, unless everyone can see the issue."""
    return issue.project.id if issue.project and not public else None


def confirm_exposing(title: str, yes: str, *, public: bool) -> JSON | None:
    """What to confirm before others see an issue, unless everyone can."""
    said = "Its project isn't public. Others here may not have permission to see it."
    return None if public else confirm(title, said, yes)


def issue_option(issue: Issue) -> JSON:
    """An issue as a choice of a select."""
    return option(f"#{issue.id} {issue.subject}", str(issue.id))
