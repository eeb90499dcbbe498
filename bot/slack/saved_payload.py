"""The parts of a payload saved to resume it later: no tokens and no triggers."""

from bot.slack.blocks import JSON
from bot.slack.forms import without_secrets
from bot.slack.redaction import without_keys

SAVED = (
    "type",
    "command",
    "text",
    "channel_id",
    "response_url",
    "callback_id",
    "channel",
    "container",
    "message",
    "actions",
    "view",
)
SAVED_OF_MESSAGE = ("text", "blocks", "attachments", "user", "username", "bot_profile", "ts", "thread_ts")


def saveable(payload: JSON) -> JSON:
    """The parts of a payload that are needed to resume it."""
    saved = {key: payload[key] for key in SAVED if key in payload}
    if str(saved.get("command")).endswith("tracker"):  # the one command that people type keys into
        saved["text"] = without_keys(str(saved.get("text") or ""))
    view = saved.pop("view", None)
    if view and view.get("type") == "modal":
        saved["view"] = without_secrets(view)
    if "message" in saved:
        saved["message"] = message_saveable(saved["message"])
    return saved


def message_saveable(message: JSON) -> JSON:
    """The parts of a message that are needed to create something from it; its files are fetched again."""
    files = [
        {"id": file["id"], "file_access": "check_file_info"}
        for file in message.get("files") or ()
        if "id" in file
    ]
    saved = {key: message[key] for key in SAVED_OF_MESSAGE if key in message}
    return saved | ({"files": files} if files else {})
