"""The data of a new installation."""

from bot.sandbox.tracker.data import Data, Named, Priority, Role, Status

BUG, FEATURE, SUPPORT, TASK = 1, 2, 3, 4
NEW, IN_PROGRESS, RESOLVED, FEEDBACK, CLOSED, REJECTED = 1, 2, 3, 4, 5, 6
LOW, NORMAL, HIGH, URGENT, IMMEDIATE = 1, 2, 3, 4, 5
DESIGN, DEVELOPMENT, TESTING, SUPPORTING = 1, 2, 3, 4
MANAGER, DEVELOPER, REPORTER = 1, 2, 3

_READ = {"view_issues", "view_time_entries"}
_REPORT = _READ | {"add_issues", "add_watchers", "log_time", "edit_own_time_entries"}
_DEVELOP = _REPORT | {
    *("edit_issues", "add_notes", "manage_subtasks", "set_own_issues_private"),
    *("view_private_notes", "set_notes_private"),
}
_MANAGE = _DEVELOP | {
    *("view_private_issues", "set_issues_private", "log_time_for_others", "edit_time_entries"),
    *("add_project", "add_subprojects"),
}


def fresh() -> Data:
    """Return trackers, statuses, priorities, activities and roles; no users or projects."""
    data = Data()
    trackers = {BUG: "Bug", FEATURE: "Feature", SUPPORT: "Support", TASK: "Task"}
    data.trackers = {n: Named(n, name) for n, name in trackers.items()}
    activities = {DESIGN: "Design", DEVELOPMENT: "Development", TESTING: "Testing", SUPPORTING: "Support"}
    data.activities = {n: Named(n, name) for n, name in activities.items()}
    data.statuses = {
        NEW: Status(NEW, "New"),
        IN_PROGRESS: Status(IN_PROGRESS, "In progress"),
        RESOLVED: Status(RESOLVED, "Resolved"),
        FEEDBACK: Status(FEEDBACK, "Feedback"),
        CLOSED: Status(CLOSED, "Closed", is_closed=True),
        REJECTED: Status(REJECTED, "Rejected", is_closed=True),
    }
    priorities = {LOW: "Low", NORMAL: "Normal", HIGH: "High", URGENT: "Urgent", IMMEDIATE: "Immediate"}
    data.priorities = {n: Priority(n, name, is_default=n == NORMAL) for n, name in priorities.items()}
    first, more = frozenset((NEW,)), frozenset((NEW, IN_PROGRESS))
    unfinished = (NEW, IN_PROGRESS, RESOLVED, FEEDBACK)
    develop = dict.fromkeys(unfinished, frozenset((IN_PROGRESS, RESOLVED, FEEDBACK, CLOSED)))
    report = dict.fromkeys(unfinished, frozenset((CLOSED,))) | {RESOLVED: frozenset((CLOSED, FEEDBACK))}
    data.roles = {
        MANAGER: Role(MANAGER, "Manager", frozenset(_MANAGE), more),
        DEVELOPER: Role(DEVELOPER, "Developer", frozenset(_DEVELOP), more, develop),
        REPORTER: Role(REPORTER, "Reporter", frozenset(_REPORT), first, report),
    }
    data.non_member = Role(4, "Non member", frozenset({"view_issues", "add_issues"}), first, {})
    data.anonymous = Role(5, "Anonymous", frozenset({"view_issues"}), first, {})
    return data
