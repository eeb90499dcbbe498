"""Descriptions of up to a megabyte that are cheap to write and expensive to convert."""

MEGABYTE = 1_000_000


def table(columns: int, rows: int, cell: str = "") -> str:
    """Returns a Markdown table whose rows contain only their first cell; the parser fills in the rest."""
    return f"{'|a' * columns}|\n{'|-' * columns}|\n" + f"{cell or '|'}\n" * rows


def pumped(piece: str, before: str = "", after: str = "") -> str:
    """Returns up to a megabyte of repetitions of `piece`."""
    room = MEGABYTE - len(before) - len(after)
    return before + piece * (room // len(piece)) + after


def _nested(mark: str, levels: int = 1400) -> str:
    return "".join(f"{mark * level}x\n" for level in range(levels))[:MEGABYTE]


MARKDOWN: dict[str, str] = {
    "thirteen tables of 180 by 360": "\n\n".join([table(180, 360)] * 13),
    "one table of 256 by 256": table(256, 256),
    "tables one after another": pumped(table(250, 250) + "\n"),
    "a table as wide as can be": table(160_000, 16_000)[:MEGABYTE],
    "a table with long rows": pumped("|x" * 500 + "\n", before=table(500, 1)),
    "a table with full cells": pumped("|**a** `b` [c](d)" * 6 + "\n", before=table(6, 1)),
    "tables in a quote": pumped("".join(f"> {row}\n" for row in table(180, 180).splitlines()) + "\n"),
    "tables in a list": pumped("- " + table(180, 180).replace("\n", "\n  ") + "\n\n"),
    "quotes within quotes": pumped(">"),
    "quotes with spaces": pumped("> "),
    "deep quotes on every line": pumped(">" * 60 + " x\n"),
    "quotes getting deeper": _nested(">"),
    "lists within lists": pumped("- "),
    "deep lists on every line": pumped("- " * 60 + "x\n"),
    "lists getting deeper": _nested("  ").replace("x", "- x"),
    "numbered lists within lists": pumped("1. "),
    "quotes and lists by turns": pumped("> - "),
    "items of a list": pumped("- x\n"),
    "opening stars": pumped("*a "),
    "closing stars": pumped("a* "),
    "stars of changing length": pumped("*a **b ***c "),
    "stars in words": pumped("a**b*c"),
    "a run of stars": pumped("*", after="a"),
    "stars and underscores": pumped("*_a_* **_"),
    "emphasis within emphasis": pumped("*a **a ", after="a** a*" * 40_000)[:MEGABYTE],
    "emphasis nested a thousand deep": "*a _b " * 400 + "b_ a*" * 400,
    "images within images": "![a" * 800 + "](x)" * 400,
    "tildes": pumped("~~a ~"),
    "opening brackets": pumped("["),
    "opening images": pumped("!["),
    "links without an end": pumped("[a](<b"),
    "links within links": pumped("[", after="](x)" * 100_000),
    "links": pumped("[a](https://x.y) "),
    "definitions of links": pumped("[a]: https://x.y\n"),
    "bare addresses": pumped("https://"),
    "backticks of changing length": " ".join("`" * n for n in range(1, 1400))[:MEGABYTE],
    "angle brackets": pumped("<"),
    "tags without an end": pumped("<a "),
    "entities": pumped("&amp;"),
    "backslashes": pumped("\\*"),
    "letters": pumped("a"),
    "line feeds": pumped("\n"),
    "spaces": pumped(" ", after="x"),
    "lines that end in spaces": pumped("a" + " " * 500 + "\n"),
    "headings": pumped("# a\n"),
    "tabs": pumped("\t"),
}
TEXTILE: dict[str, str] = {
    "rows": pumped("|" * 400 + "\n"),
    "a row": pumped("|"),
    "cells with styles": pumped("|" + "(a){b}" * 3 + ". *x* _y_ "),
    "styles without an end": pumped("(){}", before="p"),
    "quotes": pumped("> "),
    "list items": pumped("*" * 8 + " x\n"),
    "opening marks": pumped("*a _b -c +d %e ^f ~g ??h "),
    "marks within marks": pumped("*_-+%^"),
    "marks": pumped("*a* _b_ "),
    "quotation marks": pumped('"a '),
    "links": pumped('"a":https://x.y '),
    "links without an end": pumped('"a":'),
    "images": pumped("!" + "a." * 250),
    "code without an end": pumped("<code>"),
    "raw text without an end": pumped("<notextile>"),
    "blocks of code without an end": pumped("<pre "),
    "blocks of code": pumped("<pre>x</pre>"),
    "at signs": pumped("@a "),
    "at signs and spaces": pumped("@a" + " " * 500),
    "empty lines": pumped("\n \t"),
    "dashes": pumped("-"),
    "headings": pumped("h1. a\n"),
    "colons": pumped(":+1:"),
}
