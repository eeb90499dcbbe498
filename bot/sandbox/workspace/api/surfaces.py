"""The views.* methods (https://docs.slack.dev/surfaces/modals)."""

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.api.call import Arguments
from bot.sandbox.workspace.model import View
from bot.sandbox.workspace.shapes import ApiError, JsonObject
from bot.sandbox.workspace.state import State
from bot.sandbox.workspace.triggers import Triggers
from bot.sandbox.workspace.views import definition, open_view, publish_home, update_view

MAX_SIZE = 250_000


def _given_view(given: Arguments) -> object:
    view = given.all.get("view")
    if view is None:
        raise ApiError("invalid_arguments", messages=["missing required field: view [json-pointer:/view]"])
    if len(str(view)) > MAX_SIZE:
        raise ApiError("view_too_large", "A view can have at most 250 KB.")
    return view


def _shown(state: State, view: View) -> JsonObject:
    return {"view": payloads.view(state, view)}


def open_modal(state: State, given: Arguments, triggers: Triggers, *, on_top: bool) -> JsonObject:
    view = _given_view(given)
    definition(view, "modal")
    trigger = triggers.redeem(given.required("trigger_id")[0])
    if on_top and not trigger.in_modal:
        raise ApiError("invalid_trigger_id", "Pushing a view needs a trigger from an open form.")
    return _shown(state, open_view(state, trigger.user, view, on_top=on_top))


def update(state: State, given: Arguments) -> JsonObject:
    """views.update, by view_id or external_id."""
    view = _given_view(given)
    view_id, external_id = given.text("view_id"), given.text("external_id")
    if not view_id and not external_id:
        given.required("view_id")
    known = [*state.views.values(), *state.homes.values()]
    shown = next(
        (one for one in known if (one.id == view_id if view_id else one.body["external_id"] == external_id)),
        None,
    )
    if shown is None:
        raise ApiError("not_found", "The view is no longer open.", broken=False)
    if given.text("hash") and given.text("hash") != shown.hash:
        raise ApiError("hash_conflict", "The view has changed since this hash.", broken=False)
    return _shown(state, update_view(state, shown, view))


def publish(state: State, given: Arguments) -> JsonObject:
    user = given.required("user_id")[0]
    if user not in state.users:
        raise ApiError("user_not_found", "The user doesn't exist.", broken=False)
    home = state.homes.get(user)
    if given.text("hash") and home is not None and given.text("hash") != home.hash:
        raise ApiError("hash_conflict", "The Home tab has changed since this hash.", broken=False)
    return _shown(state, publish_home(state, user, _given_view(given)))
