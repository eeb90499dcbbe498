"""Where things are done while something else fails: an office, its service, and somebody at work in it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import SecretStr

from bot.sandbox.tracker.data import Data, Issue, free_id, put
from bot.sandbox.tracker.defaults import BUG, NEW, NORMAL
from bot.sandbox.tracker.server import Tracker
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import JSON, input_named

IDS = {"ana": "U0ANA0001", "ben": "U0BEN0001", "chris": "U0CHRIS01", "gwen": "U0GWEN001"}
LINKED = ("ana", "chris")
CHANNEL = "C0GENERAL01"
LONG = 60
WEBSHOP, NUMBER = 1, 12
"""A public project, and an issue of it that everybody sees."""


@dataclass
class Scene:
    """One thing after another is done here, each with a word of its own in it.

    `service` holds what the doings change, whatever lies between it and the office.
    """

    office: Office
    service: Tracker
    done: int = 0
    offered: JSON | None = None
    """What a select offered last, as the page was told."""

    def __post_init__(self) -> None:
        self._kept = {name: set(rows) for name, rows in self._messages().items()}

    @property
    def data(self) -> Data:
        """What the service holds."""
        return self.service.data

    @property
    def word(self) -> str:
        """What is typed now and at no other time."""
        return f"Gadget {self.done:05d}"

    @property
    def slug(self) -> str:
        """The same where only small letters go."""
        return self.word.lower().replace(" ", "-")

    @property
    def ana(self) -> Person:
        """A developer."""
        return self.person("ana")

    @property
    def chris(self) -> Person:
        """An administrator."""
        return self.person("chris")

    def person(self, login: str) -> Person:
        """Somebody in the workspace."""
        return Person(self.office, IDS[login])

    async def begin(self) -> None:
        """Another word, nothing open, nothing said, who should be linked is, and no digest is set."""
        self.done += 1
        self.offered = None
        state, store = self.office.workspace.state, self.office.bot.store
        for login, user_id in IDS.items():
            state.close_all(user_id)
            linked = await store.links.get(owner(login)) is not None
            if login in LINKED and not linked:
                await self.link(login)
            elif linked and login not in LINKED:
                await store.links.delete(owner(login))
        for shown in (state.homes, state.details):
            shown.clear()
        for name, kept in self._kept.items():
            state.messages[name] = [m for m in state.messages[name] if m.ts in kept]
        for name in state.messages.keys() - self._kept.keys():
            state.messages[name] = []
        for digest in await store.digests.in_channel(TEAM, CHANNEL):
            await store.digests.remove(digest)
        if await store.channels.default_project(TEAM, CHANNEL):
            await store.channels.clear_default(TEAM, CHANNEL)

    async def link(self, login: str) -> None:
        """Have somebody linked, without the service being asked."""
        user = next(user for user in self.data.users.values() if user.login == login)
        await self.office.bot.store.links.put(owner(login), SecretStr(user.api_key), user.id, user.name)

    async def settled(self) -> None:
        """Wait until the bot has nothing in hand and the workspace has delivered all."""
        await self.office.idle()

    async def after(self, doing: Awaitable[object], login: str = "ana") -> JSON:
        """The latest message that somebody sees once something is done with."""
        await doing
        await self.settled()
        return (await self.person(login).messages())[-1]

    async def form(self, title: str, login: str = "ana") -> JSON:
        """The form on top once the bot is through with it."""
        await self.settled()
        return await self.person(login).form(title)

    async def choosing(self, view: JSON, label: str, text: str) -> Callable[[], Awaitable[object]]:
        """Open a form's select and look for a choice; what chooses it then."""
        block = input_named(view, label)
        value = await self.ana._value(view, block, text)
        return lambda: self.ana._act({"view": {"id": view["id"]}}, block, block["element"], **value)

    async def offer(self, kept: JSON, title: str, action_id: str) -> JSON:
        """A message to Ana with a button that goes on with what the bot has kept for her."""
        number = await self.office.bot.store.saved_input.put(owner("ana"), kept)
        button = {"type": "button", "action_id": action_id, "value": number}
        row = {"type": "actions", "elements": [button | {"text": {"type": "plain_text", "text": title}}]}
        await self.office.bot.slack.chat_postEphemeral(
            channel=CHANNEL, user=IDS["ana"], text=self.word, blocks=[row]
        )
        return (await self.ana.messages())[-1]

    def issue(self) -> Issue:
        """An open issue of nobody's that carries the word, found by its number too."""
        now = datetime.now(UTC)
        issue = Issue(free_id(self.data.issues), WEBSHOP, BUG, NEW, NORMAL, 2, self.word)
        issue.created_on = issue.updated_on = now
        return put(self.data.issues, issue)

    def _messages(self) -> dict[str, list[str]]:
        state = self.office.workspace.state
        return {name: [message.ts for message in rows] for name, rows in state.messages.items()}


Way = Callable[[Scene], AsyncGenerator[None, None]]
"""How something is done: what has to be there first, then a `yield`, then the one act itself."""
Effect = Callable[[Scene], Awaitable[int]]


@dataclass(frozen=True)
class Doing:
    """One thing that a person does with the bot.

    `serves` names what it sets in motion, as in the register: `command:issue`, `form:issue.create`.
    `effect` counts how often it was done, in the service's data or in what the bot remembers; None for what
    only reads. `said` is a pattern of the words that say that it was done. `typed` is whether the scene's
    word was typed, and must not be lost. Nobody `asked` where silence is an answer too. `refused` is a
    pattern of what may be said, beside the errors' own sentences, when the service refuses a part of it.
    """

    name: str
    serves: tuple[str, ...]
    way: Way
    effect: Effect | None = None
    said: str = "(?!)"
    typed: bool = False
    asked: bool = True
    who: str = "ana"
    refused: str = "(?!)"


def owner(login: str) -> Owner:
    """Somebody as the bot knows them."""
    return Owner(None, TEAM, IDS[login])


def doing(
    name: str,
    *serves: str,
    effect: Effect | None = None,
    said: str = "(?!)",
    typed: bool = False,
    asked: bool = True,
    who: str = "ana",
    refused: str = "(?!)",
) -> Callable[[Way], Doing]:
    """Makes a doing of the way in which it is done."""
    return lambda way: Doing(name, serves, way, effect, said, typed, asked, who, refused)
