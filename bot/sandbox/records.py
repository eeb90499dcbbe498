"""Records as JSON."""

from typing import Any


def picked(record: object, *names: str) -> dict[str, Any]:
    """Return some of a record's fields as JSON."""
    return {name: getattr(record, name) for name in names}
