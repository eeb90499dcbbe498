"""Modals: submitting and closing them (https://docs.slack.dev/surfaces/modals)."""

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.exchange import Exchange, PageError
from bot.sandbox.workspace.forms import entered, faults
from bot.sandbox.workspace.model import User, View
from bot.sandbox.workspace.shapes import ApiError, JsonObject, as_list, as_object
from bot.sandbox.workspace.state import State
from bot.sandbox.workspace.views import update_view

WHERE = "view_submission"


def submit(exchange: Exchange, user: User, view: View, posted: object) -> dict[str, str]:
    """Submit a modal; return validation errors by block ID, in which case nothing was sent.

    Raises PageError for a modal that isn't on top or is already being submitted.
    """
    state = exchange.state
    if state.stack(user.id)[-1:] != [view]:
        raise PageError("This form is no longer open.")
    if view.busy:
        raise PageError("This form is already being submitted.")
    view.values = entered(view.blocks, posted, view.values)
    if found := faults(view.blocks, view.values):
        return found
    view.busy, view.errors = True, None
    state.changed((user.id,))
    exchange.background_tasks.start(_submit(exchange, user, view))
    return {}


def _with_files(state: State, value: JsonObject) -> JsonObject:
    """Return an input's value; files are passed to the app, so that it can read them."""
    if value["type"] != "file_input":
        return value
    chosen = [state.files.get(str(as_object(file).get("id"))) for file in as_list(value["files"])]
    files = []
    for file in chosen:
        if file is not None:
            file.for_app = True
            files.append(payloads.file_object(state, file))
    return {"type": "file_input", "files": files}


async def _submit(exchange: Exchange, user: User, view: View) -> None:
    state = exchange.state
    values = {
        block_id: {action_id: _with_files(state, value) for action_id, value in actions.items()}
        for block_id, actions in view.values.items()
    }
    payload = payloads.interaction(state, WHERE, user) | {
        "view": payloads.view(state, view) | {"state": {"values": values}},
        "trigger_id": exchange.triggers.issue(user.id, in_modal=True),
        "response_urls": [],
    }
    answer = await exchange.delivery.deliver("interactive", payload, takes_answer=True)
    view.busy = False
    state.changed((user.id,))
    missed = exchange.missed(user, f"“{view.body['title']['text']}”", answer)
    if missed or view.id not in state.views:
        return
    try:
        _obey(state, view, answer.payload)
    except ApiError as error:
        state.violate(WHERE, error.error, error.detail)
        state.toast(user.id, "We had some trouble connecting. Try again?")


def _obey(state: State, view: View, answer: object) -> None:
    if answer in (None, "", {}):
        state.close(view)
        return
    body = as_object(answer)
    match body.get("response_action"):
        case "clear":
            state.close_all(view.user)
        case "update":
            update_view(state, view, body.get("view"))
        case "errors":
            _show_errors(state, view, as_object(body.get("errors")))
        case _:
            detail = "response_action must be clear, update or errors."
            raise ApiError("invalid_response_action", detail)


def _show_errors(state: State, view: View, errors: JsonObject) -> None:
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    astray = sorted(set(errors) - inputs)
    if astray or not errors:
        raise ApiError("invalid_errors", f"The form has no input blocks called {astray}.")
    view.errors = {block_id: str(sentence) for block_id, sentence in errors.items()}
    state.changed((view.user,))


def close(exchange: Exchange, user: User, view: View, *, everything: bool) -> None:
    """Close a modal, or all of them; notify the app if it asked for that."""
    state = exchange.state
    if view.type == "home":
        raise PageError("The Home tab can't be closed.")
    clear = everything or bool(view.body["clear_on_close"])
    for one in state.stack(user.id)[::-1] if clear else [view]:
        state.close(one)
        if one.body["notify_on_close"]:
            exchange.background_tasks.start(_closed(exchange, user, one, clear=clear))


async def _closed(exchange: Exchange, user: User, view: View, *, clear: bool) -> None:
    payload = payloads.interaction(exchange.state, "view_closed", user)
    payload |= {"view": payloads.view(exchange.state, view), "is_cleared": clear}
    answer = await exchange.delivery.deliver("interactive", payload, takes_answer=False)
    if answer.outcome == "timeout":
        detail = "The app didn't acknowledge this within 3 seconds."
        exchange.state.violate("view_closed", "operation_timeout", detail)
