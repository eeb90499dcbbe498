"""The views.* methods (https://docs.slack.dev/surfaces/modals)."""

from typing import Literal

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.api.call import Arguments
from bot.sandbox.workspace.delivery import Triggers
from bot.sandbox.workspace.forms import definition, entered, update_view
from bot.sandbox.workspace.model import JsonObject, View
from bot.sandbox.workspace.state import ApiError, State

MAX_SIZE = 250_000
MAX_DEPTH = 3


def _given_view(given: Arguments) -> object:
    view = given.all.get("view")
    if view is None:
        raise ApiError("invalid_arguments", messages=["missing required field: view [json-pointer:/view]"])
    if len(str(view)) > MAX_SIZE:
        raise ApiError("view_too_large", "A view can have at most 250 KB.")
    return view


def _view_body(state: State, view: View) -> JsonObject:
    return {"view": payloads.view(state, view)}


def _new(
    state: State, user: str, kind: Literal["modal", "home"], body: JsonObject, below: View | None = None
) -> View:
    view_id = state.new_id("V")
    return View(
        id=view_id,
        user=user,
        type=kind,
        body=body,
        hash=state.new_hash(),
        root_id=below.root_id if below else view_id,
        previous_id=below.id if below else None,
        values=entered(body["blocks"], {}),
    )


def open_modal(state: State, given: Arguments, triggers: Triggers, *, on_top: bool) -> JsonObject:
    """views.open, which closes the user's other modals, and views.push, which opens one on top."""
    body = definition(state, _given_view(given), "modal")
    trigger = triggers.redeem(given.required("trigger_id")[0])
    stack = state.stack(trigger.user)
    if on_top and not trigger.in_modal:
        raise ApiError("invalid_trigger_id", "Pushing a view needs a trigger from an open form.")
    if on_top and not stack:
        raise ApiError("not_found", "No view is open to push onto.")
    if on_top and len(stack) >= MAX_DEPTH:
        raise ApiError("push_limit_reached", "At most 3 views can be open.")
    if not on_top:
        state.close_all(trigger.user)
    view = _new(state, trigger.user, "modal", body, stack[-1] if on_top else None)
    state.push(view)
    return _view_body(state, view)


def update(state: State, given: Arguments) -> JsonObject:
    """views.update, by view_id or external_id."""
    view = _given_view(given)
    view_id, external_id = given.text("view_id"), given.text("external_id")
    if not view_id and not external_id:
        given.required("view_id")
    known = [*state.views.values(), *state.homes.values()]
    old_view = next(
        (one for one in known if (one.id == view_id if view_id else one.body["external_id"] == external_id)),
        None,
    )
    if old_view is None:
        raise ApiError("not_found", "The view is no longer open.", broken=False)
    _check_hash(given, old_view)
    update_view(state, old_view, view)
    return _view_body(state, old_view)


def publish(state: State, given: Arguments) -> JsonObject:
    """views.publish: the user's Home tab, new or updated."""
    user, view = given.required("user_id")[0], _given_view(given)
    if user not in state.users:
        raise ApiError("user_not_found", "The user doesn't exist.", broken=False)
    if home := state.homes.get(user):
        _check_hash(given, home)
        update_view(state, home, view)
    else:
        home = state.homes[user] = _new(state, user, "home", definition(state, view, "home"))
        state.changed((user,))
    return _view_body(state, home)


def _check_hash(given: Arguments, old_view: View) -> None:
    if given.text("hash") not in ("", old_view.hash):
        raise ApiError("hash_conflict", "The view has changed since this hash.", broken=False)
