"""What others did to a user's issue, from its history."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from bot.features.issues.changes import ASSIGNEE, TOLD, Names
from bot.features.issues.fields import Field
from bot.service.models import Change, Issue, Journal, Ref
from bot.store.notices import Topic


@dataclass(frozen=True)
class Assignment:
    """An assignment to the person who has the issue; `key` identifies it, `by` is the person who assigned it,
    if the service says.
    """

    key: str
    at: datetime | None
    by: Ref | None


@dataclass(frozen=True)
class NewsEntry:
    """An entry of the history: the changes to report, and whether to include its comment."""

    entry: Journal
    changes: tuple[Change, ...] = ()
    comment: bool = False


@dataclass(frozen=True)
class News:
    """The news of an issue: its latest assignment if it is new, and others' other actions, in order."""

    assignment: Assignment | None = None
    acts: tuple[NewsEntry, ...] = ()

    @cached_property
    def keys(self) -> Sequence[str]:
        """What identifies each part in the issue."""
        assigned = [self.assignment.key] if self.assignment else []
        return [*assigned, *(str(act.entry.id) for act in self.acts)]

    def without(self, told: Collection[str]) -> "News":
        new = self.assignment if self.assignment and self.assignment.key not in told else None
        return News(new, tuple(act for act in self.acts if str(act.entry.id) not in told))


@dataclass(frozen=True)
class IssueNews:
    """An issue as the user `me` of the service sees it, its news, and the names of values."""

    issue: Issue
    news: News
    me: int
    names: Names


def assignment_of(issue: Issue) -> Assignment | None:
    """The latest assignment in an issue's history, or its creation; None if the history isn't known."""
    for entry in reversed(issue.journals):
        if _change(entry, ASSIGNEE):
            return Assignment(str(entry.id), entry.created_on, entry.user)
    unchanged = issue.created_on is not None and issue.created_on == issue.updated_on
    if unchanged or "journals" in issue.model_fields_set:
        return Assignment("created", issue.created_on, issue.author)
    return None


def news_of(issue: Issue, me: int, since: Mapping[Topic, datetime]) -> News:
    """Return others' actions since then, for each topic that is on, while the issue was assigned to the user
    `me` or reported by them.
    """
    acts, assignee = [], str(issue.assigned_to.id) if issue.assigned_to else ""
    reported = issue.author is not None and issue.author.id == me
    assignment = assignment_of(issue) if assignee == str(me) else None
    if assignment and not _is_new(assignment.at, assignment.by, me, since.get(Topic.ASSIGNED)):
        assignment = None
    for entry in reversed(issue.journals):
        change, after = _change(entry, ASSIGNEE), assignee
        assignee = change.old_value if change else assignee
        if not (reported or str(me) in (assignee, after)):
            continue
        is_assignment = assignment is not None and assignment.key == str(entry.id)
        changes = [
            one
            for one in entry.details
            if one.property == "attr" and one.name in TOLD and not (is_assignment and one is change)
        ]
        changed = changes and _is_new(entry.created_on, entry.user, me, since.get(Topic.CHANGES))
        comment = entry.notes.strip() and _is_new(entry.created_on, entry.user, me, since.get(Topic.COMMENTS))
        if changed or comment:
            acts.append(NewsEntry(entry, tuple(changes) if changed else (), bool(comment)))
    return News(assignment, tuple(reversed(acts)))


def _change(entry: Journal, field: Field) -> Change | None:
    return next((one for one in entry.details if (one.property, one.name) == ("attr", field.sent)), None)


def _is_new(at: datetime | None, by: Ref | None, me: int, since: datetime | None) -> bool:
    if at is None or by is None or since is None:
        return False
    return by.id != me and at >= since.replace(microsecond=0)
