"""An office to test in: the reference service, the local Slack, the bot between them, and people at work.

People act as in the browser, over the page's own HTTP interface, so that every payload comes to the bot the
way Slack sends it and every answer is seen the way Slack shows it.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeVar

import aiohttp
from pydantic import SecretStr

from bot.app import Bot
from bot.config import Settings
from bot.sandbox.demo import demo_data
from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.server import Workspace
from bot.slack.manifest import manifest
from bot.store.owner import Owner
from bot.store.vault import Vault

JSON = dict[str, Any]
T = TypeVar("T")
Transport = Literal["socket", "http"]
TEAM = "T0HARBOR01"
PATIENCE = 10.0
DM = "the person's conversation with the bot"


def free_port() -> int:
    """A port that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@dataclass
class Office:
    """The three parts, wired as in production."""

    directory: Path
    transport: Transport = "socket"
    service_url: str | None = None
    key_header: str = "X-Service-API-Key"
    text_format: Literal["markdown", "textile"] = "markdown"
    prefix: str = ""
    issue_updates: bool = True
    tracker: Tracker = field(init=False)
    workspace: Workspace = field(init=False)
    bot: Bot = field(init=False)
    http: aiohttp.ClientSession = field(init=False)

    async def open(self) -> None:
        """Start all of it."""
        self.tracker = Tracker(demo_data(datetime.now(UTC)), issue_updates=self.issue_updates)
        await self.tracker.start()
        port = free_port()
        url = f"http://127.0.0.1:{port}/slack/events"
        self.workspace = Workspace(
            manifest=manifest(self.transport, url, self.prefix),
            people=PEOPLE,
            service_url=self.service_url or self.tracker.url,
            request_url=url if self.transport == "http" else None,
        )
        await self.workspace.start(port=0)
        way_in: JSON = {"slack_signing_secret": SecretStr(self.workspace.signing_secret)}
        if self.transport == "socket":
            way_in = {"slack_app_token": SecretStr(self.workspace.app_token)}
        self.bot = Bot(
            Settings(
                **way_in,
                slack_bot_token=SecretStr(self.workspace.bot_token),
                slack_api_url=self.workspace.api_url,
                service_base_url=self.service_url or self.tracker.url,
                service_api_key_header=self.key_header,
                service_text_format=self.text_format,
                command_prefix=self.prefix,
                database_url=f"sqlite:///{self.directory / 'bot.db'}",
                encryption_keys=(Vault.generate_key(),),
                host="127.0.0.1",
                port=port,
            )
        )
        await self.bot.start()
        self.http = aiohttp.ClientSession(headers={"X-Sandbox": "1"})

    async def close(self) -> None:
        """Stop all of it."""
        await self.http.close()
        await self.bot.stop(5)
        await self.workspace.stop()
        await self.tracker.stop()

    async def link(self, slack_id: str, key: str) -> None:
        """Have somebody linked already."""
        user = await self.bot.client.get_user(SecretStr(key))
        await self.bot.store.links.put(Owner(None, TEAM, slack_id), SecretStr(key), user.id, user.name)

    def channel_id(self, name: str) -> str:
        """The id of a channel, by its name."""
        return next(channel.id for channel in self.workspace.state.channels.values() if channel.name == name)

    def violations(self) -> list[str]:
        """Slack's rules that the bot broke."""
        return [f"{v.where}: {v.rule}: {v.detail}" for v in self.workspace.violations]


@dataclass
class Person:
    """Someone in the local Slack, acting and looking as the page lets them."""

    office: Office
    user_id: str
    channel: str = "general"

    async def state(self) -> JSON:
        """All that the person sees."""
        url = f"{self.office.workspace.url}page/state"
        async with self.office.http.get(url, params={"user": self.user_id}) as answer:
            seen: JSON = await answer.json()
        return seen

    async def messages(self, channel: str | None = None) -> list[JSON]:
        """The messages that the person sees in a channel."""
        if channel == DM:
            return await self.direct()
        seen: list[JSON] = (await self.state())["messages"].get(
            self.office.channel_id(channel or self.channel), []
        )
        return seen

    async def direct(self) -> list[JSON]:
        """The messages of the person's own conversation with the bot."""
        state = await self.state()
        own = next(channel["id"] for channel in state["channels"] if channel["kind"] == "im")
        seen: list[JSON] = state["messages"].get(own, [])
        return seen

    async def say(self, text: str, thread: JSON | None = None) -> JSON:
        """Write into the channel; the message."""
        below = {"thread_ts": thread["ts"]} if thread else {}
        answer = await self._post("message", channel=self.office.channel_id(self.channel), text=text, **below)
        return next(m for m in await self.messages() if m["ts"] == answer["ts"])

    async def command(self, text: str) -> None:
        """Type a slash command into the channel."""
        await self._post("command", channel=self.office.channel_id(self.channel), text=text)

    async def ask(self, text: str) -> JSON:
        """Type a slash command and wait for the one message that answers it."""
        return await self.after(self.command(text))

    async def shortcut(self, callback_id: str, message: JSON | None = None) -> None:
        """Use a shortcut, on a message when there is one."""
        about = {"channel": message["channel"], "ts": message["ts"]} if message else {}
        await self._post("shortcut", callback_id=callback_id, **about)

    async def after(self, doing: Any, channel: str | None = None) -> JSON:
        """What newly appears in the channel after doing something."""
        before = {(m["ts"], str(m)) for m in await self.messages(channel)}
        await doing

        async def new() -> JSON | None:
            fresh = [m for m in await self.messages(channel) if (m["ts"], str(m)) not in before]
            return fresh[-1] if fresh else None

        return await until(new)

    async def press(self, message: JSON, text: str) -> None:
        """Press a button of a message."""
        block, element = _element(message["blocks"], text)
        source = {"message": {"channel": message["channel"], "ts": message["ts"]}}
        await self._act(source, block, element, value=element.get("value"))

    async def press_in_form(self, view: JSON, text: str) -> None:
        """Press a button in a form."""
        block, element = _element(view["blocks"], text)
        await self._act({"view": {"id": view["id"]}}, block, element, value=element.get("value"))

    async def choose_from_menu(self, message: JSON, about: str, text: str) -> None:
        """Choose from the `…` menu of the line that says `about`."""
        block = next(b for b in message["blocks"] if about in str(b.get("text")) and b.get("accessory"))
        option = next(o for o in block["accessory"]["options"] if o["text"]["text"] == text)
        source = {"message": {"channel": message["channel"], "ts": message["ts"]}}
        await self._act(source, block, block["accessory"], selected_option=option)

    async def form(self, title: str) -> JSON:
        """The form with that title, once it is on top and filled."""

        async def top() -> JSON | None:
            views = (await self.state())["views"]
            return (
                views[-1]
                if views and views[-1]["title"]["text"] == title and not _loading(views[-1])
                else None
            )

        return await until(top)

    async def form_saying(self, title: str, text: str) -> JSON:
        """The form with that title, once it says that."""

        async def saying() -> JSON | None:
            view = await self.form(title)
            return view if text in text_of(view) else None

        return await until(saying)

    async def choose(self, view: JSON, label: str, text: str) -> None:
        """Choose in a form's select that tells the bot at once."""
        block = _input(view, label)
        value = await self._value(view, block, text)
        await self._act({"view": {"id": view["id"]}}, block, block["element"], **value)

    async def type_into(self, view: JSON, label: str, text: str) -> None:
        """Type into a form's field that tells the bot of every letter."""
        block = _input(view, label)
        element = block["element"]
        held = {block["block_id"]: {element["action_id"]: {"type": element["type"], "value": text}}}
        await self._act({"view": {"id": view["id"]}}, block, element, values=held, value=text)

    async def suggest(self, view: JSON, label: str, text: str) -> JSON:
        """Type into a select that is searched as one types; what the page is told."""
        block = _input(view, label)
        about = {"block_id": block["block_id"], "action_id": block["element"]["action_id"]}
        return await self._post("suggest", source={"view": {"id": view["id"]}}, **about, value=text)

    async def choose_in_form(self, view: JSON, block: JSON, text: str) -> None:
        """Choose from the `…` menu of a form's line."""
        option = _option(block["accessory"]["options"], text)
        source = {"view": {"id": view["id"]}}
        await self._act(source, block, block["accessory"], selected_option=option)

    async def submit(self, view: JSON, values: JSON) -> JSON:
        """Send a form, with values by label beside those that it holds already; the page's own answer."""
        state: JSON = {}
        for block in view["blocks"]:
            if block["type"] != "input":
                continue
            label, element = block["label"]["text"], block["element"]
            given = await self._value(view, block, values[label]) if label in values else _initial(element)
            state.setdefault(block["block_id"], {})[element["action_id"]] = {"type": element["type"], **given}
        missing = values.keys() - {b["label"]["text"] for b in view["blocks"] if b["type"] == "input"}
        assert not missing, f"the form has no {missing}"
        return await self._post("submit", view_id=view["id"], values=state)

    async def close(self, view: JSON) -> None:
        """Close a form."""
        await self._post("close", view_id=view["id"])

    async def open_home(self) -> None:
        """Open the app's Home tab."""
        await self._post("home")

    async def home(self) -> JSON | None:
        """The Home tab as it is now."""
        view: JSON | None = (await self.state())["home"]
        return view

    async def press_at_home(self, text: str) -> None:
        """Press a button of the Home tab."""
        home = await until(self.home)
        block, element = _element(home["blocks"], text)
        await self._act({"view": {"id": home["id"]}}, block, element, value=element.get("value"))

    async def errors(self) -> JSON:
        """The errors at the fields of the form on top, once there are some."""

        async def found() -> JSON | None:
            views = (await self.state())["views"]
            return views[-1]["errors"] if views and views[-1].get("errors") else None

        return await until(found)

    async def no_form(self) -> None:
        """Wait until no form is open."""

        async def gone() -> bool:
            return not (await self.state())["views"]

        await until(gone)

    async def _value(self, view: JSON, block: JSON, text: Any) -> JSON:
        element = block["element"]
        match element["type"]:
            case "static_select":
                return {"selected_option": _option(element["options"], text)}
            case "external_select":
                source = {"view": {"id": view["id"]}}
                found = await self._post(
                    "suggest",
                    source=source,
                    block_id=block["block_id"],
                    action_id=element["action_id"],
                    value=text,
                )
                return {"selected_option": _option(found["options"], text)}
            case "multi_static_select":
                return {"selected_options": [_option(element["options"], each) for each in text]}
            case "checkboxes":
                some = (
                    [_option(element["options"], each) for each in text] if isinstance(text, list) else None
                )
                return {"selected_options": some if some is not None else element["options"] if text else []}
            case "datepicker":
                return {"selected_date": text}
            case "file_input":
                return {"files": text}
        return {"value": text}

    async def upload(self, name: str, content: bytes) -> JSON:
        """Put a file into the workspace."""
        data = aiohttp.FormData(quote_fields=False)
        data.add_field("user", self.user_id)
        data.add_field("file", BytesIO(content), filename=name)
        async with self.office.http.post(f"{self.office.workspace.url}page/upload", data=data) as answer:
            file: JSON = (await answer.json())["files"][0]
        return file

    async def _act(
        self, source: JSON, block: JSON, element: JSON, *, values: JSON | None = None, **what: Any
    ) -> None:
        action = {"type": element["type"], "action_id": element["action_id"], **what}
        about = {"block_id": block["block_id"], "action": action, "values": values or {}}
        await self._post("action", source=source, **about)

    async def _post(self, what: str, **body: Any) -> JSON:
        url = f"{self.office.workspace.url}page/{what}"
        async with self.office.http.post(url, json={"user": self.user_id, **body}) as answer:
            said: JSON = await answer.json()
        return said


async def until(look: Callable[[], Awaitable[T | None]], seconds: float = PATIENCE) -> T:
    """What `look` sees, once it sees something."""
    async with asyncio.timeout(seconds):
        while not (seen := await look()):
            await asyncio.sleep(0.02)
    return seen


def text_of(shown: JSON) -> str:
    """All that a message or a view says, in one string."""
    return " ".join(_texts(shown.get("blocks"))) or str(shown.get("text") or "")


def values_of(view: JSON) -> JSON:
    """What a form's inputs hold, by label."""
    held = {}
    for block in view["blocks"]:
        if block["type"] == "input":
            initial = _initial(block["element"])
            value = next(iter(initial.values()), None)
            if isinstance(value, dict):
                value = value["text"]["text"]
            elif isinstance(value, list):
                value = [option["text"]["text"] for option in value]
            held[block["label"]["text"]] = value
    return held


def _texts(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["text"]] if isinstance(part.get("text"), str) else []
        return own + [text for value in part.values() if not isinstance(value, str) for text in _texts(value)]
    if isinstance(part, list):
        return [text for item in part for text in _texts(item)]
    return []


def _loading(view: JSON) -> bool:
    return ":hourglass" in text_of(view) or view["title"]["text"] == "One moment"


def _element(blocks: list[JSON], text: str) -> tuple[JSON, JSON]:
    for block in blocks:
        for element in [
            *block.get("elements", []),
            *([block["accessory"]] if block.get("accessory") else []),
        ]:
            if element.get("type") == "button" and element["text"]["text"] == text:
                return block, element
    raise AssertionError(f"no button {text!r} in {[_texts(b) for b in blocks]}")


def _input(view: JSON, label: str) -> JSON:
    return next(b for b in view["blocks"] if b["type"] == "input" and b["label"]["text"] == label)


def _option(options: list[JSON], text: str) -> JSON:
    return next(o for o in options if text in o["text"]["text"])


def _initial(element: JSON) -> JSON:
    names = {
        "initial_value": "value",
        "initial_option": "selected_option",
        "initial_options": "selected_options",
        "initial_date": "selected_date",
    }
    return {names[key]: value for key, value in element.items() if key in names}
