"""Fifty people use the bot at once, with a slow service that loses requests and answers: response times, and
writes that are lost or done twice.

    python -m tests.benchmarks.load [--people 50] [--minutes 10]

The bot runs as in production (`issuebot run`), in its own process; the service, the local Slack and the
people are in this one. All traffic stays on 127.0.0.1, and the run ends by itself.

The rate: in a team of 1,000 where everyone uses the bot ten times in an eight-hour day, there are 10,000
actions a day, 0.35 a second, and about 1 a second in the busiest hour. Fifty people with pauses of eight
seconds make about 6 a second: six times the busiest hour.
"""

import argparse
import asyncio
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web

from bot.sandbox.people import ANA, PEOPLE
from bot.sandbox.people import Person as Invented
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Data, User, free_id, put
from bot.sandbox.workspace import snapshot
from bot.sandbox.workspace.model import Channel
from tests.benchmarks.sides import share
from tests.support.bot_process import Apart, apart
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of
from tests.support.wire import Fault, Wire

PAUSE, TIMEOUT = 8.0, 30.0
LATENCY, FAILING, SECONDS_LATE = 0.1, 0.01, 3
FAULTS: tuple[Fault, ...] = (
    *("lose the request", "lose the answer", "500 before it", "fail after it", "502 after it"),
    *("HTML after it", "429", "cut short", "late"),
)
NOTHING_DONE = re.compile(r"can't reach|limiting requests")
WEBSHOP, LATEST = 1, 20


class Slow(Wire):
    """Answers every request later, and fails a share of them."""

    def __init__(self) -> None:
        super().__init__()
        self.too_late = SECONDS_LATE
        self.failing = 0.0
        self.fault_counts: Counter[Fault] = Counter()
        self._chance = random.Random(1)  # noqa: S311 - not used for security

    def _fault(self, _request: web.Request) -> Fault:
        fault = self._chance.choice(FAULTS) if self._chance.random() < self.failing else "pass"
        self.fault_counts[fault] += 1
        return fault

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(LATENCY)
        return await super()._pass_on(request)


def invented(number: int) -> Invented:
    """Returns a user for the workspace and the service."""
    login, key = f"colleague{number}", f"{number:040x}"
    return replace(ANA, slack_id=f"U0LOAD{number:04}", login=login, mail=f"{login}@x.example", api_key=key)


@dataclass
class Record:
    """What everyone asked for and was told."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    unanswered: Counter[str] = field(default_factory=Counter)
    writes: dict[str, str] = field(default_factory=dict)
    """What the user was told, by the text of the write: "done", or an error."""


class Colleague(Person):
    """A user who reads the local Slack's state directly, which costs almost no CPU."""

    def __init__(self, office: Office, number: int, record: Record) -> None:
        super().__init__(office, invented(number).slack_id, f"team-{number}")
        self.record = record
        self.chance = random.Random(number)  # noqa: S311 - not used for security
        issues = office.tracker.data.issues.values()
        self._issues = [i.id for i in issues if i.project_id == WEBSHOP and not i.is_private]

    async def messages(self, channel: str | None = None) -> list[JSON]:
        """Returns the latest messages that only this user sees."""
        state = self.office.workspace.state
        messages = state.messages[self.office.channel_id(channel or self.channel)]
        return [snapshot._message(state, m) for m in messages if m.to == self.user_id][-LATEST:]

    async def work(self, until_then: float) -> None:
        """Acts at random until then, with pauses."""
        await asyncio.sleep(self.chance.uniform(0, PAUSE))
        while time.monotonic() < until_then:
            [(name, (_, act))] = self.chance.choices([*ACTS.items()], [often for often, _ in ACTS.values()])
            began = time.monotonic()
            try:
                async with asyncio.timeout(TIMEOUT):
                    await act(self)
                self.record.seconds[name].append(time.monotonic() - began)
            except Exception as error:  # noqa: BLE001 - one failure must not stop the others
                self.record.unanswered[f"{name}: {type(error).__name__}"] += 1
            pause = self.chance.expovariate(1 / PAUSE)
            await asyncio.sleep(max(0, min(until_then - time.monotonic(), pause)))

    async def show(self) -> None:
        await self.ask(f"/issue {self.chance.choice(self._issues)}")

    async def search(self) -> None:
        answer = await self.ask("/issues status:any project:any")
        if "Next" in text_of(answer):
            await self.after(self.press(answer, "Next ›"))

    async def create(self) -> None:
        mark = self._mark()
        self._note(mark, text_of(await self.ask(f"/issue new {mark} project:webshop")), f" {mark} ")

    async def log_time(self) -> None:
        mark, issue = self._mark(), self.chance.choice(self._issues)
        answer = await self.ask(f"/timelog {issue} 30m activity:design {mark}")
        self._note(mark, text_of(answer), "ogged 30m on")

    def _mark(self) -> str:
        """Returns a unique text for what is about to be written."""
        mark = f"mark-{self.user_id}-{len(self.record.writes)}"
        self.record.writes[mark] = ""
        return mark

    def _note(self, mark: str, reply_text: str, done: str) -> None:
        """Keeps what the user was told about a write. An error repeats what they typed."""
        self.record.writes[mark] = (
            "done" if done in reply_text and "You typed:" not in reply_text else reply_text
        )


ACTS: dict[str, tuple[int, Callable[[Colleague], Awaitable[None]]]] = {
    "show an issue": (35, Colleague.show),
    "search": (30, Colleague.search),
    "create an issue": (20, Colleague.create),
    "log time": (15, Colleague.log_time),
}
"""What people do, with how often each occurs in a hundred actions."""


def joined(data: Data, people: list[Invented]) -> None:
    """Makes the people developers of the web shop."""
    for one in people:
        user = User(free_id(data.users), one.login, one.firstname, one.lastname, one.mail, one.api_key)
        data.join(data.projects[WEBSHOP], put(data.users, user), defaults.DEVELOPER)


def verdicts(record: Record, data: Data) -> dict[str, list[str]]:
    """Compares what people were told about their writes with what the service holds."""
    there = Counter(issue.subject for issue in data.issues.values())
    there.update(entry.comments or "" for entry in data.time_entries.values())
    writes = record.writes.items()
    return {
        "told as done, but missing": [
            mark for mark, reply_text in writes if reply_text == "done" and not there[mark]
        ],
        "done twice": [mark for mark in record.writes if there[mark] > 1],
        "done, but denied": [
            mark for mark, reply_text in writes if there[mark] and NOTHING_DONE.search(reply_text)
        ],
    }


async def run(people: int, minutes: float) -> int:
    """Runs the test; returns 1 if a write went wrong or one of Slack's rules was broken."""
    record, wire, tracker = Record(), Slow(), demo_tracker()
    colleagues = [invented(number) for number in range(people)]
    joined(tracker.data, colleagues)
    with TemporaryDirectory(prefix="issuebot-load-") as directory:
        office = Apart(Path(directory), tracker=tracker, wire=wire, people=[*PEOPLE, *colleagues])
        async with apart(office) as bot:
            state = office.workspace.state
            for number, one in enumerate(colleagues):
                await office.link(one.slack_id, one.api_key)
                members = {one.slack_id, state.app.bot_user_id}
                state.add_channel(Channel(f"C0TEAM{number}", f"team-{number}", "channel", members))
            wire.failing = FAILING
            cpu, began = bot.cpu_seconds(), time.monotonic()
            ends = began + minutes * 60
            await asyncio.gather(*(Colleague(office, number, record).work(ends) for number in range(people)))
            seconds, cpu, memory = time.monotonic() - began, bot.cpu_seconds() - cpu, bot.megabytes()
            violations = office.violations()
    wrong = verdicts(record, tracker.data)
    rows = [
        ("requests to the service", str(dict(wire.fault_counts))),
        *((f"seconds: {name}", _times(each)) for name, each in record.seconds.items()),
        ("acts a second", f"{sum(map(len, record.seconds.values())) / seconds:.1f}"),
        ("writes asked, told as done", f"{len(record.writes)}, {[*record.writes.values()].count('done')}"),
        ("the bot's CPU and memory", f"{100 * cpu / seconds:.0f} % of one core, {memory:.0f} MB"),
        *((f"writes {name}", str(each or 0)) for name, each in wrong.items()),
        ("unanswered", str(dict(record.unanswered) or 0)),
        ("broken rules of Slack's", str(violations or 0)),
    ]
    sys.stdout.write("".join(f"{name:<34} {figure}\n" for name, figure in rows))
    return 1 if record.unanswered or violations or any(wrong.values()) else 0


def _times(seconds: list[float]) -> str:
    picked = " / ".join(f"{share(seconds, part):.2f}" for part in (0.5, 0.99, 1))
    return f"{len(seconds)} times, median / 99 of 100 / longest: {picked}"


def main() -> int:
    """Runs the test and returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.load")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    return asyncio.run(run(options.people, options.minutes))


if __name__ == "__main__":
    sys.exit(main())
