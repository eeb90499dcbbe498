"""Input values: the state of a surface's inputs, and the validation Slack's own client does."""

from bot.sandbox.workspace.blocks.surfaces import elements_of
from bot.sandbox.workspace.shapes import JsonObject, as_object

VALUE_KEYS = {
    "plain_text_input": "value",
    "rich_text_input": "rich_text_value",
    "static_select": "selected_option",
    "external_select": "selected_option",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "checkboxes": "selected_options",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "file_input": "files",
}
LISTS = {"selected_options", "files"}


def preset_key(kind: str) -> str:
    key = VALUE_KEYS[kind]
    return "initial_value" if key in ("value", "rich_text_value") else key.replace("selected_", "initial_")


def entered(blocks: list[JsonObject], posted: object, before: JsonObject | None = None) -> JsonObject:
    """Return the values of all inputs in `blocks`, in the format of Slack's `state.values`.

    Each comes from the page's input, else the previous value, else the element's initial value.
    """
    new, old = as_object(posted), before or {}
    values: JsonObject = {}
    for block in blocks:
        for part in elements_of(block):
            key = VALUE_KEYS.get(part.get("type", ""))
            if key is None:
                continue
            block_id, action_id = block["block_id"], part["action_id"]
            empty: object = [] if key in LISTS else None
            value = part.get(preset_key(part["type"]), empty)
            for source in (old, new):
                given = as_object(as_object(source.get(block_id)).get(action_id))
                if key in given and given.get("type", part["type"]) == part["type"]:
                    value = given[key]
            values.setdefault(block_id, {})[action_id] = {
                "type": part["type"],
                key: empty if value in ("", None) else value,
            }
    return values


def _text_fault(part: JsonObject, value: object) -> str | None:
    if not isinstance(value, str):
        return "Please enter text."
    if len(value) > part.get("max_length", 3000):
        return f"Please enter at most {part.get('max_length', 3000)} characters."
    if len(value) < part.get("min_length", 0):
        return f"Please enter at least {part['min_length']} characters."
    return None


def faults(blocks: list[JsonObject], values: JsonObject) -> dict[str, str]:
    """Return what Slack's client rejects before it calls the app, as block ID to error message."""
    found: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        part = block["element"]
        key = VALUE_KEYS[part["type"]]
        value = values[block["block_id"]][part["action_id"]][key]
        if value in (None, "", []):
            if not block.get("optional"):
                found[block["block_id"]] = "Please complete this required field."
        elif key == "value":
            if fault := _text_fault(part, value):
                found[block["block_id"]] = fault
        elif key == "files" and len(value) > part.get("max_files", len(value)):
            found[block["block_id"]] = f"Please choose at most {part['max_files']}."
    return found
