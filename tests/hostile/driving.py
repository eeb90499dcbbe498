"""Uses everything that the bot offers: commands, and the buttons, menus and forms that they lead to."""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.support.person import DM, Person
from tests.support.reading import JSON, until
from tests.support.registered import REGISTERED

AS_OFTEN = 1000 if "ISSUEBOT_HOSTILE_EXAMPLES" in os.environ else 2
"""How often to press one kind of button, which many messages have."""
GLOBAL = {"create_issue", "search_issues", "log_time"}
"""The shortcuts that don't need a message."""
NOT_IN_MESSAGES = {"open", "digest.remove", "announcement.take_back"}
NOT_IN_FORMS = {"files.new", "time.delete"}


@dataclass
class Driver:
    """A user who runs commands and presses, opens, searches and submits whatever appears."""

    person: Person
    pressed: Counter[str] = field(default_factory=Counter)

    async def run(self, commands: Iterable[str]) -> None:
        for typed in commands:
            for name in await self._try(typed):
                await self._try(typed, name)

    async def _try(self, typed: str, only: str = "") -> list[str]:
        """Runs a command and presses the buttons that appear, or `only` that one.

        Returns the names of the buttons that were gone before their turn came.
        """
        before = {(m["ts"], str(m["blocks"])) for m in await self.person.messages()}
        await self.person.command(typed)
        await self._use_form()
        gone: set[str] = set()
        for message in await self.person.messages():
            if (message["ts"], str(message["blocks"])) not in before:
                gone |= await self._press_all(message, only)
        return sorted(gone)

    async def _press_all(self, message: JSON, only: str) -> set[str]:
        """Presses the buttons and menus as they were when posted; returns the names of those gone."""
        source = {"message": {"channel": message["channel"], "ts": message["ts"]}}
        gone = set()
        for block in message["blocks"] or ():
            for element in (*(block.get("elements") or ()), block.get("accessory") or {}):
                for option in element.get("options") or [None]:
                    name = option["value"].partition(" ")[0] if option else element.get("action_id", "open")
                    if name in NOT_IN_MESSAGES or only not in ("", name) or self.pressed[name] >= AS_OFTEN:
                        continue
                    chosen = {"selected_option": option} if option else {"value": element.get("value")}
                    if await self.person._act(source, block, element, **chosen):
                        self.pressed[name] += 1
                    else:
                        gone.add(name)
                    await self._use_form()
        return gone

    async def _use_form(self) -> None:
        """Presses the buttons of the form that opened, uses its selects, submits it, and closes it."""
        await self.person.office.idle()
        await self._press_in_form()
        views = (await self.person.state())["views"]
        for block in views[-1]["blocks"] if views else ():
            element: JSON = block.get("element", {})
            chosen: JSON = {"value": "x"}
            if "external_select" in element.get("type", ""):
                found = (await self.person._suggest(views[-1], block, "")).get("options")
                chosen = {"selected_option": found[0]} if found else {}
            if block.get("dispatch_action") and chosen:
                await self.person._act({"view": {"id": views[-1]["id"]}}, block, element, **chosen)
                await self.person.office.idle()
        views = (await self.person.state())["views"]
        if views and views[-1].get("submit"):
            inputs = {block["block_id"] for block in views[-1]["blocks"]}
            typed = {"Hours": "1h"} if "hours" in inputs else {}
            typed |= {"Name": "*fett* <!here>"} if views[-1]["title"]["text"] == "New template" else {}
            await self.person.submit(views[-1], typed)
            await self.person.office.idle()
        await self._close_above(None)

    async def _press_in_form(self) -> None:
        """Presses the form's own buttons, such as *More fields*, and closes what opens above it."""
        views = (await self.person.state())["views"]
        if not views or not views[-1].get("submit"):
            return
        form = views[-1]["id"]
        for block in views[-1]["blocks"]:
            for element in block.get("elements", ()):
                if element["type"] == "button" and element["action_id"] not in NOT_IN_FORMS:
                    value = element.get("value")
                    await self.person._act({"view": {"id": form}}, block, element, value=value)
                    await self.person.office.idle()
        await self._close_above(form)

    async def _close_above(self, form: str | None) -> None:
        while (views := (await self.person.state())["views"]) and views[-1]["id"] != form:
            await self.person.close(views[-1])
            await self.person.office.idle()

    async def use_home(self) -> None:
        """Opens the Home tab and presses every button there."""
        await self.person.open_home()
        await until(self.person.home)
        await self.person.office.idle()
        home = await until(self.person.home)
        for block in home["blocks"]:
            for element in block.get("elements") or ():
                if element.get("type") == "button":
                    source = {"view": {"id": home["id"]}}
                    await self.person._act(source, block, element, value=element.get("value"))
                    await self._use_form()

    async def use_shortcuts(self, text: str, file_name: str) -> None:
        """Posts a message with a file and a link, uses every shortcut, and opens the link's details."""
        person, office = self.person, self.person.office
        file = await person.upload("x.txt", b"1")
        office.workspace.state.files[file["id"]].name = file_name
        await person._post("message", channel=office.channel_id("general"), file_ids=[file["id"]], text=text)
        await office.idle()
        message = next(m for m in reversed(await person.messages()) if m["files"])
        for shortcut in sorted(REGISTERED["shortcut"]):
            await person.shortcut(shortcut, None if shortcut in GLOBAL else message)
            await self._use_form()
        for sent in [*await person.messages(), *await person.messages(DM)]:
            for shown in sent.get("unfurls", ()):
                if shown.get("has_details"):
                    await person._post("details", channel=sent["channel"], ts=sent["ts"], url=shown["url"])
        await office.idle()
