"""How issues look in Slack: cards, list rows and announcements."""

from decimal import Decimal

from bot.features.issues.issues import Created, Shown
from bot.service.models import Issue, Relation
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
    overflow,
    section,
    shortened,
)
from bot.slack.text import LONGEST, bold, cut, escape, line, link, prose
from bot.slack.wording import Wording

DESCRIPTION = 2500
CHILDREN = ATTACHMENTS = 8
NAME, VALUE = 60, 200
KILOBYTE = 1000


def title(issue: Issue, wording: Wording) -> str:
    """`#42 Subject`, linked."""
    return link(wording.url(issue.id), f"#{issue.id} {issue.subject}")


def _title(issue: Issue, wording: Wording, **marks: bool) -> JSON:
    """As `title`, for rich text."""
    return rich_text.link(wording.url(issue.id), f"#{issue.id} {issue.subject}", **marks)


def card(
    shown: Shown, wording: Wording, description: str, *, shareable: bool = True, said: str | None = None
) -> Message:
    """An issue for one person, with its buttons; a form can't share it (`shareable`).

    `description` is the issue's own, as mrkdwn. `said` appears above the buttons.
    """
    issue = shown.issue
    blocks: list[Block] = [
        rich_text.paragraph(_title(issue, wording, bold=True)),
        context(kind(issue, with_status=False)),
    ]
    blocks += fields(_facts(shown))
    if description:
        short = cut(description, DESCRIPTION)
        whole = short == description and len(issue.description or "") <= LONGEST
        more = "" if whole else f"\n{link(wording.url(issue.id), 'Read it all')}"
        blocks.append(section(short + more))
    blocks += _connected(shown, wording)
    if said:
        blocks.append(context(prose(said)))
    blocks.append(actions(_buttons(shown, wording, shareable=shareable), block_id=f"issue-{issue.id}"))
    return Message(f"#{issue.id} {line(issue.subject)} – {kind(issue)}", tuple(blocks))


def shared(shown: Shown, wording: Wording, user_id: str) -> Message:
    """An issue that a user shares in a conversation."""
    issue = shown.issue
    text = f"<@{user_id}> shares {title(issue, wording)}"
    shown_as = rich_text.paragraph(rich_text.person(user_id), " shares ", _title(issue, wording))
    return Message(
        text,
        (shown_as, context(f"{kind(issue)} · {priority_and_assignee(issue)}"), open_buttons(issue, wording)),
    )


def announced(created: Created, wording: Wording, user_id: str) -> Message:
    """The announcement of a created issue in a conversation."""
    issue = created.issue
    tracker = issue.tracker.name if issue.tracker else "an issue"
    text = f"<@{user_id}> created {line(tracker)} {title(issue, wording)}"
    shown_as = rich_text.paragraph(
        rich_text.person(user_id), f" created {shortened(tracker, VALUE)} ", _title(issue, wording)
    )
    return Message(
        text,
        (shown_as, context(f"{kind(issue)} · {priority_and_assignee(issue)}"), open_buttons(issue, wording)),
    )


def created(made: Created, wording: Wording, why_private: str | None) -> Message:
    """The private confirmation of a created issue: a warning if others can see an issue requested as private,
    the values that the service changed, and why the issue wasn't announced.
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
            f"Open it in {service} to remove it."
        )
        first = section(text)
    blocks: list[Block] = [first]
    if made.changed_values:
        notes = "\n".join(f"• {prose(note)}" for note in made.changed_values)
        blocks.append(section(f"{service} changed what you asked for:\n{notes}"))
    if why_private:
        blocks.append(context(f"Only you see this: {prose(why_private)}."))
    blocks.append(open_buttons(issue, wording))
    return Message(text, tuple(blocks))


def listed(issue: Issue, wording: Wording, *, shareable: bool) -> Block:
    """A list row, with its menu."""
    facts = [
        line(ref.name)
        for ref in (issue.tracker, issue.status, issue.priority, issue.assigned_to)
        if ref and ref.name
    ]
    if issue.due_date:
        facts.append(f"due {issue.due_date.isoformat()}")
    if issue.is_private:
        facts.append(":lock: private")
    project = f"{line(issue.project.name)} · " if issue.project and issue.project.name else ""
    more = [("Share here", "share")] if shareable and not issue.is_private else []
    return section(f"*{title(issue, wording)}*\n{project}{' · '.join(facts)}", menu(issue.id, wording, *more))


def menu(number: int, wording: Wording, *more: tuple[str, str]) -> Element:
    """The `…` menu of an issue's line; `more` are further choices, each a label and the word for
    its value.
    """
    here = [option(label, f"{what}:{number}") for label, what in (("Show", "show"), *more)]
    there = option(f"Open in {wording.service}", f"open:{number}", wording.url(number))
    return overflow("issue.menu", [*here, there])


def open_buttons(issue: Issue, wording: Wording) -> Block:
    """Buttons for an issue's card, and for its page in the service."""
    return actions(
        [
            button("Show", "issue.show", str(issue.id)),
            button(f"Open in {wording.service}", "open", url=wording.url(issue.id)),
        ],
        block_id=f"open-{issue.id}",
    )


def kind(issue: Issue, *, with_status: bool = True) -> str:
    """Project, tracker and status: `Web Shop · Bug · New`."""
    refs = (issue.project, issue.tracker, issue.status if with_status else None)
    parts = [ref.name for ref in refs if ref and ref.name]
    return " · ".join(line(part) for part in parts) + (" · :lock: private" if issue.is_private else "")


def priority_and_assignee(issue: Issue) -> str:
    """Priority and assignee."""
    priority = line(issue.priority.name) if issue.priority else ""
    assignee = f"assigned to {line(issue.assigned_to.name)}" if issue.assigned_to else "nobody assigned"
    return " · ".join(part for part in (priority, assignee) if part)


def _facts(shown: Shown) -> list[tuple[str, str]]:
    issue = shown.issue
    status = issue.status.name if issue.status else ""
    facts = [
        ("Status", line(status)),
        ("Priority", line(issue.priority.name) if issue.priority else ""),
        ("Assignee", line(issue.assigned_to.name) if issue.assigned_to else "nobody"),
        ("Author", line(issue.author.name) if issue.author else ""),
        ("Category", line(issue.category.name) if issue.category else ""),
        ("Target version", line(issue.fixed_version.name) if issue.fixed_version else ""),
        ("Dates", _dates(issue)),
        ("Progress", _progress(issue.done_ratio)),
        ("Time", spent_and_estimated(issue)),
    ]
    for custom in issue.custom_fields:
        value = ", ".join(custom.value) if isinstance(custom.value, tuple) else custom.value
        if value:
            facts.append((shortened(custom.name, NAME), line(value, VALUE)))
    return [(label, value) for label, value in facts if value][:20]


def _dates(issue: Issue) -> str:
    start = issue.start_date.isoformat() if issue.start_date else ""
    due = f"due {issue.due_date.isoformat()}" if issue.due_date else ""
    return ", ".join(part for part in (start and f"from {start}", due) if part)


def _progress(done: int | None) -> str:
    if done is None:
        return ""
    full = max(0, min(10, done // 10))
    return f"{'▰' * full}{'▱' * (10 - full)} {done} %"


def spent_and_estimated(issue: Issue) -> str:
    """Spent and estimated time."""
    spent = issue.total_spent_hours if issue.total_spent_hours is not None else issue.spent_hours
    parts = [
        f"{format_hours(spent)} spent" if spent is not None else "",
        f"{format_hours(issue.estimated_hours)} estimated" if issue.estimated_hours is not None else "",
    ]
    return " of ".join(part for part in parts if part)


def format_hours(value: Decimal) -> str:
    """`1 h 30 min`."""
    minutes = round(value * 60)
    whole, rest = divmod(minutes, 60)
    return " ".join(
        part for part in (f"{whole} h" if whole or not rest else "", f"{rest} min" if rest else "") if part
    )


def _connected(shown: Shown, wording: Wording) -> list[Block]:
    issue = shown.issue
    lines = []
    if issue.parent:
        lines.append(f"*Parent* {_named(issue.parent.id, shown, wording)}")
    if shown.children:
        names = [
            link(wording.url(c.id), f"#{c.id} {shortened(c.subject, 80)}") for c in shown.children[:CHILDREN]
        ]
        more = len(shown.children) - CHILDREN
        lines.append(f"*Children* {' · '.join(names)}" + (f" and {more} more" if more > 0 else ""))
    lines += [_related(relation, shown, wording) for relation in issue.relations[:CHILDREN]]
    if issue.attachments:
        names = [
            link(a.content_url or wording.url(issue.id), shortened(a.filename, 80))
            + (f" ({format_size(a.filesize)})" if a.filesize is not None else "")
            for a in issue.attachments[:ATTACHMENTS]
        ]
        more = len(issue.attachments) - ATTACHMENTS
        lines.append(f"*Files* {' · '.join(names)}" + (f" and {more} more" if more > 0 else ""))
    return [section("\n".join(lines))] if lines else []


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
    """A size in bytes, such as `12 kB`."""
    if size < KILOBYTE:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilobytes = round(size / KILOBYTE)
    return f"{kilobytes} kB" if kilobytes < KILOBYTE else f"{size / KILOBYTE**2:.1f} MB"


def _buttons(shown: Shown, wording: Wording, *, shareable: bool) -> list[Element]:
    number = str(shown.issue.id)
    buttons: list[Element] = []
    if shareable and not shown.issue.is_private:
        question = None
        if not shown.public:
            question = confirm(
                "Share it here?",
                "Its project is not known to be public: others here may not be allowed to see it.",
                "Share",
            )
        buttons.append(button("Share here", "issue.share", number, confirm=question))
    buttons += [
        button("Log time", "time.open", number),
        button("Attach files", "files.open", number),
        button(f"Open in {wording.service}", "open", url=wording.url(shown.issue.id)),
    ]
    return buttons


def issue_option(issue: Issue) -> JSON:
    """An issue as a choice of a select."""
    return option(f"#{issue.id} {issue.subject}", str(issue.id))
