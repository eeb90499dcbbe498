"""The web page of one issue: fields, description, subtasks, relations, files, time and notes."""

from urllib.parse import quote

from bot.sandbox.tracker.data import Attachment, Data, Issue, Note
from bot.sandbox.tracker.html import Child, Html, el, join, markdown, table
from bot.sandbox.tracker.links import issue_link, marks, priority_mark, project_link, when


def issue_body(data: Data, issue: Issue) -> Html:
    parent = data.issues.get(issue.parent_id or 0)
    above = [project_link(data.projects[issue.project_id])]
    if parent is not None:
        above += [Html(" · "), issue_link(parent)]
    return join(
        el("p", above),
        el("h1", f"{data.trackers[issue.tracker_id].name} #{issue.id}: {issue.subject}"),
        el(
            "div",
            el("dl", [el("div", el("dt", name), el("dd", value)) for name, value in _facts(data, issue)]),
            el("div", markdown(issue.description), cls="text") if issue.description else None,
            cls="card",
        ),
        _section("Subtasks", _children(data, data.children(), issue)),
        _section("Related", _relations(data, issue)),
        _section("Files", [_file(data, a) for a in data.attachments.values() if a.issue_id == issue.id]),
        _section("Time spent", _time(data, issue)),
        _section("Comments", [_note(data, note) for note in issue.notes if note.text]),
    )


def _section(title: str, content: Child) -> Html | None:
    return join(el("h2", title), content) if content else None


def _facts(data: Data, issue: Issue) -> list[tuple[str, Child]]:
    spent = data.minutes().get(issue.id, 0) / 60
    facts: list[tuple[str, Child]] = [
        ("Status", marks(data, issue)),
        ("Priority", priority_mark(data, issue)),
        ("Author", data.principal(issue.author_id)),
        ("Assignee", data.principal(issue.assigned_to_id) if issue.assigned_to_id else None),
        ("Category", data.categories[issue.category_id].name if issue.category_id else None),
        ("Target version", data.versions[issue.version_id].name if issue.version_id else None),
        ("Start date", str(issue.start_date or "")),
        ("Due date", str(issue.due_date or "")),
        ("% Done", f"{issue.done_ratio}%"),
        ("Estimated hours", f"{issue.estimated_hours:g}h" if issue.estimated_hours is not None else None),
        ("Spent hours", f"{spent:.2f}h" if spent else None),
        ("Watchers", ", ".join(data.principal(w) for w in sorted(issue.watcher_ids))),
    ]
    for field in data.fields(issue.project_id, issue.tracker_id):
        value = issue.custom.get(field.id)
        facts.append((field.name, ", ".join(value) if isinstance(value, list) else value))
    facts += [("Created", when(issue.created_on)), ("Updated", when(issue.updated_on))]
    facts.append(("Closed", when(issue.closed_on) if issue.closed_on else None))
    return [(name, value) for name, value in facts if value]


def _children(data: Data, children: dict[int, list[Issue]], issue: Issue) -> Html | None:
    below = children.get(issue.id)
    if not below:
        return None
    items = [
        el("li", issue_link(child), " ", marks(data, child), _children(data, children, child))
        for child in below
    ]
    return el("ul", items, cls="tree")


def _relations(data: Data, issue: Issue) -> Html | None:
    items = []
    for row in data.relations.values():
        if issue.id in (row.issue_id, row.issue_to_id):
            kind = row.kind if row.issue_id == issue.id else f"{row.kind} (incoming)"
            other = data.issues[row.issue_to_id if row.issue_id == issue.id else row.issue_id]
            items.append(
                el("li", el("span", kind, cls="soft"), " ", issue_link(other), " ", marks(data, other))
            )
    return el("ul", items, cls="tree") if items else None


def _file(data: Data, row: Attachment) -> Html:
    href = f"/attachments/download/{row.id}/{quote(row.filename, safe='')}"
    about = f" {len(row.content):,} bytes, {data.principal(row.author_id)}, {when(row.created_on)}"
    picture = row.content_type.startswith("image/")
    return el(
        "div",
        el("a", row.filename, href=href),
        el("span", about, cls="soft small"),
        el("div", row.description) if row.description else None,
        el("img", src=href, alt=row.description or row.filename, cls="thumb") if picture else None,
    )


def _time(data: Data, issue: Issue) -> Html | None:
    rows = [
        (
            str(t.spent_on),
            data.principal(t.user_id),
            data.activities[t.activity_id].name,
            t.comments,
            f"{t.hours:.2f}",
        )
        for t in data.time_entries.values()
        if t.issue_id == issue.id
    ]
    return table(("Date", "Person", "Activity", "Comment", "Hours"), rows) if rows else None


def _note(data: Data, note: Note) -> Html:
    head = f"{data.principal(note.user_id)}, {when(note.created_on)}"
    return el("div", el("div", head, cls="soft small"), markdown(note.text), cls="card")
