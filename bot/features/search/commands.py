"""`/issues` (docs/commands.md)."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from bot.errors import UserError
from bot.features.reading import EVERY_PROJECT
from bot.features.search.query import RESULTS_ON_PAGE, Query
from bot.features.search.search import SeveralProjects
from bot.service.conventions import SortField
from bot.service.filters import Sort
from bot.slack.language import values
from bot.slack.language.dates import Towards, days, times
from bot.slack.language.marks import END, MAX_WORDS, Vocabulary, plain, plural
from bot.slack.language.options import CUSTOM_FIELD, Parsed, checked, nearest
from bot.slack.language.phrases import AND, FILLERS, NOUNS
from bot.slack.language.reading import search
from bot.slack.language.tables import TABLES
from bot.slack.language.values import CommandContext, Help, OneIssue
from bot.spelling import GOVERNING, series

OPTIONS = (
    *("project", "subproject", "tracker", "status", "to", "author", "priority", "category", "version"),
    *("parent", "created", "updated", "closed", "start", "due", "query", "sort", "id", "subject"),
    CUSTOM_FIELD,
)
SORTS: dict[str, SortField] = {
    "id": "id",
    "project": "project",
    "tracker": "tracker",
    "status": "status",
    "priority": "priority",
    "author": "author",
    "to": "assigned_to",
    "subject": "subject",
    "category": "category",
    "version": "fixed_version",
    "parent": "parent",
    "start": "start_date",
    "due": "due_date",
    "estimate": "estimated_hours",
    "done": "done_ratio",
    "created": "created_on",
    "updated": "updated_on",
    "closed": "closed_on",
}
_NONE_OR_ANY = {"none": "none", "any": "any"}
KEYWORDS: Mapping[str, Mapping[str, str]] = {
    "subproject": {"none": "none"},
    "status": {"open": "open", "closed": "closed", **dict.fromkeys(("any", "all", "*"), "any")},
    "to": dict.fromkeys(("nobody", "none"), "nobody") | dict.fromkeys(("anybody", "any"), "anybody"),
    "category": _NONE_OR_ANY,
    "version": _NONE_OR_ANY,
}
"""What stands for no name of the filter, and its meaning."""
PEOPLE = ("to", "author")
TOWARDS: Mapping[str, Towards] = {"start": "past", "due": "future"}
CANNOT = {
    "project": ("leave a project out", "Name the one to search, such as `in webshop`."),
    "watched": ("search by watchers", "For what is assigned to you, search for `mine`."),
    "attachments": ("search by attachments", "Search for words in the subject instead."),
    "comments": ("search by comments", "For issues that you reported, search for `by me`."),
    "estimate": ("search for a missing estimate", "To sort by estimates, add `sort:estimate`."),
}
"""What phrases ask for that the service has no filter for, and what to do instead."""
SWAPPED = range(4, 16)  # how many letters a word has of which two may be swapped
MAX_SORTS = 3  # the service uses only the first three (docs/service.md, Lists)


def issues_command(
    parsed: Parsed,
    typist: CommandContext,
    vocabulary: Vocabulary,
    *,
    phrases: bool = True,
) -> Query | OneIssue | Help:
    """The request in `/issues …` with this vocabulary. Without `phrases` its words are all text.

    Raises UserError, and HalfPhrase.
    """
    parsed = checked(parsed.with_fields(vocabulary.fields, vocabulary.problem))
    if parsed.plain.lower() == "help" and not parsed.options:
        return Help()
    everything, ids = " ".join(parsed.plain.split()), _numbers(parsed) if phrases and parsed.words else ()
    if len(ids) == 1 and not parsed.options:
        return OneIssue(ids[0])
    if ids and "id" not in parsed.options:
        parsed = replace(parsed, words=())
    if phrases and parsed.words:
        parsed = search(parsed, vocabulary, typist.today)

    for cannot in parsed.acts.get("cannot", ()):
        ask, how = CANNOT[cannot.text]
        raise UserError("I can't {ask}. {how}", ask=ask, how=how)
    filters = {key: _filter(parsed, key, typist) for key in OPTIONS if key in parsed.options}
    text = [*filters.pop("subject", ()), _text(parsed)]
    most = filter(None, (values.issue_number(one.text) for one in parsed.acts.get("most", ())))
    return Query(
        **{"ids": filters.pop("id", ids), **filters},
        text=" ".join(" ".join(text).split()),
        custom_fields=values.custom_fields(parsed),
        everything=everything,
        phrases=parsed.phrases,
        alone=parsed.alone[:1],
        respelled=_respelled(parsed, vocabulary),
        count="count" in parsed.acts,
        most=min([*most, RESULTS_ON_PAGE]),
    )


def _text(parsed: Parsed) -> str:
    """The words that tell something, or else all, without the punctuation after them unless it is quoted."""
    words = [word for word in parsed.words if plain(word) not in FILLERS | GOVERNING] or parsed.words
    texts = (word.text if word.quoted else word.text.rstrip(END) for word in words)
    return " ".join(" ".join(texts).split())


def _respelled(parsed: Parsed, vocabulary: Vocabulary) -> tuple[tuple[str, str], ...]:
    """The words that have two letters swapped, each with the keyword that it may be."""
    names = (*vocabulary.names.get("tracker", ()), *vocabulary.names.get("status", ()))
    keywords = TABLES["search"].first.keys() - FILLERS - GOVERNING
    known = keywords.union(*({name, plural(name)} for name in map(str.casefold, names)))
    typed = (plain(word) or "" for word in parsed.words[:MAX_WORDS])
    near = ((word, _unswapped(word, known)) for word in typed if len(word) in SWAPPED)
    return tuple((word, meant) for word, meant in near if meant)


def _unswapped(word: str, known: Collection[str]) -> str | None:
    swaps = (f"{word[:n]}{word[n + 1]}{word[n]}{word[n + 2 :]}" for n in range(len(word) - 1))
    return next((one for one in swaps if one in known), None)


def _numbers(parsed: Parsed) -> tuple[int, ...]:
    """The issues' numbers, if the words are nothing else: `12`, `12, 13 and 14`."""
    numbers, others = values.several_issues(parsed.words)
    return numbers if all(plain(word) in AND | NOUNS for word in others) else ()


def _filter(parsed: Parsed, key: str, typist: CommandContext) -> Any:  # noqa: ANN401 - Query has the types
    """The value of an option, or the meaning of its keyword."""
    match key:
        case "created" | "updated" | "closed" if typed := values.name(parsed, key):
            return times(typed, typist.today, typist.known_zone, "past")
        case "start" | "due" if typed := values.name(parsed, key):
            return typed if typed == "none" else days(typed, typist.today, TOWARDS[key])
        case "parent" | "id":
            return values.numbers(parsed, key)
        case "query":
            return values.saved_query(parsed, key)
        case "sort":
            return _sort(parsed)
    if key == "project":
        if len(parsed.options[key]) > 1:
            phrases = tuple(phrase for phrase, keys in parsed.phrases if "project" in keys)
            raise SeveralProjects(values.names(parsed, "project") if phrases else (), phrases)
        typed = values.name(parsed, key)
        return "any" if typed in EVERY_PROJECT else typed
    names, keywords = values.names(parsed, key), KEYWORDS.get(key, {})
    if keyword := values.keyword(names, keywords):
        return keywords[keyword]
    return values.people(parsed, key, typist.owner) if key in PEOPLE else names


def _sort(parsed: Parsed) -> tuple[Sort, ...]:
    keys = tuple(_sort_key(text) for text in values.names(parsed, "sort"))
    if len(keys) > MAX_SORTS:
        raise UserError(
            "`sort:` takes at most {most} fields, such as `sort:priority,updated`.", most=MAX_SORTS
        )
    if len({key.field for key in keys}) < len(keys):
        raise UserError("`sort:` names a field twice. Remove one of them.")
    return keys


def _sort_key(typed: str) -> Sort:
    field, _, order = typed.lower().removeprefix("-").partition(":")
    if order not in ("", "asc", "desc"):
        raise UserError("Sort with `asc` or `desc`, such as `sort:updated:desc`.")
    known = next((column for key, column in SORTS.items() if field in (key, column)), None)
    if known is None:
        if meant := nearest(field, SORTS):
            raise UserError(
                "Issues can't be sorted by “{field}”. Did you mean `sort:{meant}`?",
                field=field[:40],
                meant=meant,
            )
        names = series([f"`{name}`" for name in SORTS])
        raise UserError("Issues can't be sorted by “{field}”. Try {names}.", field=field[:40], names=names)
    descending = typed.startswith("-") or order == "desc" or (known == "priority" and not order)
    return Sort(known, descending)
