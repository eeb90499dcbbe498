"""Block Kit's composition objects and elements, with their limits.

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
OPTION_GROUP = fields({"label": plain(75), "options": items(OPTION, 1, 100)}, {})
FILTER = fields(
    {}, {"include": anything, "exclude_external_shared_channels": boolean, "exclude_bot_users": boolean}
)
DISPATCH = fields({}, {"trigger_actions_on": items(choice("on_enter_pressed", "on_character_entered"), 1, 2)})

BASE = {"action_id": IDENTIFIER, "confirm": CONFIRM, "focus_on_load": boolean}
WITH_PLACEHOLDER = {**BASE, "placeholder": plain(150)}
TYPED = {
    "action_id": IDENTIFIER,
    "focus_on_load": boolean,
    "placeholder": plain(150),
    "dispatch_action_config": DISPATCH,
}


def offered(element: JsonObject) -> list[JsonObject]:
    """Return every option in an element, including those in groups."""
    grouped = [
        option
        for group in as_list(element.get("option_groups"))
        for option in as_list(as_object(group).get("options"))
    ]
    return [option for option in as_list(element.get("options")) + grouped if isinstance(option, dict)]


def _likeness(option: object) -> tuple[object, object]:
    shown = as_object(option)
    return shown.get("value"), as_object(shown.get("text")).get("text")


def _presets_offered(element: JsonObject) -> bool:
    presets = [element["initial_option"]] if element.get("initial_option") else []
    presets += as_list(element.get("initial_options"))
    known = [_likeness(option) for option in offered(element)]
    return all(_likeness(preset) in known for preset in presets)


PRESETS = holds(_presets_offered, "initial option must be one of the options")
ONE_SOURCE = holds(
    lambda element: ("options" in element) != ("option_groups" in element),
    "must have either options or option_groups",
)
ONE_IMAGE = holds(
    lambda found: ("image_url" in found) != ("slack_file" in found), "must have image_url or slack_file"
)
STATIC = {"options": items(OPTION, 1, 100), "option_groups": items(OPTION_GROUP, 1, 100)}
EXTERNAL: dict[str, Rule] = {"min_query_length": integer(0, 100)}
CONVERSATIONS: dict[str, Rule] = {"default_to_current_conversation": boolean, "filter": FILTER}


def _selects(
    kind: str, preset: str, value: Rule, *checks: Rule, shared: dict[str, Rule], one: dict[str, Rule]
) -> dict[str, Rule]:
    """Return a select and its multi-select; both have `shared` fields, only the first those in `one`."""
    base = {**WITH_PLACEHOLDER, **shared}
    many = {"max_selected_items": integer(1, 1000), f"initial_{preset}s": items(value, 1, 100)}
    return {
        f"{kind}_select": both(fields({}, {**base, **one, f"initial_{preset}": value}), *checks),
        f"multi_{kind}_select": both(fields({}, {**base, **many}), *checks),
    }


RESPONSE_URL: dict[str, Rule] = {"response_url_enabled": boolean}
SELECTS = {
    **_selects("static", "option", OPTION, ONE_SOURCE, PRESETS, shared=STATIC, one={}),
    **_selects("external", "option", OPTION, shared=EXTERNAL, one={}),
    **_selects("users", "user", IDENTIFIER, shared={}, one={}),
    **_selects("conversations", "conversation", IDENTIFIER, shared=CONVERSATIONS, one=RESPONSE_URL),
    **_selects("channels", "channel", IDENTIFIER, shared={}, one=RESPONSE_URL),
}
BOXES = {"options": items(BOX_OPTION, 1, 10)}
PICKERS: dict[str, Rule] = {
    "datepicker": fields({}, {**WITH_PLACEHOLDER, "initial_date": day}),
    "timepicker": fields({}, {**WITH_PLACEHOLDER, "initial_time": TIME, "timezone": IDENTIFIER}),
    "checkboxes": both(fields(BOXES, {**BASE, "initial_options": items(BOX_OPTION, 1, 10)}), PRESETS),
    "radio_buttons": both(fields(BOXES, {**BASE, "initial_option": BOX_OPTION}), PRESETS),
}
DATETIME: dict[str, Rule] = {
    "datetimepicker": fields({}, {**BASE, "initial_date_time": integer(1_000_000_000, 9_999_999_999)})
}
IMAGE: dict[str, Rule] = {
    "image": both(
        fields({"alt_text": string(2000)}, {"image_url": string(3000, 1), "slack_file": anything}), ONE_IMAGE
    )
}
BUTTONS: dict[str, Rule] = {
    "button": fields(
        {"text": plain(75)},
        {
            "action_id": IDENTIFIER,
            "url": string(3000, 1),
            "value": string(2000),
            "style": choice("primary", "danger"),
            "confirm": CONFIRM,
            "accessibility_label": string(75, 1),
        },
    ),
    "overflow": fields({"options": items(MENU_OPTION, 1, 5)}, {"action_id": IDENTIFIER, "confirm": CONFIRM}),
}
TEXT_LENGTHS = {"multiline": boolean, "min_length": integer(0, 3000), "max_length": integer(1, 3000)}
NUMBER_RANGE = {"min_value": string(100), "max_value": string(100)}
TEXT_INPUTS: dict[str, Rule] = {
    "plain_text_input": fields({}, {**TYPED, **TEXT_LENGTHS, "initial_value": string(3000)}),
    "number_input": fields(
        {"is_decimal_allowed": boolean}, {**TYPED, **NUMBER_RANGE, "initial_value": string(100)}
    ),
    "email_text_input": fields({}, {**TYPED, "initial_value": string(3000)}),
    "url_text_input": fields({}, {**TYPED, "initial_value": string(3000)}),
    "rich_text_input": fields({}, {**TYPED, "initial_value": rich_text.VALUE}),
}
IN_ACTIONS = {
    **BUTTONS,
    **DATETIME,
    **PICKERS,
    **{kind: rule for kind, rule in SELECTS.items() if not kind.startswith("multi_")},
}
IN_SECTION = {**BUTTONS, **IMAGE, **SELECTS, **PICKERS}
IN_INPUT = {**TEXT_INPUTS, **DATETIME, **SELECTS, **PICKERS}
FILE_INPUT: dict[str, Rule] = {
    "file_input": fields(
        {}, {"action_id": IDENTIFIER, "filetypes": items(string(20, 1), 1, 100), "max_files": integer(1, 10)}
    )
}
