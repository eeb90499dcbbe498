"""Open, update and publish views, from API methods and acknowledgements."""

from typing import Literal

from bot.sandbox.workspace.blocks.surfaces import check_view, with_ids
from bot.sandbox.workspace.blocks.tokens import check_tokens
from bot.sandbox.workspace.forms import entered
from bot.sandbox.workspace.model import View
from bot.sandbox.workspace.shapes import ApiError, JsonObject
from bot.sandbox.workspace.state import State

MAX_DEPTH = 3
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


def definition(view: object, kind: Literal["modal", "home"]) -> JsonObject:
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
    return body


def _unique(state: State, body: JsonObject, itself: View | None = None) -> None:
    taken = body["external_id"] and any(
        view is not itself and view.body["external_id"] == body["external_id"]
        for view in state.views.values()
    )
    if taken:
        raise ApiError("duplicate_external_id", f"Another view has the external_id {body['external_id']}.")


def open_view(state: State, user: str, view: object, *, on_top: bool) -> View:
    """Open a modal for a user, alone or on top of the stack."""
    body = definition(view, "modal")
    check_tokens(state, "view", body["blocks"])
    _unique(state, body)
    stack = state.stack(user)
    if on_top and not stack:
        raise ApiError("not_found", "No view is open to push onto.")
    if on_top and len(stack) >= MAX_DEPTH:
        raise ApiError("push_limit_reached", "At most 3 views can be open.")
    if not on_top:
        state.close_all(user)
    below = stack[-1] if on_top else None
    view_id = state.new_id("V")
    shown = View(
        id=view_id,
        user=user,
        type="modal",
        body=body,
        hash=state.new_hash(),
        root_id=below.root_id if below else view_id,
        previous_id=below.id if below else None,
        values=entered(body["blocks"], {}),
    )
    state.push(shown)
    return shown


def update_view(state: State, shown: View, view: object) -> View:
    """Replace a view's definition; input stays where block and action IDs match."""
    body = definition(view, shown.type)
    check_tokens(state, "view", body["blocks"])
    _unique(state, body, shown)
    shown.body, shown.errors, shown.hash = body, None, state.new_hash()
    shown.values = entered(body["blocks"], {}, shown.values)
    state.changed((shown.user,))
    return shown


def publish_home(state: State, user: str, view: object) -> View:
    body = definition(view, "home")
    check_tokens(state, "view", body["blocks"])
    view_id = state.homes[user].id if user in state.homes else state.new_id("V")
    values = entered(body["blocks"], {}, state.homes[user].values if user in state.homes else None)
    home = View(view_id, user, "home", body, state.new_hash(), view_id, values=values)
    state.homes[user] = home
    state.changed((user,))
    return home
