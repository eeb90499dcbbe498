"""What the two fault matrices share: a scenario in which something fails, and what came of it."""

import json
import re
import traceback
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from bot.ttl_cache import TtlCache
from tests.faults import secrets
from tests.faults.scenarios import SCENARIOS
from tests.faults.scene import Scene
from tests.support.person import Person
from tests.support.reading import JSON, text_of, values_of

GENERIC = "Something went wrong on my end"


@dataclass(frozen=True)
class Cell:
    """A scenario, the fault, and whether the requests after the first one fail too."""

    scenario: str
    fault: Any
    lasting: bool


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
    def messages(self) -> list[JSON]:
        return [message for rows in self.state["messages"].values() for message in rows]

    @property
    def parts(self) -> dict[str, str]:
        """Everything on screen, by key, as text."""
        texts = {m["ts"]: _shown_by_bot(m) for m in self.messages if m["is_bot"] or m["unfurls"]}
        if view := self.view:
            inputs = json.dumps(values_of(view)) if view.get("submit") else ""
            texts[view["hash"]] = f"{view['title']['text']} {text_of(view)} {view['errors'] or ''} {inputs}"
        if self.state["home"]:
            texts["home"] = text_of(self.state["home"])
        if self.state["details"]:
            texts["details"] = json.dumps(self.state["details"])
        if self.offered is not None:
            texts["offered"] = json.dumps(self.offered)
        return texts


@dataclass(frozen=True)
class Did:
    """A run: what is on screen, what of it is new, by key, and how often the action took effect."""

    screen: Screen
    new: dict[str, str]
    made: int

    @property
    def reply_text(self) -> str:
        return "\n".join(self.new.values())


class Matrix:
    """Runs cells in one office; `wrong` collects one sentence per broken rule."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.ran = 0
        self.wrong: list[str] = []

    async def learn(self, name: str) -> list[str]:
        """Runs the scenario without a fault, checks that it succeeds, and returns the requests it makes.

        Returns none if the scenario can't be run.
        """
        scenario = SCENARIOS[name]
        try:
            did = await self.do(name)
        except Exception as error:  # noqa: BLE001 - one failing scenario must not stop the rest
            self.wrong.append(f"{name}: {_described(error)}")
            return []
        done = did.made == 1 and re.search(scenario.confirmation, did.reply_text)
        if (scenario.effect and not done) or (scenario.expects_answer and not did.reply_text):
            self.wrong.append(f"{name}: took effect {did.made} times without a fault; said: {did.reply_text}")
        self.wrong += [f"{name}, without a fault: {one}" for one in self._violations()]
        return self.learned(name, did)

    async def run(self, cell: Any) -> None:
        """Runs one cell."""
        self.ran += 1
        try:
            did, wrong = await self.check(cell)
            wrong += secrets.on_screen(self.scene, [await self.person(cell.scenario).state()])
            wrong += [f"it broke Slack's rule: {one}" for one in self._violations()]
            self.wrong += [f"{cell}: {one}; said: {did.reply_text}" for one in wrong]
        except Exception as error:  # noqa: BLE001 - one failing cell must not stop the rest
            self.wrong.append(f"{cell}: {_described(error)}")

    def learned(self, name: str, did: Did) -> list[str]:
        """Returns the requests that a run without a fault made."""
        raise NotImplementedError

    async def check(self, cell: Any) -> tuple[Did, list[str]]:
        """Runs one cell; returns what it did and the rules that it broke."""
        raise NotImplementedError

    async def do(self, name: str, arm: Callable[[], object] = lambda: None) -> Did:
        """Runs the scenario; `arm` makes its action fail."""
        await self.scene.reset()
        self._forget()
        async with aclosing(SCENARIOS[name].steps(self.scene)) as steps:
            await anext(steps)
            await self.scene.settled()
            count, before = await self.count(name), (await self.screen(name)).parts
            arm()
            await self.act(name, steps)
            screen = await self.screen(name)
            made = await self.count(name) - count
        new = {key: text for key, text in screen.parts.items() if before.get(key) != text}
        return Did(screen, new, made)

    async def act(self, name: str, steps: AsyncGenerator[None, None]) -> None:  # noqa: ARG002 - for subclasses
        """Does the scenario's action."""
        await anext(steps, None)
        await self.scene.settled()

    def person(self, name: str) -> Person:
        return self.scene.person(SCENARIOS[name].who)

    async def screen(self, name: str) -> Screen:
        return Screen(await self.person(name).state(), self.scene.offered)

    async def count(self, name: str) -> int:
        effect = SCENARIOS[name].effect
        return await effect(self.scene) if effect else 0

    def common_rules(
        self, cell: Any, did: Did, *, answered: bool = True, linking: bool = False
    ) -> dict[str, Any]:
        """Returns the rules that hold whatever fails, each with whether it's broken.

        An answer may be missing if it isn't `answered`, and input may be kept until the user is `linking`.
        """
        scenario, reply_text = SCENARIOS[cell.scenario], did.reply_text
        return {
            f"it took effect {did.made} times": did.made not in (0, 1),
            "there is no answer": answered and scenario.expects_answer and not reply_text.strip(),
            "it is reported as done but isn't": scenario.effect
            and re.search(scenario.confirmation, reply_text)
            and not did.made,
            "it is reported as the bot's fault": GENERIC in reply_text,
            "a traceback is shown": "Traceback" in reply_text,
            "the user's input is lost": scenario.typed
            and not (did.made or linking)
            and not {self.scene.word, self.scene.slug} & set(re.findall(r"[Gg]adget[ -]\d+", reply_text)),
        }

    def _violations(self) -> list[str]:
        broken = self.scene.office.violations()
        self.scene.office.workspace.violations.clear()
        return broken

    def _forget(self) -> None:
        """Clears the bot's caches of what the service and Slack answered."""
        bot = self.scene.office.bot
        holders = (bot.parts.projects, bot.parts.catalogs, bot.platform.profiles, bot.platform.conversations)
        for cache in (value for holder in holders for value in vars(holder).values()):
            if isinstance(cache, TtlCache):
                for key in tuple(cache._kept):
                    cache.discard(key)
        bot.client.optional._missing.clear()


def _shown_by_bot(message: JSON) -> str:
    """Returns the text of the bot's message, or what the bot added to a person's."""
    unfurls = json.dumps(message["unfurls"])
    return text_of(message) + message["text"] + unfurls if message["is_bot"] else unfurls


def _described(error: Exception) -> str:
    return f"{error!r} at {traceback.extract_tb(error.__traceback__)[-2:]}"
