"""Local stand-ins for Slack and the issue tracker."""

from typing import Any

SERVICE_NAME = "Larkspur"


def picked(record: object, *names: str) -> dict[str, Any]:
    """Return some of a record's fields as JSON."""
    return {name: getattr(record, name) for name in names}
