"""Users' input, saved until a button gives it back: for a form, or a request that resumes.

`Reply.save` saves a draft, `Reply.leading_on` makes its button below an error, and the handler of a press
gets the draft back. A saved draft has no tokens and no triggers.
"""

from datetime import timedelta
from typing import Any, ClassVar

from pydantic import Field

from bot.errors import UserError
from bot.slack.language.keys import without_typed_key
from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.buttons import Button
from bot.slack.surfaces.forms import without_secrets
from bot.store.saved_input import LIFETIME

SAVED = (
    *("type", "command", "text", "channel_id", "response_url", "callback_id", "channel", "container"),
    *("message", "actions", "view", "said_there"),
)
SAVED_OF_MESSAGE = ("text", "blocks", "attachments", "user", "username", "bot_profile", "ts", "thread_ts")
SAVED_OF_EVENT = (
    *("type", "channel", "channel_type", "item", "reaction"),
    *("function", "inputs", "function_execution_id"),
)
RESUMES = "resumes"


class FormExpired(UserError):
    """A saved form or request is gone; `command` starts over."""

    says = "{what} {again}"
    command: str | None = None
    what: str = "This form has expired."

    @property
    def again(self) -> UserError:
        if self.command is None:
            return UserError("Start over.")
        return UserError("Start over with `/{prefix}{command}`.", command=self.command)


class SavedDraft(Button):
    """What a user typed, and a `warning` about it; saved for them alone: the button has its ID."""

    command: ClassVar[str | None] = None  # starts over when it has expired
    lifetime: ClassVar[timedelta] = LIFETIME
    id: str = Field(default="", exclude=True)
    warning: str = ""

    @classmethod
    def expired(cls) -> UserError:
        """What to say when it isn't saved anymore."""
        return FormExpired(cls.command)

    def pack(self) -> str:
        return self.id


class ResumeRequest(SavedDraft):
    """Resumes a request once, such as one whose form Slack didn't open; its `payload` is `saveable`."""

    action = "form.resume"
    payload: dict[str, Any]

    @classmethod
    def expired(cls) -> UserError:
        return FormExpired(what="This request has expired.")

    @property
    def resumed(self) -> JSON:
        """The payload, which then says what it resumes."""
        return self.payload | {RESUMES: self.id}


class ReopenForm(SavedDraft):
    """Shows a form again that was closed before its result arrived; `claim` is its submission's claim."""

    action = "form.reopen"
    view: dict[str, Any]
    claim: str | None = None


def saveable(payload: JSON) -> JSON:
    """The parts of a payload that are needed to resume it."""
    saved = {key: payload[key] for key in SAVED if key in payload}
    if str(saved.get("command")).endswith("tracker"):  # the one command that people type keys into
        saved["text"] = without_typed_key(str(saved.get("text") or ""))
    view = saved.pop("view", None)
    if view and view.get("type") in ("modal", "entity_comment"):
        saved["view"] = without_secrets(view)
    if "message" in saved:
        saved["message"] = message_saveable(saved["message"])
    if isinstance(event := payload.get("event"), dict):  # a message to the bot, a reaction or a step
        saved["event"] = event_saveable(event)
        known = payload.get("authorizations") or ()
        saved["authorizations"] = [{key: each.get(key) for key in ("user_id", "is_bot")} for each in known]
    return saved


def event_saveable(event: JSON) -> JSON:
    """The parts of an event that are needed to reply to it, without keys and tokens."""
    plain = {key: value for key, value in event.items() if key not in ("blocks", "attachments")}
    saved = message_saveable(plain) | {key: event[key] for key in SAVED_OF_EVENT if key in event}
    return saved | {"text": without_typed_key(str(event.get("text") or ""))}


def message_saveable(message: JSON) -> JSON:
    """The parts of a message that are needed to create something from it; its files are fetched again."""
    known = [file["id"] for file in message.get("files") or () if "id" in file]
    files = [{"id": file_id, "file_access": "check_file_info"} for file_id in known]
    saved = {key: message[key] for key in SAVED_OF_MESSAGE if key in message}
    return saved | ({"files": files} if files else {})
