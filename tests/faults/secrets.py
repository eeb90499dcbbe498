"""Searches logs, messages, forms and the database for secrets, which must never appear there."""

import io
import json
import logging
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot import telemetry
from tests.faults.scene import Scene
from tests.support.logs import restored
from tests.support.reading import JSON


class _Raw(logging.Handler):
    """Collects log records before redaction: messages, values and exception texts."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{record.name} {record.getMessage()}"
        if record.exc_info and record.exc_info[1]:
            line += "".join(traceback.format_exception(record.exc_info[1]))
        self.lines.append(line)


@dataclass
class Logs:
    """What was logged: as printed, and as passed to the loggers."""

    printed: io.StringIO = field(default_factory=io.StringIO)
    raw: _Raw = field(default_factory=_Raw)


@contextmanager
def listening() -> Iterator[Logs]:
    """Captures the log at DEBUG, formatted as in production, while the block runs."""
    logs = Logs()
    with restored():
        telemetry.configure("json", "debug", stream=logs.printed)
        logging.getLogger().addHandler(logs.raw)
        yield logs


def canaries(scene: Scene) -> dict[str, str]:
    """Returns the office's secrets by description: API keys, the bot's tokens and its encryption keys."""
    settings, workspace = scene.office.bot.settings, scene.office.workspace
    secrets = {f"the key of {user.login}": user.api_key for user in scene.data.users.values()}
    secrets |= {"the bot's token": workspace.bot_token, "the app's token": workspace.app_token}
    keys = enumerate(settings.encryption_keys, 1)
    return secrets | {f"encryption key {number}": key.get_secret_value() for number, key in keys}


def leaks(scene: Scene, text: str, where: str) -> list[str]:
    """Returns one sentence per secret found in the text, with the text before it."""
    positions = ((name, text.find(secret)) for name, secret in canaries(scene).items())
    return [f"{name} is in {where}: …{text[max(0, at - 300) : at]!r}" for name, at in positions if at >= 0]


def on_screen(scene: Scene, states: Sequence[JSON]) -> list[str]:
    """Finds secrets in what users see: messages, forms with their metadata, the Home tab, details of links.

    What the user has just typed into a form doesn't count.
    """
    visible = []
    for state in states:
        views = [{**view, "state": None} for view in (*state["views"], state["home"]) if view]
        visible.append(json.dumps([state["messages"], views, state["details"]], ensure_ascii=False))
    return leaks(scene, "\n".join(visible), "what people see")


def stored(scene: Scene) -> list[str]:
    """Finds secrets in the bytes of the SQLite database and its journal."""
    files = Path(scene.office.directory).glob("bot.db*")
    return leaks(scene, "\n".join(file.read_bytes().decode("latin-1") for file in files), "the database")


def logged(scene: Scene, logs: Logs) -> list[str]:
    """Finds secrets in the logs, and reports an empty log as a failure."""
    raw = leaks(scene, "\n".join(logs.raw.lines), "what the loggers were given")
    return leaks(scene, logs.printed.getvalue(), "the printed logs") + raw or (
        [] if logs.raw.lines else ["nothing was logged at all"]
    )
