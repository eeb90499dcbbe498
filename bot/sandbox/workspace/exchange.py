"""The counter between people and the app: what goes out, what may come back, who hears when it doesn't."""

from dataclasses import dataclass

from bot.sandbox.workspace.delivery import Answer, Delivery
from bot.sandbox.workspace.model import User
from bot.sandbox.workspace.response_urls import ResponseUrls
from bot.sandbox.workspace.shapes import Errands
from bot.sandbox.workspace.state import State
from bot.sandbox.workspace.triggers import Triggers

UNANSWERED = {
    "timeout": ("operation_timeout", "No acknowledgement within 3 seconds."),
    "refused": ("dispatch_failed", "The app answered with an error."),
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """Everything that an act of a person needs to reach the app."""

    state: State
    delivery: Delivery
    triggers: Triggers
    response_urls: ResponseUrls
    errands: Errands

    def missed(self, user: User, where: str, answer: Answer) -> bool:
        """Whether nobody acknowledged; the person is told, and the panel if the app is to blame."""
        if answer.outcome == "acknowledged":
            return False
        if answer.outcome == "offline":
            self.state.toast(
                user.id, f"{where} failed with the error “dispatch_failed”: the app is not connected."
            )
            return True
        error, detail = UNANSWERED[answer.outcome]
        self.state.toast(user.id, f"{where} failed with the error “{error}”.")
        self.state.violate(where, error, detail)
        return True

    def expect_empty(self, where: str, answer: Answer) -> None:
        """Note an acknowledgement that says something where nothing is listened to."""
        if answer.outcome == "acknowledged" and answer.payload not in (None, "", {}):
            self.state.violate(
                where, "ack_with_body", "The acknowledgement of an interaction has an empty body."
            )


class Mistake(Exception):
    """The page asked for something that can't be; the message is the sentence it shows."""
