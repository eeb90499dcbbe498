"""One cell of the service matrix: a scenario with a failing request, and the rules that must hold."""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from bot import errors
from bot.timings import Timeouts
from tests.faults.matrix import Cell, Did, Matrix
from tests.faults.scenarios import SCENARIOS
from tests.faults.scene import NUMBER, Scene
from tests.support.people import KEYS
from tests.support.reading import LOOK_EVERY, text_of
from tests.support.wire import AFTER, Fault, Wire
from tests.support.wording import worded

UNKNOWN = re.compile(
    r"may have been created|may not (have been saved|be attached)|couldn't learn whether|Check whether"
    r"|looks before"
)
UNTOUCHED = re.compile(
    r"nothing was (?:changed|posted)|wasn't sent|rejected that|permission|limiting requests"
    r"|isn't yours|not attached|doesn't let me change"
)
UNSUPPORTED = "doesn't let me change issues"
"""The user has to make the change in the service."""
LINK = "Link account"
OTHER_ISSUE = re.compile(rf"^• #{NUMBER}:.*", re.MULTILINE)
"""What the bot says of the second issue when it changes two; a scenario's effect is counted in the first."""
NO_KEY = re.compile(r"Link account|refused your API key")
NO_ISSUE = re.compile(r"There's no issue #\d+ in Tracker, or you can't see it")
"""What a 404 of an issue says, if it lasts while the bot looks whether the issue is there."""
LATE = ("late", "trickle")
"""Faults for an office with short timeouts; the others have the usual ones, which suit a busy machine."""
SHORT_TIMEOUTS, LATE_SECONDS = Timeouts(read=2, total=3, upload=3), 4.0
"""The delay exceeds these timeouts."""
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
        *(
            "open a saved comment",
            "choose an issue to comment on",
            "open details",
            "open comments",
            "edit details",
        ),
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
class ServiceCell(Cell):
    """A cell with the first request that fails, by number or by how it starts, and what the bot says then."""

    fault: Fault
    at: int | str
    says: str = ""

    def __str__(self) -> str:
        since = "from" if self.lasting else "at"
        return f"{self.scenario} × {self.fault} {since} request {self.at}"

    def before(self, asked: Sequence[str]) -> Sequence[str]:
        """Returns the requests before the first one that fails."""
        if isinstance(self.at, int):
            return asked[: self.at]
        failing = (number for number, one in enumerate(asked) if one.startswith(self.at))
        return asked[: next(failing, len(asked))]

    def broken(self, asked: Sequence[str]) -> Sequence[str]:
        """Returns the requests that fail."""
        failing = asked[len(self.before(asked)) :]
        return failing if self.lasting else failing[:1]


class ServiceMatrix(Matrix):
    """Runs cells in one office behind a faulty proxy to the service."""

    def __init__(self, scene: Scene, wire: Wire) -> None:
        super().__init__(scene)
        self.wire = wire
        self.wire.seconds, self.wire.too_late = SLOW_SECONDS, LATE_SECONDS
        self._cell: ServiceCell | None = None
        self._usual: dict[str, list[str]] = {}
        """What each scenario says without a fault."""
        self._opening: set[str] = set()
        """Scenarios that open a form, which must happen within Slack's 3 seconds."""
        self._asked: list[str] = []
        """The requests of the last run."""
        self._held, self._silent = False, 0.0
        """Whether the bot waited for the service to acknowledge, and for how long nothing appeared."""

    def learned(self, name: str, did: Did) -> list[str]:
        self._usual[name] = [plain(text) for text in did.new.values()]
        if self._opens():
            self._opening.add(name)
        return self._asked

    async def check(self, cell: ServiceCell) -> tuple[Did, list[str]]:
        """Runs the cell, then follows the bot's instructions to the user, such as trying again."""
        self._cell = cell
        did = await self.do(cell.scenario, lambda: self.wire.fail(cell.fault, cell.at, lasting=cell.lasting))
        self._cell = None
        if is_unnoticeable(cell.fault, cell.broken(self._asked)):
            return did, []
        wrong = self._broken_rules(cell, did)
        if SCENARIOS[cell.scenario].effect and UNSUPPORTED not in did.reply_text:
            wrong += await self._follow_instructions(cell, did.made)
        wrong += [f"a request followed a redirect: {one}" for one in self.wire.elsewhere]
        self.wire.elsewhere.clear()
        return did, wrong

    async def act(self, name: str, steps: AsyncGenerator[None, None]) -> None:
        fault = self._cell.fault if self._cell else ""
        if not self._cell:
            self.wire.heal()
        self.scene.office.workspace.state.calls.clear()
        if SCENARIOS[name].handlers[0].startswith("options:"):  # test_faults has their timeout
            self.wire.released.set()
        silence = asyncio.create_task(self._seconds_of_silence())
        await anext(steps, None)
        # A slow service answers once Slack has the acknowledgment and the form, if there is one
        if fault == "slow" and name in self._opening - OPENS_FORM_LATE:
            while not (self.wire.full_waits or self._opens()):
                await asyncio.sleep(LOOK_EVERY)
        self.wire.released.set()
        await self.scene.settled()
        self._held, self._asked = bool(self.wire.full_waits), self.wire.heal()
        silence.cancel()
        self._silent = await silence

    def _opens(self) -> bool:
        return any(call.method == "views.open" for call in self.scene.office.workspace.state.calls)

    async def _seconds_of_silence(self) -> float:
        """Returns how many seconds pass until anything appears on screen, or until this task is canceled."""
        state, began = self.scene.office.workspace.state, time.monotonic()
        version = state.version
        with suppress(asyncio.CancelledError):
            while state.version == version:
                await asyncio.sleep(LOOK_EVERY)
        return time.monotonic() - began

    def _broken_rules(self, cell: ServiceCell, did: Did) -> list[str]:
        scenario, reply_text, made = SCENARIOS[cell.scenario], did.reply_text, did.made
        done, unknown = re.search(scenario.confirmation, reply_text), UNKNOWN.search(reply_text)
        linking = (
            LINK in reply_text
        )  # the bot runs the saved command, or shows it again, after the user links
        written = any(LOOKED_UP.match(request) for request in cell.broken(self._asked))
        is_looked_up = scenario.effect is not None and scenario.name not in NOT_LOOKED_UP
        sent = any(LOOKED_UP.match(request) for request in cell.before(self._asked))
        found_out = cell.fault in AFTER and not cell.lasting and written and is_looked_up
        rules = self.common_rules(cell, did, linking=linking) | {
            f"it never asked for {cell.at}": isinstance(cell.at, str) and not cell.broken(self._asked),
            f"it doesn't say {cell.says!r}": not re.search(cell.says, reply_text, re.DOTALL),
            "there is more than one answer": scenario.expects_answer
            and not done
            and len(did.new) > scenario.answers,
            "it is done but not reported": made == 1 and scenario.expects_answer and not (done or unknown),
            "it is done but reported as unchanged": made == 1
            and not done
            and UNTOUCHED.search(OTHER_ISSUE.sub("", reply_text)),
            "it is done and can be looked up, but isn't reported": found_out and not (made == 1 and done),
            "it is rejected but reported as uncertain": cell.fault in DEFINITE and unknown and not sent,
            "the text is neither an answer nor an error's wording": not done
            and not all(self._is_expected(cell, text) for text in did.new.values()),
            "it still says to wait": "One moment" in reply_text or ":hourglass" in reply_text,
            "it says to try again immediately": "in 0 seconds" in reply_text,
            f"nothing appeared for {self._silent:.0f} seconds": self._silent > MAX_SILENCE,
            "the bot waited for the service before acknowledging": self._held,
        }
        return [rule for rule, is_broken in rules.items() if is_broken]

    def _is_expected(self, cell: ServiceCell, text: str) -> bool:
        """Returns whether the text also appears without a fault, or words one of the service's errors."""
        scenario = SCENARIOS[cell.scenario]
        if (cell.fault in DEFINITE or scenario.name in SHOWN_IN_PART) and re.search(scenario.refused, text):
            return True
        if cell.says and re.search(cell.says, text, re.DOTALL):
            return True
        if cell.fault == "404" and cell.lasting and NO_ISSUE.search(text):
            return True
        if not scenario.expects_answer and SILENCE.search(text):
            return True
        worded = any(kind.search(text) for kind in (SENTENCES, UNKNOWN, UNTOUCHED, NO_KEY))
        return worded or plain(text) in self._usual[cell.scenario]

    async def _follow_instructions(self, cell: ServiceCell, made: int) -> list[str]:
        """Follows the bot's instructions without a fault; the action must take effect exactly once."""
        name, scenario, person = cell.scenario, SCENARIOS[cell.scenario], self.person(cell.scenario)
        count, view = await self.count(name), (await self.screen(name)).view
        if view and view["title"]["text"] == LINK:
            asks = any(block["type"] == "input" for block in view["blocks"])
            await person.submit(view, {"API key": KEYS[scenario.who]} if asks else {})
            await self.scene.settled()
            made += await self.count(name) - count
            count, view = await self.count(name), (await self.screen(name)).view
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
        total = made + await self.count(name) - count
        now = (await self.screen(name)).view
        left = f"{text_of(now)} {now['errors']}" if now else ""
        return [] if total == 1 else [f"tried again, it took effect {total} times: {left[:300]!r}"]


def plain(text: str) -> str:
    """Replaces numbers and keys, which differ from run to run."""
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "0", text)


def is_unnoticeable(fault: Fault, broken: Sequence[str]) -> bool:
    """Returns whether the fault looks like success: the service answers updates with an empty body, too."""
    return fault == "nothing before it" and any(one.startswith(("PUT", "PATCH")) for one in broken)
