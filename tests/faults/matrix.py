"""One cell of the matrix: a doing whose way to the service fails at one request, and what may come of it."""

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
from tests.faults import secrets
from tests.faults.doings import DOINGS
from tests.faults.scene import Scene
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, LOOK_EVERY, text_of, values_of
from tests.support.wire import AFTER, Fault, Wire

UNKNOWN = re.compile(
    r"may have been (?:done|created) or not|couldn't learn whether|look whether it was|looks before it sends"
)
UNTOUCHED = re.compile(
    r"nothing was (?:done|posted)|refused that|doesn't let|slow down|isn't yours|not attached"
)
GENERIC = "Something went wrong on my side"
LINK = "Link Tracker"
NO_KEY = re.compile(r"Link Tracker|no longer accepts your API key")
PATIENT, HASTY = Timeouts(), Timeouts(read=0.4, total=0.6, upload=0.6)
TOO_LATE = 0.8
"""Seconds after which nobody waits any more who is in haste."""
HELD = 15.0
"""Seconds for which a slow service keeps silent when nobody acknowledges anything."""
ASKS_FIRST = frozenset({"timelog without activity"})
"""What opens a form only when the service doesn't take the activity; a button does, once a trigger is old."""
LONGEST = 20.0
"""Seconds without a word that no busy machine explains, when whatever waits does so for a moment only."""
ERRORS: list[type[errors.ServiceError]] = [
    *errors.ServiceError.__subclasses__(),
    errors.AnswerTooLarge,
    errors.NoFreeConnection,
]
SENTENCES = re.compile(
    "|".join(
        re.escape(re.split("[:,]", kind.template.replace("{service}", "Tracker"))[0])
        for kind in ERRORS
        if kind.template != errors.ServiceError.template
    )
    + "|Tracker refused that|Tracker is asking us to slow down|lost on the way to Tracker: try again"
)
"""How the sentences begin that an error of the service's has in `bot.errors`."""
LOOKED_UP = re.compile(r"(POST|PUT|PATCH) /(issues|projects|attachments/|users/|time_entries\.)")
"""Writes that can be looked up afterwards: not uploads, new accounts and changed time."""
UNSEEN = frozenset({"timelog on a project"})
"""What can't be looked up all the same: only an issue's spent hours are summed up."""
LESS = frozenset({"issue show", "menu: share"})
"""What is shown all the same without what couldn't be read beside it."""
SILENCE = re.compile(r'"options": \[\]\}$|\[\]$')
"""Nothing offered, and a link that stays as it was."""
DEFINITE = frozenset(
    {
        *("refuse the key", "forbid", "301 elsewhere", "302 elsewhere", "307 elsewhere"),
        *("429", "429 for a moment", "429 for an hour", "429 for nonsense"),
        *("404", "410", "413 in HTML", "422 without a word"),
    }
)
"""What says clearly that nothing was done."""


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

    def broken(self, asked: Sequence[str]) -> Sequence[str]:
        """Those of the requests that the fault befalls."""
        return asked[self.at :] if self.lasting else asked[self.at : self.at + 1]


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


@dataclass(frozen=True)
class Did:
    """What came of a doing: what was said newly, how often it was done, what was asked of the service.

    `opens` is whether it opened a form, which Slack allows for 3 seconds; `first` how many seconds nothing
    was to be seen; `held` whether the service was waited for before there was so much as an acknowledgement.
    """

    said: list[str]
    made: int
    asked: list[str]
    opens: bool
    first: float
    held: bool


class Matrix:
    """Goes through cells in one office; `wrong` are the promises that were broken, a sentence each."""

    def __init__(self, scene: Scene, wire: Wire) -> None:
        self.scene = scene
        self.wire = wire
        self.wire.seconds, self.wire.too_late = HELD, TOO_LATE
        self.ran = 0
        self.usual: dict[str, Did] = {}
        self.wrong: list[str] = []

    async def requests(self, name: str) -> list[str]:
        """The requests that a doing makes where nothing fails, which has to do what it is for."""
        did = self.usual[name] = await self._do(Cell(name, "pass", 0, lasting=False))
        doing = DOINGS[name]
        if doing.effect and not (did.made == 1 and re.search(doing.said, "\n".join(did.said))):
            self.wrong.append(f"{name}: was done {did.made} times where nothing failed; said: {did.said}")
        return did.asked

    async def run(self, cell: Cell) -> None:
        """Go through one cell, and do afterwards what the person is told to."""
        self.ran += 1
        try:
            await self._run(cell)
        except Exception as error:  # noqa: BLE001 - one cell that can't be gone through holds up no other one
            self.wrong.append(f"{cell}: {error!r} at {traceback.extract_tb(error.__traceback__)[-2:]}")

    async def _run(self, cell: Cell) -> None:
        did = await self._do(cell)
        if flawless(cell.fault, cell.broken(did.asked)):
            return
        doing = DOINGS[cell.doing]
        wrong = self._untrue(cell, did)
        if doing.effect:
            wrong += await self._again(cell, did.made)
        wrong += secrets.shown(self.scene, [await self._person(cell).state()])
        wrong += [f"the other host was asked: {one}" for one in self.wire.elsewhere]
        wrong += [f"Slack's rule broken: {one}" for one in self.scene.office.violations()]
        self.wire.elsewhere.clear()
        self.scene.office.workspace.violations.clear()
        self.wrong += [f"{cell}: {one}; said: {did.said}" for one in wrong]

    def _person(self, cell: Cell) -> Person:
        return self.scene.person(DOINGS[cell.doing].who)

    async def _seen(self, cell: Cell) -> Seen:
        return Seen(await self._person(cell).state(), self.scene.offered)

    async def _count(self, cell: Cell) -> int:
        effect = DOINGS[cell.doing].effect
        return await effect(self.scene) if effect else 0

    async def _do(self, cell: Cell) -> Did:
        await self.scene.begin()
        self._forget()
        calls = self.scene.office.workspace.state.calls
        async with aclosing(DOINGS[cell.doing].way(self.scene)) as steps:
            await anext(steps)
            await self.scene.settled()
            count, before = await self._count(cell), (await self._seen(cell)).parts
            calls.clear()
            self.wire.fail(cell.fault, cell.at, lasting=cell.lasting)
            self._wait_for(HASTY if cell.fault in ("late", "trickle") else PATIENT)
            if DOINGS[cell.doing].serves[0].startswith("options:"):  # they end by themselves, in test_faults
                self.wire.released.set()
            word = asyncio.create_task(self._first_word())
            await anext(steps, None)
            await self._release(cell)
            await self.scene.settled()
            self._wait_for(PATIENT)
            held, asked = self.wire.held, self.wire.heal()
        word.cancel()
        first = await word
        after = (await self._seen(cell)).parts
        return Did(
            said=[text for name, text in after.items() if before.get(name) != text],
            made=await self._count(cell) - count,
            asked=asked,
            opens=any(call.method == "views.open" for call in calls),
            first=first,
            held=bool(held),
        )

    async def _release(self, cell: Cell) -> None:
        """Let a slow service answer once Slack has its acknowledgement, and a form that it waits for."""
        if cell.fault == "slow" and self.usual[cell.doing].opens and cell.doing not in ASKS_FIRST:
            calls = self.scene.office.workspace.state.calls
            while not self.wire.held and not any(call.method == "views.open" for call in calls):
                await asyncio.sleep(LOOK_EVERY)
        self.wire.released.set()

    async def _first_word(self) -> float:
        """How many seconds pass until somebody sees something, or until this is cancelled."""
        state, began = self.scene.office.workspace.state, time.monotonic()
        version = state.version
        with suppress(asyncio.CancelledError):
            while state.version == version:
                await asyncio.sleep(LOOK_EVERY)
        return time.monotonic() - began

    def _wait_for(self, timeouts: Timeouts) -> None:
        """How long the bot waits for the service: no longer than it must where an answer comes too late, and
        elsewhere as long as ever, so that a busy machine is no fault of its own.
        """
        transport = self.scene.office.bot.client._transport
        transport._timeouts = timeouts
        transport._http.timeout = timeouts.read

    def _forget(self) -> None:
        """Let the bot remember nothing of what the service said before."""
        bot = self.scene.office.bot
        bot.features.projects._recent._kept.clear()
        bot.features.catalogs._recent._kept.clear()
        bot.features.catalogs._required._kept.clear()
        bot.client.optional._missing.clear()

    def _untrue(self, cell: Cell, did: Did) -> list[str]:
        doing, said, made = DOINGS[cell.doing], "\n".join(did.said), did.made
        done, unknown = re.search(doing.said, said), UNKNOWN.search(said)
        linking = LINK in said  # what was typed is carried out, or comes back, once the person is linked
        written = any(LOOKED_UP.match(request) for request in cell.broken(did.asked))
        seen = doing.effect is not None and doing.name not in UNSEEN
        sent = any(LOOKED_UP.match(request) for request in did.asked[: cell.at])  # before the fault
        found_out = cell.fault in AFTER and not cell.lasting and written and seen
        rules = {
            f"it was done {made} times": made not in (0, 1),
            "nobody answered": doing.asked and not said.strip(),
            "it is answered more than once": doing.asked and not done and len(did.said) > 1,
            "it is called done and isn't": bool(doing.effect and done) and made == 0,
            "it is done and nobody says so": made == 1 and doing.asked and not (done or unknown),
            "it is done and called untouched": made == 1 and not done and bool(UNTOUCHED.search(said)),
            "it is done, can be looked up, and isn't called so": found_out and not (made == 1 and done),
            "it is refused and called uncertain": cell.fault in DEFINITE and bool(unknown) and not sent,
            "what is said is no answer and no error's sentence": not done
            and not all(self._fits(cell, text) for text in did.said),
            "the service's fault is called the bot's own": GENERIC in said,
            "it is still waited for": "One moment" in said or ":hourglass" in said,
            "a traceback is shown": "Traceback" in said,
            "it is to be tried at once": "in 0 seconds" in said,
            f"there was no word for {did.first:.0f} seconds": did.first > LONGEST,
            "the service was waited for while Slack waited": did.held,
            "what was typed is lost": doing.typed
            and not made
            and not linking
            and not {self.scene.word, self.scene.slug} & set(re.findall(r"[Gg]adget[ -]\d+", said)),
        }
        return [rule for rule, is_broken in rules.items() if is_broken]

    def _fits(self, cell: Cell, text: str) -> bool:
        """Whether this is said where nothing fails, or is what an error of the service's says."""
        doing, usual = DOINGS[cell.doing], {plain(each) for each in self.usual[cell.doing].said}
        if (cell.fault in DEFINITE or doing.name in LESS) and re.search(doing.refused, text):
            return True
        if not doing.asked and SILENCE.search(text):
            return True
        return plain(text) in usual or any(p.search(text) for p in (SENTENCES, UNKNOWN, UNTOUCHED, NO_KEY))

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


def plain(text: str) -> str:
    """A text without its numbers and keys, which are others each time."""
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "0", text)


def flawless(fault: Fault, broken: Sequence[str]) -> bool:
    """Whether the service's own answer is the same: it says nothing either when it has changed something."""
    return fault == "nothing before it" and any(one.startswith(("PUT", "PATCH")) for one in broken)
