"""Views of a search: a page of results and the search form."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial, reduce
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, ValidationError

from bot.errors import UserError
from bot.features.issues.fields import FILTERS_BY_NAME
from bot.features.issues.views import listed
from bot.features.search.query import Change, LeaveOut, Rename, Respell, SearchField
from bot.features.search.search import Resolved, Results
from bot.service.conventions import SEARCHED_WORDS
from bot.service.filters import DateRange, Sort, TimeRange
from bot.slack.language.keys import without_typed_key
from bot.slack.language.tokens import corrected
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Element,
    Message,
    button,
    context,
    divider,
    option,
    plain,
    rows,
    section,
)
from bot.slack.surfaces.buttons import ActionExpired, Button, Number
from bot.slack.text.mrkdwn import cut, day, line
from bot.slack.text.wording import Wording
from bot.slack_limits import BUTTON_VALUE_LENGTH, OPTION_VALUE_LENGTH, PLACEHOLDER_LENGTH
from bot.spelling import series

DESCRIPTION_LENGTH = 1000
MAX_TRAIL = 50  # how many earlier offsets a page button carries. Its value is limited to 2,000 characters.
MAX_NAMES, WORDS_LENGTH = 10, 50
FIELD_NAME_LENGTH, MAX_PROJECTS = 30, 4
INPUT_LENGTH = 200
STATUSES = (("open", "Open"), ("closed", "Closed"), ("any", "Any"))
ANYONE: Mapping[object, str] = {"nobody": "Unassigned", "anybody": "Assigned"}
ORDERS = {
    "id": ("by number", "by number, descending"),
    "priority": ("least urgent first", "most urgent first"),
    "created_on": ("oldest first", "newest first"),
    "updated_on": ("least recently updated first", "recently updated first"),
    "closed_on": ("least recently closed first", "recently closed first"),
    "start_date": ("by start date", "latest start date first"),
    "due_date": ("by due date", "latest due date first"),
}
LABELS = {
    "closed": "Include closed",
    "projects": "Search all projects",
    "filters": "Clear filters",
    "reported": "Reported by them",
}


class ResultsPage(Button):
    """Another page of results: the search as typed, the changes made to it with buttons, the page's offset,
    and those of the pages before it.
    """

    action = "search.page"
    model_config = ConfigDict(populate_by_name=True)
    query: str = Field(alias="q")
    offset: Number = Field(0, alias="o")
    before: tuple[Number, ...] = Field((), alias="b")
    changes: tuple[Change, ...] = Field((), alias="c", max_length=12)

    def pack(self) -> str:
        packed = self.model_dump_json(by_alias=True, exclude_defaults=True)
        if len(packed) > BUTTON_VALUE_LENGTH:
            raise ValueError(f"{self.action} carries {len(packed)} characters")
        return packed

    @classmethod
    def unpack(cls, value: object) -> Self:
        try:
            return cls.model_validate_json(value if isinstance(value, str) else "")
        except ValidationError:
            raise ActionExpired from None

    def turned(self, offset: int, before: tuple[int, ...]) -> Self:
        return self.model_copy(update={"offset": offset, "before": before})

    def changed(self, change: Change) -> "ResultsPage | None":
        """The first page of the search with one more change; None if buttons can't carry that."""
        kept = self.changes
        if change == "words":  # all of them
            kept = tuple(one for one in kept if not isinstance(one, LeaveOut))
        with suppress(ValidationError, UserError):
            page = ResultsPage(query=self.query, changes=(*kept, change))
            require_pageable(page)
            return page
        return None


class OpenSearchForm(Button):
    """Opens the form with the filters of a search, if it comes from one."""

    action = "home.search"
    project: Number | None = None
    project_name: Annotated[str, Field(pattern="^[^:]*$")] = ""
    status: str = "open"
    mine: bool = False
    text: str = ""


class ShowMyIssues(Button):
    """Shows the user's open issues, page by page."""

    action = "home.mine"


NEW_SEARCH = button("New search", OpenSearchForm())


def results(
    results: Results, wording: Wording, page: ResultsPage, today: date | None, *, shareable: bool
) -> Message:
    """One page of results, with buttons for other pages and for the changes that are offered.

    `page` is the search as typed; a service may return fewer rows than requested, so it has the offsets of
    the pages before.
    """
    searched, issues = results.searched, results.page.items
    description = context(cut(" · ".join(_description(searched)), DESCRIPTION_LENGTH))
    offers = offered(results.offers, page, searched.query.everything)

    if not issues and not results.offset:
        drops = [change.words for change in results.offers if isinstance(change, LeaveOut)]
        each = series([f"“{line(words)}”" for words in drops])
        text = f"No issues found. To get results, leave out {each}." if drops else "No issues found."
        query = reduce(
            lambda typed, one: corrected(typed, *one) or typed, searched.query.respelled, page.query
        )
        meant = [search_button(query)] if query != page.query else []
        below = rows([*meant, *offers, button("New search", _form_of(searched))])
        return Message(text, (section(text), description, *below))

    total = results.page.total_count
    first, last = results.offset + 1, results.offset + len(issues)
    text = f"{total} issue{'' if total == 1 else 's'}"
    if total > len(issues):
        text = f"{text} · {first}–{last}" if searched.query.count else f"{first}–{last} of {total}"

    order = ", then ".join(map(_order, searched.filters.sort))
    fixed = _fixed(searched)
    blocks: list[Block] = [section(" · ".join(filter(None, (f"*{text}*", order)))), description, divider()]
    row = partial(listed, shareable=shareable, fixed=fixed, me=results.me)
    blocks += [row(issue, wording, today) for issue in issues]

    buttons = []
    if results.offset > 0:
        offset = page.before[-1] if page.before else 0
        buttons.append(button("‹ Previous", page.turned(offset, page.before[:-1])))
    if last < total and issues:
        before = (*page.before, results.offset)[-MAX_TRAIL:]
        buttons.append(button("Next ›", page.turned(last, before)))

    blocks += rows([*buttons, *offers])
    return Message(f"{text}: " + ", ".join(f"#{i.id}" for i in issues), tuple(blocks))


def _form_of(searched: Resolved) -> OpenSearchForm:
    """Return the form, filled in from a search."""
    query, project = searched.query, searched.project
    return OpenSearchForm(
        text=query.text[:INPUT_LENGTH],
        project=project.id if project else None,
        project_name=project.name.replace(":", " ") if project else "",
        status=query.status if query.status in dict(STATUSES) else "open",
        mine=query.to == ("me",),
    )


def offered(changes: Sequence[Change], page: ResultsPage, words: str) -> list[Element]:
    """The buttons that search with one more change, except what they can't carry; `words` are all that were
    typed.
    """
    pages = [(change, page.changed(change)) for change in changes]
    return [button(_label(change, words), changed) for change, changed in pages if changed]


def _label(change: Change, words: str) -> str:
    match change:
        case LeaveOut(phrase):
            return f"Without “{cut(phrase, WORDS_LENGTH)}”"
        case Respell(_, meant) | Rename(_, _, meant):
            return f"Search for “{cut(meant, WORDS_LENGTH)}”"
        case SearchField(_, name, text):
            return f"Search {cut(name, FIELD_NAME_LENGTH)} for “{cut(text, FIELD_NAME_LENGTH)}”"
        case "words":
            return f"Search for “{cut(words, WORDS_LENGTH)}”"
    return LABELS[change]


def search_button(text: str) -> Element:
    """The button that searches for a text that was typed elsewhere, its phrases included but no keys."""
    text = without_typed_key(text)
    return button(f"Search for “{cut(text, WORDS_LENGTH)}”", ResultsPage(query=text))


def project_choice(names: Sequence[str], page: ResultsPage, phrases: Sequence[str]) -> list[Element]:
    """The buttons that search again in one of the projects, in place of the phrases that named several.

    If these are many, there is none.
    """
    if len(phrases) > MAX_PROJECTS:
        return []

    query = page.query
    for phrase in phrases:
        query = re.sub(rf"(?:(?:,|\band|\bor|&)\s+)?{re.escape(phrase)}", " ", query, count=1)
    typed = [(name, f'{" ".join(query.split())} project:"{name}"') for name in names[:MAX_PROJECTS]]
    again = [(name, ResultsPage(query=query, changes=page.changes)) for name, query in typed]
    return [button(f"Search {cut(name, WORDS_LENGTH)}", one) for name, one in again]


def name_choice(kind: str, offers: Sequence[tuple[str, Change]], page: ResultsPage) -> list[Element]:
    """A choice of the names that may be meant, which search again."""
    pages = [(name, page.changed(change)) for name, change in offers]
    choices = [(name, again) for name, again in pages if again]
    short = [
        option(name, again.pack()) for name, again in choices if len(again.pack()) <= OPTION_VALUE_LENGTH
    ]
    if len(short) > 1:
        select = {"type": "static_select", "action_id": ResultsPage.action, "options": short}
        return [select | {"placeholder": plain(f"Choose a {kind}", PLACEHOLDER_LENGTH)}]
    return [button(f"Search with {name}", again) for name, again in choices[:1]]


def require_pageable(page: ResultsPage) -> None:
    """Raise UserError unless page buttons can carry the search."""
    try:
        page.turned(100_000, (100_000,) * MAX_TRAIL).pack()
    except ValueError:
        raise UserError("That search is too long. Remove a filter or two.") from None


def _fixed(searched: Resolved) -> dict[str, int]:
    """The fields that are the same in all results, with their value's ID; 0 for nobody."""
    filters = searched.filters
    asked = {
        "project": (filters.project_id,) if filters.project_id else (),
        "tracker": filters.tracker_ids,
        "status": filters.status,
        "priority": filters.priority_ids,
        "assigned_to": (0,) if filters.assigned_to == "nobody" else filters.assigned_to,
    }
    fixed = {name: ids[0] for name, ids in asked.items() if isinstance(ids, tuple) and len(ids) == 1}
    return {name: searched.me if number == "me" else number for name, number in fixed.items()}


def _description(searched: Resolved) -> Iterator[str]:
    """The search in words, as mrkdwn."""
    query, names = searched.query, searched.names
    yield f"Project: {line(searched.project.name)}" if searched.project else "All projects"
    if query.query is not None:
        yield f"Saved query {query.query}"
    for option_key, one in FILTERS_BY_NAME.items():
        if one.name in names:
            anyone = ANYONE.get(query.to) if option_key == "to" else None
            yield anyone or line(f"{one.label}: {' or '.join(names[one.name])}")

    if searched.filters.subprojects == "none":
        yield "Without subprojects"
    elif "subprojects" in names:
        yield line(f"Subproject: {' or '.join(names['subprojects'])}")
    for field, value in searched.custom_fields:
        yield line(f"{field}: {value}")

    for label, numbers in (("Parent issue", query.parent), ("Issue", query.ids)):
        if numbers:
            yield f"{label}: {' or '.join(f'#{number}' for number in numbers)}"
    for label, span in (
        ("Created", query.created),
        ("Updated", query.updated),
        ("Closed", query.closed),
        ("Starts", query.start),
        ("Due", query.due),
    ):
        if span is not None:
            yield _span(label, span)

    if query.text:
        yield line(_words(searched.filters.subject or "", query.text))


def _words(subject: str, text: str) -> str:
    words = subject.split()
    limit = f" · I can search for {SEARCHED_WORDS} words at once" * (len(text.split()) > SEARCHED_WORDS)
    return f"Subject contains the word{'' if len(words) == 1 else 's'}: {', '.join(words)}{limit}"


def _order(sort: Sort) -> str:
    name = sort.field.removesuffix("_on").replace("_", " ")
    first, last = ORDERS.get(sort.field, (f"by {name}", f"by {name}, descending"))
    return last if sort.descending else first


def _span(label: str, span: TimeRange | DateRange | Literal["none"]) -> str:
    if span == "none":
        return "No due date" if label == "Due" else "No start date"
    since, until = (_day(end) for end in (span.since, span.until))
    if since and until:
        return f"{label} {since}" if since == until else f"{label} {since} to {until}"
    return f"{label} on or after {since}" if since else f"{label} on or before {until}"


def _day(end: date | datetime | None) -> str:
    if end is None:
        return ""
    return day(end.date() if isinstance(end, datetime) else end)


def search_form(of: OpenSearchForm) -> JSON:
    """The form with the filters `of` a search."""
    text = forms.text("text", of.text, placeholder="Words in the subject", most=INPUT_LENGTH)
    project = option(of.project_name, str(of.project)) if of.project else None
    return forms.form(
        "search",
        "Search issues",
        [
            forms.field("text", "Subject", text),
            forms.field("project", "Project", forms.searched("issue.project", project, "All projects")),
            forms.field("status", "Status", forms.choice("status", STATUSES, of.status, "Open")),
            forms.field("people", "Assignee", forms.checkbox("people", "Assigned to me", checked=of.mine)),
        ],
        submit="Search",
    )


def query_text(view: JSON) -> str:
    """The command text equivalent to the form, for the page buttons to carry."""
    values = forms.Values(view)
    text = (values.text("text") or "").replace('"', " ").strip()
    project = values.chosen("project")
    parts = [
        f'"{text}"' if text else "",
        f"project:{project}" if project else "project:any",
        f"status:{values.chosen('status') or 'open'}",
        "to:me" if values.all_chosen("people") else "",
    ]
    return " ".join(part for part in parts if part)
