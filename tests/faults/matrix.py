"""One cell of the service matrix: a scenario with a failing request, and the rules that must hold."""

import asyncio
import json
import re
import time
import traceback
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from bot import errors
from bot.service.transport import Timeouts
from bot.ttl_cache import TtlCache
from tests.faults import secrets
from tests.faults.scenarios import SCENARIOS
from tests.faults.scene import Scene
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, LOOK_EVERY, text_of, values_of
from tests.support.wire import AFTER, Fault, Wire
from tests.support.wording import worded

UNKNOWN = re.compile(
    r"may have been created|may not have been saved|couldn't learn whether|Check whether|looks before"
)
UNTOUCHED = re.compile(
    r"nothing was (?:changed|posted)|wasn't sent|rejected that|permission|limiting requests"
    r"|isn't yours|not attached|doesn't let me change"
)
UNSUPPORTED = "doesn't let me change issues"
"""The user has to make the change in the service."""
GENERIC = "Something went wrong on my end"
LINK = "Link account"
NO_KEY = re.compile(r"Link account|refused your API key")
NORMAL_TIMEOUTS, SHORT_TIMEOUTS = Timeouts(), Timeouts(read=0.4, total=0.6, upload=0.6)
LATE_SECONDS = 0.8
"""Seconds of delay that exceed the short timeouts."""
SLOW_SECONDS = 15.0
"""Seconds for which a slow service stays silent."""
OPENS_FORM_LATE = frozenset({"timelog without activity"})
"""Opens a form only after the service rejects the activity; with an old trigger the bot posts a button."""
MAX_SILENCE = 20.0
"""Seconds of silence that even a busy machine doesn't explain, given the short waits in these tests."""
ERRORS: list[type[errors.ServiceError]] = [
    *(kind for kind in errors.ServiceError.__subclasses__() if kind is not errors.Refused),
    errors.AnswerTooLarge,
    errors.NoFreeConnection,
]
SENTENCES = re.compile(
    "|".join(re.escape(re.split("[:,.]", worded(kind("GET", "/")))[0]) for kind in ERRORS)
    + "|Tracker rejected that|The connection to Tracker was lost"
)
"""How the sentences for the service's errors in `bot.errors` begin."""
LOOKED_UP = re.compile(r"(POST|PUT|PATCH) /(issues|projects|attachments/|users/|time_entries\.)")
"""Writes that the bot can look up afterwards. It can't look up uploads, new accounts and edited time entries.
"""
NOT_LOOKED_UP = frozenset({"timelog on a project"})
"""Scenarios whose write can't be looked up anyway: the service sums up the hours of issues only."""
SHOWN_IN_PART = frozenset(
    {
        *("issue show", "menu: share", "comment button", "comment from message", "comment with a message"),
        *("open a saved comment", "choose an issue to comment on"),
    }
)
"""Scenarios that show a result without the parts that couldn't be read."""
SILENCE = re.compile(r'"options": \[\]\}$|\[\]$')
"""No suggestions, or a link that wasn't unfurled."""
DEFINITE = frozenset(
    {
        *("refuse the key", "forbid", "301 elsewhere", "302 elsewhere", "307 elsewhere"),
        *("429", "429 for a moment", "429 for an hour", "429 for nonsense"),
        *("404", "410", "413 in HTML", "422 without a word"),
    }
)
"""Faults after which it is certain that nothing was saved."""


@dataclass(frozen=True)
class Cell:
    """A scenario, the fault, the number of the first request that fails, and whether later ones fail too."""

    scenario: str
    fault: Fault
    at: int
    lasting: bool

    def __str__(self) -> str:
        since = "from" if self.lasting else "at"
        return f"{self.scenario} × {self.fault} {since} request {self.at}"

    def broken(self, asked: Sequence[str]) -> Sequence[str]:
        """Returns the requests that fail."""
        return asked[self.at :] if self.lasting else asked[self.at : self.at + 1]


@dataclass(frozen=True)
class Screen:
    """What the user sees at one moment."""

    state: JSON
    offered: JSON | None

    @property
    def view(self) -> JSON | None:
        """The view on top, if any."""
        views = self.state["views"]
        return views[-1] if views else None

    @property
    def parts(self) -> dict[str, str]:
        """Everything on screen, by key, as text."""
        found = {
            message["ts"]: text_of(message) + message["text"] + json.dumps(message["unfurls"])
            for rows in self.state["messages"].values()
            for message in rows
        }
        if view := self.view:
            held = json.dumps(values_of(view)) if view.get("submit") else ""
            found[view["hash"]] = f"{view['title']['text']} {text_of(view)} {view['errors'] or ''} {held}"
        if self.state["home"]:
            found["home"] = text_of(self.state["home"])
        if self.state["details"]:
            found["details"] = json.dumps(self.state["details"])
        if self.offered is not None:
            found["offered"] = json.dumps(self.offered)
        return found


@dataclass(frozen=True)
class Outcome:
    """The result of a run: the new texts on screen, how often the action took effect, and the requests to the
    service.

    `opens` is whether it opened a form, which must happen within Slack's 3 seconds. `first` is the number of
    seconds before anything appeared. `held` is whether the bot waited for the service before it acknowledged.
    """

    said: list[str]
    made: int
    asked: list[str]
    opens: bool
    first: float
    held: bool


class Matrix:
    """Runs cells in one office; `wrong` collects one sentence per broken rule."""

    def __init__(self, scene: Scene, wire: Wire) -> None:
        self.scene = scene
        self.wire = wire
        self.wire.seconds, self.wire.too_late = SLOW_SECONDS, LATE_SECONDS
        self.ran = 0
        self.usual: dict[str, Outcome] = {}
        self.wrong: list[str] = []

    async def requests(self, name: str) -> list[str]:
        """Runs the scenario without a fault, checks that it succeeds, and returns the requests it makes.

        Returns none if the scenario can't be run.
        """
        try:
            did = self.usual[name] = await self._do(Cell(name, "pass", 0, lasting=False))
        except Exception as error:  # noqa: BLE001 - one failing scenario must not stop the rest
            self.wrong.append(f"{name}: {error!r} at {traceback.extract_tb(error.__traceback__)[-2:]}")
            return []
        scenario = SCENARIOS[name]
        if scenario.effect and not (did.made == 1 and re.search(scenario.said, "\n".join(did.said))):
            self.wrong.append(f"{name}: took effect {did.made} times without a fault; said: {did.said}")
        return did.asked

    async def run(self, cell: Cell) -> None:
        """Runs one cell, then follows the bot's instructions to the user, such as trying again."""
        self.ran += 1
        try:
            await self._run(cell)
        except Exception as error:  # noqa: BLE001 - one failing cell must not stop the rest
            self.wrong.append(f"{cell}: {error!r} at {traceback.extract_tb(error.__traceback__)[-2:]}")

    async def _run(self, cell: Cell) -> None:
        did = await self._do(cell)
        if is_unnoticeable(cell.fault, cell.broken(did.asked)):
            return
        scenario = SCENARIOS[cell.scenario]
        wrong = self._broken_rules(cell, did)
        if scenario.effect and UNSUPPORTED not in "\n".join(did.said):
            wrong += await self._follow_instructions(cell, did.made)
        wrong += secrets.shown(self.scene, [await self._person(cell).state()])
        wrong += [f"a request followed a redirect: {one}" for one in self.wire.elsewhere]
        wrong += [f"it broke Slack's rule: {one}" for one in self.scene.office.violations()]
        self.wire.elsewhere.clear()
        self.scene.office.workspace.violations.clear()
        self.wrong += [f"{cell}: {one}; said: {did.said}" for one in wrong]

    def _person(self, cell: Cell) -> Person:
        return self.scene.person(SCENARIOS[cell.scenario].who)

    async def _screen(self, cell: Cell) -> Screen:
        return Screen(await self._person(cell).state(), self.scene.offered)

    async def _count(self, cell: Cell) -> int:
        effect = SCENARIOS[cell.scenario].effect
        return await effect(self.scene) if effect else 0

    async def _do(self, cell: Cell) -> Outcome:
        await self.scene.reset()
        self._forget()
        calls = self.scene.office.workspace.state.calls
        async with aclosing(SCENARIOS[cell.scenario].steps(self.scene)) as steps:
            await anext(steps)
            await self.scene.settled()
            count, before = await self._count(cell), (await self._screen(cell)).parts
            calls.clear()
            self.wire.fail(cell.fault, cell.at, lasting=cell.lasting)
            self._wait_for(SHORT_TIMEOUTS if cell.fault in ("late", "trickle") else NORMAL_TIMEOUTS)
            if SCENARIOS[cell.scenario].handlers[0].startswith("options:"):  # test_faults has their timeout
                self.wire.released.set()
            word = asyncio.create_task(self._seconds_of_silence())
            await anext(steps, None)
            await self._release(cell)
            await self.scene.settled()
            self._wait_for(NORMAL_TIMEOUTS)
            held, asked = self.wire.held, self.wire.heal()
        word.cancel()
        first = await word
        after = (await self._screen(cell)).parts
        return Outcome(
            said=[text for name, text in after.items() if before.get(name) != text],
            made=await self._count(cell) - count,
            asked=asked,
            opens=any(call.method == "views.open" for call in calls),
            first=first,
            held=bool(held),
        )

    async def _release(self, cell: Cell) -> None:
        """Lets a slow service answer once Slack has the acknowledgment and the form, if there is one."""
        if cell.fault == "slow" and self.usual[cell.scenario].opens and cell.scenario not in OPENS_FORM_LATE:
            calls = self.scene.office.workspace.state.calls
            while not self.wire.held and not any(call.method == "views.open" for call in calls):
                await asyncio.sleep(LOOK_EVERY)
        self.wire.released.set()

    async def _seconds_of_silence(self) -> float:
        """Returns how many seconds pass until anything appears on screen, or until this task is canceled."""
        state, began = self.scene.office.workspace.state, time.monotonic()
        version = state.version
        with suppress(asyncio.CancelledError):
            while state.version == version:
                await asyncio.sleep(LOOK_EVERY)
        return time.monotonic() - began

    def _wait_for(self, timeouts: Timeouts) -> None:
        """Sets how long the bot waits for the service: short timeouts only for late answers, so that a busy
        machine doesn't fail the other cells.
        """
        transport = self.scene.office.bot.client._transport
        transport._timeouts = timeouts
        transport._http.timeout = timeouts.read

    def _forget(self) -> None:
        """Clears the bot's caches of the service's answers."""
        bot = self.scene.office.bot
        projects, catalogs = bot.features.projects, bot.features.catalogs
        for cache in (*vars(projects).values(), *vars(catalogs).values()):
            if isinstance(cache, TtlCache):
                cache._kept.clear()
                cache.weight = 0
        bot.client.optional._missing.clear()

    def _broken_rules(self, cell: Cell, did: Outcome) -> list[str]:
        scenario, said, made = SCENARIOS[cell.scenario], "\n".join(did.said), did.made
        done, unknown = re.search(scenario.said, said), UNKNOWN.search(said)
        linking = LINK in said  # the bot runs the saved command, or shows it again, after the user links
        written = any(LOOKED_UP.match(request) for request in cell.broken(did.asked))
        seen = scenario.effect is not None and scenario.name not in NOT_LOOKED_UP
        sent = any(LOOKED_UP.match(request) for request in did.asked[: cell.at])  # before the fault
        found_out = cell.fault in AFTER and not cell.lasting and written and seen
        rules = {
            f"it took effect {made} times": made not in (0, 1),
            "there is no answer": scenario.expects_answer and not said.strip(),
            "there is more than one answer": scenario.expects_answer and not done and len(did.said) > 1,
            "it is reported as done but isn't": bool(scenario.effect and done) and made == 0,
            "it is done but not reported": made == 1 and scenario.expects_answer and not (done or unknown),
            "it is done but reported as unchanged": made == 1 and not done and bool(UNTOUCHED.search(said)),
            "it is done and can be looked up, but isn't reported": found_out and not (made == 1 and done),
            "it is rejected but reported as uncertain": cell.fault in DEFINITE and bool(unknown) and not sent,
            "the text is neither an answer nor an error's wording": not done
            and not all(self._is_expected(cell, text) for text in did.said),
            "the service's fault is reported as the bot's": GENERIC in said,
            "it still says to wait": "One moment" in said or ":hourglass" in said,
            "a traceback is shown": "Traceback" in said,
            "it says to try again immediately": "in 0 seconds" in said,
            f"nothing appeared for {did.first:.0f} seconds": did.first > MAX_SILENCE,
            "the bot waited for the service before acknowledging": did.held,
            "the user's input is lost": scenario.typed
            and not made
            and not linking
            and not {self.scene.word, self.scene.slug} & set(re.findall(r"[Gg]adget[ -]\d+", said)),
        }
        return [rule for rule, is_broken in rules.items() if is_broken]

    def _is_expected(self, cell: Cell, text: str) -> bool:
        """Returns whether the text also appears without a fault, or words one of the service's errors."""
        scenario, usual = SCENARIOS[cell.scenario], {plain(each) for each in self.usual[cell.scenario].said}
        if (cell.fault in DEFINITE or scenario.name in SHOWN_IN_PART) and re.search(scenario.refused, text):
            return True
        if not scenario.expects_answer and SILENCE.search(text):
            return True
        return plain(text) in usual or any(p.search(text) for p in (SENTENCES, UNKNOWN, UNTOUCHED, NO_KEY))

    async def _follow_instructions(self, cell: Cell, made: int) -> list[str]:
        """Follows the bot's instructions without a fault; the action must take effect exactly once."""
        scenario, person, view = SCENARIOS[cell.scenario], self._person(cell), (await self._screen(cell)).view
        count = await self._count(cell)
        if view and view["title"]["text"] == LINK:
            asks = any(block["type"] == "input" for block in view["blocks"])
            await person.submit(view, {"API key": KEYS[scenario.who]} if asks else {})
            await self.scene.settled()
            made += await self._count(cell) - count
            count, view = await self._count(cell), (await self._screen(cell)).view
        if view and view.get("submit") and any(name.startswith("form:") for name in scenario.handlers):
            chosen = {}
            if any(b["type"] == "input" and b["element"]["type"] == "file_input" for b in view["blocks"]):
                chosen["Files"] = [await person.upload(f"{self.scene.slug}.log", b"1")]  # uploaded again
            await person.submit(view, chosen)
        elif view and view["title"]["text"] == "Files" and "Retry" in json.dumps(view["blocks"]):
            await person.press_in_form(view, "Retry")
        elif not made and any(name.startswith("command:") for name in scenario.handlers):
            async with aclosing(scenario.steps(self.scene)) as steps:  # typed again
                await anext(steps)
                await anext(steps, None)
        else:
            return []
        await self.scene.settled()
        total = made + await self._count(cell) - count
        now = (await self._screen(cell)).view
        left = f"{text_of(now)} {now['errors']}" if now else ""
        return [] if total == 1 else [f"tried again, it took effect {total} times: {left[:300]!r}"]


def plain(text: str) -> str:
    """Replaces numbers and keys, which differ from run to run."""
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "0", text)


def is_unnoticeable(fault: Fault, broken: Sequence[str]) -> bool:
    """Returns whether the fault looks like success: the service answers updates with an empty body, too."""
    return fault == "nothing before it" and any(one.startswith(("PUT", "PATCH")) for one in broken)
