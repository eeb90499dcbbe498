"""How issues look in Slack: list rows, posts, confirmations, and their actions; cards are in `card`.

The actions are the same ones in the same order on an issue's card, in rows and on posts.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from bot.features.issues import buttons
from bot.features.issues.creating import Created
from bot.features.issues.fields import REPORTED_TO_PEOPLE, Field, FieldType, ResolvedValue
from bot.features.issues.issues import ASSIGNEE, Names, ServiceChange
from bot.service.models import Change, Issue, Journal, Ref
from bot.slack.outgoing.outcomes import PostOutcome, not_posted
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Element,
    Message,
    actions,
    button,
    confirm,
    context,
    link_button,
    menu,
    menu_link,
    menu_option,
    option,
    paragraph,
    rich_link,
    section,
    shortened,
)
from bot.slack.surfaces.buttons import Button
from bot.slack.text.mrkdwn import cut, day, escape, line, link, literal, prefixed, prose, stripped
from bot.slack.text.wording import Wording
from bot.slack_limits import MAX_MENU_OPTIONS

NOTHING: Mapping[str, int] = {}
PROJECT_LENGTH, ROW_LENGTH, QUOTE_LENGTH = 200, 600, 300
KILOBYTE = 1000
SHARE, ASSIGN = "Share here", "Assign to me"
FOLLOW, STOP_FOLLOWING = "Follow in this thread", "Stop following"
FOLLOWS = "follows"  # the ID of the block that says so
Action = tuple[str, Button]


def _actions(number: int, wording: Wording, assign: buttons.AssignToMe | None) -> list[Action]:
    """The actions in their order, without `assign` on the user's own issue. Those that change the issue are
    left out if the service can't do that.
    """
    changes: list[Action] = [
        *([(ASSIGN, assign)] if assign else ()),
        ("Edit", buttons.EditIssue(issue=number)),
        ("Comment", buttons.CommentOnIssue(issue=number)),
    ]
    others: list[Action] = [
        ("Log time", buttons.OpenTimeForm(issue=number)),
        ("Attach files", buttons.OpenFilesForm(issue=number)),
    ]
    return [*changes, *others] if wording.updates_issues else others


def issue_buttons(number: int, wording: Wording, *first: Element, mine: bool = False) -> list[Element]:
    """The buttons of an issue, which may be assigned to the user already (`mine`)."""
    known = _actions(number, wording, None if mine else buttons.AssignToMe(issue=number))
    others = [button(text, carries) for text, carries in known]
    return [*first, *others, link_button(*page(number, wording))]


def open_buttons(number: int, wording: Wording) -> list[Element]:
    """Buttons for an issue's card and for its page in the service."""
    return [button("Show issue", buttons.ShowIssue(issue=number)), link_button(*page(number, wording))]


def open_row(number: int, wording: Wording, *more: Element) -> Block:
    return actions([*open_buttons(number, wording), *more], block_id=f"open-{number}")


def post_menu(
    number: int,
    wording: Wording,
    *,
    follow: buttons.FollowIssue | buttons.StopFollowing | None = None,
    thread: str | None = None,
    quotes: bool = False,
    mine: bool = False,
) -> Element:
    """The `…` menu of an issue in a post, with room for *Delete post*.

    In a post for one user, *Assign to me* may be left out (`mine`). `follow` is for a post that can be kept
    up to date itself, and `quotes` whether its comments are included. Any other post names the `thread` it is
    in, if any, which can follow the issue in a post of its own.
    """
    if thread and follow is None:
        follow = buttons.FollowIssue(issue=number, thread=thread)
    last = [menu_option(FOLLOW, follow)] if follow else []
    if isinstance(follow, buttons.StopFollowing):
        last = [comments_option(number, on=not quotes), menu_option(STOP_FOLLOWING, follow)]
    assign = None if mine else buttons.AssignToMe(issue=number)
    return _menu(number, wording, [], assign, last, room=MAX_MENU_OPTIONS - 1)


def comments_option(number: int, *, on: bool) -> JSON:
    """The option that includes comments, or leaves them out."""
    return menu_option(
        "Include comments" if on else "Leave out comments", buttons.IncludeComments(issue=number, on=on)
    )


def follows(number: int, wording: Wording) -> Block:
    """Says that the post is kept up to date."""
    text = f"Updates to {link(wording.url(number), f'#{number}')} appear in this thread."
    return context(text) | {"block_id": FOLLOWS}


def _menu(
    number: int,
    wording: Wording,
    first: list[JSON],
    assign: buttons.AssignToMe | None,
    last: Sequence[JSON] = (),
    *,
    room: int,
) -> Element:
    """A menu with all actions, or with as many as there's room for, `last` and *More actions*."""
    known = _actions(number, wording, assign)
    options = [*first, *(menu_option(text, carries) for text, carries in known)]
    options.append(menu_link(*page(number, wording)))
    if len(options) + len(last) > room:
        more = menu_option("More actions", buttons.ShowIssue(issue=number))
        return menu([*options[: room - 1 - len(last)], *last, more])
    return menu([*options, *last])


def page(number: int, wording: Wording) -> tuple[str, str]:
    """The text and the URL of what opens an issue in the service."""
    return f"Open in {wording.service}", wording.url(number)


def title(issue: Issue, wording: Wording) -> str:
    """`#42 Subject`, linked."""
    return link(wording.url(issue.id), f"#{issue.id} {issue.subject}")


def rich_title(issue: Issue, wording: Wording, **marks: bool) -> JSON:
    return rich_link(wording.url(issue.id), f"#{issue.id} {issue.subject}", **marks)


def posted(
    does: str,
    issue: Issue,
    wording: Wording,
    mention: str | None,
    follow: buttons.FollowIssue | buttons.StopFollowing | None,
) -> Message:
    """The post of an issue, such as what `Ana created`: one line with its menu.

    `mention` is the assignee's Slack user, if they are to be mentioned; `follow` is for a post in a thread.
    """
    project = f" in {line(issue.project.name)}" if issue.project else ""
    subject = f"{line(does)} {title(issue, wording)}{project}"
    assignee = f"<@{mention}>" if mention else name_of(issue.assigned_to)
    facts = (subject, name_of(issue.priority), assignee and f"assigned to {assignee}")
    text = " · ".join(fact for fact in facts if fact)
    summary = section(text, post_menu(issue.id, wording, follow=follow))
    more = [follows(issue.id, wording)] if isinstance(follow, buttons.StopFollowing) else []
    return Message(text, (summary, *more))


def action_post(did: str, issue: Issue, wording: Wording, thread: str | None) -> Message:
    """The post of another action on an issue, such as `Ana added this message to`, as mrkdwn, in a thread."""
    text = f"{did} {title(issue, wording)}"
    return Message(text, (section(text, post_menu(issue.id, wording, thread=thread)),))


def this_message(permalink: str | None) -> str:
    return link(permalink, "this message") if permalink else "this message"


def with_reason(
    answer: Message, issue: Issue, announced: PostOutcome | None, *, private: bool = False
) -> Message:
    """The private reply with why it wasn't announced, if it should have been. A button shares the issue if
    that is only a question of who may see its project.

    What wasn't tried is private itself, or its issue is, or was meant to be.
    """
    match announced:
        case PostOutcome.YES | PostOutcome.NOWHERE:
            return answer
        case None if issue.is_private or private:
            what = "issue" if issue.is_private else "comment"
            why = f"I didn't post this in the channel because the {what} is private."
        case None:
            why = "I didn't post this in the channel because the issue was meant to be private."
        case _:
            why = not_posted(announced)
    blocks = [*answer.blocks, context(prose(why))]
    if announced in (PostOutcome.HIDDEN, PostOutcome.PUBLICITY_UNREAD):
        asks = announced is PostOutcome.HIDDEN
        blocks.append(actions([exposing(buttons.ShareIssue(issue=issue.id), issue, public=not asks)]))
    return Message(answer.text, tuple(blocks))


def created(
    made: Created,
    wording: Wording,
    announced: PostOutcome | None,
    notes: Sequence[str] = (),
) -> Message:
    """The private confirmation of a created issue: what was understood, what the service changed, possible
    duplicates, and why it isn't announced; or a warning if others can see an issue requested as private.

    `announced` is what is expected of the announcement. `notes` say more in plain text.
    """
    issue, service = made.issue, escape(wording.service)
    text = f"Created {title(issue, wording)} in {line(made.project.name)}."
    first = paragraph(
        "Created ", rich_title(issue, wording), f" in {shortened(made.project.name, PROJECT_LENGTH)}."
    )
    if made.privacy_refused:
        number = link(wording.url(issue.id), f"#{issue.id}")
        text = (
            f"{service} didn't make {number} private, so others can see it. "
            f"Open it in {service} to delete it."
        )
        first = section(text)

    understood = (
        name_of(issue.tracker),
        priority_and_assignee(issue),
        f"due {day(issue.due_date)}" if issue.due_date else "",
        ":lock: private" if issue.is_private else "",
    )
    blocks: list[Block] = [first, section(" · ".join(filter(None, understood)))]

    if made.changes:
        changed = "\n".join(f"• {service_change(change, service)}" for change in made.changes)
        blocks.append(section(f"{service} didn't save everything as you entered it:\n{changed}"))
    for other in made.similar:
        duplicate = f":mag: Possible duplicate: {title(other, wording)} · {priority_and_assignee(other)}"
        blocks.append(section(duplicate, button("Show issue", buttons.ShowIssue(issue=other.id))))
    blocks += [context(prose(note)) for note in notes]

    if not (made.privacy_refused or announced in (PostOutcome.YES, PostOutcome.NOWHERE)):
        private = "I didn't post this in the channel because the issue is private."
        blocks.append(context(prose(not_posted(announced) if announced else private)))
    edit = [button("Edit", buttons.EditIssue(issue=issue.id))] if wording.updates_issues else []
    blocks.append(open_row(issue.id, wording, *edit))
    return Message(text, tuple(blocks))


def service_change(change: ServiceChange, service: str) -> str:
    """What the service made of a value that it replaced or dropped, in mrkdwn."""
    label = line(change.label)
    if change.requested is None:
        return (
            f"{label} is still {value_text(change.field, change.got)}."
            if change.got
            else f"{label} wasn't saved."
        )
    requested = value_text(change.field, change.requested)
    if change.kept and change.got is not None:
        return (
            f"{label} is still {value_text(change.field, change.got)}. {service} didn't accept {requested}."
        )
    if change.got is not None:
        return f"{label} is {value_text(change.field, change.got)}, not {requested}."
    return f"{label} {requested} wasn't saved." if change.field else f"{label} wasn't saved."


def value_text(field: Field | None, value: ResolvedValue) -> str:
    """A field's value, as mrkdwn; `field` is None for a custom field."""
    match value:
        case Ref():
            return line(value.name)
        case Decimal():
            return format_hours(value)
        case date():
            return day(value)
    kind = field.kind if field else None
    if kind is FieldType.PERCENT:
        return f"{value}%"
    return f"#{value}" if kind is FieldType.ISSUE else line(str(value))


def listed(
    issue: Issue,
    wording: Wording,
    today: date | None,
    *,
    shareable: bool = False,
    fixed: Mapping[str, int] = NOTHING,
    me: int = 0,
    menu: Element | None = None,
) -> Block:
    """A list row, with its menu, or `menu` in its place.

    Fields with the value in `fixed` (an ID, 0 for nobody) aren't repeated. `me` is the user in the service.
    """

    def name(field: str) -> str:
        ref: Ref | None = getattr(issue, field)
        if field in fixed and fixed[field] == (ref.id if ref else 0):
            return ""
        return name_of(ref) if ref or field != "assigned_to" else "Unassigned"

    facts = [name(field) for field in ("project", "tracker", "status", "priority", "assigned_to")]
    facts += [due(issue, today), ":lock: private" if issue.is_private else ""]
    below = cut(" · ".join(fact for fact in facts if fact), ROW_LENGTH)  # ten rows fit into a message
    if menu is None:
        share = menu_option(SHARE, buttons.ShareListedIssue(issue=issue.id))
        first = [share] if shareable and not issue.is_private else []
        mine = issue.assigned_to is not None and issue.assigned_to.id == me
        assign = None if mine else buttons.AssignToMe(issue=issue.id)
        menu = _menu(issue.id, wording, first, assign, room=MAX_MENU_OPTIONS)
    return section(f"*{title(issue, wording)}*\n{below}".rstrip(), menu)


def due(issue: Issue, today: date | None) -> str:
    """`due Nov 3`, marked if it is overdue, as far as today is known; empty without a due date."""
    if issue.due_date is None:
        return ""
    late = issue.is_open and today is not None and issue.due_date < today
    return f"{':warning: overdue since' if late else 'due'} {day(issue.due_date)}"


def kind(issue: Issue, *, with_status: bool = True) -> str:
    """Project, tracker and status: `Web Shop · Bug · New`."""
    refs = (issue.project, issue.tracker, issue.status if with_status else None)
    parts = [ref.name for ref in refs if ref and ref.name]
    return " · ".join(line(part) for part in parts) + (" · :lock: private" if issue.is_private else "")


def priority_and_assignee(issue: Issue) -> str:
    assignee = f"assigned to {line(issue.assigned_to.name)}" if issue.assigned_to else "Unassigned"
    return " · ".join(part for part in (name_of(issue.priority), assignee) if part)


def name_of(ref: Ref | None) -> str:
    return line(ref.name) if ref else ""


def spent_and_estimated(issue: Issue) -> str:
    """Spent and estimated time, as far as there is any: `1h 30m of 4h spent`."""
    spent = issue.total_spent_hours if issue.total_spent_hours is not None else issue.spent_hours
    estimated = issue.estimated_hours
    if spent and estimated:
        return f"{format_hours(spent)} of {format_hours(estimated)} spent"
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


def exposing(carries: buttons.ShareIssue | buttons.FollowIssue, issue: Issue, *, public: bool) -> Element:
    """A button that shows an issue to others. Unless everyone can see it, it asks first, and carries the
    project that the user then agrees to show.
    """
    text, verb = (SHARE, "Share") if isinstance(carries, buttons.ShareIssue) else (FOLLOW, "Follow")
    if public:
        return button(text, carries)
    carries = carries.model_copy(update={"agreed_project": issue.project.id if issue.project else None})
    warning = "Its project isn't public. Others here may not have permission to see it."
    return button(text, carries, confirm=confirm(f"{verb} this issue here?", warning, f"{verb} issue"))


async def quoted(comment: Journal, wording: Wording) -> str:
    """The start of a comment, with nothing in it that mentions, links or passes for the bot's own words."""
    words = shortened(stripped(await wording.mrkdwn(comment.notes)).strip(), QUOTE_LENGTH)
    return prefixed(literal(words), "> ", "> ") if words else ""


def issue_option(issue: Issue) -> JSON:
    return option(f"#{issue.id} {issue.subject}", str(issue.id))


def issue_field(action: str, issue: Issue | None, *, dispatch: bool = False) -> Block:
    """The field of a form in which an issue is chosen, this one at first."""
    select = forms.searched(action, issue_option(issue) if issue else None, "Search by number or subject")
    return forms.field("issue", "Issue", select, optional=False, dispatch=dispatch)


def change_text(change: Change, names: Names, me: int = 0) -> str:
    """`Status: New → Closed`, as far as the names are known, as mrkdwn; `me` is the user in the service."""
    field = REPORTED_TO_PEOPLE[change.name]
    known = {**names.get(change.name, {}), **({str(me): "you"} if me and field is ASSIGNEE else {})}
    before, after = (_told_value(field, value, known) for value in (change.old_value, change.new_value))
    if before and after:
        return f"{field.label}: {before} → {after}"
    return f"{field.label}: {after}" if after else f"{field.label} changed"


def _told_value(field: Field, value: str, known: Mapping[str, str]) -> str:
    """As mrkdwn; empty if the name isn't known."""
    if not value:
        return "unassigned" if field is ASSIGNEE else "none"
    if field.kind is not FieldType.DAY:
        return line(known.get(value, ""))
    try:
        return day(date.fromisoformat(value))
    except ValueError:
        return ""
