"""An issue's history: what each update changed."""

from collections.abc import Iterator, Sequence
from datetime import date

from bot.sandbox.tracker.data import Attachment, Detail, Issue

_RENAMED = {"version_id": "fixed_version_id"}
_ATTRIBUTES = (
    *("tracker_id", "subject", "description", "due_date", "category_id", "status_id", "assigned_to_id"),
    *("priority_id", "version_id", "start_date", "done_ratio", "estimated_hours", "parent_id", "is_private"),
)


def changes(old: Issue, new: Issue, files: Sequence[Attachment]) -> tuple[Detail, ...]:
    """Return the differences of two versions of an issue, and the files added."""
    return (*_attributes(old, new), *_custom(old, new), *(_added(file) for file in files))


def _attributes(old: Issue, new: Issue) -> Iterator[Detail]:
    for name in _ATTRIBUTES:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Detail("attr", _RENAMED.get(name, name), _text(before), _text(after))


def _custom(old: Issue, new: Issue) -> Iterator[Detail]:
    for number in sorted({*old.custom, *new.custom}):
        before, after = old.custom.get(number), new.custom.get(number)
        if (before or None) != (after or None):
            yield Detail("cf", str(number), _text(before), _text(after))


def _added(file: Attachment) -> Detail:
    return Detail("attachment", str(file.id), None, file.filename)


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        return ", ".join(value)
    return value.isoformat() if isinstance(value, date) else str(value)
