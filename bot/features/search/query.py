"""A search as a user typed it, and the changes to it that buttons offer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bot.features.name_matching import AmbiguousName, UnknownName
from bot.features.users.people import Who
from bot.service.filters import DateRange, Sort, TimeRange
from bot.service.models import Ref


@dataclass(frozen=True, kw_only=True)
class Query:
    """A search with names as the user typed them. None or empty means no filter."""

    text: str = ""
    project: str | None = None
    subproject: tuple[str, ...] | Literal["none"] = ()
    tracker: tuple[str, ...] = ()
    status: tuple[str, ...] | Literal["open", "closed", "any"] | None = None
    to: tuple[Who, ...] | Literal["nobody", "anybody"] = ()
    author: tuple[Who, ...] = ()
    priority: tuple[str, ...] = ()
    category: tuple[str, ...] | Literal["none", "any"] = ()
    version: tuple[str, ...] | Literal["none", "any"] = ()
    parent: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    created: TimeRange | None = None
    updated: TimeRange | None = None
    closed: TimeRange | None = None
    start: DateRange | None = None
    due: DateRange | None = None
    query: int | None = None
    sort: tuple[Sort, ...] = ()
    custom_fields: Mapping[int, str] = field(default_factory=dict)


Change = str
"""A change that a button offers: `closed`, `projects`, `filters`, a filter in place of the text such as
`tracker=Bug`, or another name in a filter such as `tracker:bgu=Bug`.
"""


def changed(query: Query, change: Change) -> Query:
    """The query without what `change` removes, or with its filter or name."""
    name, _, value = change.partition("=")
    name, _, wrong = name.partition(":")
    if wrong:
        return replace(query, **_corrected(name, getattr(query, name), wrong, value))
    if value:
        filters: dict[str, Any] = {name: (value,)}
        return replace(query, text="", **filters)
    if name == "closed":
        return replace(query, status="any")
    if name == "projects":
        return replace(query, project="any")
    return Query(text=query.text, project=query.project, sort=query.sort)


def _corrected(name: str, kept: object, wrong: str, right: str) -> dict[str, Any]:
    if isinstance(kept, tuple):
        return {name: tuple(right if one == wrong else one for one in kept)}
    return {name: right} if kept == wrong else {}


def correction(query: Query, error: AmbiguousName | UnknownName, right: Ref) -> Change | None:
    """The change that names `right` where the error's name is in a filter; None if it isn't in any."""
    for name in ("to", "author") if error.kind == "person" else (error.kind,):
        typed = getattr(query, name, ())
        for one in (typed,) if isinstance(typed, str) else typed or ():
            if str(one).removeprefix("@") == error.wanted and "=" not in error.wanted:
                return f"{name}:{one}=#{right.id}"
    return None
