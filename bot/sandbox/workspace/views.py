"""Validate views, and update them, from API methods and acknowledgements."""

from typing import Literal

from bot.sandbox.workspace.blocks.surfaces import check_view, with_ids
from bot.sandbox.workspace.blocks.tokens import check_tokens
from bot.sandbox.workspace.forms import entered
from bot.sandbox.workspace.model import View
from bot.sandbox.workspace.shapes import ApiError, JsonObject
from bot.sandbox.workspace.state import State

KEPT = (
    "callback_id",
    "private_metadata",
    "external_id",
    "title",
    "submit",
    "close",
    "clear_on_close",
    "notify_on_close",
    "submit_disabled",
)


def definition(
    state: State, view: object, kind: Literal["modal", "home"], itself: View | None = None
) -> JsonObject:
    """Return a view definition in which every block has an ID; raises ApiError when it is invalid."""
    if problems := check_view(view, kind):
        raise ApiError("invalid_arguments", messages=problems)
    given: JsonObject = view if isinstance(view, dict) else {}
    body: JsonObject = {key: given.get(key) for key in KEPT}
    for key in ("callback_id", "private_metadata", "external_id"):
        body[key] = body[key] or ""
    for key in ("clear_on_close", "notify_on_close", "submit_disabled"):
        body[key] = bool(body[key])
    body["blocks"] = with_ids(given["blocks"])
    external_id = body["external_id"]
    others = (other for other in state.views.values() if other is not itself)
    if external_id and any(other.body["external_id"] == external_id for other in others):
        raise ApiError("duplicate_external_id", f"Another view has the external_id {external_id}.")
    check_tokens(state, "view", body["blocks"])
    return body


def update_view(state: State, shown: View, view: object) -> None:
    """Replace a view's definition; input stays where block and action IDs match."""
    body = definition(state, view, shown.type, shown)
    shown.body, shown.errors, shown.hash = body, None, state.new_hash()
    shown.values = entered(body["blocks"], {}, shown.values)
    state.changed((shown.user,))
