"""An issue's card, which one person sees."""

from datetime import date

from bot.features.issues import views
from bot.features.issues.buttons import FollowIssue, SetStatus, ShareIssue, ShowMore
from bot.features.issues.issues import IssueDetails
from bot.features.issues.publicity import seemed_public
from bot.service.models import Issue, Relation
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    Block,
    Message,
    button,
    context,
    fields,
    paragraph,
    rows,
    section,
    shortened,
)
from bot.slack.text.mrkdwn import MAX_CONVERTED, bold, cut, day, line, link
from bot.slack.text.wording import Wording
from bot.slack_limits import MAX_SELECT_OPTIONS

DESCRIPTION_LENGTH = 2500
SUMMARY_LENGTH, SPARE_LENGTH = 300, 100
"""How much of a description a card shows, and how much longer one may be to be shown in full."""
MAX_FACTS, MAX_CONNECTED = 20, 8
NAME_LENGTH, VALUE_LENGTH, CONNECTED_SUBJECT_LENGTH = 60, 200, 80
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


def card(
    details: IssueDetails,
    wording: Wording,
    description: str,
    today: date | None,
    *,
    shareable: bool = True,
    asks_first: bool = False,
    whole: bool = False,
    thread: str | None = None,
) -> Message:
    """An issue for one person, with its buttons; a form can't share it (`shareable`).

    `description` is the issue's own, as mrkdwn; its start is shown, or with `whole` all that fits. With
    `asks_first`, the card says why sharing asks first. `thread` is the thread where it was opened, which can
    follow it; else a direct message does.
    """
    issue, project = details.issue, details.project
    blocks: list[Block] = [
        paragraph(views.rich_title(issue, wording, bold=True)),
        context(views.kind(issue, with_status=False)),
        *(status := _status(issue, wording)),
        *fields(_facts(issue, today)[1 if status else 0 :]),
    ]
    if description:
        blocks.append(_description(issue, wording, description, whole=whole))
    blocks += _connected(details, wording)
    if asks_first:
        why = f"{line(project.name)} isn't public" if project else "The project may not be public"
        blocks.append(context(f"{why}, so *{views.SHARE}* asks first."))

    first = []
    follows = button("Follow", FollowIssue(issue=issue.id))
    if shareable and not issue.is_private:
        public = seemed_public(issue, project)
        first.append(views.exposing(ShareIssue(issue=issue.id), issue, public=public))
        if thread:
            follow = FollowIssue(issue=issue.id, thread=thread)
            follows = views.exposing(follow, issue, public=public)

    first.append(follows)
    blocks += rows(views.issue_buttons(issue.id, wording, *first, mine=details.mine), f"issue-{issue.id}")
    return Message(f"#{issue.id} {line(issue.subject)} · {views.kind(issue)}", tuple(blocks))


def _status(issue: Issue, wording: Wording) -> list[Block]:
    """The select of the statuses that the user may set, if the service tells any beside the current one."""
    statuses, current = issue.allowed_statuses[:MAX_SELECT_OPTIONS], issue.status.id if issue.status else 0
    if not wording.updates_issues or not any(status.id != current for status in statuses):
        return []
    values = {status.id: SetStatus(issue=issue.id, status=status.id).pack() for status in statuses}
    known = [(values[status.id], status.name) for status in statuses]
    return [section("*Status*", forms.choice(SetStatus.action, known, values.get(current), "Status"))]


def _description(issue: Issue, wording: Wording, description: str, *, whole: bool) -> Block:
    if not whole and len(description) > SUMMARY_LENGTH + SPARE_LENGTH:
        end = max(description.rfind(space, SUMMARY_LENGTH // 2, SUMMARY_LENGTH) for space in " \n")
        short = cut(description, end + 1 if end > 0 else SUMMARY_LENGTH)
        return section(short, button("Show more", ShowMore(issue=issue.id)))
    text = cut(description, DESCRIPTION_LENGTH)
    complete = text == description and len(issue.description or "") <= MAX_CONVERTED
    rest = link(wording.url(issue.id), f"Read the rest in {wording.service}")
    return section(text if complete else f"{text}\n{rest}")


def _facts(issue: Issue, today: date | None) -> list[tuple[str, str]]:
    done = issue.done_ratio or 0
    full = max(0, min(10, done // 10))
    facts = [
        ("Status", views.name_of(issue.status)),
        ("Priority", views.name_of(issue.priority)),
        ("Assignee", views.name_of(issue.assigned_to) or "Unassigned"),
        ("Author", views.name_of(issue.author)),
        ("Category", views.name_of(issue.category)),
        ("Target version", views.name_of(issue.fixed_version)),
        ("Start date", day(issue.start_date) if issue.start_date else ""),
        ("Due date", views.due(issue, today).removeprefix("due ")),
        ("Progress", f"{'▰' * full}{'▱' * (10 - full)} {done}%" if done else ""),
        ("Time", views.spent_and_estimated(issue)),
    ]
    facts += [
        (shortened(custom.name, NAME_LENGTH), line(custom.text, VALUE_LENGTH))
        for custom in issue.custom_fields
    ]
    return [(label, value) for label, value in facts if value][:MAX_FACTS]


def _connected(details: IssueDetails, wording: Wording) -> list[Block]:
    """The parent, subtasks, related issues and files, if there are any."""
    issue, url = details.issue, wording.url

    def named(number: int, subject: str | None) -> str:
        return link(
            url(number),
            f"#{number} {shortened(subject, CONNECTED_SUBJECT_LENGTH)}" if subject else f"#{number}",
        )

    def related(relation: Relation) -> str:
        outward = relation.issue_id == issue.id
        other = (relation.issue_to_id if outward else relation.issue_id) or 0
        how = (RELATIONS if outward else INVERSE).get(relation.relation_type, relation.relation_type)
        return f"{bold(how.capitalize())} {named(other, details.subjects.get(other))}"

    lines = []
    if issue.parent:
        lines.append(f"*Parent issue* {named(issue.parent.id, details.subjects.get(issue.parent.id))}")
    if issue.children:
        lines.append(f"*Subtasks* {_first([named(child.id, child.subject) for child in issue.children])}")
    lines += map(related, issue.relations[:MAX_CONNECTED])
    if issue.attachments:
        files = [
            link(file.content_url or url(issue.id), shortened(file.filename, CONNECTED_SUBJECT_LENGTH))
            + (f" ({views.format_size(file.filesize)})" if file.filesize is not None else "")
            for file in issue.attachments
        ]
        lines.append(f"*Files* {_first(files)}")
    return [section("\n".join(lines))] if lines else []


def _first(names: list[str]) -> str:
    more = f" and {len(names) - MAX_CONNECTED} more" if len(names) > MAX_CONNECTED else ""
    return " · ".join(names[:MAX_CONNECTED]) + more
