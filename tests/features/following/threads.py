"""Helpers for tests of followed issues: an office whose followed issues are read only when a test says so."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from bot.sandbox.tracker.data import Detail, Issue, Note
from bot.sandbox.tracker.server import Tracker
from bot.store.followed import Followed
from bot.store.store import Store
from tests.support.digesting import ANA
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON
from tests.support.work import run_due_after

_seconds = count(10)


async def read_followed(office: Office) -> None:
    """Reads all followed issues, as the job does every minute."""
    await run_due_after(office, timedelta(seconds=office.bot.parts.timings.follow_every))


async def read_twice(office: Office) -> None:
    """Reads all followed issues; those that have just changed are read again, as after any change."""
    for _ in range(2):
        await read_followed(office)


def public_issues(tracker: Tracker) -> list[Issue]:
    """Returns the issues of the Web Shop that everyone can see."""
    return [one for one in tracker.data.issues.values() if one.project_id == 1 and not one.is_private]


async def follow(store: Store, issue: Issue, channel_id: str, thread_ts: str, ts: str, **more: Any) -> None:
    """Follows an issue in a thread, for Ana unless for another owner."""
    where = {"channel_id": channel_id, "thread_ts": thread_ts, "ts": ts}
    about: dict[str, Any] = {"owner": ANA, "posted_by": ANA.user_id, "created": True} | where | more
    await store.followed.add(Followed(issue_id=issue.id, **about))


def change(
    issue: Issue,
    *,
    comment_by: int | None = None,
    comment: str = "Looking into it",
    details: tuple[Detail, ...] = (),
    private: bool = False,
    **values: Any,
) -> None:
    """Changes an issue in the tracker; each change has a time of its own."""
    moment = (
        datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5) + timedelta(seconds=next(_seconds))
    )
    for name, value in values.items():
        setattr(issue, name, value)
    if comment_by:
        issue.notes = [*issue.notes, Note(comment_by, comment, moment, details, private)]
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


def make_private(_: Office, issue: Issue) -> None:
    issue.is_private = True


def hide_project(office: Office, issue: Issue) -> None:
    office.tracker.data.projects[issue.project_id].is_public = False
