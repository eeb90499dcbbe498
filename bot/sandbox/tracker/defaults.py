"""The data of a new installation, from defaults.toml."""

import tomllib
from importlib.resources import files

from pydantic import TypeAdapter

from bot.sandbox.tracker.data import Data

BUG, FEATURE, SUPPORT, TASK = 1, 2, 3, 4
NEW, IN_PROGRESS, RESOLVED, FEEDBACK, CLOSED, REJECTED = 1, 2, 3, 4, 5, 6
LOW, NORMAL, HIGH, URGENT, IMMEDIATE = 1, 2, 3, 4, 5
DESIGN, DEVELOPMENT, TESTING, SUPPORTING = 1, 2, 3, 4
MANAGER, DEVELOPER, REPORTER = 1, 2, 3

_TOML = files("bot.sandbox.tracker").joinpath("defaults.toml").read_text(encoding="utf-8")
_DATA = TypeAdapter(Data)


def fresh() -> Data:
    """Return trackers, statuses, priorities, activities and roles; no users or projects."""
    return _DATA.validate_python(tomllib.loads(_TOML))
