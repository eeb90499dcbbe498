"""Reads the texts, buttons and inputs of a message or view in the local Slack."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

JSON = dict[str, Any]
T = TypeVar("T")
TIMEOUT_SECONDS = 60.0
LOOK_EVERY = 0.01
STILL_WORKING = "Tracker is slow right now. Still working on it…"
"""What the bot says first when the service, or the machine, is slow."""
INITIAL = {
    "initial_value": "value",
    "initial_option": "selected_option",
    "initial_options": "selected_options",
    "initial_date": "selected_date",
    "initial_time": "selected_time",
    "initial_conversation": "selected_conversation",
}


async def until(look: Callable[[], Awaitable[T | None]], seconds: float = TIMEOUT_SECONDS) -> T:
    """Polls `look` until it returns something and returns that."""
    async with asyncio.timeout(seconds):
        while not (result := await look()):
            await asyncio.sleep(LOOK_EVERY)
    return result


async def until_so(holds: Callable[[], object]) -> None:
    """Polls `holds` until it returns something true."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not holds():
            await asyncio.sleep(LOOK_EVERY)


def text_of(surface: JSON) -> str:
    """Returns all the text in a message or view as one string."""
    return " ".join(_texts(surface.get("blocks"))) or str(surface.get("text") or "")


def values_of(view: JSON) -> JSON:
    """Returns the current values of a form's inputs, by label."""
    values = {}
    for block in view["blocks"]:
        if block["type"] == "input":
            value = next(iter(value_held(block["element"]).values()), None)
            if isinstance(value, dict) and "elements" in value:
                value = "".join(_texts(value["elements"]))
            elif isinstance(value, dict):
                value = value["text"]["text"]
            elif isinstance(value, list):
                value = [option["text"]["text"] for option in value]
            values[block["label"]["text"]] = value
    return values


def value_held(element: JSON) -> JSON:
    """Returns an element's initial value in the shape in which Slack submits it."""
    initial = INITIAL | ({"initial_value": "rich_text_value"} if element["type"] == "rich_text_input" else {})
    return {initial[key]: value for key, value in element.items() if key in initial}


def rich_text(*elements: JSON) -> JSON:
    """Returns rich text as Slack's composer makes it."""
    return {"type": "rich_text", "elements": list(elements)}


def rich_section(*parts: JSON | str) -> JSON:
    """Returns a section of rich text; strings are plain text."""
    elements = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"type": "rich_text_section", "elements": elements}


def waiting(view: JSON) -> bool:
    """Returns whether the view is a loading view that will be replaced."""
    return ":hourglass" in text_of(view) or view["title"]["text"] == "One moment"


def button_saying(blocks: list[JSON], text: str) -> tuple[JSON, JSON]:
    """Returns the block that contains the button, and the button."""
    for block in blocks:
        accessory = [block["accessory"]] if block.get("accessory") else []
        for element in [*block.get("elements", []), *accessory]:
            if element.get("type") == "button" and element["text"]["text"] == text:
                return block, element
    raise AssertionError(f"no button {text!r} in {[_texts(b) for b in blocks]}")


def option_in_menus(blocks: list[JSON], text: str) -> tuple[JSON, JSON, JSON]:
    """Returns the block and menu that contain the option, and the option."""
    for block in blocks:
        for element in [*block.get("elements", []), block.get("accessory") or {}]:
            for option in element.get("options", []):
                if option["text"]["text"] == text:
                    return block, element, option
    raise AssertionError(f"no option {text!r} in {blocks}")


def input_named(view: JSON, label: str) -> JSON:
    return next(b for b in view["blocks"] if b["type"] == "input" and b["label"]["text"] == label)


def labels_of(view: JSON) -> set[str]:
    """Returns the labels of a form's inputs."""
    return {block["label"]["text"] for block in view["blocks"] if block["type"] == "input"}


def option_saying(options: list[JSON], text: str) -> JSON:
    """Returns the first option whose text contains `text`."""
    return next(o for o in options if text in o["text"]["text"])


def _texts(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["text"]] if isinstance(part.get("text"), str) else []
        return own + [text for value in part.values() if not isinstance(value, str) for text in _texts(value)]
    if isinstance(part, list):
        return [text for item in part for text in _texts(item)]
    return []
