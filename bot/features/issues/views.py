"""How issues look in Slack: cards, list rows and announcements."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from bot.features.following.buttons import FollowIssue, StopFollowing
from bot.features.issues.actions import FOLLOW, SHARE, issue_buttons, open_buttons, post_menu, row_menu
from bot.features.issues.buttons import DeleteAnnouncement, ShareIssue, ShowIssue, ShowMore
from bot.features.issues.fields import Field, Kind, Meant
from bot.features.issues.issues import Created, Shown
from bot.features.issues.service_changes import ServiceChange
from bot.service.models import Issue, Ref, Relation
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
    fields,
    option,
    section,
    shortened,
)
from bot.slack.posting import Announced
from bot.slack.retractable import delete_question
from bot.slack.sentences import not_posted
from bot.slack.text import LONGEST, bold, cut, day, escape, line, link, prose
from bot.slack.wording import Wording

DESCRIPTION = 2500
SUMMARY, SPARE = 300, 100
"""How much of a description a card shows, and how much longer one may be to be shown in full."""
NOTHING: Mapping[str, int] = {}
LISTED = 8
Follow = FollowIssue | StopFollowing
NAME, VALUE = 60, 200
KILOBYTE = 1000


def title(issue: Issue, wording: Wording) -> str:
    """`#42 Subject`, linked."""
    return link(wording.url(issue.id), f"#{issue.id} {issue.subject}")


def _title(issue: Issue, wording: Wording, **marks: bool) -> JSON:
    """As `title`, for rich text."""
    return rich_text.link(wording.url(issue.id), f"#{issue.id} {issue.subject}", **marks)


def card(
    shown: Shown,
    wording: Wording,
    description: str,
    today: date,
    *,
    shareable: bool = True,
    asks_first: bool = False,
    whole: bool = False,
    thread: str | None = None,
) -> Message:
    """An issue for one person, with its buttons; a form can't share it (`shareable`).

    `thread` is the thread where it was opened, which can follow it.

    `description` is the issue's own, as mrkdwn; its start is shown, or with `whole` all that fits. With
    `asks_first`, the card says why sharing asks first.
    """
    issue = shown.issue
    blocks: list[Block] = [
        rich_text.paragraph(_title(issue, wording, bold=True)),
        context(kind(issue, with_status=False)),
        *fields(_facts(shown, today)),
    ]
    if description:
        blocks.append(_description(shown.issue, wording, description, whole=whole))
    blocks += _connected(shown, wording)
    if asks_first:
        project = shown.project
        why = f"{line(project.name)} isn't public" if project else "The project may not be public"
        blocks.append(context(f"{why}, so *{SHARE}* asks first."))
    share = _share(shown) if shareable else None
    follow = _follow(shown, thread) if shareable and thread else None
    buttons = issue_buttons(issue.id, wording, share, follow)
    blocks.append(actions(buttons, block_id=f"issue-{issue.id}"))
    return Message(f"#{issue.id} {line(issue.subject)} · {kind(issue)}", tuple(blocks))


def _description(issue: Issue, wording: Wording, description: str, *, whole: bool) -> Block:
    if not whole and len(description) > SUMMARY + SPARE:
        end = max(description.rfind(space, SUMMARY // 2, SUMMARY) for space in " \n")
        short = cut(description, end + 1 if end > 0 else SUMMARY)
        return section(short, button("Show more", ShowMore(issue=issue.id)))
    shown = cut(description, DESCRIPTION)
    complete = shown == description and len(issue.description or "") <= LONGEST
    rest = link(wording.url(issue.id), f"Read the rest in {wording.service}")
    return section(shown if complete else f"{shown}\n{rest}")


def shared(
    shown: Shown, wording: Wording, by: str, mention: str | None, *, in_thread: bool = False
) -> Message:
    """The post of an issue that `by` shares in a conversation."""
    follow = FollowIssue(issue=shown.issue.id) if in_thread else None
    return _post(f"{line(by)} shared", shown.issue, wording, mention, follow)


def announced(made: Created, wording: Wording, by: str, follow: Follow | None = None) -> Message:
    """The post of an issue that `by` created."""
    return _post(f"{line(by)} created", made.issue, wording, made.mention, follow)


def _post(does: str, issue: Issue, wording: Wording, mention: str | None, follow: Follow | None) -> Message:
    """One line with its menu. `mention` is the assignee's Slack user, if they are to be mentioned; `follow`
    is for a post in a thread.
    """
    project = f" in {line(issue.project.name)}" if issue.project else ""
    said = f"{does} {title(issue, wording)}{project}"
    assignee = f"<@{mention}>" if mention else _name(issue.assigned_to)
    facts = (said, _name(issue.priority), assignee and f"assigned to {assignee}")
    text = " · ".join(fact for fact in facts if fact)
    return Message(text, (section(text, post_menu(issue.id, wording, follow=follow)),))


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
        "Created ", _title(issue, wording), f" in {shortened(made.project.name, VALUE)}."
    )
    if made.exposed:
        who = "Everyone" if made.project.is_public is True else f"Everyone in {line(made.project.name)}"
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
    return " · ".join(filter(None, (_name(issue.tracker), priority_and_assignee(issue), due, private)))


def _why_private(made: Created, announced: Announced | None) -> str | None:
    if made.exposed or announced in (Announced.YES, Announced.NOWHERE):
        return None
    if made.issue.is_private:
        return "Only you can see this: the issue is private."
    if announced is None:
        return "Only you can see this: the project is private, and others here may not have access to it."
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
        return _name(ref) if ref or field != "assigned_to" else "Unassigned"

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
    return " · ".join(part for part in (_name(issue.priority), assignee) if part)


def _facts(shown: Shown, today: date) -> list[tuple[str, str]]:
    issue = shown.issue
    facts = [
        ("Status", _name(issue.status)),
        ("Priority", _name(issue.priority)),
        ("Assignee", _name(issue.assigned_to) or "Unassigned"),
        ("Author", _name(issue.author)),
        ("Category", _name(issue.category)),
        ("Target version", _name(issue.fixed_version)),
        ("Start date", day(issue.start_date) if issue.start_date else ""),
        ("Due date", due(issue, today).removeprefix("due ")),
        ("Progress", _progress(issue.done_ratio)),
        ("Time", spent_and_estimated(issue)),
    ]
    for custom in issue.custom_fields:
        value = ", ".join(custom.value) if isinstance(custom.value, tuple) else custom.value
        if value:
            facts.append((shortened(custom.name, NAME), line(value, VALUE)))
    return [(label, value) for label, value in facts if value][:20]


def _name(ref: Ref | None) -> str:
    return line(ref.name) if ref else ""


def _progress(done: int | None) -> str:
    full = max(0, min(10, (done or 0) // 10))
    return f"{'▰' * full}{'▱' * (10 - full)} {done}%" if done else ""


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


def _connected(shown: Shown, wording: Wording) -> list[Block]:
    issue = shown.issue
    lines = []
    if issue.parent:
        lines.append(f"*Parent issue* {_named(issue.parent.id, shown, wording)}")
    if shown.children:
        subtasks = [
            link(wording.url(child.id), f"#{child.id} {shortened(child.subject, 80)}")
            for child in shown.children
        ]
        lines.append(f"*Subtasks* {_first(subtasks)}")
    lines += [_related(relation, shown, wording) for relation in issue.relations[:LISTED]]
    if issue.attachments:
        files = [
            link(file.content_url or wording.url(issue.id), shortened(file.filename, 80))
            + (f" ({format_size(file.filesize)})" if file.filesize is not None else "")
            for file in issue.attachments
        ]
        lines.append(f"*Files* {_first(files)}")
    return [section("\n".join(lines))] if lines else []


def _first(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return " · ".join(names[:LISTED]) + more


def _related(relation: Relation, shown: Shown, wording: Wording) -> str:
    here = shown.issue.id
    outward = relation.issue_id == here
    other = (relation.issue_to_id if outward else relation.issue_id) or 0
    kind = (RELATIONS if outward else INVERSE).get(relation.relation_type, relation.relation_type)
    return f"{bold(kind.capitalize())} {_named(other, shown, wording)}"


RELATIONS = {
    "relates": "related to",
    "duplicates": "duplicates",
    "blocks": "blocks",
    "precedes": "precedes",
    "copied_to": "copied to",
}
INVERSE = {
    "relates": "related to",
    "duplicates": "duplicated by",
    "blocks": "blocked by",
    "precedes": "follows",
    "copied_to": "copied from",
}


def _named(number: int, shown: Shown, wording: Wording) -> str:
    subject = shown.subjects.get(number)
    return link(wording.url(number), f"#{number} {shortened(subject, 80)}" if subject else f"#{number}")


def format_size(size: int) -> str:
    """A size in bytes, such as `12 KB`."""
    if size < KILOBYTE:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilobytes = round(size / KILOBYTE)
    return f"{kilobytes} KB" if kilobytes < KILOBYTE else f"{size / KILOBYTE**2:.1f} MB"


def _share(shown: Shown) -> Element | None:
    """The button that shares an issue; None for a private one."""
    return None if shown.issue.is_private else share_button(shown.issue.id, public=shown.public)


def share_button(number: int, *, public: bool) -> Element:
    """The button that shares an issue; unless everyone can see the issue, it asks first."""
    question = _question("Share this issue here?", "Share issue", public=public)
    return button(SHARE, ShareIssue(issue=number, asked=not public), confirm=question)


def _follow(shown: Shown, thread: str) -> Element | None:
    """The button that follows an issue in a thread; None for a private one."""
    if shown.issue.is_private:
        return None
    carries = FollowIssue(issue=shown.issue.id, asked=not shown.public, thread=thread)
    question = _question("Follow this issue here?", "Follow issue", public=shown.public)
    return button(FOLLOW, carries, confirm=question)


def _question(title: str, yes: str, *, public: bool) -> JSON | None:
    """What to confirm before others see an issue, unless everyone can."""
    said = "Its project isn't public. Others here may not have permission to see it."
    return None if public else confirm(title, said, yes)


def issue_option(issue: Issue) -> JSON:
    """An issue as a choice of a select."""
    return option(f"#{issue.id} {issue.subject}", str(issue.id))
