"""Relations, files, time entries and notes for the demo's issues."""

from datetime import datetime, timedelta

from bot.sandbox.demo import prose
from bot.sandbox.demo.harbor import OLD_SHOP
from bot.sandbox.demo.randomness import SeededRandom
from bot.sandbox.demo.showpieces import GIFT_CARDS, INVOICE
from bot.sandbox.png import png
from bot.sandbox.tracker.data import Attachment, Data, Issue, Note, Relation, TimeEntry, free_id, put
from bot.sandbox.tracker.defaults import (
    BUG,
    CLOSED,
    DESIGN,
    DEVELOPMENT,
    NEW,
    SUPPORT,
    SUPPORTING,
    TESTING,
)

RELATIONS, PROJECT_ENTRIES = 45, 40
_WIDTH, _HEIGHT, _BAR = 96, 60, 12


def add_extras(data: Data, now: datetime, rng: SeededRandom) -> None:
    issues = list(data.issues.values())
    _relations(data, issues, rng)
    for issue in issues:
        if issue.id == GIFT_CARDS or (issue.tracker_id == BUG and rng.chance(20)):
            _file(data, issue, rng)
        if issue.status_id != NEW:
            _notes(data, issue, rng)
            _time(data, issue, now, rng)
    _project_time(data, now, rng)


def _relations(data: Data, issues: list[Issue], rng: SeededRandom) -> None:
    linked = {frozenset((GIFT_CARDS, INVOICE))}
    put(data.relations, Relation(1, GIFT_CARDS, INVOICE))
    while len(linked) < RELATIONS:
        one = rng.one(issues)
        other = rng.one([i for i in issues if i.project_id == one.project_id and i is not one])
        if frozenset((one.id, other.id)) in linked:
            continue
        linked.add(frozenset((one.id, other.id)))
        kind = rng.one(("relates", "duplicates", "blocks", "precedes"), (60, 15, 15, 10))
        delay = rng.randint(0, 3) if kind == "precedes" else None
        put(data.relations, Relation(free_id(data.relations), one.id, other.id, kind, delay))


def _file(data: Data, issue: Issue, rng: SeededRandom) -> None:
    if rng.chance(60):
        name, kind, content = "screenshot.png", "image/png", _picture(rng)
    else:
        name, kind, content = "server.log", "text/plain", prose.log_text(rng).encode()
    row = Attachment(
        id=free_id(data.attachments),
        filename=name,
        content=content,
        content_type=kind,
        author_id=issue.author_id,
        created_on=issue.created_on,
        description=rng.one(("", "What I see", "From the customer")),
        issue_id=issue.id,
    )
    put(data.attachments, row)


def _picture(rng: SeededRandom) -> bytes:
    """Return a small image that looks like a page: a colored bar above lines on white."""
    bar = bytes(rng.randint(40, 200) for _ in range(3))
    lines = {18 + 6 * n: rng.randint(30, 80) for n in range(6)}
    rows = []
    for y in range(_HEIGHT):
        dark = _WIDTH if y < _BAR else lines.get(y, lines.get(y - 1, 0))
        color = bar if y < _BAR else b"\xb4\xbc\xc6"
        rows.append(color * dark + b"\xff\xff\xff" * (_WIDTH - dark))
    return png(rows)


def _notes(data: Data, issue: Issue, rng: SeededRandom) -> None:
    members = [m.user_id for m in data.memberships.values() if m.project_id == issue.project_id]
    span = issue.updated_on - issue.created_on
    moments = sorted(issue.created_on + span * rng.random() for _ in range(rng.randint(0, 3)))
    issue.notes = [
        Note(rng.one(members), rng.one(prose.PROSE.notes), m.replace(microsecond=0)) for m in moments
    ]


def _time(data: Data, issue: Issue, now: datetime, rng: SeededRandom) -> None:
    worker = issue.assigned_to_id
    skipped = issue.project_id == OLD_SHOP or (issue.id != GIFT_CARDS and rng.chance(35))
    if worker not in data.users or skipped:
        return
    activity = (
        SUPPORTING if issue.tracker_id == SUPPORT else rng.one((DESIGN, DEVELOPMENT, TESTING), (1, 6, 3))
    )
    end = issue.closed_on if issue.status_id == CLOSED and issue.closed_on else now
    for _ in range(rng.randint(1, 4)):
        moment = min(rng.office_time(issue.created_on.date(), end.date()), now)
        entry = _entry(data, issue.project_id, worker, moment, rng)
        entry.issue_id, entry.activity_id, entry.comments = (
            issue.id,
            activity,
            rng.one(prose.PROSE.time_comments) or None,
        )


def _project_time(data: Data, now: datetime, rng: SeededRandom) -> None:
    """Log meetings and similar work on projects, without an issue."""
    rows = [m for m in data.memberships.values() if m.project_id != OLD_SHOP]
    for _ in range(PROJECT_ENTRIES):
        row = rng.one(rows)
        moment = min(rng.office_time((now - timedelta(days=60)).date(), now.date()), now)
        _entry(data, row.project_id, row.user_id, moment, rng)


def _entry(data: Data, project_id: int, user_id: int, moment: datetime, rng: SeededRandom) -> TimeEntry:
    """Return a time entry of about an hour on the project; the caller may set its issue."""
    row = TimeEntry(
        id=free_id(data.time_entries),
        project_id=project_id,
        issue_id=None,
        user_id=user_id,
        author_id=user_id,
        activity_id=DESIGN,
        minutes=rng.one((15, 20, 30, 45, 60, 90, 120, 150, 180, 240)),
        spent_on=moment.date(),
        comments="Weekly meeting",
        created_on=moment,
        updated_on=moment,
    )
    return put(data.time_entries, row)
