"""One cell of the matrix: a doing whose way to the service fails at one request, and what may come of it."""

import json
import re
import traceback
from contextlib import aclosing
from dataclasses import dataclass

import httpx

from bot.service.transport import Timeouts
from tests.faults import secrets
from tests.faults.doings import DOINGS
from tests.faults.scene import KEYS, Scene
from tests.journeys.person import Person
from tests.journeys.reading import JSON, text_of, values_of
from tests.journeys.wire import Fault, Wire

UNKNOWN = re.compile(
    r"may have been (?:done|created) or not|couldn't learn whether|look whether it was|looks before it sends"
)
UNTOUCHED = re.compile(
    r"nothing was (?:done|posted)|refused that|doesn't let|slow down|isn't yours|not attached"
)
GENERIC = "Something went wrong on my side"
LINK = "Link Tracker"
PATIENT, HASTY = Timeouts(), Timeouts(read=0.4, total=0.6, upload=0.6)
TOO_LATE = 0.8
"""Seconds after which nobody waits any more who is in haste."""


@dataclass(frozen=True)
class Cell:
    """What is done, what fails, at which of its requests, and whether from then on."""

    doing: str
    fault: Fault
    at: int
    lasting: bool

    def __str__(self) -> str:
        since = "from" if self.lasting else "at"
        return f"{self.doing} × {self.fault} {since} request {self.at}"


@dataclass(frozen=True)
class Seen:
    """What somebody sees at a moment."""

    state: JSON
    offered: JSON | None

    @property
    def view(self) -> JSON | None:
        """The form on top."""
        views = self.state["views"]
        return views[-1] if views else None

    @property
    def parts(self) -> dict[str, str]:
        """Each thing that is seen, with what it says."""
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


class Matrix:
    """Goes through cells in one office; `wrong` are the promises that were broken, a sentence each."""

    def __init__(self, scene: Scene, wire: Wire) -> None:
        self.scene = scene
        self.wire = wire
        self.wire.seconds, self.wire.too_late = 0.05, TOO_LATE
        self.ran = 0
        self.wrong: list[str] = []

    async def requests(self, name: str) -> list[str]:
        """The requests that a doing makes where nothing fails, which has to do what it is for."""
        said, made, asked = await self._do(Cell(name, "pass", 0, lasting=False))
        doing = DOINGS[name]
        if doing.effect and not (made == 1 and re.search(doing.said, "\n".join(said))):
            self.wrong.append(f"{name}: was done {made} times where nothing failed; said: {said}")
        return asked

    async def run(self, cell: Cell) -> None:
        """Go through one cell, and do afterwards what the person is told to."""
        self.ran += 1
        try:
            await self._run(cell)
        except Exception as error:  # noqa: BLE001 - one cell that can't be gone through holds up no other one
            self.wrong.append(f"{cell}: {error!r} at {traceback.extract_tb(error.__traceback__)[-2:]}")

    async def _run(self, cell: Cell) -> None:
        said, made, _ = await self._do(cell)
        doing = DOINGS[cell.doing]
        wrong = self._untrue(cell, said, made)
        if doing.effect:
            wrong += await self._again(cell, made)
        wrong += secrets.shown(self.scene, [await self._person(cell).state()])
        wrong += [f"the other host was asked: {one}" for one in self.wire.elsewhere]
        wrong += [f"Slack's rule broken: {one}" for one in self.scene.office.violations()]
        self.wire.elsewhere.clear()
        self.scene.office.workspace.violations.clear()
        self.wrong += [f"{cell}: {one}; said: {said}" for one in wrong]

    def _person(self, cell: Cell) -> Person:
        return self.scene.person(DOINGS[cell.doing].who)

    async def _seen(self, cell: Cell) -> Seen:
        return Seen(await self._person(cell).state(), self.scene.offered)

    async def _count(self, cell: Cell) -> int:
        effect = DOINGS[cell.doing].effect
        return await effect(self.scene) if effect else 0

    async def _do(self, cell: Cell) -> tuple[list[str], int, list[str]]:
        """What was said newly, how often it was done, what was asked of the service."""
        await self.scene.begin()
        self._forget()
        async with aclosing(DOINGS[cell.doing].way(self.scene)) as steps:
            await anext(steps)
            await self.scene.settled()
            count, before = await self._count(cell), (await self._seen(cell)).parts
            self.wire.fail(cell.fault, cell.at, lasting=cell.lasting)
            self._wait_for(HASTY if cell.fault in ("late", "trickle") else PATIENT)
            await anext(steps, None)
            await self.scene.settled()
            self._wait_for(PATIENT)
            asked = self.wire.heal()
        after = (await self._seen(cell)).parts
        said = [text for name, text in after.items() if before.get(name) != text]
        return said, await self._count(cell) - count, asked

    def _wait_for(self, timeouts: Timeouts) -> None:
        """How long the bot waits for the service: no longer than it must where an answer comes too late, and
        elsewhere as long as ever, so that a busy machine is no fault of its own.
        """
        transport = self.scene.office.bot.client._transport
        transport._timeouts = timeouts
        transport._http.timeout = httpx.Timeout(timeouts.read)

    def _forget(self) -> None:
        """Let the bot remember nothing of what the service said before."""
        parts = self.scene.office.bot.parts
        parts.projects._recent._kept.clear()
        parts.catalogs._recent._kept.clear()
        parts.client.beyond._missing.clear()

    def _untrue(self, cell: Cell, answers: list[str], made: int) -> list[str]:
        doing, said = DOINGS[cell.doing], "\n".join(answers)
        done, unknown = re.search(doing.said, said), UNKNOWN.search(said)
        linking = LINK in said  # what was typed is carried out, or comes back, once the person is linked
        rules = {
            f"it was done {made} times": made not in (0, 1),
            "nobody answered": doing.asked and not said.strip(),
            "it is answered more than once": doing.asked and not done and len(answers) > 1,
            "it is called done and isn't": bool(doing.effect and done) and made == 0,
            "it is done and nobody says so": made == 1 and doing.asked and not (done or unknown),
            "it is done and called untouched": made == 1 and not done and bool(UNTOUCHED.search(said)),
            "the service's fault is called the bot's own": GENERIC in said,
            "it is still waited for": "One moment" in said or ":hourglass" in said,
            "a traceback is shown": "Traceback" in said,
            "it is to be tried at once": "in 0 seconds" in said,
            "what was typed is lost": doing.typed
            and not made
            and not linking
            and not {self.scene.word, self.scene.slug} & set(re.findall(r"[Gg]adget[ -]\d+", said)),
        }
        return [rule for rule, broken in rules.items() if broken]

    async def _again(self, cell: Cell, made: int) -> list[str]:
        """Do what the person is invited to, on a good wire: then it is done, and once."""
        doing, person, view = DOINGS[cell.doing], self._person(cell), (await self._seen(cell)).view
        count = await self._count(cell)
        if view and view["title"]["text"] == LINK:
            await person.submit(view, {"API key": KEYS[doing.who]})
            await self.scene.settled()
            made += await self._count(cell) - count
            count, view = await self._count(cell), (await self._seen(cell)).view
        if view and view.get("submit") and any(name.startswith("form:") for name in doing.serves):
            chosen = {}
            if any(b["type"] == "input" and b["element"]["type"] == "file_input" for b in view["blocks"]):
                chosen["Files"] = [await person.upload(f"{self.scene.slug}.log", b"1")]  # once more
            await person.submit(view, chosen)
        elif view and view["title"]["text"] == "Files" and "Retry" in json.dumps(view["blocks"]):
            await person.press_in_form(view, "Retry")
        elif not made and any(name.startswith("command:") for name in doing.serves):
            async with aclosing(doing.way(self.scene)) as steps:  # typed once more
                await anext(steps)
                await anext(steps, None)
        else:
            return []
        await self.scene.settled()
        total = made + await self._count(cell) - count
        now = (await self._seen(cell)).view
        left = f"{text_of(now)} {now['errors']}" if now else ""
        return [] if total == 1 else [f"tried again, it was done {total} times: {left[:300]!r}"]
