"""Opening, replacing and closing views, from methods and from acknowledgements alike."""

from typing import Literal

from bot.sandbox.workspace.blocks.surfaces import check_view, with_ids
from bot.sandbox.workspace.blocks.tokens import check_tokens
from bot.sandbox.workspace.forms import entered, with_current_conversation
from bot.sandbox.workspace.model import View
from bot.sandbox.workspace.shapes import JsonObject, Refused
from bot.sandbox.workspace.state import State

DEEPEST = 3
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
    """The checked body of a view with its blocks named.

    Raises Refused when a bound is broken.
    """
    if problems := check_view(view, kind):
        raise Refused("invalid_arguments", messages=problems)
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
        raise Refused("duplicate_external_id", f"Another view has the external_id {body['external_id']}.")


def open_view(state: State, user: str, view: object, *, channel: str | None, on_top: bool) -> View:
    """Show a form to a person: alone, or on top of the ones already open."""
    body = definition(view, "modal")
    check_tokens(state, "view", body["blocks"])
    _unique(state, body)
    stack = state.stack(user)
    if on_top and not stack:
        raise Refused("not_found", "There is no open view to push onto.")
    if on_top and len(stack) >= DEEPEST:
        raise Refused("push_limit_reached", "A stack of views is at most 3 high.")
    if not on_top:
        state.close_all(user)
    below = stack[-1] if on_top else None
    view_id = state.new_id("V")
    with_current_conversation(body["blocks"], state.channels.get(channel or ""))
    shown = View(
        id=view_id,
        user=user,
        type="modal",
        body=body,
        hash=state.new_hash(),
        root_id=below.root_id if below else view_id,
        previous_id=below.id if below else None,
        channel=channel,
        values=entered(body["blocks"], {}),
    )
    state.push(shown)
    return shown


def update_view(state: State, shown: View, view: object) -> View:
    """Put another definition in a view's place; what was typed stays where block and action ids do."""
    body = definition(view, shown.type)
    check_tokens(state, "view", body["blocks"])
    _unique(state, body, shown)
    with_current_conversation(body["blocks"], state.channels.get(shown.channel or ""))
    shown.body, shown.errors, shown.hash = body, None, state.new_hash()
    shown.values = entered(body["blocks"], {}, shown.values)
    state.changed((shown.user,))
    return shown


def publish_home(state: State, user: str, view: object) -> View:
    """Show a person their Home tab."""
    body = definition(view, "home")
    check_tokens(state, "view", body["blocks"])
    view_id = state.homes[user].id if user in state.homes else state.new_id("V")
    values = entered(body["blocks"], {}, state.homes[user].values if user in state.homes else None)
    home = View(view_id, user, "home", body, state.new_hash(), view_id, values=values)
    state.homes[user] = home
    state.changed((user,))
    return home
