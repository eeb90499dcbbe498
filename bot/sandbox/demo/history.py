"""Half a year of issues, with their progress, relations, files, time entries and notes, and colleagues who
keep reporting issues while the sandbox runs, so that digests have news.

Two of them have fixed numbers, which the local Slack's messages and examples refer to.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from random import Random
from typing import TypeVar

from bot.sandbox.demo.harbor import (
    BROWSERS,
    CUSTOMER,
    HARBOR,
    OLD_SHOP,
    PROSE,
    SECURITY,
    SEVERITY,
    SUPPORT_TEAM,
    TRACKER_IDS,
    WEBSHOP,
    user_of,
)
from bot.sandbox.people import ANA, BEN, DANA
from bot.sandbox.tracker.data import Attachment, Data, Issue, Note, Relation, TimeEntry, free_id, put
from bot.sandbox.tracker.defaults import (
    BUG,
    CLOSED,
    DESIGN,
    DEVELOPMENT,
    FEATURE,
    FEEDBACK,
    HIGH,
    IMMEDIATE,
    IN_PROGRESS,
    LOW,
    NEW,
    NORMAL,
    REJECTED,
    RESOLVED,
    SUPPORT,
    SUPPORTING,
    TASK,
    TESTING,
)

DAYS = 185
SATURDAY = 5
RECENT_ISSUES = 4
Topic = tuple[str, int, str]
"""An issue's category, tracker and subject."""
ItemT = TypeVar("ItemT")
_MAX_DONE = {NEW: 0, IN_PROGRESS: 70, FEEDBACK: 90, RESOLVED: 100, CLOSED: 100, REJECTED: 30}
RELATIONS, PROJECT_ENTRIES = 45, 40
INVOICE, GIFT_CARDS = 12, 42
SCREENSHOT = files("bot.sandbox.demo").joinpath("screenshot.png").read_bytes()
REPORTS_SEED = 7
NAMES = {number: name for name, number in TRACKER_IDS.items()}
TRACKER_WEIGHTS = {BUG: 45, SUPPORT: 20, TASK: 20, FEATURE: 15}


class SeededRandom(Random):
    """A seeded random source; not for secrets."""

    def one(self, items: Sequence[ItemT], weights: Sequence[int] | None = None) -> ItemT:
        return self.choices(items, weights)[0]

    def chance(self, percent: int) -> bool:
        return self.random() * 100 < percent

    def office_time(self, first: date, last: date) -> datetime:
        """Return a time between two days, in working hours and mostly on weekdays."""
        day = first + timedelta(days=self.randint(0, max((last - first).days, 0)))
        if day.weekday() >= SATURDAY and self.chance(80):
            day = max(first, day - timedelta(days=2))
        moment = time(self.randint(7, 16), self.randint(0, 59), self.randint(0, 59))
        return datetime.combine(day, moment, UTC)


@dataclass(frozen=True)
class Plan:
    """An issue to create; `children` are the subjects of its subtasks, and of theirs."""

    created: datetime
    project_id: int
    category: str
    tracker_id: int
    subject: str
    children: Mapping[str, Sequence[str]] = field(default_factory=dict)


def add_history(data: Data, now: datetime, rng: SeededRandom) -> None:
    """Add issues in order of creation, so that their numbers increase with time."""
    plans = [plan for project_id in data.projects for plan in _project_plans(project_id, now, rng)]
    identifiers = {project.identifier: project.id for project in data.projects.values()}
    for epic in HARBOR.epics:
        created = rng.office_time((now - timedelta(days=70)).date(), (now - timedelta(days=40)).date())
        project_id = identifiers[epic.project]
        plans.append(Plan(created, project_id, epic.category, FEATURE, epic.subject, epic.tasks))
    for plan in sorted(plans, key=lambda p: p.created):
        _add_showpiece(data, free_id(data.issues), plan.created, now)
        _add(data, plan, now, rng)


def _project_plans(project_id: int, now: datetime, rng: SeededRandom) -> Iterator[Plan]:
    first = (now - timedelta(days=DAYS + 120 if project_id == OLD_SHOP else DAYS)).date()
    last = (now - timedelta(days=DAYS - 40 if project_id == OLD_SHOP else 0)).date()
    for number, (category, tracker_id, subject) in enumerate(_subjects(project_id, rng)):
        created = rng.office_time(first, last)
        if created > now or (number < RECENT_ISSUES and project_id != OLD_SHOP):
            created = now - timedelta(minutes=rng.randint(20, 60 * 50))
        yield Plan(created, project_id, category, tracker_id, subject)


def stock(project_id: int) -> tuple[list[Topic], list[Topic]]:
    """Return a project's topics: the plain subjects, and bugs with circumstances added."""
    project = HARBOR.projects[project_id - 1]
    plain = [
        (category, TRACKER_IDS[tracker], subject)
        for category, by_tracker in project.categories.items()
        for tracker, subjects in by_tracker.items()
        for subject in subjects
    ]
    bugs = [topic for topic in plain if topic[1] == BUG]
    more = [(c, t, f"{s} {where}") for c, t, s in bugs for where in project.circumstances]
    return plain, more


def _subjects(project_id: int, rng: SeededRandom) -> list[Topic]:
    """Return a different topic for each of the project's issues: plain ones, then bugs with circumstances."""
    plain, more = stock(project_id)
    amount = HARBOR.projects[project_id - 1].issues
    topics = plain[:amount] + rng.sample(more, min(max(amount - len(plain), 0), len(more)))
    rng.shuffle(topics)
    return topics


def _add(data: Data, plan: Plan, now: datetime, rng: SeededRandom) -> None:
    top = report(data, plan, now, rng)
    for subject, below in plan.children.items():
        created = min(plan.created + timedelta(hours=rng.randint(1, 30)), now)
        child = report(data, Plan(created, plan.project_id, plan.category, TASK, subject), now, rng, top)
        for deeper in below:
            report(data, Plan(created, plan.project_id, plan.category, TASK, deeper), now, rng, child)


def report(data: Data, plan: Plan, now: datetime, rng: SeededRandom, parent: Issue | None = None) -> Issue:
    """Add the planned issue, with the progress it could have made by now."""
    members = data.members(plan.project_id)
    workers = [m.user_id for m in members if "edit_issues" in data.roles[m.role_ids[0]].rights]
    tracker_id = plan.tracker_id
    if tracker_id not in data.projects[plan.project_id].tracker_ids:
        tracker_id = TASK
    category = next(
        c for c in data.categories.values() if (c.project_id, c.name) == (plan.project_id, plan.category)
    )
    issue = Issue(
        id=free_id(data.issues),
        project_id=plan.project_id,
        tracker_id=tracker_id,
        status_id=NEW,
        priority_id=rng.one(range(LOW, IMMEDIATE + 1), (15, 55, 20, 8, 2)),
        author_id=rng.one(members).user_id,
        subject=plan.subject,
        description=_description(tracker_id, plan.subject, rng),
        category_id=category.id if parent or rng.chance(85) else None,
        parent_id=parent.id if parent else None,
        is_private=plan.project_id != SECURITY and rng.chance(4),
        created_on=plan.created,
        updated_on=plan.created,
    )
    if rng.chance(82):
        issue.assigned_to_id = rng.one(workers)
    elif plan.project_id == WEBSHOP and tracker_id == SUPPORT:
        issue.assigned_to_id = SUPPORT_TEAM
    _progress(data, issue, now, rng)
    _plan_dates(data, issue, now, rng)
    _custom(data, issue, rng)
    return put(data.issues, issue)


def _progress(data: Data, issue: Issue, now: datetime, rng: SeededRandom) -> None:
    age, epics = (now - issue.created_on).days, [epic.subject for epic in HARBOR.epics]
    finished = issue.project_id == OLD_SHOP or rng.chance(min(20 + age, 82))
    done_by = issue.created_on + timedelta(hours=rng.randint(5, 24 * max(age, 2)))
    if issue.parent_id is None and finished and done_by < now and issue.subject not in epics:
        issue.status_id = rng.one((CLOSED, REJECTED), (88, 12))
        issue.closed_on = issue.updated_on = done_by
    elif issue.assigned_to_id is not None and age > 0:
        issue.status_id = rng.one((NEW, IN_PROGRESS, FEEDBACK, RESOLVED), (30, 40, 15, 15))
        issue.updated_on = min(done_by, now - timedelta(minutes=rng.randint(5, 3000)))
        issue.updated_on = max(issue.updated_on, issue.created_on)
    most = _MAX_DONE[issue.status_id]
    issue.done_ratio = 100 if issue.status_id == CLOSED else rng.randint(0, most // 10) * 10
    watchers = [member.user_id for member in data.members(issue.project_id)]
    issue.watcher_ids = set(rng.sample(watchers, rng.randint(0, 2)))


def _plan_dates(data: Data, issue: Issue, now: datetime, rng: SeededRandom) -> None:
    issue.start_date = issue.created_on.date() if rng.chance(80) else None
    if rng.chance(45):
        issue.due_date = (issue.closed_on or now).date() + timedelta(days=rng.randint(-6, 40))
        if issue.start_date and issue.due_date < issue.start_date:
            issue.due_date = issue.start_date + timedelta(days=3)
    if rng.chance(55):
        issue.estimated_hours = rng.one((0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0))
    reference = (issue.closed_on or now).date()
    versions = [v for v in data.versions.values() if v.project_id == issue.project_id and v.due]
    coming = [v for v in versions if v.due and v.due >= reference]
    if coming and rng.chance(60):
        issue.version_id = rng.one(coming[:2]).id


def _custom(data: Data, issue: Issue, rng: SeededRandom) -> None:
    known = data.custom_fields
    values: dict[int, str | list[str] | None] = {
        SEVERITY: rng.one(known[SEVERITY].options, (15, 40, 35, 10)),
        CUSTOMER: f"K-{rng.randint(10_000, 99_999)}" if rng.chance(40) else "",
        BROWSERS: sorted(rng.sample(known[BROWSERS].options, rng.randint(0, 2))),
    }
    issue.custom = {f.id: values[f.id] for f in data.fields(issue.project_id, issue.tracker_id)}


def _add_showpiece(data: Data, number: int, created: datetime, now: datetime) -> None:
    """Add the fixed issue with this number, and its subtasks on the next ones; ignore other numbers."""
    if number == INVOICE:
        _invoice(data, created, now)
    elif number == GIFT_CARDS:
        _gift_cards(data, created, now)


def _invoice(data: Data, created: datetime, now: datetime) -> None:
    issue = _put(data, INVOICE, BUG, "Delivery costs differ between cart and invoice", created)
    issue.description = HARBOR.invoice.replace("\n", "\r\n")
    issue.category_id = _named(data, "Checkout")
    issue.priority_id, issue.status_id, issue.done_ratio = HIGH, IN_PROGRESS, 40
    issue.assigned_to_id, issue.estimated_hours = user_of(data, ANA).id, 8.0
    issue.due_date, issue.updated_on = (now + timedelta(days=5)).date(), now - timedelta(hours=20)
    issue.custom = {CUSTOMER: "K-20417", BROWSERS: ["Chrome", "Safari"]}


def _gift_cards(data: Data, created: datetime, now: datetime) -> None:
    issue = _put(data, GIFT_CARDS, FEATURE, "Gift cards that are sent by mail", created)
    issue.description = HARBOR.gift_cards.replace("\n", "\r\n")
    issue.category_id = _named(data, "Payments")
    issue.version_id = next(v.id for v in data.versions.values() if v.project_id == WEBSHOP and v.is_open)
    issue.status_id, issue.done_ratio, issue.author_id = IN_PROGRESS, 60, user_of(data, DANA).id
    issue.assigned_to_id, issue.estimated_hours = user_of(data, ANA).id, 24.0
    issue.due_date, issue.updated_on = (now + timedelta(days=12)).date(), now - timedelta(hours=27)
    issue.watcher_ids = {user_of(data, BEN).id}
    for number, subject in enumerate(("Draw the card", "Send it at the chosen hour"), GIFT_CARDS + 1):
        child = _put(data, number, TASK, subject, created + timedelta(minutes=number))
        child.parent_id, child.category_id, child.estimated_hours = GIFT_CARDS, issue.category_id, 6.0
        child.status_id, child.done_ratio = CLOSED, 100  # else nobody could close the issue
        child.closed_on = child.updated_on = issue.updated_on - timedelta(hours=number)


def _put(data: Data, number: int, tracker_id: int, subject: str, created: datetime) -> Issue:
    row = Issue(
        id=number,
        project_id=WEBSHOP,
        tracker_id=tracker_id,
        status_id=NEW,
        priority_id=NORMAL,
        author_id=user_of(data, BEN).id,
        subject=subject,
        start_date=created.date(),
        created_on=created,
        updated_on=created,
    )
    return put(data.issues, row)


def _named(data: Data, name: str) -> int:
    rows = data.categories.values()
    return next(c.id for c in rows if c.project_id == WEBSHOP and c.name == name)


def add_extras(data: Data, now: datetime, rng: SeededRandom) -> None:
    issues = list(data.issues.values())
    _relations(data, issues, rng)
    for issue in issues:
        if issue.id == GIFT_CARDS or (issue.tracker_id == BUG and rng.chance(20)):
            _file(data, issue, rng)
        if issue.status_id != NEW and issue.parent_id != GIFT_CARDS:
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
        name, kind, content = "screenshot.png", "image/png", SCREENSHOT
    else:
        one, other = rng.sample(PROSE["logs"], 2)
        name, kind, content = "server.log", "text/plain", f"{one}\n{other}\n".encode()
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


def _notes(data: Data, issue: Issue, rng: SeededRandom) -> None:
    members = [member.user_id for member in data.members(issue.project_id)]
    span = issue.updated_on - issue.created_on
    moments = sorted(issue.created_on + span * rng.random() for _ in range(rng.randint(0, 3)))
    issue.notes = [Note(rng.one(members), rng.one(PROSE["notes"]), m.replace(microsecond=0)) for m in moments]


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
        entry.issue_id, entry.activity_id = issue.id, activity
        entry.comments = rng.one(PROSE["time_comments"]) or None


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


def _description(tracker_id: int, subject: str, rng: SeededRandom) -> str:
    """Return a description for the tracker; some are short or empty."""
    if rng.chance(12):
        return f"{subject}. {rng.one(PROSE['effects'])}"
    if tracker_id == BUG:
        text = _bug(rng)
    elif tracker_id == FEATURE:
        criteria = "\n".join(f"* {c}" for c in rng.sample(PROSE["criteria"], rng.randint(2, 4)))
        text = f"As **{rng.one(PROSE['people'])}** I want this so that I can {rng.one(PROSE['wishes'])}."
        text += f"\n\n## Done when\n\n{criteria}"
    elif tracker_id == SUPPORT:
        text = f"From the customer:\n\n> {rng.one(PROSE['customer_letters'])}\n\n{rng.one(PROSE['effects'])}"
    else:
        text = _numbered(rng.sample(PROSE["steps"], rng.randint(2, 5)))
    return text.replace("\n", "\r\n")


def _bug(rng: SeededRandom) -> str:
    steps = [f"Open {rng.one(PROSE['places'])}.", *rng.sample(PROSE["actions"], rng.randint(1, 3))]
    text = f"## Steps\n\n{_numbered(steps)}\n\n## What happens\n\n{rng.one(PROSE['effects'])}"
    if rng.chance(35):
        text += f"\n\n```\n{rng.one(PROSE['logs'])}\n```"
    return text


def _numbered(steps: list[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


async def go_on_reporting(data: Data, project_id: int, seconds: float) -> None:
    """Report a new public issue every `seconds` in a demo project until canceled."""
    rng = SeededRandom(REPORTS_SEED)
    while True:
        await asyncio.sleep(seconds)
        now = datetime.now(UTC).replace(microsecond=0)
        category, tracker_id, subject = _topic(data, project_id, rng)
        report(data, Plan(now, project_id, category, tracker_id, subject), now, rng).is_private = False


def _topic(data: Data, project_id: int, rng: SeededRandom) -> Topic:
    """Return a topic that hasn't been reported yet, or any topic once all have been."""
    plain, more = stock(project_id)
    following = [
        (category, TRACKER_IDS[tracker], words.format(subject))
        for category, cause, subject in plain
        for tracker, wordings in HARBOR.follow_ups.get(NAMES[cause], {}).items()
        for words in wordings
    ]
    usable = data.projects[project_id].tracker_ids
    known = {issue.subject for issue in data.issues.values()}
    topics = [topic for topic in (*plain, *more, *following) if topic[1] in usable]
    topics = [topic for topic in topics if topic[2] not in known] or topics
    trackers = sorted({tracker_id for _, tracker_id, _ in topics})
    tracker_id = rng.one(trackers, [TRACKER_WEIGHTS[one] for one in trackers])
    return rng.one([topic for topic in topics if topic[1] == tracker_id])
