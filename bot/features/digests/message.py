"""A digest's message: its issues, grouped, oldest first; and the wording of each kind of digest.

As many issues as fit get a row with a menu, and a button leads to the service's list for the rest. A posted
digest doesn't change: it shows the issues at its time.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from bot.features.digests import plans
from bot.features.digests.plans import SOON_DAYS, Section
from bot.features.digests.reading import Content, ReportedChanges
from bot.features.issues.views import change_text, due, listed, name_of, post_menu, priority_and_assignee
from bot.service.conventions import issues_url
from bot.service.filters import TimeRange
from bot.service.models import Issue, Ref
from bot.slack.outgoing.posting import delete_menu
from bot.slack.surfaces.blocks import (
    FALLBACK_LENGTH,
    Block,
    Message,
    context,
    header,
    link_button,
    section,
    shortened,
    text_length,
)
from bot.slack.text.mrkdwn import bold, cut, line, link, moment
from bot.slack.text.wording import Wording
from bot.slack_limits import SECTION_LENGTH
from bot.spelling import counted
from bot.store.digests import Digest
from bot.store.plans import DigestKind, Group, Plan

NAME_LENGTH, ROW_SUBJECT_LENGTH, FACTS_LENGTH = 80, 150, 300
MAX_ROWS = 40  # the most blocks for group names and rows
ROWS_LENGTH = 11_000  # the most characters for them
BLOCK_WEIGHT = 100  # what a block counts in addition to its text (see `slack_limits.MESSAGE_LENGTH`)
LATE_AFTER = timedelta(minutes=15)  # how late a digest has to be to say so
BARS = "▁▂▃▄▅▆▇█"
UNITS = {"daily": "day", "hourly": "hour", "weekly": "week"}

ORDER: dict[Group, Callable[[Ref], tuple[str, int]]] = {
    "tracker": lambda ref: ("", ref.id),
    "priority": lambda ref: ("", -ref.id),
    "category": lambda ref: (ref.name.casefold(), ref.id),
    "assignee": lambda ref: (ref.name.casefold(), ref.id),
}
NOUNS: dict[DigestKind, str] = {
    "new": "new issues",
    "due": "overdue and upcoming issues",
    "stale": "stale issues",
    "closed": "closed issues",
    "changed": "changed issues",
    "personal": "issues",
}
RESUMED: Mapping[DigestKind, str] = {
    "new": "Its next post includes issues opened while it was paused.",
    "closed": "Its next post includes issues closed while it was paused.",
    "changed": "Its next post includes what changed while it was paused.",
    "personal": "Your next one includes what changed while it was paused.",
}
"""What the next post of a resumed digest includes, if that depends on the pause."""
SECTIONS: dict[Section, str] = {
    "overdue": "Overdue",
    "today": "Due today",
    "assigned": "Newly assigned",
    "changed": "Changed",
}


@dataclass(frozen=True, kw_only=True)
class Edition:
    """A digest at `now`, with the issues of the `content`.

    `missed` is how many due times before `due_at` it covers as well. `periods` has the number of issues in
    each of the last periods, the current one last; it is empty if they can't be compared. `asked` is true if
    a user requested it between two due times.
    """

    digest: Digest
    content: Content
    due_at: datetime
    now: datetime
    missed: int = 0
    periods: tuple[int, ...] = ()
    asked: bool = False

    def count(self, issues: int) -> str:
        return f"{issues}+" if self.content.more else str(issues)


Part = tuple[str, Sequence[Issue]]
"""The issues of one group, or the rest of them, with the group's name as mrkdwn."""


def message(edition: Edition, wording: Wording) -> Message:
    digest, catch_up = edition.digest, _catch_up(edition)
    content = edition.content
    empty, news = content.too_large, summary(digest, content.issues, edition.now)
    if empty:
        news = "too many issues to check"
    elif content.more:
        news = f"at least {news}"
    headline = f"{shortened(digest.plan.project, NAME_LENGTH)}: {news}"

    once = digest.plan.kind in plans.HAPPENED or digest.personal
    as_of = f"{'as' if once else 'As'} of {moment(edition.now)}"
    period = [f"Since {_start(digest)}", as_of] if once else [as_of]
    delete = delete_menu(digest.owner, digest.owner_name.partition(" ")[0], wording.service)
    about = cut(" · ".join([*period, *narrowed(digest.plan), *_compared(edition)]), SECTION_LENGTH)

    blocks: list[Block] = [header(headline), section(about, delete)]
    if catch_up:
        blocks.append(section(catch_up))
    blocks += [section(unread(digest.plan, wording))] if empty else _body(edition, wording)
    blocks.append(context(_footer(digest, wording)))
    return Message(_plain_text(line(headline), edition), tuple(blocks))


def unread(plan: Plan, wording: Wording) -> str:
    """Why a digest lists nothing although there may be something, in mrkdwn."""
    what = f"saved query {plan.query} in {line(wording.service)}" if plan.query else "the digest's filters"
    return f"There are more issues than I can check, and none of those I checked match. Narrow {what}."


def _start(digest: Digest) -> str:
    """When its period began, in mrkdwn."""
    if digest.period_from > digest.created_at:
        return moment(digest.period_from)
    return "you set up this digest" if digest.personal else "this digest was set up"


def _compared(edition: Edition) -> list[str]:
    """How many issues were opened, or closed, in the last periods, in words and as a chart."""
    if edition.asked or len(edition.periods) < 2:  # noqa: PLR2004 - two can be compared
        return []
    *_, before, now = edition.periods
    more = now - before
    comparison = "same as last time"
    if more:
        comparison = f"{abs(more)} {'more' if more > 0 else 'fewer'} than last time"

    kind, *rest = edition.digest.plan.schedule.split()
    several = any("," in word for word in rest)
    unit = "period" if several else UNITS.get(kind, "period")
    chart = f"{edition.digest.plan.kind} per {unit}: {_chart(edition.periods)}"
    # A message that doesn't cover exactly its period, such as a first one, can't be compared.
    return [comparison, chart] if now == len(edition.content.issues) else [chart]


def _chart(counts: Sequence[int]) -> str:
    """One bar for each count; only 0 gets the lowest."""
    highest = max(*counts, 1)
    return "".join(BARS[math.ceil(count * (len(BARS) - 1) / highest)] for count in counts)


def _catch_up(edition: Edition) -> str:
    """Whether this digest is late or covers missed ones, in mrkdwn; empty for one on time."""
    digest, missed = edition.digest, edition.missed
    if digest.plan.live:
        return ""
    is_late = edition.now - edition.due_at >= LATE_AFTER
    late = f"This digest was due {moment(edition.due_at)}." if is_late else ""
    past = missed and (digest.plan.kind in plans.HAPPENED or digest.personal)
    several = f"It includes {counted(missed, 'missed digest')}." if past else ""
    return " ".join(filter(None, (late, several)))


def _body(edition: Edition, wording: Wording) -> list[Block]:
    """The rows that fit, and a button for all issues if some don't."""
    rows, rest = _rows(edition, wording)
    if not rest:
        return rows
    whole_list = link_button(f"Open list in {wording.service}", _list_url(edition, wording))
    return [*rows, section(f"and {edition.count(rest)} more", whole_list)]


def _parts(edition: Edition) -> list[Part]:
    digest, by = edition.digest, edition.digest.plan.group
    if digest.personal:
        of = [(issue, plans.section(digest, issue, edition.now)) for issue in edition.content.issues]
        parts = [(f"*{name}*", [issue for issue, its in of if its == one]) for one, name in SECTIONS.items()]
        return [(name, issues) for name, issues in parts if issues]
    refs: dict[int, Ref] = {}
    rows_by_id: dict[int | None, list[Issue]] = defaultdict(list)
    for issue in edition.content.issues:
        ref: Ref | None = getattr(issue, plans.FILTERS["to" if by == "assignee" else by].field)
        rows_by_id[ref.id if ref else None].append(issue)
        if ref:
            refs.setdefault(ref.id, ref)
    named: list[Part] = [
        (bold(shortened(ref.name, NAME_LENGTH)) or f"*{ref.id}*", rows_by_id[ref.id])
        for ref in sorted(refs.values(), key=ORDER[by])
    ]
    without = "Unassigned" if by == "assignee" else f"No {by}"
    return [*named, (f"*{without}*", rows_by_id[None])] if None in rows_by_id else named


def _rows(edition: Edition, wording: Wording) -> tuple[list[Block], int]:
    """The groups' rows as far as they fit, and how many issues have none."""
    blocks: list[Block] = []
    day = plans.today(edition.digest.plan, edition.now)
    room, rest = ROWS_LENGTH, len(edition.content.issues)
    for name, issues in _parts(edition):
        heading = [section(f"{name} · {edition.count(len(issues))}")]
        for issue in issues:
            new = [*heading, _row(edition, issue, wording, day)]
            room -= sum(BLOCK_WEIGHT + text_length(block) for block in new)
            if room < 0 or len(blocks) + len(new) > MAX_ROWS:
                return blocks, rest
            blocks += new
            heading = []
            rest -= 1
    return blocks, rest


def _row(edition: Edition, issue: Issue, wording: Wording, day: date) -> Block:
    plan = edition.digest.plan
    if plan.kind == "personal":
        return listed(issue, wording, day, me=edition.content.me)
    text = row_text(plan, issue, wording, day, edition.content.changes.get(issue.id))
    return section(text, post_menu(issue.id, wording))


def row_text(
    plan: Plan, issue: Issue, wording: Wording, day: date, changed: ReportedChanges | None = None
) -> str:
    name = link(wording.url(issue.id), f"#{issue.id} {shortened(issue.subject, ROW_SUBJECT_LENGTH)}")
    below = issue.project if issue.project and issue.project.id != plan.project_id else None
    details = [name_of(below), facts(plan.kind, issue, day)]
    if changed and changed.changes:
        details = [name_of(below), *(change_text(one, changed.names) for one in changed.changes)]
    details = list(filter(None, details))
    return f"*{name}*\n{cut(' · '.join(details), FACTS_LENGTH)}"


def _list_url(edition: Edition, wording: Wording) -> str:
    """The service's own list of these issues, filtered by when they were opened or closed."""
    plan = edition.digest.plan
    moments = [
        at.replace(microsecond=0) for i in edition.content.issues if (at := plans.happened(plan.kind, i))
    ]
    times = TimeRange(min(moments), max(moments) + timedelta(seconds=1)) if moments else None
    return issues_url(wording.base_url, plans.list_params(plan, edition.now, times))


def _footer(digest: Digest, wording: Wording) -> str:
    if digest.personal:
        return f"Only you can see this · `{wording.command('digest')} me` to manage"
    who = line(shortened(digest.owner_name, NAME_LENGTH))
    return (
        f"Shows what {who} can see, except private issues · Digest {digest.id} · "
        f"`{wording.command('digest')}` to manage"
    )


def _plain_text(opening: str, edition: Edition) -> str:
    """The message as text for notifications and screen readers, with as many issues as fit."""
    text = opening
    for place, issue in enumerate(edition.content.issues):
        new = f"\n#{issue.id} {line(shortened(issue.subject, ROW_SUBJECT_LENGTH))}"
        rest = f"\nand {edition.count(len(edition.content.issues) - place)} more"
        if len(text) + len(new) + len(rest) > FALLBACK_LENGTH:
            return text + rest
        text += new
    return text


def noun(plan: Plan, count: int | None = None) -> str:
    """`new issues`, or with their number: `1 new issue`, `no new issues`."""
    several = NOUNS[plan.kind]
    if count is None:
        return several
    several = several.replace(" and ", " or ")
    return f"1 {several.removesuffix('s')}" if count == 1 else f"{count or 'no'} {several}"


def narrowed(plan: Plan) -> list[str]:
    """The custom fields and the saved query that limit a digest, in mrkdwn."""
    fields = [line(f"{one.name}: {one.value}") for one in plan.custom_fields]
    return [*fields, f"saved query {plan.query}"] if plan.query else fields


def explained(plan: Plan) -> str:
    """Which issues a digest lists; empty for new ones."""
    match plan.kind:
        case "due":
            return f"overdue or due within {SOON_DAYS} days"
        case "stale":
            return f"not updated for {counted(plan.stale_days, 'day')}"
        case "closed":
            return "closed issues"
        case "changed":
            return "whose status or assignee changed"
    return ""


def summary(digest: Digest, issues: Sequence[Issue], now: datetime) -> str:
    """The subject of a digest's message: `5 new issues`."""
    plan, count = digest.plan, len(issues)
    match plan.kind:
        case "new":
            return noun(plan, count) if count else "nothing new"
        case "closed":
            return f"{counted(count, 'issue')} closed" if count else "nothing closed"
        case "changed":
            return f"{counted(count, 'issue')} changed" if count else "nothing changed"
        case "stale":
            return f"{counted(count, 'issue')} {explained(plan)}" if count else "nothing stale"
        case "due":
            day = plans.today(plan, now)
            overdue = sum(issue.due_date is not None and issue.due_date < day for issue in issues)
            soon = f"due within {SOON_DAYS} days"
            first = f"{counted(overdue, 'issue')} overdue" if overdue else ""
            second = (str(count - overdue) if overdue else counted(count, "issue")) + f" {soon}"
            return ", ".join([first] * bool(overdue) + [second] * (count > overdue)) or f"nothing {soon}"
    counts = Counter(plans.section(digest, issue, now) for issue in issues)
    return ", ".join(f"{counts[one]} {name.lower()}" for one, name in SECTIONS.items() if counts[one])


def facts(kind: DigestKind, issue: Issue, day: date) -> str:
    """What a row says about an issue, in mrkdwn."""
    match kind:
        case "due":
            more = [due(issue, day)]
        case "stale":
            more = [f"last updated {moment(issue.updated_on)}" if issue.updated_on else ""]
        case "closed":
            more = [f"closed {moment(issue.closed_on)}" if issue.closed_on else ""]
        case "changed":
            more = [name_of(issue.status)]
        case _:
            by = f" by {line(issue.author.name)}" if issue.author and issue.author.name else ""
            at = f" {moment(issue.created_on)}" if issue.created_on else ""
            closed = "closed" if issue.status and issue.status.is_closed else ""
            more = [f"opened{by}{at}" if by or at else "", closed]
    return " · ".join(filter(None, (priority_and_assignee(issue), *more)))


def nothing(digest: Digest) -> str:
    """Why *Send now* posted nothing, in mrkdwn."""
    project, since = bold(digest.plan.project), _start(digest)
    match digest.plan.kind:
        case "due":
            return f"Nothing in {project} is {explained(digest.plan)}, so I didn't post."
        case "stale":
            before = counted(digest.plan.stale_days, "day")
            return f"Every open issue in {project} was updated in the last {before}, so I didn't post."
        case "closed":
            return f"Nothing has been closed in {project} since {since}, so I didn't post."
        case "changed":
            return f"No status or assignee has changed in {project} since {since}, so I didn't post."
        case "personal":
            return (
                f"None of your issues are due, and none have changed since {since}. There's nothing to send."
            )
    return f"Nothing new in {project} since {since}, so I didn't post."
