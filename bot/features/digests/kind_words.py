"""How each kind of digest is worded."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime

from bot.features.digests import kinds
from bot.features.digests.kinds import SOON_DAYS, Section
from bot.features.digests.plans import DigestSettings
from bot.features.issues.views import due, priority_and_assignee
from bot.service.models import Issue
from bot.slack.text import bold, line, moment
from bot.store.digest_plans import FilterKind, Kind, Plan
from bot.store.digests import Digest

NOUNS: dict[Kind, str] = {
    "new": "new issues",
    "due": "overdue and upcoming issues",
    "stale": "stale issues",
    "closed": "closed issues",
    "personal": "issues",
}
LABELS: dict[FilterKind, str] = {
    "tracker": "Tracker",
    "priority": "Priority",
    "category": "Category",
    "author": "Author",
    "to": "Assignee",
    "version": "Target version",
}
SECTIONS: dict[Section, str] = {
    "overdue": "Overdue",
    "today": "Due today",
    "assigned": "Newly assigned",
    "changed": "Changed",
}


def noun(plan: Plan | DigestSettings, count: int | None = None) -> str:
    """`new issues`, or with their number: `1 new issue`, `no new issues`."""
    several = NOUNS[plan.kind]
    if count is None:
        return several
    several = several.replace(" and ", " or ")
    return f"1 {several.removesuffix('s')}" if count == 1 else f"{count or 'no'} {several}"


def explained(plan: Plan) -> str:
    """Which issues a digest lists; empty for new ones."""
    match plan.kind:
        case "due":
            return f"overdue or due within {SOON_DAYS} days"
        case "stale":
            return f"not updated for {days(plan.stale_days)}"
        case "closed":
            return "closed issues"
    return ""


def headline(digest: Digest, issues: Sequence[Issue], now: datetime) -> str:
    """What a digest's message is about: `5 new issues`."""
    plan, count = digest.plan, len(issues)
    match plan.kind:
        case "new":
            return noun(plan, count) if count else "nothing new"
        case "closed":
            return f"{_issues(count)} closed" if count else "nothing closed"
        case "stale":
            return f"{_issues(count)} {explained(plan)}" if count else "nothing stale"
        case "due":
            day = kinds.today(plan, now)
            overdue = sum(issue.due_date is not None and issue.due_date < day for issue in issues)
            soon = f"due within {SOON_DAYS} days"
            first = f"{_issues(overdue)} overdue" if overdue else ""
            second = (str(count - overdue) if overdue else _issues(count)) + f" {soon}"
            return ", ".join([first] * bool(overdue) + [second] * (count > overdue)) or f"nothing {soon}"
    found = Counter(kinds.section(digest, issue, now) for issue in issues)
    return ", ".join(f"{found[one]} {said.lower()}" for one, said in SECTIONS.items() if found[one])


def facts(kind: Kind, issue: Issue, day: date) -> str:
    """What a row says about an issue, in mrkdwn."""
    closed = "closed" if issue.status and issue.status.is_closed else ""
    match kind:
        case "due":
            more = [due(issue, day)]
        case "stale":
            more = [f"last updated {moment(issue.updated_on)}" if issue.updated_on else ""]
        case "closed":
            more = [f"closed {moment(issue.closed_on)}" if issue.closed_on else ""]
        case _:
            by = f" by {line(issue.author.name)}" if issue.author and issue.author.name else ""
            at = f" {moment(issue.created_on)}" if issue.created_on else ""
            more = [f"opened{by}{at}" if by or at else "", closed]
    return " · ".join(filter(None, (priority_and_assignee(issue), *more)))


def nothing(digest: Digest) -> str:
    """Why *Send now* posted nothing, in mrkdwn."""
    project, since = bold(digest.plan.project), moment(digest.period_from)
    match digest.plan.kind:
        case "due":
            return f"Nothing in {project} is {explained(digest.plan)}, so I didn't post."
        case "stale":
            before = days(digest.plan.stale_days)
            return f"Every open issue in {project} was updated in the last {before}, so I didn't post."
        case "closed":
            return f"Nothing was closed in {project} since {since}, so I didn't post."
        case "personal":
            return f"None of your issues is due, and none changed since {since}. There's nothing to send."
    return f"Nothing new in {project} since {since}, so I didn't post."


def resumed(kind: Kind) -> str:
    """What the next post of a resumed digest includes, if it depends on the pause."""
    match kind:
        case "new":
            return "Its next post includes issues opened while it was paused."
        case "closed":
            return "Its next post includes issues closed while it was paused."
        case "personal":
            return "Your next one includes what changed while it was paused."
    return ""


def days(count: int) -> str:
    return f"{count} day{'' if count == 1 else 's'}"


def _issues(count: int) -> str:
    return f"{count} issue{'' if count == 1 else 's'}"
