"""The Block Kit blocks, elements and objects that the app uses, with their limits, and the surfaces that hold
them: messages, modals and the Home tab. They are checked by rules that report errors the way Slack does.

Sources: https://docs.slack.dev/reference/block-kit (blocks, block-elements, composition-objects) and …/views.
"""

import copy
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal

from bot.sandbox.workspace.model import JsonObject, as_list, as_object

Rule = Callable[[object, str], Iterator[str]]
"""Yields what is wrong with a value at a path."""


def problem(sentence: str, path: str) -> str:
    return f"{sentence} [json-pointer:{path or '/'}]"


def holds(test: Callable[[Any], object], sentence: str) -> Rule:
    def check(value: object, path: str) -> Iterator[str]:
        if not test(value):
            yield problem(sentence, path)

    return check


def string(maximum: int, minimum: int = 0) -> Rule:
    def check(value: object, path: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield problem("must be a string", path)
        elif len(value) > maximum:
            yield problem(f"must be no more than {maximum} characters, has {len(value)}", path)
        elif len(value) < minimum:
            yield problem(f"must be at least {minimum} characters", path)

    return check


IDENTIFIER = string(255, 1)
boolean = holds(lambda value: isinstance(value, bool), "must be a boolean")
anything = holds(lambda _: True, "")
"""Accepts any value: only Slack's own clients create these."""


def integer(minimum: int, maximum: int) -> Rule:
    sentence = f"must be an integer from {minimum} to {maximum}"
    return holds(lambda value: type(value) is int and minimum <= value <= maximum, sentence)


def choice(*allowed: str) -> Rule:
    return holds(lambda value: value in allowed, f"must be one of: {', '.join(allowed)}")


def pattern(expression: str, what: str) -> Rule:
    compiled = re.compile(expression)
    return holds(lambda value: isinstance(value, str) and compiled.fullmatch(value), f"must be {what}")


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


day = holds(_is_day, "must be a date as YYYY-MM-DD")


def items(rule: Rule, minimum: int, maximum: int) -> Rule:
    def check(value: object, path: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield problem("must be an array", path)
            return
        if len(value) > maximum:
            yield problem(f"no more than {maximum} items allowed, has {len(value)}", path)
        if len(value) < minimum:
            yield problem(f"must have at least {minimum} items", path)
        for index, item in enumerate(value):
            yield from rule(item, f"{path}/{index}")

    return check


def fields(required: Mapping[str, Rule], optional: Mapping[str, Rule] = MappingProxyType({})) -> Rule:
    """An object with exactly these keys; `by_type` checks `type`."""
    known = {**required, **optional}

    def check(value: object, path: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield problem("must provide an object", path)
            return
        yield from (problem(f"missing required field: {k}", path) for k in required if value.get(k) is None)
        for key, inner in value.items():
            if key == "type" or inner is None:
                continue
            if key in known:
                yield from known[key](inner, f"{path}/{key}")
            else:
                yield problem(f"invalid additional property: {key}", path)

    return check


def by_type(rules: Mapping[str, Rule]) -> Rule:
    """One of several kinds of object, selected by `type`."""

    def check(value: object, path: str) -> Iterator[str]:
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str):
            yield problem("must provide an object with a type", path)
        elif kind not in rules:
            yield problem(f"unsupported type: {kind}", path + "/type")
        else:
            yield from rules[kind](value, path)

    return check


def both(one: Rule, other: Rule) -> Rule:
    return lambda value, path: chain(one(value, path), other(value, path))


def of_fields(condition: Callable[[JsonObject], bool], sentence: str) -> Rule:
    """A condition across an object's fields."""
    return holds(lambda value: not isinstance(value, dict) or condition(value), sentence)


Surface = Literal["message", "modal", "home"]
MAX_BLOCKS = {"message": 50, "modal": 100, "home": 100}

STYLE = fields({}, dict.fromkeys(("bold", "italic", "strike", "code"), boolean))


def _leaf(required: dict[str, Rule], optional: dict[str, Rule] | None = None) -> Rule:
    return fields(required, {"style": anything, **(optional or {})})


LEAVES: dict[str, Rule] = {
    "text": fields({"text": string(3000, 1)}, {"style": STYLE}),
    "link": fields({"url": string(3000, 1)}, {"text": string(3000), "style": STYLE, "unsafe": boolean}),
    "user": _leaf({"user_id": IDENTIFIER}),
    "usergroup": _leaf({"usergroup_id": IDENTIFIER}),
    "channel": _leaf({"channel_id": IDENTIFIER}),
    "broadcast": _leaf({"range": choice("here", "channel", "everyone")}),
    "emoji": _leaf({"name": string(255, 1)}, {"unicode": string(255), "skin_tone": anything}),
    "date": _leaf(
        {"timestamp": anything, "format": string(255, 1)}, {"url": string(3000), "fallback": string(255)}
    ),
    "color": _leaf({"value": string(255, 1)}),
}
SECTION = fields({"elements": items(by_type(LEAVES), 0, 1000)}, {})
BORDERED = fields(
    {"elements": items(by_type(LEAVES), 0, 1000)}, {"border": integer(0, 1), "language": string(255)}
)
RICH_TEXT = by_type(
    {
        "rich_text_section": SECTION,
        "rich_text_preformatted": BORDERED,
        "rich_text_quote": BORDERED,
        "rich_text_list": fields(
            {
                "style": choice("bullet", "ordered"),
                "elements": items(by_type({"rich_text_section": SECTION}), 1, 1000),
            },
            {"indent": integer(0, 8), "offset": integer(0, 1_000_000), "border": integer(0, 1)},
        ),
    }
)
RICH_TEXTS = items(RICH_TEXT, 1, 1000)
RICH_TEXT_VALUE = by_type({"rich_text": fields({"elements": RICH_TEXTS}, {"block_id": IDENTIFIER})})

TIME = pattern(r"([01]\d|2[0-3]):[0-5]\d", "a time as HH:mm")


def _texts(maximum: int) -> dict[str, Rule]:
    text = {"text": string(maximum, 1)}
    return {"plain_text": fields(text, {"emoji": boolean}), "mrkdwn": fields(text, {"verbatim": boolean})}


def plain(maximum: int) -> Rule:
    """A `plain_text` object."""
    return by_type({"plain_text": _texts(maximum)["plain_text"]})


def rich(maximum: int) -> Rule:
    """A `plain_text` or `mrkdwn` object."""
    return by_type(_texts(maximum))


CONFIRM = fields(
    {"title": plain(100), "text": rich(300), "confirm": plain(30), "deny": plain(30)},
    {"style": choice("primary", "danger")},
)
OPTION = fields({"text": plain(75), "value": string(150, 1)}, {"description": plain(75)})
MENU_OPTION = fields(
    {"text": plain(75), "value": string(150, 1)}, {"description": plain(75), "url": string(3000, 1)}
)
BOX_OPTION = fields({"text": rich(75), "value": string(150, 1)}, {"description": rich(75)})
FILTER = fields(
    {}, {"include": anything, "exclude_external_shared_channels": boolean, "exclude_bot_users": boolean}
)
DISPATCH = fields({}, {"trigger_actions_on": items(choice("on_enter_pressed", "on_character_entered"), 1, 2)})

ACTION = {"action_id": IDENTIFIER, "confirm": CONFIRM}
BASE = {**ACTION, "focus_on_load": boolean}
WITH_PLACEHOLDER = {**BASE, "placeholder": plain(150)}
TYPED = {key: rule for key, rule in WITH_PLACEHOLDER.items() if key != "confirm"}
TYPED["dispatch_action_config"] = DISPATCH


def _likeness(option: object) -> tuple[object, object]:
    shown = as_object(option)
    return shown.get("value"), as_object(shown.get("text")).get("text")


def _presets_offered(element: JsonObject) -> bool:
    presets = [element["initial_option"]] if element.get("initial_option") else []
    presets += as_list(element.get("initial_options"))
    known = [_likeness(option) for option in as_list(element.get("options"))]
    return all(_likeness(preset) in known for preset in presets)


PRESETS = of_fields(_presets_offered, "initial option must be one of the options")
STATIC = {"options": items(OPTION, 1, 100)}
EXTERNAL: dict[str, Rule] = {**WITH_PLACEHOLDER, "min_query_length": integer(0, 100)}
ONE, MANY = {"initial_option": OPTION}, {"initial_options": items(OPTION, 1, 100)}
SINGLE: dict[str, Rule] = {
    "static_select": both(fields(STATIC, {**WITH_PLACEHOLDER, **ONE}), PRESETS),
    "external_select": fields({}, {**EXTERNAL, **ONE}),
    "conversations_select": fields(
        {}, {**WITH_PLACEHOLDER, "filter": FILTER, "initial_conversation": IDENTIFIER}
    ),
    "datepicker": fields({}, {**WITH_PLACEHOLDER, "initial_date": day}),
    "timepicker": fields({}, {**WITH_PLACEHOLDER, "initial_time": TIME, "timezone": IDENTIFIER}),
    "checkboxes": both(
        fields({"options": items(BOX_OPTION, 1, 10)}, {**BASE, "initial_options": items(BOX_OPTION, 1, 10)}),
        PRESETS,
    ),
}
SEVERAL: dict[str, Rule] = {
    "multi_static_select": both(fields(STATIC, {**WITH_PLACEHOLDER, **MANY}), PRESETS),
    "multi_external_select": fields({}, {**EXTERNAL, **MANY}),
}
BUTTONS: dict[str, Rule] = {
    "button": fields(
        {"text": plain(75)},
        {
            **ACTION,
            "url": string(3000, 1),
            "value": string(2000),
            "style": choice("primary", "danger"),
            "accessibility_label": string(75, 1),
        },
    ),
    "overflow": fields({"options": items(MENU_OPTION, 1, 5)}, ACTION),
}
TEXT_LENGTHS = {"multiline": boolean, "min_length": integer(0, 3000), "max_length": integer(1, 3000)}
TEXT_INPUTS: dict[str, Rule] = {
    "plain_text_input": fields({}, {**TYPED, **TEXT_LENGTHS, "initial_value": string(3000)}),
    "rich_text_input": fields({}, {**TYPED, "initial_value": RICH_TEXT_VALUE}),
}
IN_ACTIONS = {**BUTTONS, **SINGLE}
IN_SECTION = {**BUTTONS, **SINGLE, **SEVERAL}
IN_INPUT = {**TEXT_INPUTS, **SINGLE, **SEVERAL}
FILE_INPUT: dict[str, Rule] = {
    "file_input": fields(
        {}, {"action_id": IDENTIFIER, "filetypes": items(string(20, 1), 1, 100), "max_files": integer(1, 10)}
    )
}


def _block(required: dict[str, Rule], optional: dict[str, Rule] | None = None) -> Rule:
    return fields(required, {"block_id": IDENTIFIER, **(optional or {})})


def _input(kinds: dict[str, Rule]) -> Rule:
    return _block(
        {"label": plain(2000), "element": by_type(kinds)},
        {"hint": plain(2000), "optional": boolean, "dispatch_action": boolean},
    )


SHARED: dict[str, Rule] = {
    "section": both(
        _block(
            {},
            {
                "text": rich(3000),
                "fields": items(rich(2000), 1, 10),
                "accessory": by_type(IN_SECTION),
                "expand": boolean,
            },
        ),
        of_fields(lambda block: bool(block.get("text") or block.get("fields")), "must have text or fields"),
    ),
    "divider": _block({}),
    "header": _block({"text": plain(150)}),
    "context": _block({"elements": items(rich(3000), 1, 10)}),
    "actions": _block({"elements": items(by_type(IN_ACTIONS), 1, 25)}),
    "rich_text": _block({"elements": RICH_TEXTS}),
}
BLOCKS: dict[str, Rule] = {
    "message": by_type({**SHARED, "input": _input(IN_INPUT)}),
    "modal": by_type({**SHARED, "input": _input({**IN_INPUT, **FILE_INPUT})}),
    "home": by_type({**SHARED, "input": _input(IN_INPUT)}),
}


def elements_of(block: JsonObject) -> list[JsonObject]:
    """Return a block's interactive elements."""
    if block.get("type") == "input":
        return [as_object(block.get("element"))]
    if block.get("type") == "section":
        return [block["accessory"]] if isinstance(block.get("accessory"), dict) else []
    parts = as_list(block.get("elements")) if block.get("type") == "actions" else []
    return [part for part in parts if isinstance(part, dict)]


def _check_ids(blocks: list[JsonObject], path: str) -> Iterator[str]:
    seen: set[str] = set()
    focused = 0
    for index, block in enumerate(blocks):
        block_id = block.get("block_id")
        if isinstance(block_id, str) and block_id in seen:
            yield problem(f"`block_id` {block_id} already exists", f"{path}/{index}/block_id")
        seen.add(str(block_id))
        actions = [part.get("action_id") for part in elements_of(block) if part.get("action_id")]
        if len(actions) != len(set(map(str, actions))):
            yield problem("action_ids must be unique within a block", f"{path}/{index}")
        focused += sum(part.get("focus_on_load") is True for part in elements_of(block))
    if focused > 1:
        yield problem("focus_on_load may be set on one element only", path)


def check_blocks(blocks: object, surface: Surface, path: str = "/blocks") -> list[str]:
    """Return Slack's errors for these blocks; empty when they are valid."""
    problems = [*items(BLOCKS[surface], 0, MAX_BLOCKS[surface])(blocks, path)]
    if isinstance(blocks, list) and all(isinstance(block, dict) for block in blocks):
        problems += _check_ids(blocks, path)
    return problems


COMMON: dict[str, Rule] = {
    "blocks": anything,
    "private_metadata": string(3000),
    "callback_id": string(255),
    "external_id": string(255),
}
VIEWS: dict[str, Rule] = {
    "modal": fields(
        {"title": plain(24), "blocks": anything},
        {**COMMON, "close": plain(24), "submit": plain(24)}
        | dict.fromkeys(("clear_on_close", "notify_on_close", "submit_disabled"), boolean),
    ),
    "home": fields({"blocks": anything}, COMMON),
}


def check_view(view: object, kind: Literal["modal", "home"]) -> list[str]:
    """Return Slack's errors for a view of type `kind`; empty when it is valid."""
    definition = as_object(view)
    problems = [*choice(kind)(definition.get("type"), "/view/type"), *VIEWS[kind](view, "/view")]
    problems += check_blocks(definition.get("blocks"), kind, "/view/blocks")
    has_input = any(as_object(block).get("type") == "input" for block in as_list(definition.get("blocks")))
    if kind == "modal" and has_input and not definition.get("submit"):
        problems.append(problem("`submit` is required when there is an input block", "/view/submit"))
    return problems


def with_ids(blocks: list[JsonObject]) -> list[JsonObject]:
    """Return a copy in which every block and element has an ID; Slack generates the missing ones."""
    named: list[JsonObject] = copy.deepcopy(blocks)
    for block in named:
        block.setdefault("block_id", secrets.token_urlsafe(4)[:5])
        for part in elements_of(block):
            part.setdefault("action_id", secrets.token_urlsafe(4)[:5])
    return named
