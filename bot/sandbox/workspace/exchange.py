"""What every user interaction with the app shares: delivery, triggers, response URLs, error reports."""

from dataclasses import dataclass

from bot.sandbox.workspace.delivery import Answer, Delivery
from bot.sandbox.workspace.model import User
from bot.sandbox.workspace.response_urls import ResponseUrls
from bot.sandbox.workspace.shapes import BackgroundTasks
from bot.sandbox.workspace.state import State
from bot.sandbox.workspace.triggers import Triggers

UNANSWERED = {
    "timeout": ("operation_timeout", "The app didn't acknowledge this within 3 seconds."),
    "refused": ("dispatch_failed", "The app returned an error."),
}


@dataclass(frozen=True, slots=True)
class Exchange:
    state: State
    delivery: Delivery
    triggers: Triggers
    response_urls: ResponseUrls
    background_tasks: BackgroundTasks

    def missed(self, user: User, where: str, answer: Answer) -> bool:
        """Return whether no acknowledgement came; if so, notify the user (and the panel unless offline)."""
        if answer.outcome == "acknowledged":
            return False
        if answer.outcome == "offline":
            self.state.toast(
                user.id, f"{where} failed with the error “dispatch_failed”. The app isn't connected."
            )
            return True
        error, detail = UNANSWERED[answer.outcome]
        self.state.toast(user.id, f"{where} failed with the error “{error}”.")
        self.state.violate(where, error, detail)
        return True

    def expect_empty(self, where: str, answer: Answer) -> None:
        """Report an acknowledgement that has a body where Slack expects none."""
        if answer.outcome == "acknowledged" and answer.payload not in (None, "", {}):
            self.state.violate(where, "ack_with_body", "The acknowledgement must have an empty body.")


class PageError(Exception):
    """The request can't be done; the page shows the message."""


class Gone(PageError):
    """The form or message closed or changed before the user's action arrived."""
