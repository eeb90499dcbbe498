"""Users of an office.

They act as in the browser, through the sandbox page's own HTTP interface, so that the bot gets every payload
the way Slack sends it. They see what the page gets, the way Slack shows it, but without its requests.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, TypeVar

import aiohttp

from bot.sandbox.workspace.snapshot import snapshot
from bot.slack.surfaces.blocks import BUTTONS_IN_ROW
from tests.support.office import Office
from tests.support.reading import (
    JSON,
    STILL_WORKING,
    TIMEOUT_SECONDS,
    button_saying,
    input_named,
    labels_of,
    option_in_menus,
    option_saying,
    rich_section,
    rich_text,
    text_of,
    value_held,
    waiting,
)

T = TypeVar("T")
DM = "the person's conversation with the bot"
GLANCE_EVERY, GLANCES = 0.005, 40
"""How often `Person.until` checks whether Slack shows something new, how many times until it looks anyway.
"""


def _crowded(state: JSON) -> Iterator[JSON]:
    """What has more than one green button, or a row of more than five."""
    messages = (message for channel in state["messages"].values() for message in channel)
    for surface in (*messages, *state["views"], state["home"] or {}):
        rows = [b["elements"] for b in surface.get("blocks") or () if b["type"] == "actions"]
        greens = [one for row in rows for one in row if one.get("style") == "primary"]
        if len(greens) > 1 or any(len(row) > BUTTONS_IN_ROW for row in rows):
            yield surface


@dataclass
class Person:
    """A user in the local Slack, who can do and see what the sandbox page allows."""

    office: Office
    user_id: str
    channel: str = "general"
    _seen: tuple[int, JSON] = field(init=False, repr=False, compare=False, default=(-1, {}))

    async def state(self) -> JSON:
        """Returns everything that the user sees: messages, views and the Home tab."""
        page, state = self.office.workspace._page, self.office.workspace.state
        if self._seen[0] != state.version:  # else it shows the same
            user = page._user(self.user_id)
            shown = snapshot(state, user, page.service_panel, connected=True, linked=frozenset())
            self._seen = state.version, json.loads(json.dumps(shown))
            assert not (crowded := list(_crowded(self._seen[1]))), crowded
        return self._seen[1]

    async def until(self, look: Callable[[], Awaitable[T | None]]) -> T:
        """Calls `look` whenever Slack shows something new, until it returns something, and returns that."""
        state = self.office.workspace.state
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                version = state.version
                if result := await look():
                    return result
                for _ in range(GLANCES):
                    if state.version != version:
                        break
                    await asyncio.sleep(GLANCE_EVERY)

    async def messages(self, channel: str | None = None) -> list[JSON]:
        """Returns the messages that the user sees in a channel."""
        if channel == DM:
            return await self.direct()
        messages: list[JSON] = (await self.state())["messages"].get(
            self.office.channel_id(channel or self.channel), []
        )
        return messages

    async def sees(self, holds: Callable[[JSON], object], channel: str | None = None) -> JSON:
        """Delays for a message for which `holds` is true, and returns the latest one."""

        async def look() -> JSON | None:
            return next((m for m in reversed(await self.messages(channel)) if holds(m)), None)

        return await self.until(look)

    async def sees_no_more(self, message: JSON) -> None:
        """Delays until the message is deleted."""

        async def gone() -> bool:
            return message["ts"] not in {m["ts"] for m in await self.messages()}

        await self.until(gone)

    async def direct(self) -> list[JSON]:
        """Returns the messages of the user's direct conversation with the bot."""
        state = await self.state()
        own = next(channel["id"] for channel in state["channels"] if channel["kind"] == "im")
        messages: list[JSON] = state["messages"].get(own, [])
        return messages

    async def say(self, text: str, thread: JSON | None = None) -> JSON:
        """Posts a message to the channel and returns it."""
        below = {"thread_ts": thread["ts"]} if thread else {}
        answer = await self._post("message", channel=self.office.channel_id(self.channel), text=text, **below)
        return next(m for m in await self.messages() if m["ts"] == answer["ts"])

    async def react(self, message: JSON, emoji: str = "ticket") -> None:
        await self._post("react", channel=message["channel"], ts=message["ts"], name=emoji)

    async def command(self, text: str) -> None:
        """Types a slash command in the channel."""
        await self._post("command", channel=self.office.channel_id(self.channel), text=text)

    async def ask(self, text: str) -> JSON:
        """Types a slash command and returns the one message that answers it."""
        return await self.after(self.command(text))

    async def shortcut(self, callback_id: str, message: JSON | None = None) -> None:
        """Uses a global shortcut, or a message shortcut when `message` is given."""
        about = {"channel": message["channel"], "ts": message["ts"]} if message else {}
        await self._post("shortcut", callback_id=callback_id, **about)

    async def after(self, action: Any, channel: str | None = None) -> JSON:
        """Awaits `action` and returns the newest answer in the channel, a public one if there is one."""
        before = {m["ts"]: m for m in await self.messages(channel)}
        await action

        async def new() -> JSON | None:
            fresh = [m for m in await self.messages(channel) if before.get(m["ts"]) != m]
            answers = [m for m in fresh if text_of(m) != STILL_WORKING]
            public = [m for m in answers if not m["ephemeral"] and m["ts"] not in before]
            return (public or answers)[-1] if answers else None

        answer = await self.until(new)
        if not answer["ephemeral"] or answer["text"].startswith("Created "):  # the announcement follows
            await self.office.idle()
            return await new() or answer
        return answer

    async def press(self, surface: JSON, text: str) -> bool:
        """Presses a button of a message or view; returns whether it is still there."""
        block, element = button_saying(surface["blocks"], text)
        return await self._act(_source(surface), block, element, value=element.get("value"))

    press_in_form = press

    async def delete_post(self, message: JSON, *, of: str = "Ana") -> None:
        """Chooses *Delete post* of the post that `of` caused."""
        block, element, option = option_in_menus(message["blocks"], f"Delete post ({of} only)")
        await self._act(_source(message), block, element, selected_option=option)

    async def choose_from_menu(self, message: JSON, about: str, text: str) -> None:
        """Chooses from the `…` menu of the line that contains `about`."""
        block = next(b for b in message["blocks"] if about in str(b.get("text")) and b.get("accessory"))
        option = next(o for o in block["accessory"]["options"] if o["text"]["text"] == text)
        await self._act(_source(message), block, block["accessory"], selected_option=option)

    async def choose_in_message(self, message: JSON, text: str) -> None:
        """Chooses from the message's only select."""
        elements = (
            (b, e) for b in message["blocks"] for e in (b.get("accessory"), *(b.get("elements") or ()))
        )
        block, select = next((b, e) for b, e in elements if e and e["type"] == "static_select")
        await self._act(
            _source(message), block, select, selected_option=option_saying(select["options"], text)
        )

    async def view(self, holds: Callable[[JSON], object]) -> JSON:
        """Delays for a view on top for which `holds` is true, and returns it."""

        async def top() -> JSON | None:
            views = (await self.state())["views"]
            return views[-1] if views and holds(views[-1]) else None

        return await self.until(top)

    async def form(self, title: str, holds: Callable[[JSON], object] = lambda _: True) -> JSON:
        """Delays for the form with that title to be on top and loaded, with `holds` true, and returns it."""
        return await self.view(lambda v: v["title"]["text"] == title and not waiting(v) and holds(v))

    async def form_after(
        self, action: Awaitable[object], title: str, holds: str | Callable[[JSON], object] = ""
    ) -> JSON:
        """Awaits `action` and returns the form with that title, once it has the text or `holds` is true."""
        await action
        return await (self.form_saying(title, holds) if isinstance(holds, str) else self.form(title, holds))

    async def form_saying(self, title: str, text: str) -> JSON:
        """Delays for the form with that title to contain the text, and returns it."""
        return await self.form(title, lambda view: text in text_of(view))

    async def choose(self, view: JSON, label: str, text: Any) -> None:
        """Chooses in a form's select that notifies the bot immediately."""
        block = input_named(view, label)
        await self._fill(view, block, await self._value(view, block, text))

    async def type_into(self, view: JSON, label: str, text: str) -> None:
        """Types into a form's field that notifies the bot of every character."""
        await self._fill(view, input_named(view, label), {"value": text})

    async def _fill(self, view: JSON, block: JSON, value: JSON) -> None:
        element = block["element"]
        inputs = {block["block_id"]: {element["action_id"]: {"type": element["type"], **value}}}
        await self._act(_source(view), block, element, values=inputs, **value)

    async def suggest(self, view: JSON, label: str, text: str) -> JSON:
        """Types into a select that is searched as the user types; returns what the bot suggests."""
        return await self._suggest(view, input_named(view, label), text)

    async def _suggest(self, view: JSON, block: JSON, text: str) -> JSON:
        about = {"block_id": block["block_id"], "action_id": block["element"]["action_id"]}
        return await self._post("suggest", source={"view": {"id": view["id"]}}, **about, value=text)

    async def _suggested(self, view: JSON, block: JSON, text: str) -> JSON:
        return option_saying((await self._suggest(view, block, text))["options"], text)

    async def choose_in_form(self, view: JSON, block: JSON, text: str) -> None:
        """Chooses from the `…` menu of a line in a form."""
        option = option_saying(block["accessory"]["options"], text)
        await self._act(_source(view), block, block["accessory"], selected_option=option)

    async def submit(self, view: JSON, values: JSON) -> JSON:
        """Submits a form's current values, overridden by `values` (by label); returns the page's answer.

        Shows more fields first if `values` has some of those.
        """
        if values.keys() - labels_of(view) and "More fields" in text_of(view):
            view = await self.with_more_fields(view)
        state: JSON = {}
        for block in view["blocks"]:
            if block["type"] != "input":
                continue
            label, element = block["label"]["text"], block["element"]
            given = await self._value(view, block, values[label]) if label in values else value_held(element)
            state.setdefault(block["block_id"], {})[element["action_id"]] = {"type": element["type"], **given}
        missing = values.keys() - labels_of(view)
        assert not missing, f"the form has no {missing}"
        return await self._post("submit", view_id=view["id"], values=state)

    async def with_more_fields(self, view: JSON) -> JSON:
        """Presses *More fields* and returns the form that has them."""
        title = view["title"]["text"]
        await self.press_in_form(view, "More fields")
        return await self.form(title, lambda form: "More fields" not in text_of(form))

    async def close(self, view: JSON) -> None:
        await self._post("close", view_id=view["id"])

    async def open_home(self) -> None:
        await self._post("home")

    async def home(self) -> JSON | None:
        """Returns the current Home tab."""
        view: JSON | None = (await self.state())["home"]
        return view

    async def home_saying(self, text: str) -> JSON:
        """Delays for the Home tab to contain the text, and returns it."""

        async def saying() -> JSON | None:
            home = await self.home()
            return home if home and text in text_of(home) else None

        return await self.until(saying)

    async def tick_at_home(self, *texts: str) -> None:
        async def ticked() -> bool:
            return await self.tick(await self.home_saying("Tell me about"), *texts)

        await self.until(ticked)  # the tab may be published again in between

    async def tick(self, surface: JSON, *texts: str) -> bool:
        """Leaves ticked what says these texts, and nothing else, of a message's or the Home tab's boxes.

        Returns whether Slack still showed them.
        """
        blocks = [one for one in surface["blocks"] if one.get("accessory", {}).get("type") == "checkboxes"]
        (block,) = blocks
        options = [option_saying(block["accessory"]["options"], text) for text in texts]
        return await self._act(_source(surface), block, block["accessory"], selected_options=options)

    async def press_at_home(self, text: str) -> None:
        async def pressed() -> bool:
            home = await self.until(self.home)
            return await self.press(home, text)

        await self.until(pressed)  # the tab may be published again between finding the button and pressing it

    async def errors(self) -> JSON:
        """Delays for field errors in the form on top and returns them by field."""
        errors: JSON = (await self.view(lambda view: view.get("errors")))["errors"]
        return errors

    async def no_form(self) -> None:
        """Delays until no form is open."""

        async def gone() -> bool:
            return not (await self.state())["views"]

        await self.until(gone)

    async def _value(self, view: JSON, block: JSON, text: Any) -> JSON:
        element, value = block["element"], {"value": text}
        match element["type"]:
            case "rich_text_input":
                rich = text if isinstance(text, dict) else rich_text(rich_section(text))
                value = {"rich_text_value": rich}
            case "static_select":
                value = {"selected_option": option_saying(element["options"], text)}
            case "external_select":
                value = {"selected_option": await self._suggested(view, block, text)}
            case "multi_external_select":
                value = {"selected_options": [await self._suggested(view, block, each) for each in text]}
            case "conversations_select":
                value = {"selected_conversation": self.office.channel_id(text)}
            case "checkboxes" if not isinstance(text, list):
                value = {"selected_options": element["options"] if text else []}
            case "checkboxes" | "multi_static_select":
                value = {"selected_options": [option_saying(element["options"], each) for each in text]}
            case "datepicker":
                value = {"selected_date": text}
            case "timepicker":
                value = {"selected_time": text}
            case "file_input":
                value = {"files": text}
        return value

    async def upload(self, name: str, content: bytes) -> JSON:
        """Uploads a file to the workspace."""
        data = aiohttp.FormData(quote_fields=False)
        data.add_field("user", self.user_id)
        data.add_field("file", BytesIO(content), filename=name)
        async with self.office.http.post(f"{self.office.workspace.url}page/upload", data=data) as answer:
            file: JSON = (await answer.json())["files"][0]
        return file

    async def _act(
        self, source: JSON, block: JSON, element: JSON, *, values: JSON | None = None, **what: Any
    ) -> bool:
        action = {"type": element["type"], "action_id": element["action_id"], **what}
        about = {"block_id": block["block_id"], "action": action, "values": values or {}}
        return "gone" not in await self._post("action", source=source, **about)

    async def _post(self, what: str, **body: Any) -> JSON:
        url = f"{self.office.workspace.url}page/{what}"
        async with self.office.http.post(url, json={"user": self.user_id, **body}) as answer:
            result: JSON = await answer.json()
        return result


def _source(surface: JSON) -> JSON:
    """Returns where an act on a message or view happens."""
    if "ts" in surface:
        return {"message": {"channel": surface["channel"], "ts": surface["ts"]}}
    return {"view": {"id": surface["id"]}}
