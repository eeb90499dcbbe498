"""What goes on while the monkey interferes: people ask for things, digests come due, and others change issues
and projects in the tracker.
"""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count

from bot.sandbox.people import ANA, BEN, CHRIS, DANA, FARAH, PEOPLE
from bot.sandbox.tracker.data import CLOSED_PROJECT, Detail, Issue, Note, Project, free_id, put
from bot.sandbox.tracker.defaults import BUG, CLOSED, DEVELOPER, NEW
from bot.sandbox.workspace.model import Channel, JsonObject
from tests.faults.monkey_acts import KINDS, WORK, Act, add_issue
from tests.support.bot_process import Apart
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until

PEOPLE_IN_SLACK = [replace(person, in_slack=True) for person in PEOPLE]
WORKERS = (ANA, CHRIS, DANA, FARAH)
REPORTER = 2
"""Ben, who reports, assigns and comments in the tracker."""
PROJECTS = ("webshop", "mobile")
SECONDS_FOR_ACT, SECONDS_FOR_ANSWER, SECONDS_FOR_FORM, SECONDS_TO_SET_UP = 8.0, 3.0, 20.0, 40.0
EMOJI = "ticket"
MOST_COMMENTS = 3


@dataclass
class Followed:
    """An issue that a thread follows with its comments, or a live feed without; `toggles` is how often it was
    closed or reopened.
    """

    issue: Issue
    channel: str
    thread: str
    live: bool = False
    toggles: int = 0
    comments: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Digest:
    channel: str
    project: int
    known: frozenset[int]
    """The issues that were there before it was added."""


@dataclass
class Assigned:
    """An issue that was assigned to a person, and what was said about it later."""

    slack_id: str
    issue: int
    comments: list[str] = field(default_factory=list)


class Load:
    """All of it, and what was asked: the checker knows nothing else of the bot."""

    def __init__(self, office: Apart, dice: random.Random) -> None:
        self.office = office
        self.acts: list[Act] = []
        self.digests: list[Digest] = []
        self.followed: list[Followed] = []
        self.assigned: list[Assigned] = []
        self.closed: list[str] = []
        """The names of projects with a digest that were closed."""
        self._stoppable: list[Project] = []
        self._people = [Person(office, person.slack_id) for person in WORKERS]
        self._dice = dice
        self._numbers = count(1)

    async def set_up(self, *, digests: int, feeds: int, followed: int, stopping: int) -> None:
        self._add_project("Work", WORK)
        async with asyncio.timeout(SECONDS_TO_SET_UP):
            for number, person in enumerate(self._people):
                channel = self._channel(f"C0EMOJI{number}")
                await self._command(person, channel, "/tracker default webshop", "Web Shop")
                await self._command(person, channel, f"/tracker emoji :{EMOJI}:", EMOJI)
                await self._command(person, channel, "/tracker notify comments changes on", "Tell me about")
            await asyncio.gather(
                self._add_digests(digests),
                self._add_feeds(feeds),
                self._follow(followed),
                self._stop_later(stopping),
                self._assignments_are_read(),
            )

    def strands(self) -> list[Callable[[], Awaitable[None]]]:
        """What goes on at the same time until it is canceled."""
        workers = [lambda person=person: self._work(person) for person in self._people]
        return [*workers, self._change, self._report, self._assign, self._comment, self._close_projects]

    def heard(self, delivery: JsonObject) -> None:
        """Keeps what became of a delivery with the act that it is for."""
        sent = json.dumps(delivery["payload"])
        in_progress = {act.person.user_id: act for act in self.acts}.values()
        lately = self.acts[-3 * len(self._people) :]  # Slack repeats events
        for act in (*lately, *(one for one in in_progress if one not in lately)):
            names = (act.text, act.file, act.thread or act.channel)
            if any(name in sent for name in names):
                act.outcomes.append(delivery["outcome"])

    # Setting up

    def _channel(self, name: str) -> str:
        state = self.office.workspace.state
        members = {person.slack_id for person in (*WORKERS, BEN)} | {state.app.bot_user_id}
        return state.add_channel(Channel(name, name.lower(), "channel", members)).id

    async def _command(self, person: Person, channel: str, command: str, text: str) -> None:
        person.channel = channel.lower()
        answer = await person.ask(command)
        assert text in text_of(answer), text_of(answer)

    async def _add_digests(self, number: int) -> None:
        for n in range(number):
            project = self.office.tracker.data.project(PROJECTS[n % len(PROJECTS)])
            assert project
            await self._add_digest(Person(self.office, self._people[n % 2].user_id), f"C0DIG{n}", project)

    async def _add_feeds(self, number: int) -> None:
        """Adds live feeds, each with an issue that is announced in its channel."""
        data = self.office.tracker.data
        project = data.project(PROJECTS[0])
        assert project
        for n in range(number):
            person = Person(self.office, self._people[n % 2].user_id)
            await self._add_digest(person, f"C0FEED{n}", project, "live")
            await person.command(f"/issue new Feed-{n}-x project:{project.identifier}")
            post = await person.sees(lambda m, n=n: f"Feed-{n}-x" in text_of(m) and not m["ephemeral"])  # type: ignore[misc] # mypy can't infer the default
            issue = next(i for i in data.issues.values() if i.subject == f"Feed-{n}-x")
            self.followed.append(Followed(issue, post["channel"], post["ts"], live=True))

    async def _add_digest(
        self, person: Person, channel: str, project: Project, schedule: str = 'cron "*/15 * * * *" tz:UTC'
    ) -> None:
        command = f"/digest add {project.identifier} {schedule}"
        await self._command(person, self._channel(channel), command, "is set up")
        self.digests.append(Digest(channel, project.id, frozenset(self.office.tracker.data.issues)))

    async def _stop_later(self, number: int) -> None:
        for n in range(number):
            project = self._add_project(f"Closing {n}.", f"closing-{n}")
            await self._add_digest(Person(self.office, ANA.slack_id), f"C0STOP{n}", project)
            self._stoppable.append(project)

    def _add_project(self, name: str, identifier: str) -> Project:
        """Adds a project that the workers develop."""
        data = self.office.tracker.data
        project = put(data.projects, Project(free_id(data.projects), name, identifier, tracker_ids=(BUG,)))
        for person in self._people:
            data.join(project, data.users[self._number_of(person)], DEVELOPER)
        return project

    async def _follow(self, number: int) -> None:
        data = self.office.tracker.data
        for n in range(number):
            person = Person(self.office, self._people[2 + n % 2].user_id, f"c0emoji{2 + n % 2}")
            message = await person.say(f"Follow {n}.")
            await person.react(message, EMOJI)
            post = await person.sees(lambda m, ts=message["ts"]: m["thread_ts"] == ts and m["is_bot"])  # type: ignore[misc] # mypy can't infer the default
            await self._include_comments(person, post)
            issue = next(i for i in data.issues.values() if i.subject == f"Follow {n}")
            self.followed.append(Followed(issue, post["channel"], message["ts"]))

    async def _include_comments(self, person: Person, post: JSON) -> None:
        """Chooses it until it works: a new post can be seen before it is followed."""
        while "Include comments" in str(post):
            await person.choose_from_menu(post, "#", "Include comments")
            await asyncio.sleep(0.5)
            post = await person.sees(lambda m, ts=post["ts"]: m["ts"] == ts)  # type: ignore[misc] # mypy can't infer the default

    async def _assignments_are_read(self) -> None:
        """Assigns issues to each person until they are told of one: from then on they are told of each."""

        async def is_notified(person: Person) -> bool:
            add_issue(
                self.office.tracker.data, "Probe", author_id=REPORTER, assigned_to_id=self._number_of(person)
            )
            await asyncio.sleep(0.7)
            return bool(
                self.office.workspace.state.messages[self.office.workspace.state.im(person.user_id).id]
            )

        await asyncio.gather(*(until(lambda one=one: is_notified(one)) for one in self._people))  # type: ignore[misc] # mypy can't infer the default

    def _number_of(self, person: Person) -> int:
        login = next(one.login for one in WORKERS if one.slack_id == person.user_id)
        return next(user.id for user in self.office.tracker.data.users.values() if user.login == login)

    # What goes on

    async def _work(self, person: Person) -> None:
        """Asks for one thing after another."""
        dice = random.Random(self._dice.random())  # noqa: S311 - not security-relevant
        kinds: list[int] = []
        while True:
            kinds = kinds or dice.sample(range(len(KINDS)), len(KINDS))
            kind = KINDS[kinds.pop()]
            number = next(self._numbers)
            place = {
                "emoji": f"C0EMOJI{self._people.index(person)}",
                "digest": dice.choice(self.digests).channel,
            }
            act = Act(number, kind, person, place.get(kind.asked_at) or self._channel(f"C0ACT{number:04}X"))
            self.acts.append(act)
            person.channel = act.channel.lower()
            with suppress(TimeoutError, AssertionError, LookupError, RuntimeError):
                async with asyncio.timeout(SECONDS_FOR_ACT):
                    await kind.steps(act)
            in_form = act.asked and self.office.workspace.state.stack(person.user_id)
            seconds = SECONDS_FOR_FORM if in_form else SECONDS_FOR_ANSWER
            with suppress(TimeoutError):
                await until(lambda act=act: self._answered(act), seconds)  # type: ignore[misc] # mypy can't infer the default
            act.form_texts = act.forms()
            self.office.workspace.state.close_all(person.user_id)
            await asyncio.sleep(dice.uniform(0, 0.3))

    async def _answered(self, act: Act) -> bool:
        return not act.asked or act.failed or bool(act.replies() or act.forms())

    def note_forms(self) -> None:
        """Notes what people see in the forms that are open."""
        for act in {act.person.user_id: act for act in self.acts}.values():
            act.form_texts = act.form_texts or act.forms()

    async def _change(self) -> None:
        """Closes, reopens and comments on followed issues, each at most once in a second of its times."""
        for number in count(1):
            await asyncio.sleep(self._dice.uniform(0.2, 1))
            one, now = self._dice.choice(self.followed), datetime.now(UTC).replace(microsecond=0)
            if one.issue.updated_on >= now:
                continue
            if self._dice.random() < 0.5 and not one.live:
                one.comments.append(f"Remark {number}.")
                one.issue.notes = [*one.issue.notes, Note(REPORTER, one.comments[-1], now)]
            elif len(self.lines(one)) == one.toggles:  # else two changes could be read as none
                one.toggles += 1
                old, one.issue.status_id = one.issue.status_id, CLOSED if one.toggles % 2 else NEW
                details = (Detail("attr", "status_id", str(old), str(one.issue.status_id)),)
                one.issue.notes = [*one.issue.notes, Note(REPORTER, "", now, details)]
            one.issue.updated_on = now

    def lines(self, one: Followed) -> list[str]:
        """What the thread of a followed issue says of its being closed and reopened."""
        starts = (":white_check_mark: Closed", ":leftwards_arrow_with_hook: Reopened")
        return [text for text in self.replies(one)[1:] if text.startswith(starts) or " the status " in text]

    def replies(self, one: Followed) -> list[str]:
        messages = self.office.workspace.state.messages[one.channel]
        there = [m for m in messages if one.thread in (m.thread_ts, m.ts)]
        return [m.text for m in there if m.by_app and m.to is None]

    async def _report(self) -> None:
        """Reports issues in the projects that have digests."""
        for number in count(1):
            data = self.office.tracker.data
            project = data.projects[self._dice.choice(self.digests).project]
            if project.status != CLOSED_PROJECT:
                add_issue(data, f"Report {number}.", project.identifier)
            await asyncio.sleep(self._dice.uniform(0.3, 1))

    async def _assign(self) -> None:
        """Assigns issues to people in the tracker, new ones and others."""
        data = self.office.tracker.data
        for number in count(1):
            person = self._dice.choice(self._people)
            to = self._number_of(person)
            if self._dice.random() < 0.5:
                issue = add_issue(data, f"New for {number}.", assigned_to_id=to)
            else:
                issue = add_issue(data, f"Given to {number}.")
                await asyncio.sleep(1)  # or it would look like a new one
                now = datetime.now(UTC).replace(microsecond=0)
                details = (Detail("attr", "assigned_to_id", None, str(to)),)
                issue.notes = [Note(REPORTER, "", now, details)]
                issue.assigned_to_id, issue.updated_on = to, now
            self.assigned.append(Assigned(person.user_id, issue.id))
            await asyncio.sleep(self._dice.uniform(0.3, 1.5))

    async def _comment(self) -> None:
        """Comments on assigned issues, sometimes twice in a second."""
        for number in count(1):
            await asyncio.sleep(self._dice.uniform(0, 1.5))
            few = [one for one in self.assigned if len(one.comments) < MOST_COMMENTS]
            if not few:
                continue
            one, now = self._dice.choice(few), datetime.now(UTC).replace(microsecond=0)
            issue = self.office.tracker.data.issues[one.issue]
            one.comments.append(f"Notice {number}.")
            issue.notes = [*issue.notes, Note(REPORTER, one.comments[-1], now)]
            issue.updated_on = now

    async def _close_projects(self) -> None:
        for project in self._stoppable:
            await asyncio.sleep(self._dice.uniform(0.5, 3))
            project.status = CLOSED_PROJECT
            self.closed.append(project.name)
