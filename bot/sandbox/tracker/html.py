"""HTML for the web pages: elements that escape every value, and the page layout."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from aiohttp import web
from markdown_it import MarkdownIt

from bot.sandbox import SERVICE_NAME

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_STYLE = files("bot.sandbox.tracker").joinpath("style.css").read_text(encoding="utf-8")
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'self'"
)
_NOTE = (
    "You have an administrator's view, including private projects and issues. "
    "At the end of an issue's page, change it as any person."
)
_EMPTY_ELEMENTS = frozenset({"img", "input", "link", "meta"})
_COLUMN_CLASSES = {"Subject": "long", "Issue": "long", "Comment": "long", "Hours": "num"}
_PLACES = (("/", "Overview"), ("/issues", "Issues"), ("/time_entries", "Time"))


class Html(str):
    """HTML that needs no escaping; any other text is escaped on insertion."""

    __slots__ = ()


Child = str | int | float | None | Iterable["Child"]


def join(*children: Child) -> Html:
    """Concatenate children; None is skipped."""
    parts: list[str] = []
    for child in children:
        if isinstance(child, Html):
            parts.append(child)
        elif isinstance(child, str | int | float):
            parts.append(escape(str(child)))
        elif child is not None:
            parts.append(join(*child))
    return Html("".join(parts))


def el(name: str, /, *children: Child, **attributes: str | None) -> Html:
    """Return an element; `cls` is its class, attributes that are None are omitted."""
    given = {"class" if k == "cls" else k.replace("_", "-"): v for k, v in attributes.items()}
    attribute_text = "".join(f' {k}="{escape(v)}"' for k, v in given.items() if v is not None)
    return Html(
        f"<{name}{attribute_text}>"
        if name in _EMPTY_ELEMENTS
        else f"<{name}{attribute_text}>{join(*children)}</{name}>"
    )


def markdown(text: str | None) -> Html:
    """Render a Markdown description; raw HTML stays text, and script links are dropped."""
    return Html(_MARKDOWN.render((text or "").replace("\r\n", "\n")))


def table(head: Iterable[str], rows: Iterable[Iterable[Child]]) -> Html:
    """Return a table with a header row; subjects and comments wrap, hours are right-aligned."""
    names = list(head)
    classes = [_COLUMN_CLASSES.get(n) for n in names]
    body = [el("tr", [el("td", cell, cls=c) for cell, c in zip(row, classes, strict=True)]) for row in rows]
    if not body:
        return el("p", "Nothing here yet.", cls="soft")
    top = el("tr", [el("th", n, cls=c) for n, c in zip(names, classes, strict=True)])
    return el("div", el("table", el("thead", top), el("tbody", body)), cls="card wide")


def page(title: str, *children: Child, here: str = "", status: int = 200) -> web.Response:
    """Return a complete page that loads nothing from other hosts."""
    current, gap = {here: "page"}, Html(" &nbsp; ")
    links = [join(el("a", text, href=href, aria_current=current.get(href)), gap) for href, text in _PLACES]
    frame = el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("link", rel="icon", href="data:,"),
            el("title", f"{title} · {SERVICE_NAME}"),
            el("style", Html(_STYLE)),
        ),
        el(
            "body",
            el("header", el("a", SERVICE_NAME, href="/", cls="brand"), el("nav", links)),
            el("main", el("p", _NOTE, cls="note"), *children),
        ),
        lang="en",
    )
    headers = {
        "Content-Security-Policy": _POLICY,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",
    }
    body = "<!doctype html>" + frame
    return web.Response(text=body, content_type="text/html", status=status, headers=headers)
