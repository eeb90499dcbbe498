"""Helpers for tests of followed issues: an office whose followed issues are read only when a test says so."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue, Note
from bot.sandbox.tracker.server import Tracker
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON

_seconds = count(10)


def changes(usually: int) -> int:
    """Returns how many changes a test of killed processes makes."""
    return int(os.environ.get("ISSUEBOT_KILLED_CHANGES", usually))


def open_issues(tracker: Tracker, count: int) -> list[Issue]:
    """Returns open issues that everyone can see."""
    public = (i for i in tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    return [issue for issue in public if issue.status_id == defaults.NEW][:count]


def close_or_reopen(issue: Issue, subject: str, at: datetime) -> None:
    """Changes the issue's status, and renames it."""
    issue.status_id = defaults.NEW if issue.status_id == defaults.CLOSED else defaults.CLOSED
    issue.subject, issue.updated_on = subject, at.replace(microsecond=0)


def assert_each_line_once(closed: Sequence[bool], issue: Issue) -> None:
    """Each line says the opposite of the one before: none is repeated, and none is missing in between."""
    assert list(closed) == [n % 2 == 0 for n in range(len(closed))]
    assert len(closed) % 2 == (issue.status_id == defaults.CLOSED)


async def read_followed(office: Office) -> None:
    """Reads all followed issues, as the job does every minute."""
    await office.bot.following.run_due()
    await office.bot.following.idle()


def change(issue: Issue, *, comment_by: int | None = None, **values: Any) -> None:
    """Changes an issue in the tracker; each change has a time of its own."""
    moment = (
        datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5) + timedelta(seconds=next(_seconds))
    )
    for name, value in values.items():
        setattr(issue, name, value)
    if comment_by:
        issue.notes = [*issue.notes, Note(comment_by, "Looking into it", moment)]
    issue.updated_on = moment


async def create_from_message(person: Person, subject: str) -> JSON:
    """Creates an issue from a message in #webshop; returns the announcement in its thread."""
    person.channel = "webshop"
    asked = await person.say(f"Please fix: {subject}")
    await person.shortcut("issue_from_message", asked)
    form = await person.form("New issue")
    return await person.after(person.submit(form, {"Subject": subject, "Project": "Web Shop"}))


async def in_thread(person: Person, message: JSON) -> list[JSON]:
    """Returns what the person sees in the message's thread, without the message that started it."""
    return [
        m for m in await person.messages() if m["thread_ts"] == message["thread_ts"] and not m["ephemeral"]
    ]
