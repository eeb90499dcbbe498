"""The fields of a link's details that can be edited, and what an edit changes.

Slack keeps nothing for the bot between showing the details and an edit. So each option of a select carries,
after its ID, the marks of all fields as they were shown: they tell what the user changed, and what others
changed since.
"""

from bot.features.editing import form as edit_form
from bot.features.editing.editing import Edit
from bot.features.issues.issues import marks
from bot.features.link_cards.details import EDITABLE, Details
from bot.service.models import Ref
from bot.slack.surfaces.blocks import JSON, option

EMPTY: JSON = {
    "assignee": {"value": "Unassigned", "type": "string"},
    "due_date": {"type": "slack#/types/date"},
}
"""Fields that an issue may be without; services may leave out others, too."""


def editable(fields: JSON, shown: Details) -> JSON:
    """The fields, by Slack's names, with how the user may edit them."""
    marked = marks(shown.issue)
    carried = ".".join(marked[field.name] for field in EDITABLE.values())
    found = dict(fields)
    for name, choices in shown.choices.items():
        edit: JSON = {"enabled": True, "optional": not EDITABLE[name].always}
        if choices:
            held = EDITABLE[name].answered(shown.issue)
            edit["select"] = {"static_options": [option(ref.name, f"{ref.id}:{carried}") for ref in choices]}
            edit["select"] |= {"current_value": f"{held.id}:{carried}"} if isinstance(held, Ref) else {}
        found[name] = (found.get(name) or EMPTY.get(name, {"value": "–"})) | {"edit": edit}
    return found


def edit_of(view: JSON) -> tuple[Edit, dict[str, str]]:
    """What the user changed in the details, and the marks of the fields as they were shown, empty without
    one: what isn't known to have been shown counts as changed by others.

    Raises ActionExpired for a value that the details didn't offer.
    """
    opened = {field.name: "" for field in EDITABLE.values()}
    values: JSON = {}
    for key, inputs in (view.get("state", {}).get("values") or {}).items():
        if key not in EDITABLE:
            continue
        held: JSON = next(iter(inputs.values()), {})
        if option := held.get("selected_option"):
            number, _, shown = str(option["value"]).partition(":")
            if shown:
                opened |= zip(opened, shown.split("."), strict=False)
            held = held | {"selected_option": option | {"value": number}}
        values[EDITABLE[key].name] = {key: held}
    blocks = [{"type": "input", "block_id": name} for name in values]
    return edit_form.submitted({"blocks": blocks, "state": {"values": values}}, opened, ""), opened
