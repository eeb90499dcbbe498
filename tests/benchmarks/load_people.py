"""The users of the load test: what each of them does in a loop, and what the bot answers."""

import asyncio
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.sandbox.people import Person as Invented
from bot.sandbox.workspace import snapshot
from bot.sandbox.workspace.model import Channel
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, labels_of, text_of, until, waiting

TEAM_SIZE = 5
PROJECT = "Web Shop"
TIMEOUT = 30.0
LATEST = 20
WORDS = ("cart", "login", "delivery", "password", "push", "invoice", "search", "slow", "error", "page")


def invented(number: int) -> Invented:
    """Returns a user for the workspace and the service."""
    login = f"colleague{number}"
    return Invented(
        slack_id=f"U0LOAD{number:04}",
        login=login,
        firstname="Colleague",
        lastname=str(number),
        mail=f"{login}@x.example",
        title="",
        tz="Europe/London",
        locale="en-GB",
        api_key=f"{number:040x}",
        in_slack=True,
    )


def add_channels(office: Office, people: int) -> None:
    """Adds a channel with the bot for every few users."""
    state = office.workspace.state
    for first in range(0, people, TEAM_SIZE):
        members = {invented(number).slack_id for number in range(first, min(first + TEAM_SIZE, people))}
        name = f"team-{first // TEAM_SIZE}"
        state.add_channel(Channel(f"C0{name.upper()}", name, "channel", members | {state.app.bot_user_id}))


def failed(view: JSON) -> bool:
    return bool(view["title"]["text"] == "That didn't work")


@dataclass
class Told:
    """What all the users asked for and were told."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    unanswered: Counter[str] = field(default_factory=Counter)
    writes: dict[str, str] = field(default_factory=dict)
    """What the user was told, by the text of the write; empty if nothing."""
    troubles: Counter[str] = field(default_factory=Counter)
    """Answers other than success, with numbers removed."""

    def trouble(self, what: str, said: str) -> None:
        """Counts an answer."""
        words = " ".join(word for word in said.split() if not any(c.isdigit() for c in word))
        self.troubles[f"{what}: {words[:120]}"] += 1


class Failed(Exception):
    """The bot said that a form can't be shown."""


class Colleague(Person):
    """A user who reads the local Slack's state directly, which costs almost no CPU."""

    def __init__(self, office: Office, number: int, issues: list[int], told: Told) -> None:
        super().__init__(office, invented(number).slack_id, f"team-{number // TEAM_SIZE}")
        self.number = number
        self.issues = issues
        self.told = told
        self.chance = random.Random(number)  # noqa: S311 - not used for security
        self._written = 0

    async def state(self) -> JSON:
        """Returns the views and the Home tab."""
        state = self.office.workspace.state
        home = state.homes.get(self.user_id)
        return {
            "views": [snapshot._view(state, view) for view in state.stack(self.user_id)],
            "home": snapshot._view(state, home) if home else None,
        }

    async def messages(self, channel: str | None = None) -> list[JSON]:
        """Returns the latest messages that only this user sees."""
        state = self.office.workspace.state
        said = state.messages[self.office.channel_id(channel or self.channel)]
        return [snapshot._message(state, m) for m in said if m.to == self.user_id][-LATEST:]

    async def form(self, title: str, holds: Callable[[JSON], object] = lambda _: True) -> JSON:
        """Delays for the form as any user does. Raises Failed if an error is shown in its place."""
        view = await self.view(
            lambda v: failed(v) or (v["title"]["text"] == title and not waiting(v) and holds(v))
        )
        if failed(view):
            raise Failed(text_of(view))
        return view

    async def link(self) -> None:
        """Links the account as any user does."""
        await self.command("/tracker link")
        await self.submit(await self.form("Link account"), {"API key": invented(self.number).api_key})
        await self.close(await self.form("Account linked"))

    async def work(self, until_then: float, pause: float) -> None:
        """Acts at random until then, with pauses of this average length."""
        names = list(ACTS)
        weights = [weight for weight, _ in ACTS.values()]
        await asyncio.sleep(self.chance.uniform(0, pause))
        while time.monotonic() < until_then:
            [name] = self.chance.choices(names, weights)
            began = time.monotonic()
            try:
                async with asyncio.timeout(TIMEOUT):
                    await ACTS[name][1](self)
            except Failed as error:
                self.told.trouble(name, str(error))
            except Exception as error:  # noqa: BLE001 - one failure must not stop the others
                self.told.unanswered[f"{name}: {type(error).__name__}"] += 1
                shown = [f"{v['title']['text']}: {text_of(v)}" for v in (await self.state())["views"]]
                self.told.trouble(f"unanswered, {name}", " ".join(shown))
            else:
                self.told.seconds[name].append(time.monotonic() - began)
            for view in reversed((await self.state())["views"]):
                await self.close(view)
            left = until_then - time.monotonic()
            await asyncio.sleep(max(0, min(left, self.chance.expovariate(1 / pause))))

    async def look(self, typed: str, expected: str = "") -> JSON:
        """Reads the answer to a command, which should match `expected`."""
        answer = await self.ask(typed)
        if not re.search(expected, text_of(answer)):
            self.told.trouble(typed.split(maxsplit=1)[0], text_of(answer))
        return answer

    async def show(self) -> None:
        await self.look(f"/issue {self.chance.choice(self.issues)}", r"\*Status\*")

    async def search(self) -> None:
        await self.look(
            f"/issues {self.chance.choice(WORDS)} status:any project:any", r" of \d|issue|Nothing"
        )

    async def turn_page(self) -> None:
        """Lists everything and turns to the second page."""
        answer = await self.look("/issues status:any project:any", "Next")
        if "Next" in text_of(answer):
            await self.after(self.press(answer, "Next ›"))

    async def list_digests(self) -> None:
        await self.look("/digest")

    async def ask_who(self) -> None:
        await self.look("/tracker whoami")

    async def go_home(self) -> None:
        """Opens the Home tab and waits until it is published."""
        before = await self.home()
        await self.open_home()

        async def filled() -> bool:
            home = await self.home()
            return home is not None and home != before and "One moment" not in text_of(home)

        await until(filled)

    def mark(self, what: str) -> str:
        """Returns a unique text and records that it is about to be written."""
        self._written += 1
        mark = f"{what}-{self.number}-{self._written}"
        self.told.writes[mark] = ""
        return mark

    def note(self, mark: str, said: str, done: str) -> None:
        """Records what the user was told about a write. An error repeats what they typed."""
        succeeded = done in said and "You typed:" not in said
        self.told.writes[mark] = "done" if succeeded else said
        if not succeeded:
            self.told.trouble(mark.partition("-")[0], said)

    async def create(self) -> None:
        """Creates an issue with a command."""
        mark = self.mark("created")
        self.note(mark, text_of(await self.ask(f"/issue new {mark} project:webshop")), f" {mark} ")

    async def log_time(self) -> None:
        """Logs time with a command."""
        mark = self.mark("logged")
        issue = self.chance.choice(self.issues)
        answer = await self.ask(f"/timelog {issue} 30m activity:design {mark}")
        self.note(mark, text_of(answer), "ogged 30m on")

    async def create_by_form(self) -> None:
        """Creates an issue with the form."""
        await self.shortcut("create_issue")
        form = await self.form("New issue")

        async def suggested() -> bool:
            return bool((await self.suggest(form, "Project", PROJECT)).get("options"))

        await until(suggested)  # types again if the select found nothing
        await self.choose(form, "Project", PROJECT)
        form = await self.form(
            "New issue", lambda view: "Tracker" in labels_of(view) or ":warning:" in text_of(view)
        )
        mark = self.mark("form")
        await self.submit(form, {"Subject": mark})
        self.note(mark, await self._outcome(form), f" {mark} ")

    async def attach(self) -> None:
        """Attaches a file to an issue."""
        await self.command(f"/issue attach {self.chance.choice(self.issues)}")
        form = await self.form("Attach files")
        mark = self.mark("file")
        file = await self.upload(mark, self.chance.randbytes(20_000))
        await self.submit(form, {"Files": [file]})
        self.note(mark, await self._outcome(form), f"{mark}* attached")

    async def _outcome(self, form: JSON) -> str:
        """Returns what replaces the form, or the errors in it, after it is submitted."""

        async def answered() -> str | None:
            views = (await self.state())["views"]
            if not views:
                return "the form closed"
            view = views[-1]
            unchanged = view["hash"] == form["hash"] and not view["errors"]
            if unchanged or view["busy"] or waiting(view):
                return None
            return f"{view['title']['text']} {text_of(view)} {view['errors'] or ''}"

        return await until(answered)


ACTS: dict[str, tuple[int, Callable[[Colleague], Awaitable[None]]]] = {
    "show an issue": (24, Colleague.show),
    "search": (20, Colleague.search),
    "turn a page": (5, Colleague.turn_page),
    "create by command": (9, Colleague.create),
    "create by form": (7, Colleague.create_by_form),
    "log time": (15, Colleague.log_time),
    "attach a file": (4, Colleague.attach),
    "Home": (8, Colleague.go_home),
    "list digests": (3, Colleague.list_digests),
    "whoami": (5, Colleague.ask_who),
}
"""What users do, with how often each occurs in a hundred actions."""
