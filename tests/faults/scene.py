"""A scene for scenarios: an office, its service, and a user who works there while something fails."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import SecretStr

from bot.features.new_issue.unfinished import NAME
from bot.sandbox.tracker.data import Data, Issue, free_id, put
from bot.sandbox.tracker.defaults import BUG, NEW, NORMAL
from bot.store.channels import Channel
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import JSON, input_named

IDS = {"ana": "U0ANA0001", "ben": "U0BEN0001", "chris": "U0CHRIS01", "gwen": "U0GWEN001"}
LINKED = ("ana", "chris")
CHANNEL = "C0GENERAL01"
WEBSHOP, NUMBER = 1, 12
"""A public project, and an issue in it that everyone sees."""


@dataclass
class Scene:
    """Runs scenarios one after the other, each with its own unique word in what the user types."""

    office: Office
    done: int = 0
    offered: JSON | None = None
    """What a select suggested last."""

    def __post_init__(self) -> None:
        self._kept = {name: set(rows) for name, rows in self._messages().items()}

    @property
    def data(self) -> Data:
        return self.office.tracker.data

    @property
    def word(self) -> str:
        """The unique word of this run."""
        return f"Gadget {self.done:05d}"

    @property
    def slug(self) -> str:
        """The unique word in lowercase without spaces."""
        return self.word.lower().replace(" ", "-")

    @property
    def file(self) -> str:
        """The name of a file that this run attaches."""
        return f"{self.slug}.log"

    def filled(self, text: str) -> str:
        """Fills in `{word}`, `{slug}`, and `{issue}`: the number of a new issue."""
        number = self.issue().id if "{issue}" in text else 0
        return text.format(word=self.word, slug=self.slug, issue=number)

    @property
    def ana(self) -> Person:
        return self.person("ana")

    @property
    def chris(self) -> Person:
        return self.person("chris")

    def person(self, login: str) -> Person:
        return Person(self.office, IDS[login])

    async def reset(self) -> None:
        """Starts a run: a new word, the initial links, and nothing shown, posted or set up."""
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
        for views in (state.homes, state.details):
            views.clear()
        for name, kept in self._kept.items():
            state.messages[name] = [m for m in state.messages[name] if m.ts in kept]
        for name in state.messages.keys() - self._kept.keys():
            state.messages[name] = []
        await store.saved_input.keep(owner("ana"), NAME, datetime.now(UTC), lambda _: {})
        of_ana = await store.digests.of_owner(owner("ana"))
        for digest in (*of_ana, *await store.digests.in_channel(Channel(TEAM, CHANNEL))):
            await store.digests.remove(digest)
        for template in await store.templates.of_project(TEAM, WEBSHOP, Channel(TEAM, CHANNEL)):
            await store.templates.remove(TEAM, template.id)
        await store.followed.end(await store.followed.of(owner("ana")))
        if await store.channels.default_project(Channel(TEAM, CHANNEL)):
            await store.channels.set_default(owner("ana"), Channel(TEAM, CHANNEL), None)

    async def link(self, login: str) -> None:
        """Links a user without asking the service."""
        user = next(user for user in self.data.users.values() if user.login == login)
        await self.office.bot.store.links.put(owner(login), SecretStr(user.api_key), user.id, user.name)

    async def settled(self) -> None:
        """Delays until the bot has no work in flight and the workspace has delivered everything."""
        await self.office.idle()

    async def after(self, action: Awaitable[object], login: str = "ana") -> JSON:
        """Awaits `action` and returns the latest message that the user sees."""
        await action
        await self.settled()
        return (await self.person(login).messages())[-1]

    async def form(self, title: str, login: str = "ana") -> JSON:
        """Returns the view on top once the bot has finished updating it."""
        await self.settled()
        return await self.person(login).form(title)

    async def message(self, *files: str, text: str = "") -> JSON:
        """Posts a message as Ana, by default with the unique word, and returns it."""
        ids = [(await self.ana.upload(name, b"1"))["id"] for name in files]
        channel = self.office.channel_id("general")
        await self.ana._post("message", channel=channel, text=text or self.word, file_ids=ids)
        await self.settled()
        return next(m for m in reversed(await self.ana.messages()) if not m["is_bot"])

    async def choosing(self, view: JSON, label: str, text: str) -> Callable[[], Awaitable[object]]:
        """Opens a form's select and finds an option; returns a function that chooses it."""
        block = input_named(view, label)
        value = await self.ana._value(view, block, text)
        return lambda: self.ana._act({"view": {"id": view["id"]}}, block, block["element"], **value)

    async def offer(self, kept: JSON, title: str, action_id: str, *, about: str = "") -> JSON:
        """Posts a message to Ana whose button carries `about` and the saved input."""
        number = await self.office.bot.store.saved_input.put(owner("ana"), kept)
        button = {"type": "button", "action_id": action_id, "value": f"{about}{number}"}
        row = {"type": "actions", "elements": [button | {"text": {"type": "plain_text", "text": title}}]}
        await self.office.bot.slack.chat_postEphemeral(
            channel=CHANNEL, user=IDS["ana"], text=self.word, blocks=[row]
        )
        return (await self.ana.messages())[-1]

    def issue(self) -> Issue:
        """Creates an open, unassigned issue with this run's word in its subject."""
        now = datetime.now(UTC)
        issue = Issue(free_id(self.data.issues), WEBSHOP, BUG, NEW, NORMAL, 2, self.word)
        issue.created_on = issue.updated_on = now
        return put(self.data.issues, issue)

    def _messages(self) -> dict[str, list[str]]:
        state = self.office.workspace.state
        return {name: [message.ts for message in rows] for name, rows in state.messages.items()}


def owner(login: str) -> Owner:
    return Owner(None, TEAM, IDS[login])
