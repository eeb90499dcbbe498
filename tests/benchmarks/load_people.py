"""The users of the load test: what each of them does in a loop, and what the bot answers."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.sandbox.people import Person as Invented
from bot.sandbox.workspace import snapshot
from bot.sandbox.workspace.model import Channel
from tests.benchmarks.load_service import key_of
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, input_named, option_saying, text_of, until

TEAM_SIZE = 5
PROJECT = "Web Shop"
TIMEOUT = 30.0
STILL_WORKING = "Still working on it"
WORDS = ("cart", "login", "delivery", "password", "push", "invoice", "search", "slow", "error", "page")


def invented(number: int) -> Invented:
    """Returns a user for the workspace."""
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
        api_key=key_of(number),
        in_slack=True,
    )


def add_channels(office: Office, people: int) -> None:
    """Adds a channel with the bot for every few users."""
    state = office.workspace.state
    for first in range(0, people, TEAM_SIZE):
        members = {invented(number).slack_id for number in range(first, min(first + TEAM_SIZE, people))}
        name = f"team-{first // TEAM_SIZE}"
        state.add_channel(Channel(f"C0{name.upper()}", name, "channel", members | {state.app.bot_user_id}))


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
        """Returns the views and the Home tab; `after` reads messages."""
        state = self.office.workspace.state
        home = state.homes.get(self.user_id)
        return {
            "views": [snapshot._view(state, view) for view in state.stack(self.user_id)],
            "home": snapshot._view(state, home) if home else None,
        }

    async def after(self, action: Awaitable[object], channel: str | None = None) -> JSON:
        """Awaits `action` and returns the bot's next message to the user or about them, but not the notice
        that it is still working.
        """
        state = self.office.workspace.state
        said = state.messages[self.office.channel_id(channel or self.channel)]
        since = said[-1].ts if said else ""
        await action

        async def new() -> JSON | None:
            for message in reversed(said):
                if message.ts <= since:
                    return None
                if STILL_WORKING in message.text:
                    continue
                if message.by_app and (
                    message.to == self.user_id or message.text.startswith(f"<@{self.user_id}>")
                ):
                    return snapshot._message(state, message)
            return None

        return await until(new, TIMEOUT)

    async def link(self) -> None:
        """Links the account as any user does."""
        await self.command("/tracker link")
        await self.submit(await self.form("Link account"), {"API key": key_of(self.number)})
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
                await ACTS[name][1](self)
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

    async def show(self) -> None:
        said = text_of(await self.after(self.command(f"/issue {self.chance.choice(self.issues)}")))
        if "*Status*" not in said:
            self.told.trouble("show", said)

    async def search(self) -> None:
        """Searches, and sometimes turns to the next page."""
        word = self.chance.choice(WORDS)
        answer = await self.after(self.command(f"/issues {word} status:any project:any"))
        said = text_of(answer)
        if "issue" not in said[:20] and "Nothing" not in said:
            self.told.trouble("search", said)

    async def turn_page(self) -> None:
        """Lists everything and turns to the second page."""
        answer = await self.after(self.command("/issues status:any project:any"))
        if "Next" not in text_of(answer):
            self.told.trouble("page", text_of(answer))
            return
        state, ts = self.office.workspace.state, answer["ts"]
        await self.press(answer, "Next ›")

        async def turned() -> bool:
            message = state.find(answer["channel"], ts)
            return message is None or text_of({"blocks": message.blocks}) != text_of(answer)

        await until(turned, TIMEOUT)

    def mark(self, what: str) -> str:
        """Returns a unique text and records that it is about to be written."""
        self._written += 1
        mark = f"{what} {self.number}-{self._written}"
        self.told.writes[mark] = ""
        return mark

    def note(self, mark: str, said: str, done: str) -> None:
        """Records what the user was told about a write. An error repeats what they typed."""
        succeeded = done in said and "You typed:" not in said
        self.told.writes[mark] = "done" if succeeded else said
        if not succeeded:
            self.told.trouble(mark.split(" ", maxsplit=1)[0], said)

    async def create(self) -> None:
        """Creates an issue with a command."""
        mark = self.mark("created")
        answer = await self.after(self.command(f"/issue new {mark} project:webshop"))
        self.note(mark, text_of(answer), f" {mark} ")

    async def log_time(self) -> None:
        """Logs time with a command."""
        mark = self.mark("logged")
        issue = self.chance.choice(self.issues)
        answer = await self.after(self.command(f"/timelog {issue} 30m activity:design {mark}"))
        self.note(mark, text_of(answer), "ogged 30m on")

    async def create_by_form(self) -> None:
        """Creates an issue with the form."""
        await self.shortcut("create_issue")
        form = await self.form("New issue")
        block = input_named(form, "Project")
        for _ in range(3):  # types again if the select found nothing
            found = (await self.suggest(form, "Project", PROJECT)).get("options")
            if found:
                break
        else:
            self.told.trouble("form", "no project was suggested")
            return
        chosen = option_saying(found, PROJECT)
        await self._act({"view": {"id": form["id"]}}, block, block["element"], selected_option=chosen)

        async def filled() -> JSON | None:
            form = await self.form("New issue")
            labels = {block["label"]["text"] for block in form["blocks"] if block["type"] == "input"}
            return form if "Tracker" in labels or ":warning:" in text_of(form) else None

        form = await until(filled, TIMEOUT)
        mark = self.mark("by form")
        await self.submit(form, {"Subject": mark})
        self.note(mark, await self._outcome(form), f" {mark} ")

    async def attach(self) -> None:
        """Attaches a file to an issue."""
        await self.command(f"/issue attach {self.chance.choice(self.issues)}")
        form = await self.form("Attach files")
        mark = self.mark("file").replace(" ", "-")
        self.told.writes[mark] = self.told.writes.pop(mark.replace("-", " ", 1))
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
            if view["hash"] == form["hash"] and not view["errors"]:
                return None
            said = f"{view['title']['text']} {text_of(view)} {view['errors'] or ''}"
            busy = view["busy"] or view["title"]["text"] == "One moment" or ":hourglass" in said
            return None if busy else said

        return await until(answered, TIMEOUT)

    async def go_home(self) -> None:
        """Opens the Home tab and waits until it is published."""
        before = self.office.workspace.state.homes.get(self.user_id)
        hashed = before.hash if before else ""
        await self.open_home()

        async def filled() -> bool:
            home = await self.home()
            return home is not None and home["hash"] != hashed and "One moment" not in text_of(home)

        await until(filled, TIMEOUT)

    async def list_digests(self) -> None:
        """Lists the channel's digests."""
        await self.after(self.command("/digest"))

    async def ask_who(self) -> None:
        """Shows the linked account."""
        await self.after(self.command("/tracker whoami"))


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
