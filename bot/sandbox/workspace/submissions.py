"""Modals: submitting and closing them (https://docs.slack.dev/surfaces/modals)."""

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.exchange import Exchange, PageError
from bot.sandbox.workspace.forms import entered, faults
from bot.sandbox.workspace.model import User, View
from bot.sandbox.workspace.shapes import ApiError, JsonObject, as_list, as_object
from bot.sandbox.workspace.views import open_view, update_view

WHERE = "view_submission"


class Submissions:
    """Handles a modal's Submit and Close buttons."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._state = exchange.state

    def submit(self, user: User, view: View, posted: object) -> dict[str, str]:
        """Submit a modal; return validation errors by block ID, in which case nothing was sent.

        Raises PageError for a modal that isn't on top or is already being submitted.
        """
        if self._state.stack(user.id)[-1:] != [view]:
            raise PageError("This form is no longer open.")
        if view.busy:
            raise PageError("This form is already being submitted.")
        view.values = entered(view.blocks, posted, view.values)
        if found := faults(view.blocks, view.values):
            return found
        view.busy, view.errors = True, None
        self._state.changed((user.id,))
        self._exchange.background_tasks.start(self._submit(user, view))
        return {}

    def _handed_over(self, view: View) -> JsonObject:
        shown = payloads.view(self._state, view)
        values: JsonObject = {}
        for block_id, actions in view.values.items():
            values[block_id] = {}
            for action_id, value in actions.items():
                if value["type"] == "file_input":
                    chosen = [
                        self._state.files.get(str(as_object(file).get("id")))
                        for file in as_list(value["files"])
                    ]
                    known = [file for file in chosen if file is not None]
                    for file in known:
                        file.for_app = True
                    files = [payloads.file_object(self._state, file) for file in known]
                    values[block_id][action_id] = {"type": "file_input", "files": files}
                else:
                    values[block_id][action_id] = value
        return shown | {"state": {"values": values}}

    async def _submit(self, user: User, view: View) -> None:
        payload = payloads.interaction(self._state, WHERE, user)
        payload |= {
            "view": self._handed_over(view),
            "trigger_id": self._exchange.triggers.issue(user.id, in_modal=True),
            "response_urls": [],
        }
        answer = await self._exchange.delivery.deliver("interactive", payload, takes_answer=True)
        view.busy = False
        self._state.changed((user.id,))
        missed = self._exchange.missed(user, f"“{view.body['title']['text']}”", answer)
        if missed or view.id not in self._state.views:
            return
        try:
            self._obey(user, view, answer.payload)
        except ApiError as error:
            self._state.violate(WHERE, error.error, error.detail)
            self._state.toast(user.id, "We had some trouble connecting. Try again?")

    def _obey(self, user: User, view: View, answer: object) -> None:
        if answer in (None, "", {}):
            self._state.close(view)
            return
        body = as_object(answer)
        action = body.get("response_action")
        if action == "clear":
            self._state.close_all(user.id)
        elif action == "update":
            update_view(self._state, view, body.get("view"))
        elif action == "push":
            open_view(self._state, user.id, body.get("view"), on_top=True)
        elif action == "errors":
            self._show_errors(view, as_object(body.get("errors")))
        else:
            raise ApiError(
                "invalid_response_action", "response_action must be clear, update, push or errors."
            )

    def _show_errors(self, view: View, errors: JsonObject) -> None:
        inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
        astray = sorted(set(errors) - inputs)
        if astray or not errors:
            raise ApiError("invalid_errors", f"The form has no input blocks called {astray}.")
        view.errors = {block_id: str(sentence) for block_id, sentence in errors.items()}
        self._state.changed((view.user,))

    def close(self, user: User, view: View, *, everything: bool) -> None:
        """Close a modal, or all of them; notify the app if it asked for that."""
        if view.type == "home":
            raise PageError("The Home tab can't be closed.")
        clear = everything or bool(view.body["clear_on_close"])
        closed = self._state.stack(user.id)[::-1] if clear else [view]
        for one in closed:
            self._state.close(one)
            if one.body["notify_on_close"]:
                self._exchange.background_tasks.start(self._closed(user, one, clear=clear))

    async def _closed(self, user: User, view: View, *, clear: bool) -> None:
        payload = payloads.interaction(self._state, "view_closed", user)
        payload |= {"view": payloads.view(self._state, view), "is_cleared": clear}
        answer = await self._exchange.delivery.deliver("interactive", payload, takes_answer=False)
        if answer.outcome == "timeout":
            self._state.violate(
                "view_closed", "operation_timeout", "The app didn't acknowledge this within 3 seconds."
            )
