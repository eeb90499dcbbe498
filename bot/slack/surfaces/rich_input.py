"""What users write in Slack's rich text input, to and from the service's text formats.

https://docs.slack.dev/reference/block-kit/block-elements/rich-text-input-element
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, groupby, product

from markdown_it.tree import SyntaxTreeNode

from bot.slack.surfaces.blocks import JSON, shortened
from bot.slack.text.markdown import PARSER, words
from bot.slack.text.mrkdwn import EDGE, JOINER, clean, is_web
from bot.slack.text.textile import from_textile
from bot.slack.text.to_service import FORMATS, Format, TextFormat, translate
from bot.slack.text.wording import converted

NameOf = Callable[[str], str]
STYLES = ("strike", "italic", "bold")
MARKS = {"strong": "bold", "em": "italic", "s": "strike"}
DEEPEST, RICH_INPUT_LENGTH = 6, 3000


def written(value: JSON, text_format: TextFormat, name_of: NameOf) -> str:
    """Rich text in the service's format; `name_of` returns the name for an ID of a user or channel."""
    to = FORMATS[text_format]
    blocks: list[str] = []
    outer_style = None  # of the list that the next list may belong to
    for element in _parts(value):
        text = "\n\n".join(_block(element, to, name_of))
        style = element.get("style") if element.get("type") == "rich_text_list" else None
        if text and outer_style and (style == outer_style or (style and _number(element, "indent"))):
            blocks[-1] += f"\n{text}"
        elif text:
            blocks.append(text)
            outer_style = style
    return "\n\n".join(blocks)


def has_content(value: JSON) -> bool:
    return any(_parts(part) for part in _parts(value))


def ids_in(value: JSON) -> list[tuple[str, str]]:
    """The types and IDs of the users and channels that rich text mentions."""
    inner = [*chain.from_iterable(map(_parts, _parts(value)))]
    elements = [*inner, *chain.from_iterable(map(_parts, inner))]
    ids = ((kind, element.get(f"{kind}_id")) for kind, element in product(("user", "channel"), elements))
    return list(dict.fromkeys((kind, str(mentioned)) for kind, mentioned in ids if mentioned))


async def prefilled(text: str, text_format: TextFormat) -> JSON:
    """The start of the service's text as rich text; as plain text if it can't be converted in time."""
    convert = partial(from_service_text, text_format=text_format)
    return await converted(convert, shortened(text, RICH_INPUT_LENGTH), _plain_block)


def from_service_text(text: str, text_format: TextFormat) -> JSON:
    """The service's text as rich text, without the characters that may deceive."""
    text = clean(text)
    if text_format == "textile":
        text = translate(from_textile(text), str, FORMATS["markdown"]).replace(JOINER, "").replace(EDGE, "")
    elements: list[JSON] = []
    for kind, group in groupby(_rich_blocks(SyntaxTreeNode(PARSER.parse(text)).children), _kind):
        children = list(group)
        elements += [_section(_joined(children, "\n\n"))] if kind == "rich_text_section" else children
    return {"type": "rich_text", "elements": elements} if elements else _plain_block(text)


def _plain_block(text: str) -> JSON:
    return {"type": "rich_text", "elements": [_section([{"type": "text", "text": clean(text) or " "}])]}


# Rich text → the service's format


def _block(element: JSON, to: Format, name_of: NameOf) -> Iterator[str]:
    match element.get("type"):
        case "rich_text_list":
            ordered = element.get("style") == "ordered"
            level, first = min(_number(element, "indent"), DEEPEST), _number(element, "offset") + 1
            items = (" ".join(_lines(_parts(item), to, name_of)) for item in _parts(element))
            yield "\n".join(
                to.item(level, str(n) if ordered else "", item) for n, item in enumerate(items, first)
            )
        case "rich_text_preformatted":
            yield to.fence("".join(_plain(part, name_of) for part in _parts(element)).strip("\n"))
        case "rich_text_quote":
            yield to.quote([to.start(line) for line in _lines(_parts(element), to, name_of)])
        case _:
            for filled, lines in groupby(_lines(_parts(element), to, name_of), bool):
                if filled:
                    yield to.paragraph([to.start(line) for line in lines])


def _lines(elements: Iterable[JSON], to: Format, name_of: NameOf) -> list[str]:
    lines = [""]
    for element in elements:
        first, *others = _plain(element, name_of).split("\n")
        lines[-1] += _marked(first, element, to)
        lines += [_marked(other, element, to) for other in others]
    return [line.strip() for line in lines]


def _marked(text: str, element: JSON, to: Format) -> str:
    inner = text.strip()
    if not inner:
        return text
    style = element.get("style")
    style = style if isinstance(style, dict) else {}
    url = str(element.get("url") or "")
    if element.get("type") == "link" and is_web(url):
        content = to.link(url, "" if inner in (url, url.partition("://")[2]) else inner)
    else:
        content = to.code(inner) if style.get("code") else to.text(inner)
    for kind in STYLES:
        content = to.marked(kind, content) if style.get(kind) else content
    before, _, after = text.partition(inner)
    return f"{before}{content}{after}"


def _plain(element: JSON, name_of: NameOf) -> str:
    match element.get("type"):
        case "user":
            return "@" + name_of(str(element.get("user_id"))).removeprefix("@")
        case "channel":
            return "#" + name_of(str(element.get("channel_id"))).removeprefix("#")
        case "usergroup":
            return f"@{element.get('usergroup_id')}"
        case "broadcast":
            return f"@{element.get('range')}"
        case "emoji":
            return _emoji(element)
        case "link":
            return str(element.get("text") or element.get("url") or "")
        case "date":
            return str(element.get("fallback") or "")
    return str(element.get("text") or element.get("value") or "")


def _emoji(element: JSON) -> str:
    try:
        return "".join(chr(int(code, 16)) for code in str(element["unicode"]).split("-"))
    except (KeyError, ValueError, OverflowError):
        return f":{element.get('name')}:"


def _parts(element: JSON) -> list[JSON]:
    parts = element.get("elements")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _number(element: JSON, name: str) -> int:
    value = element.get(name)
    return value if isinstance(value, int) and value >= 0 else 0


# Markdown → rich text


def _kind(element: JSON) -> str:
    return str(element["type"])


def _section(elements: list[JSON]) -> JSON:
    return {"type": "rich_text_section", "elements": elements}


def _joined(sections: Iterable[JSON], between: str) -> list[JSON]:
    joined: list[JSON] = []
    for section in sections:
        joined += [*([{"type": "text", "text": between}] if joined else []), *section["elements"]]
    return joined


def _rich_blocks(nodes: Iterable[SyntaxTreeNode]) -> Iterator[JSON]:
    for node in nodes:
        match node.type:
            case "fence" | "code_block":
                code = node.content.rstrip("\n") or " "
                yield {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": code}]}
            case "blockquote":
                if quoted := _quoted(_rich_blocks(node.children)):
                    yield {"type": "rich_text_quote", "elements": quoted}
            case "bullet_list" | "ordered_list":
                yield from _rich_lists(node, 0)
            case "table":
                rows = chain.from_iterable(part.children for part in node.children)
                text = "\n".join(" | ".join(map(words, row.children)) for row in rows)
                yield _section([{"type": "text", "text": text}])
            case "hr":
                yield _section([{"type": "text", "text": "---"}])
            case "heading":
                yield _section(list(_rich_inline(node, {"bold": True})))
            case _:
                if inline := list(_rich_inline(node, {})):
                    yield _section(inline)


def _quoted(blocks: Iterable[JSON]) -> list[JSON]:
    """The blocks as paragraphs. Quotes hold no lists, so a list becomes lines with its marks."""
    paragraphs = (
        _section(_joined(_marked_items(block), "\n")) if block["type"] == "rich_text_list" else block
        for block in blocks
    )
    return _joined(paragraphs, "\n\n")


def _marked_items(block: JSON) -> Iterator[JSON]:
    for number, item in enumerate(block["elements"], block.get("offset", 0) + 1):
        mark = f"{number}. " if block["style"] == "ordered" else "• "
        yield _section([{"type": "text", "text": "    " * block["indent"] + mark}, *item["elements"]])


def _rich_lists(node: SyntaxTreeNode, indent: int) -> Iterator[JSON]:
    """A list, and the lists in its items, each as an element with its own indent."""
    ordered = node.type == "ordered_list"
    style = {"style": "ordered" if ordered else "bullet", "indent": indent}
    items: list[JSON] = []
    done = int(node.attrs.get("start", 1)) - 1 if ordered else 0

    def so_far() -> Iterator[JSON]:
        nonlocal items, done
        if items:
            offset = {"offset": done} if ordered and done else {}
            yield {"type": "rich_text_list", **style, **offset, "elements": items}
            items, done = [], done + len(items)

    for item in node.children:
        nested = [child for child in item.children if child.type in ("bullet_list", "ordered_list")]
        own = _rich_blocks(child for child in item.children if child not in nested)
        items.append(_section(_joined(own, "\n") or [{"type": "text", "text": " "}]))
        for inner in nested:
            yield from so_far()
            yield from _rich_lists(inner, min(indent + 1, DEEPEST))
    yield from so_far()


def _rich_inline(node: SyntaxTreeNode, style: dict[str, bool]) -> Iterator[JSON]:
    for child in node.children:
        match child.type:
            case "inline":
                yield from _rich_inline(child, style)
            case "strong" | "em" | "s":
                yield from _rich_inline(child, {**style, MARKS[child.type]: True})
            case "link" | "image":
                url = str(child.attrs.get("href") or child.attrs.get("src") or "")
                label = words(child) or url
                yield from _text(label, style, {"type": "link", "url": url} if is_web(url) else {})
            case "code_inline":
                yield from _text(child.content, {**style, "code": True})
            case "softbreak" | "hardbreak":
                yield from _text("\n", {})
            case _:
                yield from _text(child.content, style)


def _text(text: str, style: dict[str, bool], kind: JSON | None = None) -> Iterator[JSON]:
    if text := clean(text):  # entities may have become characters that deceive
        yield {"type": "text", "text": text, **({"style": style} if style else {}), **(kind or {})}
