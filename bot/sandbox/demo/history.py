"""Half a year of issues, with reporters, assignees and progress."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.sandbox.demo import prose
from bot.sandbox.demo.company import BROWSER_NAMES, BROWSERS, CUSTOMER, SEVERITIES, SEVERITY, SUPPORT_TEAM
from bot.sandbox.demo.harbor import HARBOR, OLD_SHOP, SECURITY, TRACKER_IDS, WEBSHOP
from bot.sandbox.demo.randomness import SeededRandom
from bot.sandbox.demo.showpieces import add_showpiece
from bot.sandbox.tracker.data import Data, Issue, free_id, put
from bot.sandbox.tracker.defaults import (
    BUG,
    CLOSED,
    FEATURE,
    FEEDBACK,
    IMMEDIATE,
    IN_PROGRESS,
    LOW,
    NEW,
    REJECTED,
    RESOLVED,
    SUPPORT,
    TASK,
)

DAYS = 185
RECENT_ISSUES = 4
Topic = tuple[str, int, str]
"""An issue's category, tracker and subject."""
_MAX_DONE = {NEW: 0, IN_PROGRESS: 70, FEEDBACK: 90, RESOLVED: 100, CLOSED: 100, REJECTED: 30}


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
        add_showpiece(data, free_id(data.issues), plan.created, now)
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
    more = [(c, t, f"{s} {where}") for c, t, s in plain if t == BUG for where in project.circumstances]
    return plain, more


def _subjects(project_id: int, rng: SeededRandom) -> list[Topic]:
    """Return a different topic for each of the project's issues: plain ones, then bugs with circumstances."""
    plain, more = stock(project_id)
    amount = HARBOR.projects[project_id - 1].issues
    found = plain[:amount] + rng.sample(more, min(max(amount - len(plain), 0), len(more)))
    rng.shuffle(found)
    return found


def _add(data: Data, plan: Plan, now: datetime, rng: SeededRandom) -> None:
    top = report(data, plan, now, rng)
    for subject, below in plan.children.items():
        created = min(plan.created + timedelta(hours=rng.randint(1, 30)), now)
        child = report(data, Plan(created, plan.project_id, plan.category, TASK, subject), now, rng, top)
        for deeper in below:
            report(data, Plan(created, plan.project_id, plan.category, TASK, deeper), now, rng, child)


def report(data: Data, plan: Plan, now: datetime, rng: SeededRandom, parent: Issue | None = None) -> Issue:
    """Add the planned issue, with the progress it could have made by now."""
    members = [m.user_id for m in data.memberships.values() if m.project_id == plan.project_id]
    workers = [
        m.user_id
        for m in data.memberships.values()
        if m.project_id == plan.project_id and "edit_issues" in data.roles[m.role_ids[0]].rights
    ]
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
        author_id=rng.one(members),
        subject=plan.subject,
        description=prose.description(tracker_id, plan.subject, rng),
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
    age = (now - issue.created_on).days
    finished = issue.project_id == OLD_SHOP or rng.chance(min(20 + age, 82))
    done_by = issue.created_on + timedelta(hours=rng.randint(5, 24 * max(age, 2)))
    if issue.parent_id is None and finished and done_by < now and not _is_epic(issue):
        issue.status_id = rng.one((CLOSED, REJECTED), (88, 12))
        issue.closed_on = issue.updated_on = done_by
    elif issue.assigned_to_id is not None and age > 0:
        issue.status_id = rng.one((NEW, IN_PROGRESS, FEEDBACK, RESOLVED), (30, 40, 15, 15))
        issue.updated_on = min(done_by, now - timedelta(minutes=rng.randint(5, 3000)))
        issue.updated_on = max(issue.updated_on, issue.created_on)
    most = _MAX_DONE[issue.status_id]
    issue.done_ratio = 100 if issue.status_id == CLOSED else rng.randint(0, most // 10) * 10
    watchers = [m.user_id for m in data.memberships.values() if m.project_id == issue.project_id]
    issue.watcher_ids = set(rng.sample(watchers, rng.randint(0, 2)))


def _is_epic(issue: Issue) -> bool:
    return any(issue.subject == epic.subject for epic in HARBOR.epics)


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
    values: dict[int, str | list[str] | None] = {
        SEVERITY: rng.one(SEVERITIES, (15, 40, 35, 10)),
        CUSTOMER: f"K-{rng.randint(10_000, 99_999)}" if rng.chance(40) else "",
        BROWSERS: sorted(rng.sample(BROWSER_NAMES, rng.randint(0, 2))),
    }
    issue.custom = {f.id: values[f.id] for f in data.fields(issue.project_id, issue.tracker_id)}
