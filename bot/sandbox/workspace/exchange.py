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
    "offline": ("dispatch_failed", "The app isn't connected."),
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
        error, detail = UNANSWERED[answer.outcome]
        said = f"{where} failed with the error “{error}”."
        if answer.outcome == "offline":
            said += f" {detail}"
        else:
            self.state.violate(where, error, detail)
        self.state.toast(user.id, said)
        return True


class PageError(Exception):
    """The request can't be done; the page shows the message."""


class Gone(PageError):
    """The form or message closed or changed before the user's action arrived."""
