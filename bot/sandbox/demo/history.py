"""Half a year of issues: who reported what, who took it, and how far it came."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.sandbox.demo import prose
from bot.sandbox.demo.company import (
    BROWSER_NAMES,
    BROWSERS,
    CUSTOMER,
    INFRASTRUCTURE,
    MOBILE,
    OLD_SHOP,
    SECURITY,
    SEVERITIES,
    SEVERITY,
    WEBSHOP,
)
from bot.sandbox.demo.randomness import Dice
from bot.sandbox.demo.showpieces import add_showpiece
from bot.sandbox.demo.subjects import CIRCUMSTANCES, EPICS, SUBJECTS
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

AMOUNTS = {WEBSHOP: 150, MOBILE: 80, INFRASTRUCTURE: 55, SECURITY: 18, OLD_SHOP: 24}
DAYS = 185
LATELY = 4
_SUPPORT_TEAM = 20
Topic = tuple[str, int, str]
"""Category, tracker and subject of an issue."""
_MOST_DONE = {NEW: 0, IN_PROGRESS: 70, FEEDBACK: 90, RESOLVED: 100, CLOSED: 100, REJECTED: 30}


@dataclass(frozen=True)
class Plan:
    """What is to be reported when and where; `children` are the subjects of its tasks, and of theirs."""

    created: datetime
    project_id: int
    category: str
    tracker_id: int
    subject: str
    children: tuple[tuple[str, tuple[str, ...]], ...] = ()


def add_history(data: Data, now: datetime, dice: Dice) -> None:
    """Issues in the order in which they were reported, so that numbers rise with time."""
    plans = [plan for project_id in AMOUNTS for plan in _project_plans(project_id, now, dice)]
    for project_id, category, subject, children in EPICS:
        created = dice.office_time((now - timedelta(days=70)).date(), (now - timedelta(days=40)).date())
        plans.append(Plan(created, project_id, category, FEATURE, subject, children))
    for plan in sorted(plans, key=lambda p: p.created):
        add_showpiece(data, free_id(data.issues), plan.created, now)
        _add(data, plan, now, dice)


def _project_plans(project_id: int, now: datetime, dice: Dice) -> Iterator[Plan]:
    first = (now - timedelta(days=DAYS + 120 if project_id == OLD_SHOP else DAYS)).date()
    last = (now - timedelta(days=DAYS - 40 if project_id == OLD_SHOP else 0)).date()
    for number, (category, tracker_id, subject) in enumerate(_subjects(project_id, dice)):
        created = dice.office_time(first, last)
        if created > now or (number < LATELY and project_id != OLD_SHOP):
            created = now - timedelta(minutes=dice.randint(20, 60 * 50))
        yield Plan(created, project_id, category, tracker_id, subject)


def stock(project_id: int) -> tuple[list[Topic], list[Topic]]:
    """What there is to report in a project: the plain subjects, and bugs under circumstances."""
    plain = [
        (category, tracker_id, subject)
        for category, by_tracker in SUBJECTS[project_id].items()
        for tracker_id, subjects in by_tracker.items()
        for subject in subjects
    ]
    more = [(c, t, f"{s} {where}") for c, t, s in plain if t == BUG for where in CIRCUMSTANCES[project_id]]
    return plain, more


def _subjects(project_id: int, dice: Dice) -> list[Topic]:
    """As many different subjects as the project has issues: each once, then bugs under circumstances."""
    plain, more = stock(project_id)
    amount = AMOUNTS[project_id]
    found = plain[:amount] + dice.sample(more, min(max(amount - len(plain), 0), len(more)))
    dice.shuffle(found)
    return found


def _add(data: Data, plan: Plan, now: datetime, dice: Dice) -> None:
    top = report(data, plan, now, dice)
    for subject, below in plan.children:
        created = min(plan.created + timedelta(hours=dice.randint(1, 30)), now)
        child = report(data, Plan(created, plan.project_id, plan.category, TASK, subject), now, dice, top)
        for deeper in below:
            report(data, Plan(created, plan.project_id, plan.category, TASK, deeper), now, dice, child)


def report(data: Data, plan: Plan, now: datetime, dice: Dice, parent: Issue | None = None) -> Issue:
    """Put the plan's issue into the data, as far along as it can have come by now."""
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
        priority_id=dice.one(range(LOW, IMMEDIATE + 1), (15, 55, 20, 8, 2)),
        author_id=dice.one(members),
        subject=plan.subject,
        description=prose.description(tracker_id, plan.subject, dice),
        category_id=category.id if parent or dice.chance(85) else None,
        parent_id=parent.id if parent else None,
        is_private=plan.project_id != SECURITY and dice.chance(4),
        created_on=plan.created,
        updated_on=plan.created,
    )
    if dice.chance(82):
        issue.assigned_to_id = dice.one(workers)
    elif plan.project_id == WEBSHOP and tracker_id == SUPPORT:
        issue.assigned_to_id = _SUPPORT_TEAM
    _progress(data, issue, now, dice)
    _plan_dates(data, issue, now, dice)
    _custom(data, issue, dice)
    return put(data.issues, issue)


def _progress(data: Data, issue: Issue, now: datetime, dice: Dice) -> None:
    age = (now - issue.created_on).days
    finished = issue.project_id == OLD_SHOP or dice.chance(min(20 + age, 82))
    done_by = issue.created_on + timedelta(hours=dice.randint(5, 24 * max(age, 2)))
    if issue.parent_id is None and finished and done_by < now and not _is_epic(issue):
        issue.status_id = dice.one((CLOSED, REJECTED), (88, 12))
        issue.closed_on = issue.updated_on = done_by
    elif issue.assigned_to_id is not None and age > 0:
        issue.status_id = dice.one((NEW, IN_PROGRESS, FEEDBACK, RESOLVED), (30, 40, 15, 15))
        issue.updated_on = min(done_by, now - timedelta(minutes=dice.randint(5, 3000)))
        issue.updated_on = max(issue.updated_on, issue.created_on)
    most = _MOST_DONE[issue.status_id]
    issue.done_ratio = 100 if issue.status_id == CLOSED else dice.randint(0, most // 10) * 10
    watchers = [m.user_id for m in data.memberships.values() if m.project_id == issue.project_id]
    issue.watcher_ids = set(dice.sample(watchers, dice.randint(0, 2)))


def _is_epic(issue: Issue) -> bool:
    return any(issue.subject == subject for _, _, subject, _ in EPICS)


def _plan_dates(data: Data, issue: Issue, now: datetime, dice: Dice) -> None:
    issue.start_date = issue.created_on.date() if dice.chance(80) else None
    if dice.chance(45):
        issue.due_date = (issue.closed_on or now).date() + timedelta(days=dice.randint(-6, 40))
        if issue.start_date and issue.due_date < issue.start_date:
            issue.due_date = issue.start_date + timedelta(days=3)
    if dice.chance(55):
        issue.estimated_hours = dice.one((0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0))
    reference = (issue.closed_on or now).date()
    versions = [v for v in data.versions.values() if v.project_id == issue.project_id and v.due]
    coming = [v for v in versions if v.due and v.due >= reference]
    if coming and dice.chance(60):
        issue.version_id = dice.one(coming[:2]).id


def _custom(data: Data, issue: Issue, dice: Dice) -> None:
    values: dict[int, str | list[str] | None] = {
        SEVERITY: dice.one(SEVERITIES, (15, 40, 35, 10)),
        CUSTOMER: f"K-{dice.randint(10_000, 99_999)}" if dice.chance(40) else "",
        BROWSERS: sorted(dice.sample(BROWSER_NAMES, dice.randint(0, 2))),
    }
    issue.custom = {f.id: values[f.id] for f in data.fields(issue.project_id, issue.tracker_id)}
