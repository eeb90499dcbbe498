"""What people ask the bot for while the monkey interferes, and how often that took effect in the tracker."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.sandbox.tracker.data import Data, Issue, Note, free_id, put
from bot.sandbox.tracker.defaults import BUG, NEW, NORMAL
from bot.sandbox.workspace.model import Message
from tests.support.person import Person
from tests.support.reading import JSON, STILL_WORKING, text_of, waiting

WORK = "work"
"""The project of the issues that acts are about and that are assigned; it has no digest."""


@dataclass(eq=False)
class Act:
    """One thing that a person asks for, with a text of its own, in a channel of its own unless it is shared.

    `issue` is what it is about; `thread` is the message that was reacted to.
    """

    number: int
    kind: "Kind"
    person: Person
    channel: str
    issue: int = 0
    thread: str = ""
    before: frozenset[str] | None = None
    """The messages in its channel when it was asked for; None until then."""
    outcomes: list[str] = field(default_factory=list)
    """What became of each of its deliveries, as Slack told the person."""
    form_texts: list[str] = field(default_factory=list)
    """What forms showed when the person closed them."""
    _forms: frozenset[str] = frozenset()
    """The forms that were open when it was asked for, as they were."""

    @property
    def text(self) -> str:
        """Occurs in what is asked, and nowhere else."""
        return f"Act-{self.number}-x"

    @property
    def file(self) -> str:
        return f"act-{self.number}-.log"

    @property
    def failed(self) -> bool:
        """Whether Slack told the person that the bot didn't take it."""
        return any(outcome != "acknowledged" for outcome in self.outcomes)

    @property
    def asked(self) -> bool:
        return self.before is not None

    def ask(self) -> None:
        """Notes that what comes next asks for it."""
        state = self.person.office.workspace.state
        self.before = frozenset(map(str, state.messages[self.channel]))
        self._forms = frozenset(view.hash for view in state.stack(self.person.user_id))

    def forms(self) -> list[str]:
        """What the person's forms show of it now."""
        views = self.person.office.workspace.state.stack(self.person.user_id) if self.asked else []
        bodies = [(view, {"title": view.body["title"], "blocks": view.blocks}) for view in views]
        return [
            f"{body['title']['text']}: {text_of(body)} {view.errors or ''}"
            for view, body in bodies
            if not waiting(body) and (view.errors or view.hash not in self._forms)
        ]

    def replies(self) -> list[Message]:
        """What the bot has said about it since, to the person or for everyone where it was asked for."""
        me, state = self.person.user_id, self.person.office.workspace.state
        here = [
            m
            for m in state.messages[self.channel]
            if m.to in (None, me) and str(m) not in (self.before or ())
        ]
        if self.thread:
            here = [m for m in here if m.thread_ts == self.thread or self.text in m.text]
        direct = [m for m in state.messages[state.im(me).id] if self.text in m.text or self.channel in str(m)]
        return [m for m in (*here, *direct) if m.by_app and m.text != STILL_WORKING]

    def __str__(self) -> str:
        return f"{self.text} ({self.kind.name} by {self.person.user_id} in {self.channel})"


Effects = Callable[[Data, Act], int]


@dataclass(frozen=True)
class Kind:
    """`steps` asks for it, `effects` counts what it did, and `claim` matches what says that it was done."""

    name: str
    steps: Callable[[Act], Awaitable[None]]
    effects: Effects
    claim: str
    asked_at: str = ""
    """What kind of channel it is asked for in, if that isn't its own."""
    in_form: bool = False


def add_issue(data: Data, subject: str, project: str = WORK, **more: object) -> Issue:
    """Adds an issue that somebody reported in the tracker now."""
    now = datetime.now(UTC).replace(microsecond=0)
    place = next(row.id for row in data.projects.values() if row.identifier == project)
    issue = Issue(free_id(data.issues), place, BUG, NEW, NORMAL, 2, subject, created_on=now, updated_on=now)
    for name, value in more.items():
        setattr(issue, name, value)
    return put(data.issues, issue)


def _issues(data: Data, act: Act) -> int:
    return sum(act.text in issue.subject for issue in data.issues.values())


def _notes(data: Data, act: Act) -> list[Note]:
    return data.issues[act.issue].notes if act.issue else []


def _comments(data: Data, act: Act) -> int:
    return sum(act.text in note.text for note in _notes(data, act))


def _files(data: Data, act: Act) -> int:
    return sum(f.filename == act.file and f.issue_id == act.issue for f in data.attachments.values())


def _entries(data: Data, act: Act) -> int:
    return sum(act.text in (entry.comments or "") for entry in data.time_entries.values())


def _changes(name: str) -> Effects:
    def count(data: Data, act: Act) -> int:
        details = (detail for note in _notes(data, act) for detail in note.details)
        return sum(detail.name == name for detail in details)

    return count


async def _ask(act: Act, command: str) -> None:
    act.ask()
    await act.person.command(command)


async def _new(act: Act) -> None:
    await _ask(act, f"/issue new {act.text} project:webshop")


async def _new_by_form(act: Act) -> None:
    await act.person.command("/issue")
    form = await act.person.form("New issue")
    await submit(act, form, {"Subject": act.text, "Project": "Web Shop"})


async def _comment(act: Act) -> None:
    await _ask(act, f"/issue {about(act)} comment {act.text}")


async def _comment_by_form(act: Act) -> None:
    await act.person.press(await _card(act), "Comment")
    await submit(act, await act.person.form("Comment"), {"Comment": act.text})


async def _attach(act: Act) -> None:
    file = await act.person.upload(act.file, b"1")
    await act.person.command(f"/issue attach {about(act)}")
    await submit(act, await act.person.form("Attach files"), {"Files": [file]})


async def _log(act: Act) -> None:
    await _ask(act, f"/timelog {about(act)} 1m activity:design {act.text}")


async def _assign(act: Act) -> None:
    card = await _card(act)
    act.ask()
    await act.person.press(card, "Assign to me")


async def _edit(act: Act) -> None:
    await _ask(act, f"/issue {about(act)} done:50%")


async def _edit_by_form(act: Act) -> None:
    await act.person.press(await _card(act), "Edit")
    form = await act.person.form(f"Edit #{act.issue}")
    await submit(act, form, {"% done": "50%"})


async def _react(act: Act) -> None:
    message = await act.person.say(act.text)
    act.thread = message["ts"]
    act.ask()
    await act.person.react(message)


async def _send_digest_now(act: Act) -> None:
    await _ask(act, "/digest now")


async def submit(act: Act, form: JSON, values: JSON) -> None:
    act.ask()
    try:
        await act.person.submit(form, values)
    except BaseException:  # it may not have been filled in yet
        act.before = None
        raise


async def _card(act: Act) -> JSON:
    """The card of an issue of the act's own."""
    number = about(act)
    await act.person.command(f"/issue {number}")
    return await act.person.sees(lambda message: f"#{number}" in text_of(message) and message["is_bot"])


def about(act: Act) -> int:
    """The number of a new issue of the act's own."""
    data = act.person.office.tracker.data
    act.issue = act.issue or add_issue(data, f"For act {act.number}").id
    return act.issue


KINDS = (
    Kind("new issue", _new, _issues, "[Cc]reated .*{text}"),
    Kind("new issue by form", _new_by_form, _issues, "[Cc]reated .*{text}", in_form=True),
    Kind("issue from an emoji", _react, _issues, "[Cc]reated .*{text}", "emoji"),
    Kind("comment", _comment, _comments, "Commented on"),
    Kind("comment by form", _comment_by_form, _comments, "Commented on", in_form=True),
    Kind("file", _attach, _files, r"\.log\*? attached", in_form=True),
    Kind("time", _log, _entries, "Logged "),
    Kind("assign to me", _assign, _changes("assigned_to_id"), "Assignee"),
    Kind("edit", _edit, _changes("done_ratio"), "Updated "),
    Kind("edit by form", _edit_by_form, _changes("done_ratio"), "Updated ", in_form=True),
    Kind("digest now", _send_digest_now, lambda *_: 1, "(?!)", "digest"),
)


def claims(act: Act, reply: str) -> bool:
    """Whether the bot says that it did what the act asked for."""
    return bool(re.search(act.kind.claim.format(text=act.text), reply))
