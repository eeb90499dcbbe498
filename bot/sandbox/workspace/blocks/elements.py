"""The Block Kit objects and elements that the app uses, with their limits.

Sources: https://docs.slack.dev/reference/block-kit/composition-objects and …/block-elements.
"""

from bot.sandbox.workspace.blocks import rich_text
from bot.sandbox.workspace.blocks.schema import (
    IDENTIFIER,
    Rule,
    anything,
    boolean,
    both,
    by_type,
    choice,
    day,
    fields,
    holds,
    integer,
    items,
    pattern,
    string,
)
from bot.sandbox.workspace.shapes import JsonObject, as_list, as_object

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
TYPED = {
    "action_id": IDENTIFIER,
    "focus_on_load": boolean,
    "placeholder": plain(150),
    "dispatch_action_config": DISPATCH,
}


def _likeness(option: object) -> tuple[object, object]:
    shown = as_object(option)
    return shown.get("value"), as_object(shown.get("text")).get("text")


def _presets_offered(element: JsonObject) -> bool:
    presets = [element["initial_option"]] if element.get("initial_option") else []
    presets += as_list(element.get("initial_options"))
    known = [_likeness(option) for option in as_list(element.get("options"))]
    return all(_likeness(preset) in known for preset in presets)


PRESETS = holds(_presets_offered, "initial option must be one of the options")
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
    "rich_text_input": fields({}, {**TYPED, "initial_value": rich_text.VALUE}),
}
IN_ACTIONS = {**BUTTONS, **SINGLE}
IN_SECTION = {**BUTTONS, **SINGLE, **SEVERAL}
IN_INPUT = {**TEXT_INPUTS, **SINGLE, **SEVERAL}
FILE_INPUT: dict[str, Rule] = {
    "file_input": fields(
        {}, {"action_id": IDENTIFIER, "filetypes": items(string(20, 1), 1, 100), "max_files": integer(1, 10)}
    )
}
