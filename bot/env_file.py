"""Changes `.env`: all or nothing, and readable by its owner alone."""

import errno
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bot import config

PLAIN = re.compile(r"[\w@%+=:,./()&-]([\w@%+=:,./()& -]*[\w@%+=:,./()&-])?")
"""Values that Docker and dotenv read the same without quotes."""


class EnvFileError(Exception):
    """`.env` can't be read or written; the message says what to do."""


def values(path: Path) -> dict[str, str]:
    """Return the file's values, by variable; nothing if there is no such file. Raises EnvFileError."""
    try:
        return {name.upper(): value for name, value in config.in_file(path).items()}
    except (OSError, UnicodeDecodeError) as error:
        raise EnvFileError(f"Can't read {path}: {_reason(error)}. Fix that, then try again.") from None


def check(path: Path) -> None:
    """Raise EnvFileError if `write` would."""
    path = path.resolve()
    try:
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise _unwritable(path, error) from None


def write(path: Path, changes: Mapping[str, str]) -> None:
    """Set these variables and keep everything else. If it raises EnvFileError, the file is unchanged."""
    path = path.resolve()
    temporary = None
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        handle, temporary = tempfile.mkstemp(prefix=".env.", dir=path.parent)  # its mode is 600
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_changed(before, changes))
            file.flush()
            os.fsync(file.fileno())
        if path.exists() and (owner := path.stat()).st_uid != os.getuid():
            os.chown(temporary, owner.st_uid, owner.st_gid)  # root changes the file of the bot's own user
        if wrong := [name for name, value in changes.items() if values(Path(temporary)).get(name) != value]:
            raise EnvFileError(f"Can't set {', '.join(wrong)} in {path}. Remove its lines, then try again.")
        Path(temporary).replace(path)
        temporary = None
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        if temporary:
            Path(temporary).unlink()


def _changed(text: str, changes: Mapping[str, str]) -> str:
    lines = text.removesuffix("\n").split("\n") if text else []  # dotenv knows no other breaks
    for name, value in changes.items():
        line = f"{name}={value if PLAIN.fullmatch(value) else _quoted(value)}"
        places = [
            at
            for at, each in enumerate(lines)
            if re.match(rf"\s*(export\s+)?{name}\s*=", each, re.IGNORECASE)
        ]
        if places:
            lines[places[-1]] = line  # the last one counts
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _unwritable(path: Path, error: OSError) -> EnvFileError:
    return EnvFileError(f"Can't write {path}: {_reason(error)}. Run this as a user who can write there.")


def _reason(error: Exception) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else "it isn't UTF-8"
