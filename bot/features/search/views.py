"""Views of a search: a page of results and the search form."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime

from bot.errors import UserError
from bot.features.issues.views import listed
from bot.features.search.buttons import NextPage, PreviousPage
from bot.features.search.search import Query, Resolved, Results
from bot.service.filters import DateRange, Sort, TimeRange
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, actions, button, divider, section, shortened, small_print
from bot.slack.wording import Wording

DESCRIPTION_LENGTH = 1000
TRAIL = 50
"""How many earlier offsets a page button carries. Its value is limited to 2,000 characters."""
STATUSES = (("open", "Open"), ("closed", "Closed"), ("any", "Any"))
NAMED = {
    "tracker_ids": "Tracker",
    "status": "Status",
    "priority_ids": "Priority",
    "category_ids": "Category",
    "fixed_version_ids": "Target version",
    "assigned_to": "Assignee",
    "author": "Author",
}
"""The labels of the filters whose values have names."""


class SearchTooLong(UserError):
    """The command is too long for the page buttons to carry."""


def results(
    found: Results, wording: Wording, query: str, *, shareable: bool, before: Sequence[int] = ()
) -> Message:
    """One page of results. `query` is the command text, which the page buttons carry.

    `before` holds the offsets of the previous pages, since a service may return fewer rows than requested.
    """
    description = small_print(shortened(" · ".join(_description(found.searched)), DESCRIPTION_LENGTH))
    if not found.page.items and not found.offset:
        text = "No issue fits that search."
        return Message(text, (section(text), description))
    total = found.page.total_count
    first, last = found.offset + 1, found.offset + len(found.page.items)
    text = f"*{total} issue{'' if total == 1 else 's'}*"
    if total > len(found.page.items):
        text += f", {first}–{last}"
    blocks: list[Block] = [section(text), description, divider()]
    blocks += [listed(issue, wording, shareable=shareable) for issue in found.page.items]
    page_buttons = []
    if found.offset > 0:
        earlier = PreviousPage(query=query, offset=before[-1] if before else 0, before=tuple(before[:-1]))
        page_buttons.append(button("‹ Previous", earlier))
    if last < total and found.page.items:
        later = NextPage(query=query, offset=last, before=(*before, found.offset)[-TRAIL:])
        page_buttons.append(button("Next ›", later))
    if page_buttons:
        blocks.append(actions(page_buttons))
    return Message(f"{text}: " + ", ".join(f"#{i.id}" for i in found.page.items), tuple(blocks))


def require_pageable(query: str) -> None:
    """Raise SearchTooLong unless page buttons can carry the command's text."""
    try:
        NextPage(query=query, offset=100_000, before=(100_000,) * TRAIL).pack()
    except ValueError:
        raise SearchTooLong from None


def _description(searched: Resolved) -> Iterator[str]:
    """The search in words."""
    query = searched.query
    yield f"Project: {searched.project.name}" if searched.project else "All projects"
    if query.query is not None:
        yield f"saved query {query.query}"
    yield from _named(searched)
    yield from _typed(query)
    if query.text:
        yield f"Subject contains “{searched.filters.subject}”"
    if query.sort:
        yield f"sorted by {', '.join(map(_column, query.sort))}"
    elif searched.filters.sort:
        yield "latest changed first"


def _named(searched: Resolved) -> Iterator[str]:
    """The filters whose values have names."""
    names = searched.names
    for name, label in NAMED.items():
        if name in names:
            yield f"{label}: {' or '.join(names[name])}"
    if searched.filters.subprojects == "none":
        yield "without subprojects"
    elif "subprojects" in names:
        yield f"Subproject: {' or '.join(names['subprojects'])}"
    for field, value in searched.custom_fields:
        yield f"{field}: {value}"


def _typed(query: Query) -> Iterator[str]:
    """The filters by number, time and date."""
    for label, numbers in (("Parent issue", query.parent), ("Issue", query.ids)):
        if numbers:
            yield f"{label}: {' or '.join(f'#{number}' for number in numbers)}"
    for label, span in (
        ("Created", query.created),
        ("Updated", query.updated),
        ("Closed", query.closed),
        ("Start date", query.start),
        ("Due date", query.due),
    ):
        if span is not None:
            yield f"{label}: {_span(span)}"


def _column(sort: Sort) -> str:
    name = sort.field.removesuffix("_on").replace("_", " ")
    return f"{name} {'↓' if sort.descending else '↑'}"


def _span(span: TimeRange | DateRange) -> str:
    since, until = (_day(end) for end in (span.since, span.until))
    if since and until:
        return since if since == until else f"{since} to {until}"
    return f"from {since} on" if since else f"until {until}"


def _day(end: date | datetime | None) -> str:
    return "" if end is None else (end.date() if isinstance(end, datetime) else end).isoformat()


def search_form() -> JSON:
    return forms.form(
        "search",
        "Search issues",
        [
            forms.field(
                "text", "Subject", forms.text("text", placeholder="Words that the subject contains", most=200)
            ),
            forms.field("project", "Project", forms.searched("issue.project", None, "All that you see")),
            forms.field("status", "Status", forms.choice("status", STATUSES, "open", "Open")),
            forms.field(
                "people", "Assignee", forms.checkbox("people", "Only those assigned to me", checked=False)
            ),
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
