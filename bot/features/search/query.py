"""A search as a user typed it, and the changes to it that buttons offer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field

from bot.access.name_matching import UnclearName
from bot.access.people import Who
from bot.service.filters import DateRange, Sort, TimeRange
from bot.service.models import Ref
from bot.spelling import COMPARED_LENGTH

RESULTS_ON_PAGE = 10
_SIGNED = re.compile("(!|>=|<=|>|<)?(.*)", re.DOTALL)  # priorities can be compared


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
    start: DateRange | Literal["none"] | None = None
    due: DateRange | Literal["none"] | None = None
    query: int | None = None
    sort: tuple[Sort, ...] = ()
    custom_fields: Mapping[int, str] = field(default_factory=dict)
    everything: str = field(default="", compare=False)  # all words, also those of phrases
    phrases: tuple[tuple[str, tuple[str, ...]], ...] = field(default=(), compare=False)
    """The phrases in the text, as typed, and the filters of each."""
    alone: tuple[str, ...] = field(default=(), compare=False)  # the person's name that stands alone
    respelled: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """The words of the text that may be misspelled keywords, each with the keyword."""
    count: bool = False  # whether how many there are is asked
    most: int = field(default=RESULTS_ON_PAGE, compare=False)  # how many are wanted at once


NameFilter = Literal["project", "tracker", "status", "priority", "category", "version", "to", "author"]


class LeaveOut(NamedTuple):
    """Leave out a phrase with its filters, or a word."""

    words: str


class Respell(NamedTuple):
    """Replace a word of the text."""

    typed: str
    meant: str


class Rename(NamedTuple):
    """Replace a name in a filter."""

    filter: NameFilter
    typed: str
    meant: str


class SearchField(NamedTuple):
    """Search for the text in a custom field."""

    number: Annotated[int, Field(gt=0, lt=10**9)]
    name: str
    text: str


Change = (
    Literal["closed", "projects", "filters", "words", "reported"] | LeaveOut | Respell | Rename | SearchField
)
"""A change to a search that a button offers: to include closed issues, to search all projects, to clear the
filters, to take all the words as text, to search for what the assignee reported, and what the classes say.
"""


def changed(query: Query, change: Change) -> Query:
    values: Mapping[str, Any] = {}  # "words": the text was read without phrases
    match change:
        case LeaveOut(words):
            values = _without(query, words)
        case Respell(typed, meant):
            values = {"text": " ".join(meant if word == typed else word for word in query.text.split())}
        case Rename(name, typed, meant):
            values = {name: _renamed(getattr(query, name), typed, meant)}
        case SearchField(number, _, text):
            values = {"text": "", "custom_fields": {**query.custom_fields, number: text}}
        case "reported" if not isinstance(query.to, str):
            values = {"to": (), "author": (*query.author, *query.to), "alone": ()}
        case "closed":
            values = {"status": "any"}
        case "projects":
            values = {"project": "any"}
        case "filters":
            return Query(text=query.text, project=query.project, sort=query.sort)
    return replace(query, **values)


def _without(query: Query, words: str) -> dict[str, Any]:
    named = {*chain.from_iterable(keys for phrase, keys in query.phrases if phrase == words)}
    if named:
        return {key: getattr(Query(), key) for key in named}
    return {"text": " ".join(word for word in query.text.split() if word != words)}


def _renamed(names: object, typed: str, meant: str) -> object:
    if isinstance(names, tuple):
        return tuple(meant if one == typed else one for one in names)
    return meant if names == typed else names


def correction(query: Query, error: UnclearName, right: Ref) -> Rename | None:
    """The change that names `right` where the error's name is in a filter.

    None if it isn't in any, or too long for a button.
    """
    if len(error.query) > COMPARED_LENGTH:
        return None
    filters = [name for name in get_args(NameFilter) if _kind(name) == error.kind]
    for name in filters:
        names = getattr(query, name) or ()
        for one in (names,) if isinstance(names, str) else names:
            sign, called = signed(one)
            if called.removeprefix("@") == error.query:
                return Rename(name, str(one), f"{sign}#{right.id}")
    return None


def _kind(name: str) -> str:
    return "person" if name in ("to", "author") else name


def signed(name: Who) -> tuple[str, str]:
    """The sign before a name, if there is one, and the name."""
    match = _SIGNED.fullmatch(str(name))
    return (match[1] or "", match[2]) if match else ("", str(name))
