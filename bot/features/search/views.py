"""Views of a search: a page of results and the search form."""

import json
from collections.abc import Sequence

from bot.errors import UserError
from bot.features.issues.views import listed
from bot.features.search.search import Results
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, actions, button, divider, section, shortened, small_print
from bot.slack.wording import Wording

DESCRIPTION_LENGTH = 1000
TRAIL = 50
"""How many earlier offsets a page button carries. Its value is limited to 2,000 characters."""


def results(
    found: Results, style: Wording, query: str, *, shareable: bool, before: Sequence[int] = ()
) -> Message:
    """One page of results. `query` is the command text, which the page buttons carry.

    `before` holds the offsets of the previous pages, since a service may return fewer rows than requested.
    """
    description = small_print(shortened(" · ".join(found.understood), DESCRIPTION_LENGTH))
    if not found.page.items and not found.offset:
        text = "No issue fits that search."
        return Message(text, (section(text), description))
    first, last = found.offset + 1, found.offset + len(found.page.items)
    text = f"*{found.total} issue{'' if found.total == 1 else 's'}*"
    if found.total > len(found.page.items):
        text += f", {first}–{last}"
    blocks: list[Block] = [section(text), description, divider()]
    blocks += [listed(issue, style, shareable=shareable) for issue in found.page.items]
    page_buttons = []
    if found.offset > 0:
        earlier = page_value(query, before[-1] if before else 0, before[:-1])
        page_buttons.append(button("‹ Previous", "search.page.previous", earlier))
    if last < found.total and found.page.items:
        later = page_value(query, last, (*before, found.offset)[-TRAIL:])
        page_buttons.append(button("Next ›", "search.page.next", later))
    if page_buttons:
        blocks.append(actions(page_buttons))
    return Message(f"{text}: " + ", ".join(f"#{i.id}" for i in found.page.items), tuple(blocks))


def page_value(query: str, offset: int, before: Sequence[int] = ()) -> str:
    return json.dumps({"q": query, "o": offset, "b": list(before)}, ensure_ascii=False)


def read_page_value(value: str) -> tuple[str, int, tuple[int, ...]]:
    """Decode a `page_value` to the query, the offset and the earlier offsets. Raises UserError."""
    try:
        match json.loads(value):
            case {"q": str(query), "o": offset, "b": [*before]}:
                return query, forms.number_in(offset), tuple(forms.number_in(one) for one in before)
    except ValueError:
        pass
    raise UserError(forms.NONSENSE)


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


STATUSES = (("open", "Open"), ("closed", "Closed"), ("any", "Any"))


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
