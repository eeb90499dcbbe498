"""Checks blocks, views and Work Objects by the rules in block_kit.toml, and reports errors as Slack does."""

import copy
import re
import secrets
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
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
BLOCKS: dict[Surface, str] = {
    "message": "items 0 50 of block rich_block input_block",
    "modal": "items 0 100 of block rich_block modal_input_block",
    "home": "items 0 100 of block rich_block input_block",
}

KIT = tomllib.loads(files("bot.sandbox.workspace").joinpath("block_kit.toml").read_text(encoding="utf-8"))


def _likeness(option: object) -> tuple[object, object]:
    body = as_object(option)
    return body.get("value"), as_object(body.get("text")).get("text")


def _presets_offered(element: JsonObject) -> bool:
    presets = [element["initial_option"]] if element.get("initial_option") else []
    presets += as_list(element.get("initial_options"))
    known = [_likeness(option) for option in as_list(element.get("options"))]
    return all(_likeness(preset) in known for preset in presets)


PRESETS = of_fields(_presets_offered, "initial option must be one of the options")
CONDITIONS: dict[str, Rule] = {
    **dict.fromkeys(("static_select", "multi_static_select", "checkboxes"), PRESETS),
    "section": of_fields(
        lambda block: bool(block.get("text") or block.get("fields")), "must have text or fields"
    ),
}
NAMED: dict[str, Rule] = {
    "id": string(255, 1),
    "boolean": holds(lambda value: isinstance(value, bool), "must be a boolean"),
    "anything": holds(lambda _: True, ""),  # only Slack's own clients create these
    "day": holds(_is_day, "must be a date as YYYY-MM-DD"),
    "time": pattern(r"([01]\d|2[0-3]):[0-5]\d", "a time as HH:mm"),
    "reference_id": pattern(r"[0-9a-zA-Z\-_:!/=]+", "an id without dots"),
    "error_status": choice(
        *("not_found", "restricted", "internal_error", "custom", "custom_partial_view", "timeout"),
        "edit_error",
    ),
    "entity_type": choice(
        *(f"slack#/entities/{name}" for name in ("task", "file", "item", "incident", "content_item"))
    ),
}


@cache
def rule(text: str) -> Rule:
    """Return a rule as block_kit.toml has it: `string 255 1`, `items 1 10 option`, `of button single`."""
    name, *words = text.split()
    match name:
        case "string":
            return string(*map(int, words))
        case "integer":
            return integer(*map(int, words))
        case "choice":
            return choice(*words)
        case "items":
            return items(rule(" ".join(words[2:])), *map(int, words[:2]))
        case "of":
            return by_type({kind: _object(kind, KIT[group][kind]) for group in words for kind in KIT[group]})
        case "plain" | "rich":
            text_rule = {"text": string(int(words[0]), 1)}
            plain = {"plain_text": fields(text_rule, {"emoji": rule("boolean")})}
            return by_type(
                plain
                if name == "plain"
                else {**plain, "mrkdwn": fields(text_rule, {"verbatim": rule("boolean")})}
            )
    return NAMED.get(name) or _object(name, KIT["object"][name])


def _object(name: str, table: Mapping[str, str]) -> Rule:
    known = dict(table)
    while inherited := known.pop("extends", None):
        known = {**KIT["object"][inherited], **known}
    required = {key: rule(text) for key, text in known.items() if not text.endswith("?")}
    optional = {key: rule(text[:-1]) for key, text in known.items() if text.endswith("?")}
    described = fields(required, optional)
    return both(described, CONDITIONS[name]) if name in CONDITIONS else described


def elements_of(block: JsonObject) -> list[JsonObject]:
    """Return a block's interactive elements."""
    if block.get("type") == "input":
        return [as_object(block.get("element"))]
    if block.get("type") == "section":
        return [block["accessory"]] if isinstance(block.get("accessory"), dict) else []
    parts = as_list(block.get("elements")) if block.get("type") == "actions" else []
    return [part for part in parts if isinstance(part, dict)]


def _check_ids(blocks: list[JsonObject], path: str) -> Iterator[str]:
    block_ids: set[str] = set()
    focused = 0
    for index, block in enumerate(blocks):
        block_id = block.get("block_id")
        if isinstance(block_id, str) and block_id in block_ids:
            yield problem(f"`block_id` {block_id} already exists", f"{path}/{index}/block_id")
        block_ids.add(str(block_id))
        actions = [part.get("action_id") for part in elements_of(block) if part.get("action_id")]
        if len(actions) != len(set(map(str, actions))):
            yield problem("action_ids must be unique within a block", f"{path}/{index}")
        focused += sum(part.get("focus_on_load") is True for part in elements_of(block))
    if focused > 1:
        yield problem("focus_on_load may be set on one element only", path)


def check_blocks(blocks: object, surface: Surface, path: str = "/blocks") -> list[str]:
    """Return Slack's errors for these blocks; empty when they are valid."""
    problems = [*rule(BLOCKS[surface])(blocks, path)]
    if isinstance(blocks, list) and all(isinstance(block, dict) for block in blocks):
        problems += _check_ids(blocks, path)
    return problems


def check_view(view: object, kind: Literal["modal", "home"]) -> list[str]:
    """Return Slack's errors for a view of type `kind`; empty when it is valid."""
    definition = as_object(view)
    problems = [*choice(kind)(definition.get("type"), "/view/type"), *rule(kind)(view, "/view")]
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
