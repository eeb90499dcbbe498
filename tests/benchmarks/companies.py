"""Data of made-up companies where everyone is in every project."""

from datetime import datetime

from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Data, Issue, Project, User, free_id, put


def company(users: int, projects: int) -> Data:
    """Returns users with the keys `key-1` and so on, and projects `p1` and so on."""
    data = defaults.fresh()
    for number in range(1, users + 1):
        mail = f"u{number}@x.example"
        put(data.users, User(number, f"u{number}", "User", str(number), mail, f"key-{number}"))
    for number in range(1, projects + 1):
        project = Project(number, f"Project {number}", f"p{number}", tracker_ids=(defaults.BUG,))
        put(data.projects, project)
        for user in data.users.values():
            data.join(project, user, defaults.DEVELOPER)
    return data


def reported(data: Data, author: int, project: int, subject: str, at: datetime) -> Issue:
    """Adds an open bug."""
    number = free_id(data.issues)
    issue = Issue(number, project, defaults.BUG, defaults.NEW, defaults.NORMAL, author, subject)
    issue.created_on = issue.updated_on = at
    return put(data.issues, issue)
