"""CommonMark with tables and strikethrough → mrkdwn."""

import re
from collections.abc import Iterable
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as table_rule
from markdown_it.tree import SyntaxTreeNode

from bot.slack.text.mrkdwn import (
    MAX_CONVERTED,
    RULE,
    code,
    fence,
    joined,
    link,
    marked,
    plain,
    prefixed,
    table,
)

_TASK = re.compile(r"\[([ xX])\]\s+")
_QUOTED = re.compile(r"^> ?", re.MULTILINE)  # Slack's quotes don't nest
_MARKS = {"strong": "*", "em": "_", "s": "~"}

_CELLS = 1_000  # how many table cells are shown: more than fit into a message


def _bounded_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's
    """The library's rule, except that tables beyond the limit on cells stay plain lines.

    The library completes short rows, so a few kilobytes of source can become a million cells.
    """
    if silent or not table_rule(state, start, end, True):  # noqa: FBT003 - markdown-it's
        return table_rule(state, start, end, silent)
    rows = next((n for n in range(start, end) if state.isEmpty(n)), end) - start
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start]) + 1
    state.env["cells"] = state.env.get("cells", 0) + rows * columns
    return state.env["cells"] <= _CELLS and table_rule(state, start, end, silent)


PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
PARSER.block.ruler.at("table", _bounded_table, {"alt": ["paragraph", "reference"]})


def from_markdown(text: str) -> str:
    """Convert a description to mrkdwn. Everything is escaped, HTML included; mentions stay text."""
    return _blocks(SyntaxTreeNode(PARSER.parse(text[:MAX_CONVERTED], {})).children)


def _blocks(nodes: Iterable[SyntaxTreeNode], between: str = "\n\n") -> str:
    return between.join(text for node in nodes if (text := _block(node)))


def _block(node: SyntaxTreeNode) -> str:
    match node.type:
        case "heading":
            return marked("*", _inline(node, within="*"))
        case "fence" | "code_block":
            return fence(node.content)
        case "blockquote":
            return prefixed(_QUOTED.sub("", _blocks(node.children)), "> ", "> ")
        case "bullet_list" | "ordered_list":
            return _list(node)
        case "table":
            rows = chain.from_iterable(section.children for section in node.children)
            return table([[words(cell) for cell in row.children] for row in rows])
        case "hr":
            return RULE
        case _:
            return _inline(node)


def _list(node: SyntaxTreeNode) -> str:
    start = int(node.attrs.get("start", 1))
    items = []
    for number, item in enumerate(node.children, start):
        content = _blocks(item.children, "\n")
        task = _TASK.match(content)
        if task:
            marker = "☐ " if task[1] == " " else "☑ "
            content = content[task.end() :]
        else:
            marker = f"{number}. " if node.type == "ordered_list" else "• "
        items.append(prefixed(content, marker, "    "))
    return "\n".join(items)


def _inline(node: SyntaxTreeNode, within: str = "") -> str:
    """The inline content of a block or mark; `within` holds the marks that already surround it."""
    pieces: list[tuple[str, bool]] = []
    for child in node.children:
        match child.type:
            case "inline":
                pieces.append((_inline(child, within), False))
            case "strong" | "em" | "s":
                mark = _MARKS[child.type]
                inner = _inline(child, within + mark)
                pieces.append((inner, False) if mark in within else (marked(mark, inner), True))
            case "code_inline":
                pieces.append((code(child.content), True))
            case "link":
                pieces.append((link(str(child.attrs.get("href", "")), words(child)), False))
            case "image":
                target = str(child.attrs.get("src", ""))
                pieces.append((link(target, words(child) or target.rsplit("/", 1)[-1] or "image"), False))
            case "softbreak" | "hardbreak":
                pieces.append(("\n", False))
            case _:
                pieces.append((plain(child.content), False))
    return joined(pieces)


def words(node: SyntaxTreeNode) -> str:
    """The text without formatting, unescaped."""
    if node.type in ("softbreak", "hardbreak"):
        return " "
    return "".join(words(child) for child in node.children) if node.children else node.content
