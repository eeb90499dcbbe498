"""Blocks, and the surfaces that hold them: messages, modals and the Home tab.

Sources: https://docs.slack.dev/reference/block-kit/blocks and …/views.
"""

import copy
import secrets
from typing import Literal

from bot.sandbox.workspace.blocks import elements
from bot.sandbox.workspace.blocks.elements import plain, rich
from bot.sandbox.workspace.blocks.rich_text import ELEMENTS
from bot.sandbox.workspace.blocks.schema import (
    IDENTIFIER,
    Problems,
    Rule,
    anything,
    boolean,
    both,
    by_type,
    choice,
    fields,
    holds,
    items,
    problem,
    string,
)
from bot.sandbox.workspace.shapes import JsonObject, as_list, as_object

Surface = Literal["message", "modal", "home"]
MAX_BLOCKS = {"message": 50, "modal": 100, "home": 100}


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
                "accessory": by_type(elements.IN_SECTION),
                "expand": boolean,
            },
        ),
        holds(lambda block: bool(block.get("text") or block.get("fields")), "must have text or fields"),
    ),
    "divider": _block({}),
    "header": _block({"text": plain(150)}),
    "context": _block({"elements": items(rich(3000), 1, 10)}),
    "actions": _block({"elements": items(by_type(elements.IN_ACTIONS), 1, 25)}),
    "rich_text": _block({"elements": ELEMENTS}),
}
BLOCKS: dict[str, Rule] = {
    "message": by_type({**SHARED, "input": _input(elements.IN_INPUT)}),
    "modal": by_type({**SHARED, "input": _input({**elements.IN_INPUT, **elements.FILE_INPUT})}),
    "home": by_type({**SHARED, "input": _input(elements.IN_INPUT)}),
}


def elements_of(block: JsonObject) -> list[JsonObject]:
    """Return a block's interactive elements."""
    if block.get("type") == "input":
        return [as_object(block.get("element"))]
    if block.get("type") == "section":
        return [block["accessory"]] if isinstance(block.get("accessory"), dict) else []
    parts = as_list(block.get("elements")) if block.get("type") == "actions" else []
    return [part for part in parts if isinstance(part, dict)]


def _check_ids(blocks: list[JsonObject], path: str, problems: Problems) -> None:
    seen: set[str] = set()
    focused = 0
    for index, block in enumerate(blocks):
        block_id = block.get("block_id")
        if isinstance(block_id, str) and block_id in seen:
            problem(problems, f"`block_id` {block_id} already exists", f"{path}/{index}/block_id")
        seen.add(str(block_id))
        actions = [part.get("action_id") for part in elements_of(block) if part.get("action_id")]
        if len(actions) != len(set(map(str, actions))):
            problem(problems, "action_ids must be unique within a block", f"{path}/{index}")
        focused += sum(part.get("focus_on_load") is True for part in elements_of(block))
    if focused > 1:
        problem(problems, "focus_on_load may be set on one element only", path)


def check_blocks(blocks: object, surface: Surface, path: str = "/blocks") -> Problems:
    """Return Slack's errors for these blocks; empty when they are valid."""
    problems: Problems = []
    items(BLOCKS[surface], 0, MAX_BLOCKS[surface])(blocks, path, problems)
    if isinstance(blocks, list) and all(isinstance(block, dict) for block in blocks):
        _check_ids(blocks, path, problems)
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
        {
            **COMMON,
            "close": plain(24),
            "submit": plain(24),
            "clear_on_close": boolean,
            "notify_on_close": boolean,
            "submit_disabled": boolean,
        },
    ),
    "home": fields({"blocks": anything}, COMMON),
}


def check_view(view: object, kind: Literal["modal", "home"]) -> Problems:
    """Return Slack's errors for a view of type `kind`; empty when it is valid."""
    problems: Problems = []
    definition = as_object(view)
    choice(kind)(definition.get("type"), "/view/type", problems)
    VIEWS[kind](view, "/view", problems)
    problems += check_blocks(definition.get("blocks"), kind, "/view/blocks")
    has_input = any(as_object(block).get("type") == "input" for block in as_list(definition.get("blocks")))
    if kind == "modal" and has_input and not definition.get("submit"):
        problem(problems, "`submit` is required when there is an input block", "/view/submit")
    return problems


def with_ids(blocks: list[JsonObject]) -> list[JsonObject]:
    """Return a copy in which every block and element has an ID; Slack generates the missing ones."""
    named: list[JsonObject] = copy.deepcopy(blocks)
    for block in named:
        block.setdefault("block_id", secrets.token_urlsafe(4)[:5])
        for part in elements_of(block):
            part.setdefault("action_id", secrets.token_urlsafe(4)[:5])
    return named
